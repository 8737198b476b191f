use kubebench_testing::snapshot::{assert_text, str};

use super::*;

fn paths(reads: &[Read]) -> Vec<&str> {
    reads.iter().map(|read| read.path.as_str()).collect()
}

fn strings(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

#[test]
fn folders_are_walked_whatever_their_name() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for path in [
        "specs/b.yaml",
        "specs/a.yml",
        "specs/x.yaml/c.yaml",
        "specs/README.md",
        "specs/.hidden.yaml",
        "specs/.d/e.yaml",
    ] {
        put(root, path, path);
    }
    let reads = read_sources(root, &strings(&["specs"]));
    assert_eq!(paths(&reads), ["specs/a.yml", "specs/b.yaml", "specs/x.yaml/c.yaml"]);
    assert_eq!(reads[1].content, Content::Whole(b"specs/b.yaml".to_vec()));
    let again = read_sources(root, &strings(&["specs/x.yaml", "./specs/", "specs/../specs/b.yaml"]));
    assert_eq!(reads, again);
    assert_eq!(read_sources(root, &strings(&["."])), reads);
}

#[test]
fn what_is_not_there_or_outside_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let reads = read_sources(folder.path(), &strings(&["specs", "../x", "/etc/passwd"]));
    assert_eq!(paths(&reads), ["../x", "/etc/passwd", "specs"]);
    assert_eq!(reads[2].content, Content::Absent);
    assert!(reads[..2].iter().all(|read| matches!(read.content, Content::Refused(_))));
}

#[test]
fn a_long_file_is_cut_after_one_byte_too_many() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "specs/fits.yaml", vec![b'a'; SPEC_LIMIT]);
    put(folder.path(), "specs/long.yaml", vec![b'a'; 2 * SPEC_LIMIT]);
    let reads = read_sources(folder.path(), &strings(&["specs"]));
    assert!(matches!(&reads[0].content, Content::Whole(bytes) if bytes.len() == SPEC_LIMIT));
    assert!(matches!(&reads[1].content, Content::TooLong(bytes) if bytes.len() == SPEC_LIMIT + 1));
}

#[cfg(unix)]
#[test]
fn links_and_pipes_are_refused() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    put(root, "outside/x.yaml", "secret");
    fs::create_dir(root.join("specs")).unwrap();
    symlink("../outside/x.yaml", root.join("specs/link.yaml")).unwrap();
    symlink("nowhere", root.join("specs/dangling.yml")).unwrap();
    symlink("../outside", root.join("specs/folder")).unwrap();
    symlink("../outside/x.yaml", root.join("specs/note.txt")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(root.join("specs/pipe.yaml")).status().unwrap().success());
    let reads = read_sources(root, &strings(&["specs", "specs/folder/x.yaml"]));
    assert_eq!(paths(&reads), ["specs/dangling.yml", "specs/folder", "specs/link.yaml", "specs/pipe.yaml"]);
    for read in &reads[..3] {
        let Content::Refused(reason) = &read.content else { panic!("{read:?}") };
        assert_text(reason, str! {"it is a symbolic link, and specs are only read from this repository"});
    }
    let Content::Refused(reason) = &reads[3].content else { panic!("{:?}", reads[3]) };
    assert_text(reason, str! {"it is a named pipe"});
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_does_not_hide_the_others() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "specs/a.yaml", "a");
    put(folder.path(), "specs/b.yaml", "b");
    fs::set_permissions(folder.path().join("specs/a.yaml"), fs::Permissions::from_mode(0o000)).unwrap();
    let reads = read_sources(folder.path(), &strings(&["specs"]));
    assert_eq!(reads.len(), 2);
    if matches!(reads[0].content, Content::Whole(_)) {
        println!("skipped: the superuser reads everything");
        return;
    }
    assert_eq!(reads[0].content, Content::Unreadable("permission denied".to_owned()));
}
