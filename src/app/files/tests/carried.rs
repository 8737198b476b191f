//! Files that specs carry: read whole, or not at all.

use super::*;
use kubebench_compiler::lower::Unreadable;
use kubebench_compiler::model::carried::MAX_BYTES;

#[test]
fn regular_files_are_read_up_to_the_limit() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    fs::create_dir_all(root.join("a/b")).unwrap();
    for (path, size) in [("a/b/x", 3), ("empty", 0), ("largest", MAX_BYTES), ("larger", MAX_BYTES + 1)] {
        fs::write(root.join(path), vec![0_u8; size]).unwrap();
    }
    let sizes = ["a/b/x", "empty", "largest"].map(|path| read_carried(root, None, path).map(|bytes| bytes.len()));
    assert_eq!(sizes, [Ok(3), Ok(0), Ok(MAX_BYTES)]);
    assert_eq!(read_carried(root, None, "larger"), Err(Unreadable::TooLarge));
    assert_eq!(read_carried(root, None, "a/b"), Err(Unreadable::Refused("it is a folder".to_owned())));
    for path in ["..", "../x", "/etc/passwd", "a/../../x", "", "."] {
        let refused = read_carried(root, None, path).unwrap_err();
        assert_eq!(refused, Unreadable::Refused("it is outside the project".to_owned()), "{path}");
    }
}

#[test]
fn what_may_have_been_meant_is_proposed() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    for folder in ["scripts", "other"] {
        fs::create_dir(root.join(folder)).unwrap();
        fs::write(root.join(folder).join("bench.sh"), "").unwrap();
    }
    let beside = |path: &str| match read_carried(root, None, path) {
        Err(Unreadable::Absent { beside }) => beside.join(" "),
        other => panic!("{other:?}"),
    };
    assert_eq!(beside("scripts/benhc.sh"), "scripts/bench.sh");
    assert_eq!(beside("script/bench.sh"), "other/bench.sh scripts/bench.sh");
    assert_eq!(beside("scripts/bench.sh/x"), "");
    assert_eq!(beside("x/y/z"), "");
}

#[cfg(unix)]
#[test]
fn nothing_else_is_opened() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    std::os::unix::fs::symlink("/etc/passwd", root.join("link")).unwrap();
    std::os::unix::fs::symlink("/etc", root.join("folder")).unwrap();
    // Opening it would wait for a writer forever.
    let made = std::process::Command::new("mkfifo").arg(root.join("pipe")).status().unwrap();
    assert!(made.success());
    let reason = |path: &str| match read_carried(root, None, path) {
        Err(Unreadable::Refused(reason)) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason("link"), "it is a symbolic link");
    assert_eq!(reason("folder/passwd"), "`folder` is a symbolic link");
    assert_eq!(reason("pipe"), "it is a named pipe");
}

#[test]
fn an_editor_offers_files_of_the_project_alone() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for path in
        ["scripts/b.sh", "a.sh", "generated/t/x.yaml", ".git/config", ".hidden", "other/kubebench.yaml", "other/c.sh"]
    {
        let place = root.join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, "").unwrap();
    }
    #[cfg(unix)]
    {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "").unwrap();
        std::os::unix::fs::symlink(outside.path(), root.join("linked")).unwrap();
        std::os::unix::fs::symlink(root.join("a.sh"), root.join("link.sh")).unwrap();
    }
    assert_eq!(listed(root, &["generated".to_owned()]), ["a.sh", "scripts/b.sh"]);
    assert_eq!(listed(&root.join("none"), &[]), [""; 0]);
}
