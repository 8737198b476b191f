use std::fs::{self, File};
use std::path::Path;

use super::KeptLog;
use kubebench_testing::scratch::in_memory;
use kubebench_testing::snapshot::{assert_text, named, str};

fn letters(range: std::ops::Range<u64>) -> String {
    range.map(|index| char::from(b'a' + u8::try_from(index % 26).unwrap())).collect()
}

fn notice(bytes: u64) -> String {
    format!("\n[kubebench: {bytes} bytes are left out here by the log limit]\n")
}

fn kept(limit: u64, total: u64) -> (String, u64) {
    let folder = in_memory();
    let path = folder.path().join("log");
    let mut log = KeptLog::create(&path, limit).unwrap();
    letters(0..total).as_bytes().chunks(3).for_each(|chunk| log.write(chunk));
    let kept = log.finish();
    assert!(kept.fault.is_none());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    (fs::read_to_string(path).unwrap(), kept.dropped)
}

#[test]
fn the_first_and_the_last_half_are_kept() {
    assert_eq!(kept(10, 9), ("abcdefghi".to_owned(), 0));
    assert_eq!(kept(10, 10), ("abcdefghij".to_owned(), 0));
    assert_eq!(kept(10, 11), (format!("abcde{}ghijk", notice(1)), 1));
    assert_eq!(kept(10, 26), (format!("abcde{}vwxyz", notice(16)), 16));
    assert_eq!(kept(10, 25), (format!("abcde{}uvwxy", notice(15)), 15));
}

fn open(folder: &Path, limit: u64) -> (KeptLog, String) {
    let (log, mark) = KeptLog::resume(&folder.join("log"), folder, limit).unwrap();
    assert!(!log.has_ended());
    (log, mark)
}

/// Copies the files as a process that is killed now leaves them.
fn copy(from: &Path) -> tempfile::TempDir {
    let to = in_memory();
    for file in fs::read_dir(from).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), to.path().join(file.file_name())).unwrap();
    }
    to
}

/// Writes the letters from the mark on and ends the log; returns it, and how many bytes are missing.
fn complete(folder: &Path, limit: u64, total: u64, piece: usize) -> (String, u64) {
    let (mut log, mark) = KeptLog::resume(&folder.join("log"), folder, limit).unwrap();
    if !log.has_ended() {
        let mut came = mark.parse().unwrap_or(0);
        for piece in letters(came..total).as_bytes().chunks(piece) {
            log.write(piece);
            came += piece.len() as u64;
            log.mark(&came.to_string());
        }
    }
    let kept = log.finish();
    assert!(kept.fault.is_none());
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["log", "log.checkpoint"]);
    (fs::read_to_string(folder.join("log")).unwrap(), kept.dropped)
}

#[test]
fn killed_at_any_point_it_becomes_the_same() {
    for total in [0, 5, 9, 11, 16, 27] {
        let whole = kept(10, total);
        for piece in [1, 3, 12] {
            let folder = in_memory();
            let (mut log, mark) = open(folder.path(), 10);
            assert_eq!(mark, "");
            let mut came = 0;
            for part in letters(0..total).as_bytes().chunks(piece) {
                log.write(part);
                // The checkpoint is behind the files now; they may end anywhere between.
                assert_eq!(complete(copy(folder.path()).path(), 10, total, 2), whole);
                came += part.len() as u64;
                log.mark(&came.to_string());
                assert_eq!(complete(copy(folder.path()).path(), 99, total, 4), whole);
            }
            // Ended, killed on the way: the halves are put together again.
            for cut in 0..3 {
                let copied = copy(folder.path());
                let (log, _) = open(copied.path(), 10);
                let checkpoint = fs::read(copied.path().join("log.checkpoint")).unwrap();
                let segments = copy(copied.path());
                log.finish();
                if cut < 2 {
                    fs::write(copied.path().join("log.checkpoint"), &checkpoint).unwrap();
                    for file in fs::read_dir(segments.path()).unwrap().map(Result::unwrap) {
                        let name = file.file_name();
                        if name.to_str().unwrap().contains("tail") {
                            fs::copy(file.path(), copied.path().join(name)).unwrap();
                        }
                    }
                    if cut == 1 && total > 10 {
                        File::options().write(true).open(copied.path().join("log")).unwrap().set_len(12).unwrap();
                    }
                }
                assert_eq!(complete(copied.path(), 10, total, 1), whole, "{total} by {piece}, {cut}");
            }
        }
    }
}

#[test]
fn what_was_written_after_the_checkpoint_is_taken_in_when_nobody_gives_it_again() {
    for total in [0, 5, 9, 11, 16, 27] {
        let whole = kept(10, total);
        for marked in (0..=total).step_by(2) {
            let folder = in_memory();
            let (mut log, _) = open(folder.path(), 10);
            log.write(letters(0..marked).as_bytes());
            log.mark(&marked.to_string());
            log.write(letters(marked..total).as_bytes());
            drop(log);
            let (mut log, mark) = open(folder.path(), 10);
            assert_eq!(mark, marked.to_string());
            let mut rest = Vec::new();
            log.take_in_rest(|bytes| rest.extend_from_slice(bytes)).unwrap();
            assert_eq!(String::from_utf8(rest).unwrap(), letters(marked..total));
            let kept = log.finish();
            assert_eq!((fs::read_to_string(folder.path().join("log")).unwrap(), kept.dropped), whole);
        }
    }
}

