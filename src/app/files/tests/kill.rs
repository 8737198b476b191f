//! The next compile repairs whatever a killed one leaves.

use super::*;
use kubebench_testing::scratch::in_memory;

/// A tree in which every kind of step happens, and things that do not matter.
fn before(root: &Path) {
    put_own(root, "t/stale/x.yaml", "a: 0\n");
    put_own(root, "t/gone/x.yaml", "a: 1\n");
    put_own(root, "t/gone/y.yaml", "a: 1\n");
    put_own(root, "old/b/x.yaml", "a: 1\n");
    put_own(root, "old/c/deep/x.yaml", "a: 1\n");
    put_own(root, "shared/x.yaml", "a: 1\n");
    put_own(root, "half/x.yaml", "a: 1\n");
    put(root, "half/.y.yaml.1.kubebench-tmp", "a");
    for (path, text) in FOREIGN {
        put(root, path, text);
    }
    fs::create_dir_all(root.join("empty/and/foreign")).unwrap();
}

const FOREIGN: [(&str, &str); 3] =
    [("shared/mine.yaml", "kind: Secret\n"), ("t/notes.txt", "mine\n"), ("other/README.md", "mine\n")];

fn wanted() -> OutputTree {
    tree(&[
        ("t/stale/x.yaml", "a: 1\n"),
        ("t/new/x.yaml", "a: 1\n"),
        ("u/b/x.yaml", "a: 1\n"),
        ("u/b/y.yaml", "a: 1\n"),
    ])
}

fn expected() -> BTreeMap<String, Vec<u8>> {
    let mut expected = BTreeMap::new();
    for folder in
        ["t/", "t/stale/", "t/new/", "u/", "u/b/", "shared/", "other/", "empty/", "empty/and/", "empty/and/foreign/"]
    {
        expected.insert(folder.to_owned(), Vec::new());
    }
    for (path, text) in FOREIGN {
        expected.insert(path.to_owned(), text.as_bytes().to_vec());
    }
    for (path, file) in wanted().iter() {
        expected.insert(path.to_owned(), file.text.as_bytes().to_vec());
    }
    expected
}

/// Carries out the first `count` steps that the tree in `root` asks for, and returns how many there are.
fn interrupted(root: &Path, pid: u32, count: usize) -> usize {
    let (wanted, on_disk) = (wanted(), scan(root, &wanted()).unwrap());
    let plan = plan(&wanted, &on_disk, &Scope::default());
    let operations = plan.operations(pid, EditedFiles::Keep);
    let count = count.min(operations.len());
    apply(root, &operations[..count]).unwrap();
    if let Some(Operation::WriteTemp { temp, bytes, .. }) = operations.get(count) {
        put(root, temp, &bytes[..bytes.len() / 2]);
    }
    operations.len()
}

#[test]
fn killed_after_any_step() {
    let original = in_memory();
    before(original.path());
    let mut reached = 0;
    for count in 0.. {
        let folder = in_memory();
        copy(original.path(), folder.path());
        let total = interrupted(folder.path(), 7, count);
        for (path, text) in FOREIGN {
            assert_eq!(fs::read_to_string(folder.path().join(path)).unwrap(), text, "after {count} steps");
        }
        compile(folder.path(), &wanted()).unwrap();
        assert_eq!(listing(folder.path()), expected(), "after {count} of {total} steps");
        reached = count;
        if count >= total {
            break;
        }
    }
    assert!(reached >= 30, "the tree should ask for many steps, not {reached}");
}

#[test]
fn killed_twice_with_the_same_or_another_pid() {
    let original = in_memory();
    before(original.path());
    for pid in [7, 8] {
        for first in 0..30 {
            for second in [1, 2, 3, 5, 9] {
                let folder = in_memory();
                copy(original.path(), folder.path());
                interrupted(folder.path(), 7, first);
                interrupted(folder.path(), pid, second);
                let (wanted, on_disk) = (wanted(), scan(folder.path(), &wanted()).unwrap());
                let plan = plan(&wanted, &on_disk, &Scope::default());
                apply(folder.path(), &plan.operations(7, EditedFiles::Keep)).unwrap();
                assert_eq!(listing(folder.path()), expected(), "after {first} and {second} steps, pid {pid}");
            }
        }
    }
}

#[test]
fn every_prefix_leaves_only_whole_manifests() {
    let original = in_memory();
    before(original.path());
    let (old, new) = (listing(original.path()), expected());
    for count in 0..60 {
        let folder = in_memory();
        copy(original.path(), folder.path());
        interrupted(folder.path(), 7, count);
        for (path, bytes) in listing(folder.path()) {
            let temporary = path.ends_with(".kubebench-tmp");
            assert!(
                temporary || old.get(&path) == Some(&bytes) || new.get(&path) == Some(&bytes),
                "{path} after {count}"
            );
        }
    }
}
