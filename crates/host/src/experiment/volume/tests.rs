use std::os::unix::fs::symlink;

use kubebench_testing::snapshot::{assert_text, str};

use super::*;

fn run() -> (tempfile::TempDir, RunFolder) {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("disk-01234567/result")).unwrap();
    std::fs::write(root.path().join("outside"), "of another").unwrap();
    let folder = RunFolder::open(root.path(), "disk-01234567").unwrap();
    (root, folder)
}

fn refusal(folder: &RunFolder, path: &str) -> String {
    folder.read(path, 9).unwrap_err().to_string()
}

#[test]
fn reads_regular_files_and_no_more_than_wanted() {
    let (_root, folder) = run();
    std::fs::write(folder.place().join("result/whole"), "123456789").unwrap();
    std::fs::write(folder.place().join("result/longer"), "1234567890123").unwrap();
    assert_eq!(folder.read("result/whole", 9).unwrap().unwrap(), b"123456789");
    assert_eq!(folder.read("result/longer", 9).unwrap().unwrap().len(), 10);
    assert_eq!(folder.read("result/none", 9).unwrap(), None);
    assert_eq!(folder.read("none/at/all", 9).unwrap(), None);
}

#[test]
fn follows_no_link_and_waits_for_nothing() {
    let (root, folder) = run();
    symlink(root.path().join("outside"), folder.place().join("result/link")).unwrap();
    symlink(root.path(), folder.place().join("out")).unwrap();
    nix::unistd::mkfifo(&folder.place().join("result/pipe"), Mode::S_IRWXU).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.place().join("result/socket")).unwrap();
    assert_text(refusal(&folder, "result/link"), str! {"it is a symbolic link"});
    assert_text(refusal(&folder, "out/outside"), str! {"a link or a file is where a folder should be"});
    assert_text(refusal(&folder, "result/pipe"), str! {"it is not a regular file"});
    assert_text(refusal(&folder, "result/socket"), str! {"it is not a regular file"});
    assert_text(refusal(&folder, "result"), str! {"it is not a regular file"});
    symlink(root.path().join("disk-01234567"), root.path().join("disk-aaaaaaaa")).unwrap();
    assert!(RunFolder::open(root.path(), "disk-aaaaaaaa").is_err());
}

#[test]
fn puts_a_file_instead_of_a_link() {
    let (root, folder) = run();
    symlink(root.path().join("outside"), folder.place().join("marker")).unwrap();
    folder.put("marker", b"ours").unwrap();
    assert_eq!(std::fs::read_to_string(root.path().join("outside")).unwrap(), "of another");
    assert_eq!(folder.read("marker", 9).unwrap().unwrap(), b"ours");
    folder.put("result", b"no").unwrap_err();
    let left: Vec<String> = run_folders(folder.place(), |_| true).unwrap();
    assert_eq!(left, ["marker", "result"]);
}

#[test]
fn stays_in_the_folder_that_was_opened() {
    let (root, folder) = run();
    std::fs::rename(folder.place(), root.path().join("moved")).unwrap();
    symlink(root.path(), folder.place()).unwrap();
    folder.put("marker", b"ours").unwrap();
    assert!(root.path().join("moved/marker").exists() && !root.path().join("marker").exists());
}

#[test]
fn makes_folders_instead_of_links_and_files() {
    let root = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    for linked in ["disk-01234567", "disk-01234567/output", "disk-01234567/output/logs"] {
        std::fs::create_dir_all(root.path().join(linked).parent().unwrap()).unwrap();
        symlink(outside.path(), root.path().join(linked)).unwrap();
        RunFolder::make(root.path(), "disk-01234567/output/logs").unwrap().put("job-0.log", b"ours").unwrap();
        assert!(root.path().join("disk-01234567/output/logs/job-0.log").is_file());
        assert!(root.path().join(format!("{linked}.foreign")).is_symlink(), "it is kept for those who wonder");
        std::fs::remove_dir_all(root.path().join(linked)).unwrap();
    }
    let run = RunFolder::make(root.path(), "disk-01234567").unwrap();
    std::fs::write(run.place().join("result"), "a file").unwrap();
    run.put("result/result.json", b"ours").unwrap();
    assert_eq!(run.read("result/result.json", 9).unwrap().unwrap(), b"ours");
    assert_eq!(run.read("result.foreign", 9).unwrap().unwrap(), b"a file");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn puts_aside_whatever_it_is() {
    let (_root, folder) = run();
    let place = folder.place().join("result/result.json");
    folder.put_aside("result/result.json").unwrap();
    folder.put_aside("none/at/all").unwrap();
    for kind in ["link", "file", "another file", "folder", "another folder"] {
        match kind {
            "link" => symlink("/", &place).unwrap(),
            _ if kind.ends_with("folder") => std::fs::create_dir_all(place.join("in it")).unwrap(),
            _ => std::fs::write(&place, kind).unwrap(),
        }
        folder.put_aside("result/result.json").unwrap();
        assert!(place.symlink_metadata().is_err(), "{kind}");
    }
    assert_eq!(folder.read("result/result.json.foreign", 20).unwrap().unwrap(), b"another file");
    assert_eq!(
        run_folders(&folder.place().join("result"), |name| name.starts_with("result.json.foreign-")).unwrap().len(),
        2
    );
}

/// The group of the tests' own process is one that its files may be given to.
#[test]
fn only_what_a_job_cannot_have_written_is_closed_to_it() {
    let root = tempfile::tempdir().unwrap();
    let group = nix::unistd::getegid().as_raw();
    let run = RunFolder::make(root.path(), "disk-01234567").unwrap();
    let output = run.make_below("output").unwrap();
    run.put("result.json", b"{}").unwrap();
    let mode = |path: &str| {
        let metadata = std::fs::metadata(run.place().join(path)).unwrap();
        std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777
    };
    let change = |path: &str, mode: u32| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(run.place().join(path), mode).unwrap();
    };
    assert!(!run.is_closed_to(group, "result.json").unwrap(), "a volume that shows no modes cannot tell");
    output.open_to(group).unwrap();
    assert_eq!([mode(""), mode("output"), mode("result.json")], [0o755, 0o3770, 0o644]);
    assert!(run.is_closed_to(group, "result.json").unwrap());
    assert!(!run.is_closed_to(group + 1, "result.json").unwrap());
    for (path, open) in [("", 0o775), ("", 0o757), ("result.json", 0o664), ("result.json", 0o646), ("output", 0o777)] {
        let before = mode(path);
        change(path, open);
        assert!(!run.is_closed_to(group, "result.json").unwrap(), "{path} {open:o}");
        change(path, before);
    }
    assert!(run.is_closed_to(group, "result.json").unwrap());
    run.is_closed_to(group, "none").unwrap_err();
}

/// A user who may not give a folder to a group opens it to everybody, as on a volume that keeps no groups.
#[test]
fn a_folder_that_no_group_can_have_is_open_to_everybody() {
    if geteuid().is_root() {
        // Root may give it to any group: the case is that of every other user.
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let run = RunFolder::make(root.path(), "disk-01234567").unwrap();
    let output = run.make_below("output").unwrap();
    output.open_to(4_000_000_000).unwrap();
    let mode = std::fs::metadata(output.place()).unwrap().permissions();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o7777, 0o1777);
}
