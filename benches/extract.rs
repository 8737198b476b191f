//! How fast logs are read, against `grep` (and `rg`) of the same pattern where they are there.
//!
//! `cargo bench --bench extract` makes logs of 1 GB under `target/`, reads each in a process of its own in pieces of 256 KiB
//! as a run does, and prints the median of several runs: by the clock and by processor time, which a busy machine disturbs
//! less, and the greatest memory. Goals: a rare match 500 MB/s and twice the time of grep, every line 150 MB/s, colors and
//! progress bars 300 MB/s, and 150 MiB, however many values there are.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a benchmark does I/O and prints")]
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a benchmark that cannot run ends")]
#![expect(clippy::cast_precision_loss, reason = "sizes and times are far below 2^52")]

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use kubebench_extract::pattern::Pattern;
use kubebench_extract::scan::LogScan;
use kubebench_extract::series::{Sample, Series, Window};
use kubebench_extract::tool;
use kubebench_format::spec::v1::metric::{Reduce, Reports};
use kubebench_syntax::unit::MetricUnit;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const RUNS: usize = 5;
const BYTES: u64 = 1_000_000_000;
const PIECE: usize = 256 << 10;
/// Values in the run that only takes them in.
const VALUES: u64 = 100_000_000;

/// A log, and what is wanted of it.
struct Case {
    name: &'static str,
    goal: f64,
    wanted: Wanted,
    line: fn(u64, &mut Vec<u8>),
}

enum Wanted {
    Pattern(&'static str),
    /// A pattern, and the unit of the metric.
    PatternIn(&'static str, &'static str),
    Tool(&'static str),
}

const CASES: [Case; 6] = [
    Case {
        name: "rare",
        goal: 500.0,
        wanted: Wanted::Pattern(r"throughput: (?P<value>[0-9.]+) samples/s"),
        line: rare,
    },
    Case {
        name: "dense",
        goal: 150.0,
        wanted: Wanted::Pattern(r"step (?P<step>\d+) loss \S+ tok/s (?P<value>\S+)"),
        line: dense,
    },
    Case {
        name: "units",
        goal: 150.0,
        wanted: Wanted::PatternIn(r"step (?P<step>\d+) loss \S+ took (?P<value>\S+)", "ms"),
        line: units,
    },
    Case {
        name: "colors",
        goal: 300.0,
        wanted: Wanted::Pattern(r"step (?P<step>\d+) loss (?P<value>\S+)"),
        line: colors,
    },
    Case { name: "torchtitan", goal: 0.0, wanted: Wanted::Tool("torchtitan"), line: torchtitan },
    Case { name: "hf-trainer", goal: 0.0, wanted: Wanted::Tool("hf-trainer"), line: hf_trainer },
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--scan", name, path] => scan(name, Path::new(path)),
        ["--keep"] => keep(),
        wanted => measure(wanted),
    }
}

/// Reads the log at `path` and prints how many values it gave.
fn scan(name: &str, path: &Path) {
    let case = CASES.iter().find(|case| case.name == name).expect("a case");
    let mut scan = LogScan::new();
    match case.wanted {
        Wanted::Pattern(pattern) => scan.look_for(&Pattern::new(pattern).expect("a pattern"), Window::All),
        Wanted::PatternIn(pattern, unit) => {
            let pattern = Pattern::new(pattern).expect("a pattern").in_unit(Some(MetricUnit::of(unit)));
            scan.look_for(&pattern, Window::All);
        }
        Wanted::Tool(name) => scan.read_as(tool::tool(name).expect("a tool"), Window::All, Reports::Last),
    }
    let mut file = File::open(path).expect("a log");
    let mut piece = vec![0; PIECE];
    loop {
        let size = file.read(&mut piece).expect("a readable log");
        if size == 0 {
            break;
        }
        scan.feed(&piece[..size]);
    }
    let scanned = scan.finish();
    let patterns = scanned.patterns.iter().map(|found| found.matched);
    let tools = scanned.tools.iter().flat_map(|tool| tool.report.found()).map(|found| found.series.count() as u64);
    println!("{}", patterns.chain(tools).sum::<u64>());
}

/// Takes a hundred million values, of which not all can be kept, and makes one of them.
fn keep() {
    let mut series = Series::new(Window::All);
    (0..VALUES).for_each(|value| series.push(Sample { line: Some(value), ..Sample::of(value as f64) }));
    assert_eq!(series.reduce(Reduce::Mean).value, Some((VALUES - 1) as f64 / 2.0));
    println!("{VALUES}");
}

fn measure(wanted: &[&str]) {
    let this = std::env::current_exe().expect("this program");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("extract");
    fs::create_dir_all(&folder).expect("a folder");
    println!("{RUNS} runs of whole processes, medians (least and greatest); {} MB each", BYTES / 1_000_000);
    for case in CASES.iter().filter(|case| wanted.is_empty() || wanted.contains(&case.name)) {
        let path = folder.join(format!("{}.log", case.name));
        if !fs::metadata(&path).is_ok_and(|meta| meta.len() >= BYTES) {
            write_log(&path, case.line);
        }
        let path_arg = path.to_str().expect("a UTF-8 path");
        let figures = figures(|| run(Command::new(&this).args(["--scan", case.name, path_arg])));
        print(case.name, &figures, case.goal);
        // Of lines that all match, grep is slow to find the groups.
        if let ("rare", Wanted::Pattern(pattern)) = (case.name, &case.wanted) {
            for searcher in ["grep", "rg"] {
                compare(searcher, pattern, path_arg, &figures);
            }
        }
        fs::remove_file(&path).expect("a removed file");
    }
    if wanted.is_empty() || wanted.contains(&"keep") {
        let figures = figures(|| run(Command::new(&this).arg("--keep")));
        println!("{VALUES} values, and their mean: {:.2} s", median(&figures, |figure| figure.clock));
        print_memory(&figures);
    }
}

/// Prints how the figures compare with those of `searcher -c`, if it is there.
fn compare(searcher: &str, pattern: &str, path: &str, ours: &[Figure]) {
    // Neither has named groups without an option.
    let pattern = pattern.replace("?P<value>", "").replace("?P<step>", "").replace(r"\d", "[0-9]");
    let mut command = Command::new(searcher);
    let flag = if searcher == "grep" { "-cE" } else { "-c" };
    if command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        return;
    }
    let theirs = figures(|| run(Command::new(searcher).args([flag, &pattern, path])));
    let ratio = |of: fn(&Figure) -> f64| median(ours, of) / median(&theirs, of);
    println!(
        "    {:.2} times the time of `{searcher} {flag}` ({:.2} s), {:.2} times its processor time",
        ratio(|figure| figure.clock),
        median(&theirs, |figure| figure.clock),
        ratio(|figure| figure.processor)
    );
}

