//! The fuzz targets, without the fuzzer: over the files of this repository that it starts from, and over parts of them.

#[path = "../../../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "it is a library for the fuzzer")]
mod targets;

use std::{fs, panic};

use crate::support::project::{files_below, repository};

/// Longer files are left to the fuzzer.
const LONGEST: usize = 16 * 1024;

fn over(folders: &[&str], end: &str, target: fn(&[u8])) {
    let mut count = 0;
    for file in folders.iter().flat_map(|folder| files_below(&repository().join(folder))) {
        let bytes = fs::read(&file).unwrap();
        if bytes.len() > LONGEST || !file.to_string_lossy().ends_with(end) {
            continue;
        }
        for part in [&bytes[..], &bytes[..bytes.len() / 2], &bytes[bytes.len() / 3..]] {
            panic::catch_unwind(|| target(part))
                .unwrap_or_else(|_| panic!("{}, {} of its bytes", file.display(), part.len()));
        }
        count += 1;
    }
    assert!(count > 20, "{count} files");
}

#[test]
fn yaml() {
    over(&["specs", "tests/data"], ".yaml", targets::yaml);
}

#[test]
fn compile() {
    over(&["specs", "tests/data"], ".yaml", targets::compile);
}

#[test]
fn logs() {
    over(&["tests/data/tools"], "", targets::logs);
}

#[test]
fn results() {
    over(&["results"], ".json", targets::results);
}
