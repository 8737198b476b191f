//! Every tool's parser, patterns and readers of files on any output: they end, they do not panic, and pieces of any size
//! give what the whole gives.

#![no_main]

use std::collections::BTreeMap;

use kubebench_extract::file;
use kubebench_extract::pattern::{Pattern, nearest};
use kubebench_extract::scan::{LogScan, Scanned};
use kubebench_extract::series::{Series, Window};
use kubebench_extract::tool::TOOLS;
use kubebench_format::spec::v1::metric::{Reports, Row};
use libfuzzer_sys::fuzz_target;

const PATTERN: &str = r"^\s*step (?P<step>\S+) .*loss[:=] ?(?P<value>\S+)$";

fn scan(bytes: &[u8], size: usize, pattern: &Pattern) -> Scanned {
    let mut scan = LogScan::new();
    scan.look_for(pattern, Window::Steps(1, 9));
    scan.look_for_raw(pattern, Window::LastN(3));
    for tool in TOOLS {
        scan.read_as(tool, Window::SkipFirst(1), Reports::Last);
    }
    bytes.chunks(size).for_each(|piece| scan.feed(piece));
    scan.finish()
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(pattern) = Pattern::new(PATTERN) else { return };
    let whole = scan(bytes, usize::MAX, &pattern);
    let parts = scan(bytes, 1 + bytes.len() / 3, &pattern);
    assert_eq!(format!("{:?}", whole.patterns), format!("{:?}", parts.patterns));
    let text = String::from_utf8_lossy(bytes);
    drop(nearest(&pattern, &text));
    let mut series = Series::new(Window::All);
    drop(file::json(bytes, "/a/0", &mut series));
    drop(file::json_lines(bytes, "/loss", &BTreeMap::new(), &mut series));
    drop(file::csv(bytes, "loss", Row::All, &mut series));
    drop(file::single(bytes, &mut series));
    drop(file::open_metrics(&text, "up", &BTreeMap::new(), &mut series));
});
