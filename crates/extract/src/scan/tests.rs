use super::{LogScan, PatternOutcome};
use crate::pattern::Pattern;
use crate::room::Room;
use crate::series::Window;
use crate::tool;
use kubebench_format::spec::v1::metric::{Reduce, Reports};

fn scan(pattern: &str, pieces: &[&[u8]]) -> PatternOutcome {
    let mut scan = LogScan::new();
    scan.look_for(&Pattern::new(pattern).unwrap(), Window::All);
    for piece in pieces {
        scan.feed(piece);
    }
    scan.finish().patterns.remove(0)
}

const LOG: &str = "start\n\x1b[1mstep 1\x1b[0m loss 2.5\n[rank1]:step 1 loss 9\nprogress 10%\rprogress 20%\rstep 2 loss 2.25\n\r\n[rank0]:step 3 loss nan\nend";
const STEP: &str = r"^step (?P<step>\d+) loss (?P<value>\S+)$";

#[test]
fn pieces_of_any_size_give_the_same() {
    let whole = scan(STEP, &[LOG.as_bytes()]);
    // Lines without a rank are of rank 0.
    assert_eq!(format!("{:?}", whole.series.values().collect::<Vec<_>>()), "[2.5, 2.25, NaN]");
    assert_eq!(whole.matched, 4);
    assert_eq!(whole.series.reduce(Reduce::First).line, Some(2));
    assert_eq!(whole.series.reduce(Reduce::Last).line, Some(6));
    for size in 1..LOG.len() {
        let pieces: Vec<&[u8]> = LOG.as_bytes().chunks(size).collect();
        let parts = scan(STEP, &pieces);
        assert_eq!(format!("{parts:?}"), format!("{whole:?}"), "pieces of {size}");
    }
}

#[test]
fn lines_are_counted_once() {
    let count = |text: &str| {
        let mut scan = LogScan::new();
        scan.feed(text.as_bytes());
        scan.finish().lines
    };
    assert_eq!([count(""), count("a"), count("a\n"), count("a\nb"), count("a\rb\n\n")], [0, 1, 1, 2, 2]);
}

#[test]
fn of_several_ranks_the_lowest_counts() {
    let log = b"[rank2]:loss 2\n[rank1]:loss 1\n[rank0]:other\n[rank2]:loss 22\n[rank1]:loss 11\n";
    let found = scan("loss (?P<value>.+)", &[log]);
    assert_eq!((found.series.values().collect::<Vec<_>>(), found.series.rank()), (vec![1.0, 11.0], Some(1)));
}

#[test]
fn bytes_that_are_no_text_hide_nothing() {
    let found = scan("^.* loss (?P<value>[0-9.]+)", &[b"gr\xfcn \xff loss 3.5\n\0\0 loss 4\n"]);
    assert_eq!(found.series.values().collect::<Vec<_>>(), [3.5, 4.0]);
}

#[test]
fn a_line_of_a_mebibyte() {
    let mut log = vec![b'x'; 1 << 20];
    log.extend_from_slice(b" loss 7\nloss 8\n");
    let found = scan("loss (?P<value>[0-9]+)", &[&log]);
    assert_eq!(found.series.values().collect::<Vec<_>>(), [7.0, 8.0]);
}

#[test]
fn lines_that_a_container_runtime_split_are_joined() {
    let log = b"2026-01-02T03:04:05Z stdout P step 1 lo\n2026-01-02T03:04:05Z stderr F step 9 loss 9\n2026-01-02T03:04:05Z stdout F ss 2.5\n2026-01-02T03:04:06Z stdout P step 2 loss 3";
    let found = scan(STEP, &[log]);
    assert_eq!(found.series.values().collect::<Vec<_>>(), [9.0, 2.5, 3.0]);
    assert_eq!(found.series.reduce(Reduce::Min).line, Some(3));
    assert_eq!(found.series.reduce(Reduce::Last).line, Some(4));
}

#[test]
fn step_numbers_in_the_form_of_a_launcher_are_no_ranks() {
    let found = scan("loss (?P<value>[0-9]+)", &[b"[10] loss 1\n[20] loss 2\n30: loss 3\n"]);
    assert_eq!(found.series.values().collect::<Vec<_>>(), [1.0, 2.0, 3.0]);
}