#[test]
fn it_is_read_back_with_a_line_end_where_something_is_left_out() {
    let back = |total: u64| {
        let folder = in_memory();
        let (mut log, _) = open(folder.path(), 10);
        for piece in letters(0..total).as_bytes().chunks(2) {
            log.write(piece);
            log.mark("x");
        }
        log.write(b"beyond the checkpoint");
        drop(log);
        let (log, _) = open(folder.path(), 10);
        let mut text = Vec::new();
        let missing = log.read_back(|bytes| text.extend_from_slice(bytes)).unwrap();
        (String::from_utf8(text).unwrap(), missing)
    };
    assert_eq!(back(4), ("abcd".to_owned(), 0));
    assert_eq!(back(10), ("abcdefghij".to_owned(), 0));
    assert_eq!(back(14), ("abcdefghijklmn".to_owned(), 0));
    assert_eq!(back(18), ("abcde\nklmnopqr".to_owned(), 5));
    assert_eq!(back(26), ("abcde\nuvwxyz".to_owned(), 15));
}

#[test]
fn a_disk_that_forgot_bytes_makes_it_begin_again() {
    let folder = in_memory();
    let (mut log, _) = open(folder.path(), 100);
    log.write(b"abcdef");
    log.mark("6");
    drop(log);
    File::options().write(true).open(folder.path().join("log")).unwrap().set_len(3).unwrap();
    let (mut log, mark) = open(folder.path(), 100);
    assert_eq!(mark, "", "the record before the first byte");
    log.write(b"xyz");
    drop(log.finish());
    assert_eq!(fs::read_to_string(folder.path().join("log")).unwrap(), "xyz");
}

#[test]
fn torn_records_are_passed_over() {
    let folder = in_memory();
    let (mut log, _) = open(folder.path(), 100);
    for number in 1..=4 {
        log.write(b"ab");
        log.mark(&number.to_string());
    }
    drop(log);
    let checkpoint = folder.path().join("log.checkpoint");
    let text = fs::read_to_string(&checkpoint).unwrap();
    assert!(text.contains(r#""mark":"4""#) && text.contains(r#""mark":"3""#));
    fs::write(&checkpoint, text.replace(r#""mark":"4""#, r#""mark":"5""#)).unwrap();
    assert_eq!(open(folder.path(), 100).1, "3");
    fs::write(&checkpoint, "\0\u{fffd}").unwrap();
    assert_eq!(open(folder.path(), 100).1, "");
}

#[test]
fn a_log_without_a_checkpoint_is_left_alone() {
    let folder = in_memory();
    fs::write(folder.path().join("log"), "of yesterday").unwrap();
    for _ in 0..2 {
        let (mut log, _) = KeptLog::resume(&folder.path().join("log"), folder.path(), 100).unwrap();
        assert!(log.has_ended());
        log.write(b"more");
        let mut text = Vec::new();
        assert_eq!(log.read_back(|bytes| text.extend_from_slice(bytes)).unwrap(), 0);
        assert_eq!(text, b"of yesterday");
        let kept = log.finish();
        let fault = kept.fault.unwrap().to_string();
        assert_text(
            named(fault, &[(folder.path().to_str().unwrap(), "FOLDER")]),
            str! {"it already existed without a checkpoint and was not changed"},
        );
    }
    assert_eq!(fs::read_to_string(folder.path().join("log")).unwrap(), "of yesterday");
}

#[test]
fn a_disk_that_takes_nothing_is_said_once_and_what_came_is_counted() {
    let full = File::options().read(true).write(true).open("/dev/full").unwrap();
    let folder = in_memory();
    let (mut log, _) = open(folder.path(), 100);
    log.write(b"abc");
    log.mark("3");
    log.head = full;
    log.write(b"def");
    log.mark("6");
    log.write(b"ghi");
    let kept = log.finish();
    assert_eq!(kept.fault.unwrap().raw_os_error(), Some(28));
    assert_eq!(kept.dropped, 9, "/dev/full holds nothing");
    let mut nowhere = KeptLog::nowhere(std::io::Error::other("no volume")).unwrap();
    nowhere.write(b"abc");
    nowhere.mark("3");
    let kept = nowhere.finish();
    assert_eq!((kept.dropped, kept.fault.unwrap().to_string().as_str()), (3, "no volume"));
}

#[test]
fn no_link_is_followed() {
    for name in ["log", "log.checkpoint", "log.tail-0"] {
        let folder = in_memory();
        let other = folder.path().join("other");
        fs::write(&other, "of somebody else").unwrap();
        std::os::unix::fs::symlink(&other, folder.path().join(name)).unwrap();
        let error = KeptLog::resume(&folder.path().join("log"), folder.path(), 100).unwrap_err();
        if name == "log" {
            assert_text(
                named(error, &[(folder.path().to_str().unwrap(), "FOLDER")]),
                str! {"its path is a link, and links are not followed"},
            );
        }
        assert_eq!(fs::read_to_string(other).unwrap(), "of somebody else", "{name}");
    }
}

#[test]
fn no_pipe_is_written_to() {
    let folder = in_memory();
    nix::unistd::mkfifo(&folder.path().join("log"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let error = KeptLog::resume(&folder.path().join("log"), folder.path(), 100).unwrap_err();
    assert_text(named(error, &[(folder.path().to_str().unwrap(), "FOLDER")]), str! {"its path is not a regular file"});
}
