//! What replicas print: all of it is kept and read, in whatever form and amount it comes.

use std::path::PathBuf;
use std::time::Duration;

use kubebench_format::result::v1::Status;

use kubebench_testing::snapshot::{assert_line, assert_text, str};

use super::{LOSS, SECONDS, exit, finish, job, log, metric, run, start, until};
use crate::support::project::files_below;

#[test]
fn output_in_every_form() {
    let cases: [(&str, &[u8]); 7] = [
        ("printf 'a\\0b\\nloss 2\\n'", b"a\0b\nloss 2\n"),
        ("printf 'loss 2'", b"loss 2"),
        ("echo loss 2 >&2", b"loss 2\n"),
        ("printf 'x\\rloss 1\\rloss 2\\r'", b"x\rloss 1\rloss 2\r"),
        ("printf '\\033[1mloss\\033[0m 2\\r\\n'", b"\x1b[1mloss\x1b[0m 2\r\n"),
        ("printf 'loss 2 \\377\\376\\n'", b"loss 2 \xff\xfe\n"),
        ("printf 'los'; sleep 0.1; printf 's 2\\n'; exec >&- 2>&-; sleep 0.3", b"loss 2\n"),
    ];
    for (script, bytes) in cases {
        let folder = job(script, &[LOSS]);
        let ran = run(&folder, &[]);
        assert_eq!(metric(ran.ended(Status::Succeeded, 0), "loss").value, Some(2.0), "{script}");
        assert_eq!(log(&folder, "job-0.log"), bytes, "{script}");
    }
}

#[test]
fn no_output_at_all() {
    let folder = job("exit 1", &[SECONDS]);
    let ran = run(&folder, &[]);
    assert_eq!(exit(ran.ended(Status::Failed, 1), "job", 0).last_lines.len(), 0);
    assert_eq!(log(&folder, "job-0.log"), b"");
    assert!(run(&job(":", &[SECONDS]), &[]).code() == 0);
}

/// The last lines are whole lines also where very much comes at once.
#[test]
fn last_lines_of_much_output() {
    let ran = run(&job("seq 1000000 1300000; exit 1", &[SECONDS]), &[]);
    let expected: Vec<String> = (1_299_981..=1_300_000).map(|number: u32| number.to_string()).collect();
    assert_eq!(exit(ran.ended(Status::Failed, 1), "job", 0).last_lines, expected);
}

#[test]
fn a_hundred_megabytes_in_constant_memory() {
    let line = "step 10 some words that say nothing about anything at all, again and again and again";
    let script = format!("yes '{line}' | head -c 50000000; echo; echo loss 3; yes '{line}' | head -c 50000000");
    let folder = job(&script, &[LOSS]);
    let mut child = start(&folder, &[]);
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        // Without the pages of the program itself, of which a debug build has tens of megabytes.
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap_or("0 kB");
        peak = peak.max(line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0));
        std::thread::sleep(Duration::from_millis(20));
    }
    let ran = finish(&folder, child);
    assert_eq!(metric(ran.ended(Status::Succeeded, 0), "loss").value, Some(3.0));
    assert_eq!(log(&folder, "job-0.log").len(), 100_000_008);
    println!("100 MB with {peak} KiB");
    assert!(peak < 64 << 10, "{peak} KiB");
}

/// The first and the last half are kept; metrics are read from all of it.
#[test]
fn the_gap_of_a_log_over_its_limit() {
    let script = "echo first; yes x | head -c 3000000; echo; echo loss 4; yes y | head -c 3000000; echo last";
    let folder = job(script, &[LOSS, "results: {logLimit: 1Mi}"]);
    let ran = run(&folder, &[]);
    let result = ran.ended(Status::Succeeded, 0);
    assert_eq!(metric(result, "loss").value, Some(4.0));
    let text = String::from_utf8(log(&folder, "job-0.log")).unwrap();
    let dropped = result.artifacts[0].dropped_bytes;
    assert_eq!(dropped, 6_000_019 - (1 << 20));
    let (head, rest) = text.split_once("\n[kubebench: ").unwrap();
    let (notice, tail) = rest.split_once("]\n").unwrap();
    assert_eq!((head.len(), tail.len()), (1 << 19, 1 << 19));
    assert!(head.starts_with("first\nx\n") && tail.ends_with("y\nlast\n") && !text.contains("loss"));
    assert!(notice.starts_with(&dropped.to_string()), "{notice}");
    assert_text(notice, str! {"4951443 bytes are left out here by the log limit"});
}

/// A line without an end is no reason to hold all of it.
#[test]
fn a_line_of_many_megabytes() {
    let folder = job("head -c 20000000 /dev/zero | tr '\\0' x; echo; echo loss 3; exit 1", &[LOSS]);
    let ran = run(&folder, &[]);
    let result = ran.ended(Status::Failed, 1);
    assert_eq!(metric(result, "loss").value, Some(3.0));
    let lines = &exit(result, "job", 0).last_lines;
    assert_eq!((lines.len(), lines[0].len(), lines[1].as_str()), (2, 400, "loss 3"));
}

/// A terminal that is paused holds neither the run nor its timeout; what did not fit is counted.
#[test]
fn a_reader_that_does_not_read() {
    let folder = job("while :; do echo loss 1; done", &[LOSS, "timeout: 2s"]);
    let child = start(&folder, &["-v"]);
    let results = folder.path().join("results");
    // By its name, since a result that is being written is there already under another.
    let is_result = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    until("the result", || results.is_dir() && files_below(&results).iter().any(is_result));
    let ran = finish(&folder, child);
    assert_eq!(ran.one().run.status, Status::TimedOut);
    let is_digit = |letter: char| letter.is_ascii_digit();
    assert_line(ran.stderr.replace(is_digit, ""), str! {"( lines are not shown; they are in the logs)"});
}