#[test]
fn a_rank_holds_for_all_that_was_rewritten_on_its_line() {
    let found =
        scan("loss (?P<value>[0-9]+)", &[b"[1]:10%\r20%\rloss 1\n[0]:10%\r20%", b"\rloss 2\r", b"30%\rloss 3\n"]);
    assert_eq!(found.series.rank(), Some(0));
    assert_eq!(found.series.values().collect::<Vec<_>>(), [2.0, 3.0]);
}

#[test]
fn a_progress_bar_shows_values_before_its_line_ends() {
    let mut scan = LogScan::new();
    scan.look_for(&Pattern::new("loss (?P<value>[0-9]+)").unwrap(), Window::All);
    scan.feed(format!("{:100}\rloss 1\rloss 2", "").as_bytes());
    assert_eq!(scan.last_value(0), Some(1.0));
}

#[test]
fn a_line_of_forty_mebibytes_is_cut_between_words() {
    let words = b"x12345678 loss 7 ".repeat((40 << 20) / 17);
    let found = |piece: usize| {
        let mut scan = LogScan::new();
        scan.look_for(&Pattern::new(r"\bloss (?P<value>[0-9]+)|\b(?P<cut>12345678)").unwrap(), Window::LastN(2));
        words.chunks(piece).for_each(|piece| scan.feed(piece));
        assert!(scan.rest.capacity() <= 4 * super::MAX_LINE);
        let mut scanned = scan.finish();
        assert_eq!(scanned.lines, 1);
        scanned.patterns.remove(0)
    };
    let whole = found(words.len());
    assert_eq!(whole.series.values().collect::<Vec<_>>(), [7.0, 7.0]);
    // The line, cut: its parts have their first match each.
    assert_eq!(whole.matched, 11);
    assert_eq!(format!("{:?}", found(100_001)), format!("{whole:?}"));
}

#[test]
fn a_line_without_blanks_is_cut_between_letters() {
    let line = [[0xc3, 0xa9].repeat(3 << 20), b" loss 8\n".to_vec()].concat();
    let found = scan("^\u{e9}* loss (?P<value>[0-9]+)", &[&line]);
    assert_eq!(found.series.values().collect::<Vec<_>>(), [8.0]);
}