fn print(name: &str, figures: &[Figure], goal: f64) {
    let speed = |time: f64| BYTES as f64 / 1e6 / time;
    let speeds: Vec<f64> = figures.iter().map(|figure| speed(figure.clock)).collect();
    let goal = if goal > 0.0 { format!(", wanted {goal}") } else { String::new() };
    println!(
        "{name}: {:.0} MB/s by the clock ({:.0} to {:.0}), {:.0} MB/s of processor time{goal}",
        speed(median(figures, |figure| figure.clock)),
        speeds.iter().copied().fold(f64::INFINITY, f64::min),
        speeds.iter().copied().fold(0.0, f64::max),
        speed(median(figures, |figure| figure.processor))
    );
    print_memory(figures);
}

fn print_memory(figures: &[Figure]) {
    let values = figures[0].values;
    let peak = median(figures, |figure| figure.peak as f64 / 1024.0);
    println!("    {peak:.0} MiB for {values} values, wanted 150");
}

struct Figure {
    /// Seconds.
    clock: f64,
    processor: f64,
    /// Peak resident memory in KiB.
    peak: u64,
    values: u64,
}

fn figures(mut once: impl FnMut() -> Figure) -> Vec<Figure> {
    once();
    (0..RUNS).map(|_| once()).collect()
}

