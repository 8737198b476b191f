mod carried;
mod kill;
mod obstacles;
mod random;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use super::*;
use kubebench_compiler::tree::{EditedFiles, Filter, Operation, OutputFile, OutputTree, Scope, State, plan};
use kubebench_host::fs::lock;

fn manifest(source: &str, body: &str) -> OutputFile {
    OutputFile::new(source, None, body)
}

fn tree(files: &[(&str, &str)]) -> OutputTree {
    let mut tree = OutputTree::default();
    for (path, body) in files {
        tree.insert(*path, manifest("specs/x.yaml", body)).unwrap();
    }
    tree
}

fn put(root: &Path, path: &str, text: impl AsRef<[u8]>) {
    let place = root.join(path);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(place, text).unwrap();
}

fn put_own(root: &Path, path: &str, body: &str) {
    put(root, path, &*manifest("specs/gone.yaml", body).text);
}

fn compile(root: &Path, wanted: &OutputTree) -> anyhow::Result<()> {
    let on_disk = scan(root, wanted)?;
    apply(root, &plan(wanted, &on_disk, &Scope::default()).operations(std::process::id(), EditedFiles::Keep))
}

/// Returns every path below `root` with its bytes; folders end with a slash and have none.
fn listing(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            let shown = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if entry.file_type().unwrap().is_dir() {
                found.insert(format!("{shown}/"), Vec::new());
                waiting.push(path);
            } else {
                found.insert(shown, fs::read(path).unwrap_or_default());
            }
        }
    }
    found
}

fn copy(from: &Path, to: &Path) {
    for (path, bytes) in listing(from) {
        match path.strip_suffix('/') {
            Some(folder) => fs::create_dir_all(to.join(folder)).unwrap(),
            None => put(to, &path, bytes),
        }
    }
}

#[test]
fn a_compile_writes_the_tree_and_the_next_one_finds_nothing_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("deep/generated");
    let wanted = tree(&[("t/b/x.yaml", "a: 1\n"), ("t/pipeline/y.yaml", "b: 1\n")]);
    compile(&root, &wanted).unwrap();
    let found = listing(&root);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["t/", "t/b/", "t/b/x.yaml", "t/pipeline/", "t/pipeline/y.yaml"]);
    assert_eq!(found["t/b/x.yaml"], wanted.get("t/b/x.yaml").unwrap().text.as_bytes().to_vec());
    let on_disk = scan(&root, &OutputTree::default()).unwrap();
    assert!(plan(&wanted, &on_disk, &Scope::default()).is_clean());
    assert_eq!(
        scan(&folder.path().join("absent"), &OutputTree::default()).unwrap(),
        kubebench_compiler::tree::OnDisk::default()
    );
}

#[test]
fn identical_files_keep_their_time() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    compile(root, &tree(&[("t/same.yaml", "a: 1\n"), ("t/stale.yaml", "a: 1\n")])).unwrap();
    let past = SystemTime::now() - Duration::from_secs(1000);
    for path in ["t/same.yaml", "t/stale.yaml"] {
        fs::File::options().write(true).open(root.join(path)).unwrap().set_modified(past).unwrap();
    }
    let time = |path: &str| fs::metadata(root.join(path)).unwrap().modified().unwrap();
    let before = time("t/same.yaml");
    compile(root, &tree(&[("t/same.yaml", "a: 1\n"), ("t/stale.yaml", "a: 2\n")])).unwrap();
    assert_eq!(time("t/same.yaml"), before);
    assert_ne!(time("t/stale.yaml"), before);
}

#[cfg(unix)]
#[test]
fn manifests_are_readable_by_all_and_executable_by_none() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    compile(folder.path(), &tree(&[("t/x.yaml", "a: 1\n")])).unwrap();
    let mode = fs::metadata(folder.path().join("t/x.yaml")).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode & !0o644, 0, "{mode:o}");
    assert_eq!(mode & 0o600, 0o600, "{mode:o}");
}

#[test]
fn compiles_wait_for_one_another() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let (inside, waited) = (AtomicUsize::new(0), AtomicBool::new(false));
    let ready = std::sync::Barrier::new(4);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (inside, waited, ready) = (&inside, &waited, &ready);
            scope.spawn(move || {
                ready.wait();
                let guard = lock(root, || waited.store(true, Ordering::SeqCst)).unwrap();
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two compiles at once");
                compile(&root.join("generated"), &tree(&[("t/x.yaml", &format!("a: {number}\n"))])).unwrap();
                std::thread::sleep(Duration::from_millis(20));
                inside.fetch_sub(1, Ordering::SeqCst);
                drop(guard);
            });
        }
    });
    assert!(waited.into_inner(), "somebody must have been told");
    assert_eq!(listing(root).keys().collect::<Vec<_>>(), ["generated/", "generated/t/", "generated/t/x.yaml"]);
    assert!(lock(&root.join("absent"), || ()).is_err());
}

#[test]
fn a_diff_is_a_patch_that_git_applies() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let generated = root.join("generated");
    compile(&generated, &tree(&[("t/stale.yaml", "a: 1\nb: 2\n"), ("t/gone.yaml", "c: 3\n")])).unwrap();
    let wanted = tree(&[("t/stale.yaml", "a: 1\nb: 3\n"), ("u/new.yaml", "d: 4\n")]);
    let on_disk = scan(&generated, &OutputTree::default()).unwrap();
    let patch =
        plan(&wanted, &on_disk, &Scope::default()).diff("generated", kubebench_compiler::tree::diff::Style::Plain);
    put(root, "change.patch", patch);
    let git = std::process::Command::new("git").args(["apply", "change.patch"]).current_dir(root).status();
    match git {
        Err(error) => println!("skipped: no git: {error}"),
        Ok(status) => {
            assert!(status.success());
            let on_disk = scan(&generated, &OutputTree::default()).unwrap();
            assert!(plan(&wanted, &on_disk, &Scope::default()).is_clean());
        }
    }
}
