//! The result of a scan does not depend on how a log is split into pieces, and is that of a simple reader.

use proptest::prelude::*;

use super::super::line::{without_prefix, without_terminal_codes};
use super::super::pattern::Hit;
use super::{LogScan, Pattern, PatternOutcome};
use crate::series::{Reading, Sample, Series, Window};

const PATTERNS: [&str; 9] = [
    r"^step (?P<step>\d+) loss (?P<value>\S+)$",
    r"step (?P<step>\S+) loss (?P<value>\S+)",
    r"loss[^0-9]*(?P<value>\d+)",
    r"(?s)loss.(?P<value>\d+).*step",
    r"(?P<value>\d+)$",
    r"\bloss (?P<value>\S+)",
    r"(?i)LOSS\s+(?P<value>[0-9.]+)",
    r"x\n|(?m)^(?P<value>\d)|b",
    r"(?P<value>[0-9.]*)",
];

const WORDS: [&[u8]; 27] = [
    b"step 1 loss 2.5",
    b"step 20 loss 3,502",
    b"loss ",
    b"LOSS\t",
    b"step ",
    b"7",
    b"12.5",
    b"nan",
    b"\n",
    b"\n",
    b"\r",
    b"\r\n",
    b" ",
    b"\x1b[31m",
    b"\x1b[0m",
    b"\x1b[38;5;12m",
    b"\x1b]0;title\x07",
    b"\x1b]8;;",
    b"\x1b\\",
    b"\x1b",
    b"[rank0]:",
    b"[1,2]<stdout>:",
    b"3: ",
    "\u{2588}\u{e9}".as_bytes(),
    b"\xe2\x96",
    b"\xff",
    b"\0",
];

fn log() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 0..80).prop_map(|words| words.concat())
}

fn scan(pattern: &Pattern, pieces: &[&[u8]]) -> (PatternOutcome, u64) {
    let mut scan = LogScan::new();
    scan.look_for(pattern, Window::All);
    for piece in pieces {
        scan.feed(piece);
    }
    let mut scanned = scan.finish();
    (scanned.patterns.remove(0), scanned.lines)
}

/// Line by line, with the pattern itself alone.
fn simple(pattern: &Pattern, log: &[u8]) -> (PatternOutcome, u64) {
    let mut found = PatternOutcome { series: Series::new(Window::All), matched: 0 };
    let mut groups = pattern.groups();
    let text = log.strip_suffix(b"\n").unwrap_or(log);
    let lines: Vec<&[u8]> = if log.is_empty() { Vec::new() } else { text.split(|byte| *byte == b'\n').collect() };
    for (line, number) in lines.iter().zip(1..) {
        let line = without_terminal_codes(line);
        let line = String::from_utf8_lossy(&line);
        let of_line = without_prefix(&line).0;
        // The end of a line is not part of it.
        let parts = line.strip_suffix('\r').unwrap_or(&line).split('\r');
        for part in parts {
            let (rank, part) = without_prefix(part);
            let rank = rank.or(of_line);
            match pattern.matches(part, &mut groups) {
                Some(Hit::Value(value)) => {
                    found.series.push(Sample { value: value.value, step: value.step, line: Some(number), rank });
                }
                Some(Hit::NoNumber(reason)) => {
                    let place = Sample { value: f64::NAN, step: None, line: Some(number), rank };
                    found.series.read(Reading::of(place, Err(reason)));
                }
                None => continue,
            }
            found.matched += 1;
        }
    }
    found.series.read_by(groups.quantities());
    (found, lines.len() as u64)
}

fn pieces<'l>(log: &'l [u8], sizes: &[usize]) -> Vec<&'l [u8]> {
    let mut pieces = Vec::new();
    let mut rest = log;
    for size in sizes.iter().cycle() {
        let (piece, after) = rest.split_at((*size).min(rest.len()));
        pieces.push(piece);
        rest = after;
        if rest.is_empty() {
            return pieces;
        }
    }
    vec![log]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_scan_finds_what_a_simple_reader_finds(log in log(), which in 0..PATTERNS.len() - 1) {
        let pattern = Pattern::new(PATTERNS[which]).unwrap();
        prop_assert_eq!(format!("{:?}", scan(&pattern, &[&log])), format!("{:?}", simple(&pattern, &log)));
    }

    #[test]
    fn dense_logs_too(log in log(), which in 0..PATTERNS.len() - 1) {
        let pattern = Pattern::new(PATTERNS[which]).unwrap();
        let log = [b"step 1 loss 2.5\n".repeat(400), log].concat();
        let blocks: Vec<&[u8]> = log.chunks(5000).collect();
        prop_assert_eq!(format!("{:?}", scan(&pattern, &blocks)), format!("{:?}", simple(&pattern, &log)));
    }

    #[test]
    fn pieces_do_not_matter(
        log in log(),
        sizes in prop::collection::vec(1_usize..40, 1..6),
        which in 0..PATTERNS.len(),
        is_container in any::<bool>(),
    ) {
        let pattern = Pattern::new(PATTERNS[which]).unwrap();
        let mut log = log;
        if is_container {
            let lines = log.split(|byte| *byte == b'\n').zip(["stdout P ", "stdout F ", "stderr P "].iter().cycle());
            log = lines.flat_map(|(line, tag)| [b"2026-01-02T03:04:05Z ", tag.as_bytes(), line, b"\n"].concat()).collect();
        }
        let whole = scan(&pattern, &[&log]);
        prop_assert_eq!(format!("{:?}", scan(&pattern, &pieces(&log, &sizes))), format!("{whole:?}"));
    }
}