fn median(figures: &[Figure], of: fn(&Figure) -> f64) -> f64 {
    let mut values: Vec<f64> = figures.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn run(command: &mut Command) -> Figure {
    let start = Instant::now();
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
    let folder = PathBuf::from(format!("/proc/{}", child.id()));
    let (mut peak, mut ticks) = (0, 0);
    loop {
        let ended = child.try_wait().expect("a child process").is_some();
        let status = fs::read_to_string(folder.join("status")).unwrap_or_default();
        let high = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
        peak = peak.max(high.unwrap_or(0));
        let stat = fs::read_to_string(folder.join("stat")).unwrap_or_default();
        let times = stat.rsplit(')').next().into_iter().flat_map(|rest| rest.split_whitespace().skip(11).take(2));
        ticks = ticks.max(times.filter_map(|time| time.parse::<u64>().ok()).sum());
        if ended {
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let clock = start.elapsed().as_secs_f64();
    let output = child.wait_with_output().expect("an ended process");
    assert!(output.status.success(), "{command:?} failed");
    let values = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap_or(0);
    // A hundred ticks a second on every Linux.
    Figure { clock, processor: ticks.max(1) as f64 / 100.0, peak, values }
}

fn write_log(path: &Path, line: fn(u64, &mut Vec<u8>)) {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path).expect("a new file"));
    let (mut size, mut text) = (0, Vec::new());
    for number in 1.. {
        text.clear();
        line(number, &mut text);
        file.write_all(&text).expect("a written line");
        size += text.len() as u64;
        if size >= BYTES {
            break;
        }
    }
    file.flush().expect("a written file");
}

fn put(text: &mut Vec<u8>, line: std::fmt::Arguments<'_>) {
    text.write_fmt(line).expect("memory");
}

fn rare(number: u64, text: &mut Vec<u8>) {
    if number.is_multiple_of(100_000) {
        return put(text, format_args!("throughput: {} samples/s\n", number as f64 / 8.0));
    }
    let (minute, second) = (number / 60 % 60, number % 60);
    put(
        text,
        format_args!(
            "2026-01-02 10:{minute:02}:{second:02} INFO trainer.py:{} epoch {} of 90, batch {}: data 0.012 s, forward 0.110 s\n",
            number % 400,
            number / 5000,
            number % 5000
        ),
    );
}

fn loss(number: u64) -> f64 {
    2.0 + (number % 1000) as f64 / 1000.0
}

fn dense(number: u64, text: &mut Vec<u8>) {
    put(text, format_args!("step {number} loss {:.4} tok/s {}\n", loss(number), 1000 + number % 977));
}

fn units(number: u64, text: &mut Vec<u8>) {
    let took = 100 + number % 977;
    // As tools print times: in the unit that leaves few digits.
    let unit = if number.is_multiple_of(3) { "ms" } else { "us" };
    put(text, format_args!("step {number} loss {:.4} took {took}{unit}\n", loss(number)));
}

fn colors(number: u64, text: &mut Vec<u8>) {
    if number.is_multiple_of(100) {
        return put(
            text,
            format_args!(
                "\r\n\x1b[32mINFO\x1b[0m \x1b[1mstep {}\x1b[0m loss \x1b[36m{:.4}\x1b[0m\n",
                number / 100,
                loss(number)
            ),
        );
    }
    let percent = number % 100;
    put(
        text,
        format_args!(
            "\r\x1b[2K\x1b[34mtrain\x1b[0m {percent:3}%|{:\u{2588}<width$}| {percent}/100 [00:10<01:30, \x1b[33m9.91it/s\x1b[0m]",
            "",
            width = usize::try_from(percent / 10).unwrap_or(0)
        ),
    );
}

fn torchtitan(number: u64, text: &mut Vec<u8>) {
    put(
        text,
        format_args!(
            "[rank0]:[titan] 2026-01-02 10:00:00,123 - root - INFO - \x1b[31mstep: {number:2}  \x1b[32mloss: {:7.4}  \x1b[38;2;180;60;0mgrad_norm:  1.5000  \x1b[33mmemory:  2.47GiB(3.12%)  \x1b[34mtps: {}  \x1b[36mtflops: 1.20  \x1b[35mmfu: 0.38%\x1b[39m\n",
            loss(number),
            1000 + number % 977
        ),
    );
}

fn hf_trainer(number: u64, text: &mut Vec<u8>) {
    if number.is_multiple_of(10) {
        return put(
            text,
            format_args!(
                "{{'loss': {:.4}, 'grad_norm': 1.2345, 'learning_rate': 4.5e-05, 'epoch': {:.2}}}\n",
                loss(number),
                number as f64 / 1e4
            ),
        );
    }
    put(
        text,
        format_args!(
            "\r {:2}%|\u{2588}\u{2588}\u{2588}       | {}/1000 [00:10<01:30,  9.91it/s]",
            number % 100,
            number % 1000
        ),
    );
}