#[test]
fn only_a_line_that_ended_is_whole() {
    let scan = |text: &str| {
        let mut scan = LogScan::new();
        scan.read_as(tool::tool("katib").unwrap(), Window::All, Reports::Last);
        scan.feed(text.as_bytes());
        let report = scan.finish().tools.remove(0).report;
        report.found().iter().map(|found| found.series.last().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(scan("a=1 b=25\n"), [1.0, 25.0]);
    assert_eq!(scan("a=1 b=25\r"), [1.0, 25.0]);
    assert_eq!(scan("a=1 b=2"), [1.0]);
}

#[test]
fn a_line_without_end_is_cut() {
    let mut scan = LogScan::new();
    scan.look_for(&Pattern::new("loss (?P<value>[0-9]+)").unwrap(), Window::All);
    for step in 0..40_000 {
        scan.feed(format!("{:1000}loss {step}\r", "").as_bytes());
    }
    let scanned = scan.finish();
    assert_eq!((scanned.patterns[0].matched, scanned.lines), (40_000, 1));
}

#[test]
fn dense_logs_give_what_sparse_ones_do() {
    let log: String = (0..5000).map(|step| format!("[rank0]:step {step} loss {}\nnoise\n", step * 2)).collect();
    let pieces: Vec<&[u8]> = log.as_bytes().chunks(997).collect();
    let found = scan(STEP, &pieces);
    assert_eq!(found.matched, 5000);
    assert_eq!(found.series.reduce(Reduce::Last).line, Some(9999));
    assert_eq!(found.series.reduce(Reduce::Max).value, Some(9998.0));
}

#[test]
fn what_is_no_number_is_remembered() {
    let found = scan(r"loss (?P<value>\S+)", &[b"loss none\nloss 12,5\n"]);
    assert_eq!((found.matched, found.series.reduce(Reduce::Mean).non_finite), (2, 2));
    let first = found.series.unreadable().unwrap();
    assert_eq!((first.line, first.reason.as_str(), first.count), (Some(1), "`none` is not a number", 2));
}

#[test]
fn a_mark_of_the_byte_order_hides_nothing() {
    let text = "\u{feff}loss 2.5\n";
    for cut in [1, 2, 3, text.len()] {
        let (head, tail) = text.as_bytes().split_at(cut);
        let found = scan(r"^loss (?P<value>\S+)", &[head, tail]);
        assert_eq!(found.series.last(), Some(2.5), "{cut}");
    }
    let read = |name: &str, text: &str| {
        let mut scan = LogScan::new();
        scan.read_as(tool::tool(name).unwrap(), Window::All, Reports::Last);
        scan.feed(text.as_bytes());
        scan.finish().tools.remove(0).report.found().len()
    };
    assert_eq!(read("bmf", "\u{feff}{\"a\": {\"latency\": {\"value\": 1}}}"), 1);
    assert!(read("hf-trainer", "\u{feff}{\"train_loss\": 1}") > 0);
}

#[test]
fn tools_read_lines_and_documents() {
    let scan = |name: &str, text: &str| {
        let mut scan = LogScan::new();
        scan.read_as(tool::tool(name).unwrap(), Window::All, Reports::Last);
        text.as_bytes().chunks(7).for_each(|piece| scan.feed(piece));
        scan.finish().tools.remove(0)
    };
    let lines = scan("torchtitan", "x\n[rank0]:step:  3  loss:  2.5  memory: 1.00GiB(1.00%)  tps: 1,000\n");
    assert_eq!(
        lines.report.found().iter().find(|found| found.name == "tps").unwrap().series.values().collect::<Vec<_>>(),
        [1000.0]
    );
    let document =
        scan("fio", "fio: warning\n{\"jobs\": [{\"jobname\": \"a\", \"read\": {\"iops\": 5, \"total_ios\": 3}}]}\n");
    assert_eq!(document.report.found()[0].name, "read_iops");
    assert!(document.native.is_some());
}

/// A terminal that was cleared leaves thousands of blank lines.
#[test]
fn blank_lines_hide_nothing() {
    let blank = "\n".repeat(20_000);
    for (tool, log) in [
        ("hf-trainer", "{'loss': 2.5, 'grad_norm': 1.5, 'learning_rate': 0.01, 'epoch': 1.0}\n"),
        ("hyperfine", "{\"results\": [{\"command\": \"a\", \"mean\": 1.5, \"median\": 1.5, \"times\": [1.5]}]}"),
    ] {
        let read = |text: &str| {
            let mut scan = LogScan::new();
            scan.read_as(tool::tool(tool).unwrap(), Window::All, Reports::Last);
            text.as_bytes().chunks(1000).for_each(|piece| scan.feed(piece));
            scan.finish().tools.remove(0).report.found().len()
        };
        assert!(read(log) > 0, "{tool}");
        assert_eq!(read(&format!("{blank}{log}")), read(log), "{tool}");
    }
}

#[test]
fn pieces_of_any_size_keep_the_same_values() {
    let log: String =
        (0..9_000).map(|step| format!("step {step} loss 2.5\n{}", if step % 8 == 0 { "v 1\n" } else { "" })).collect();
    let read = |size: usize| {
        let mut scan = LogScan::within(&Room::of(9_500));
        scan.look_for(&Pattern::new(STEP).unwrap(), Window::All);
        scan.look_for(&Pattern::new(r"^v (?P<value>\d)$").unwrap(), Window::All);
        scan.look_for(&Pattern::new(r"^v (?P<value>\d)$").unwrap(), Window::LastN(500));
        log.as_bytes().chunks(size).for_each(|piece| scan.feed(piece));
        scan.finish()
            .patterns
            .into_iter()
            .map(|found| {
                let mut series = found.series;
                series.settle();
                let reduced = [Reduce::Median, Reduce::Mean].map(|how| series.reduce(how));
                (series.is_let_go(), reduced)
            })
            .collect::<Vec<_>>()
    };
    let whole = read(usize::MAX);
    assert_eq!(whole.iter().map(|(is_let_go, _)| *is_let_go).collect::<Vec<_>>(), [true, true, false]);
    for size in [7, 100, 4_096, 70_000] {
        assert_eq!(read(size), whole, "{size}");
    }
}
