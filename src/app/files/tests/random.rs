//! Any tree on disk becomes any wanted tree, in one compile, and foreign things stay.

use proptest::prelude::*;

use super::*;
use kubebench_testing::scratch::in_memory;

fn path() -> impl Strategy<Value = String> {
    (0..3, 0..3, 0..3).prop_map(|(a, b, c)| match (a, b) {
        (0, 0) => format!("file{c}.yaml"),
        (_, 0) => format!("t{a}/file{c}.yaml"),
        (_, _) => format!("t{a}/b{b}/file{c}.yaml"),
    })
}

#[derive(Clone, Debug)]
enum OldFile {
    Own(u8),
    Crlf(u8),
    Edited,
    Foreign,
    Leftover(u8),
    EmptyFolder,
}

fn old_file() -> impl Strategy<Value = OldFile> {
    prop_oneof![
        4 => (0..3u8).prop_map(OldFile::Own),
        1 => (0..3u8).prop_map(OldFile::Crlf),
        1 => Just(OldFile::Edited),
        1 => Just(OldFile::Foreign),
        1 => (7..9u8).prop_map(OldFile::Leftover),
        1 => Just(OldFile::EmptyFolder),
    ]
}

fn body(number: u8) -> String {
    format!("a: {number}\n")
}

fn lay(root: &Path, path: &str, old: &OldFile) {
    match old {
        OldFile::Own(number) => put_own(root, path, &body(*number)),
        OldFile::Crlf(number) => {
            put(root, path, manifest("specs/x.yaml", &body(*number)).text.replace('\n', "\r\n"));
        }
        OldFile::Edited => put(root, path, format!("{}edited: 1\n", manifest("specs/x.yaml", "a: 1\n").text)),
        OldFile::Foreign => put(root, path, "foreign: 1\n"),
        OldFile::Leftover(pid) => put(root, &kubebench_compiler::tree::disk::temporary(path, u32::from(*pid)), "half"),
        OldFile::EmptyFolder => fs::create_dir_all(root.join(path.trim_end_matches(".yaml"))).unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn plan_and_apply_converge(
        old in proptest::collection::btree_map(path(), old_file(), 0..12),
        new in proptest::collection::btree_map(path(), 0..3u8, 0..8),
        cut in 0..60usize,
    ) {
        let folder = in_memory();
        let root = folder.path();
        for (path, old) in &old {
            lay(root, path, old);
        }
        let before = listing(root);
        let mut wanted = OutputTree::default();
        for (path, number) in &new {
            wanted.insert(path.clone(), manifest("specs/x.yaml", &body(*number))).unwrap();
        }

        let on_disk = scan(root, &wanted).unwrap();
        let interrupted = plan(&wanted, &on_disk, &Scope::default());
        let operations = interrupted.operations(7, EditedFiles::Keep);
        apply(root, &operations[..cut.min(operations.len())]).unwrap();
        compile(root, &wanted).unwrap();

        let (after, on_disk) = (listing(root), scan(root, &wanted).unwrap());
        let second = plan(&wanted, &on_disk, &Scope::default());
        prop_assert_eq!(second.operations(7, EditedFiles::Keep), []);
        let kept = |old: &OldFile| matches!(old, OldFile::Edited | OldFile::Foreign);
        for (path, number) in &new {
            if !old.get(path).is_some_and(kept) {
                let text = manifest("specs/x.yaml", &body(*number)).text;
                prop_assert_eq!(&after[path], text.as_bytes());
            }
        }
        for (path, old) in &old {
            match old {
                OldFile::Edited | OldFile::Foreign => prop_assert_eq!(&after[path], &before[path]),
                OldFile::EmptyFolder => {
                    let folder = format!("{}/", path.trim_end_matches(".yaml"));
                    prop_assert!(after.contains_key(&folder));
                }
                OldFile::Own(_) | OldFile::Crlf(_) => prop_assert_eq!(after.contains_key(path), new.contains_key(path)),
                OldFile::Leftover(_) => {}
            }
        }
        prop_assert!(after.keys().all(|path| !path.ends_with(".kubebench-tmp")));
        let needed = |folder: &str| after.keys().any(|path| path.starts_with(folder) && path != folder);
        for folder in after.keys().filter(|path| path.ends_with('/') && !path.contains("file")) {
            prop_assert!(needed(folder), "{} is empty", folder);
        }
    }

    #[test]
    fn a_selection_leaves_the_rest_alone(
        old in proptest::collection::btree_map(path(), old_file(), 0..12),
        new in proptest::collection::btree_map(path(), 0..3u8, 0..8),
    ) {
        let folder = in_memory();
        let root = folder.path();
        for (path, old) in old.iter().filter(|(_, old)| !matches!(old, OldFile::Leftover(_))) {
            lay(root, path, old);
        }
        let before = listing(root);
        let mut wanted = OutputTree::default();
        for (path, number) in &new {
            wanted.insert(path.clone(), manifest("specs/x.yaml", &body(*number))).unwrap();
        }
        let on_disk = scan(root, &wanted).unwrap();
        let scope = Scope { targets: Filter::Only(["t1".to_owned()].into()), ..Scope::default() };
        apply(root, &plan(&wanted, &on_disk, &scope).operations(7, EditedFiles::Keep)).unwrap();
        let elsewhere = |all: BTreeMap<String, Vec<u8>>| -> BTreeMap<String, Vec<u8>> {
            all.into_iter().filter(|(path, _)| !path.starts_with("t1/")).collect()
        };
        prop_assert_eq!(elsewhere(listing(root)), elsewhere(before));
    }
}
