//! Links, pipes, folders in the way, and file systems that refuse.
#![cfg(unix)]

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

fn state_of(root: &Path, wanted: &OutputTree, path: &str) -> State {
    let on_disk = scan(root, &OutputTree::default()).unwrap();
    let plan = plan(wanted, &on_disk, &Scope::default());
    assert_eq!(plan.operations(1, EditedFiles::Overwrite), [], "{path}");
    plan.changes.iter().find(|change| change.path == path).unwrap().state.clone()
}

fn not_regular(by: &str, kind: &'static str) -> State {
    State::NotRegular { by: by.to_owned(), kind }
}

fn pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn links_are_neither_followed_nor_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (root, outside) = (folder.path().join("generated"), folder.path().join("outside"));
    put_own(&outside, "t/x.yaml", "a: 0\n");
    let before = listing(&outside);
    let wanted = tree(&[("t/x.yaml", "a: 1\n")]);

    fs::create_dir_all(root.join("t")).unwrap();
    symlink(outside.join("t/x.yaml"), root.join("t/x.yaml")).unwrap();
    assert_eq!(state_of(&root, &wanted, "t/x.yaml"), not_regular("t/x.yaml", "symbolic link"));

    fs::remove_dir_all(root.join("t")).unwrap();
    symlink(outside.join("t"), root.join("t")).unwrap();
    assert_eq!(state_of(&root, &wanted, "t/x.yaml"), not_regular("t", "symbolic link"));

    fs::remove_dir_all(&root).unwrap();
    symlink(&outside, &root).unwrap();
    assert_eq!(state_of(&root, &wanted, "t/x.yaml"), not_regular("", "symbolic link"));

    fs::remove_file(&root).unwrap();
    fs::create_dir_all(root.join("t")).unwrap();
    symlink("nowhere", root.join("t/x.yaml")).unwrap();
    assert_eq!(state_of(&root, &wanted, "t/x.yaml"), not_regular("t/x.yaml", "symbolic link"));
    assert_eq!(listing(&outside), before);
}

#[test]
fn a_pipe_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("t")).unwrap();
    pipe(&folder.path().join("t/x.yaml"));
    let wanted = tree(&[("t/x.yaml", "a: 1\n")]);
    assert_eq!(state_of(folder.path(), &wanted, "t/x.yaml"), not_regular("t/x.yaml", "named pipe"));
}

#[test]
fn folders_and_files_in_the_way() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("t/x.yaml")).unwrap();
    put(folder.path(), "u", "a file");
    let wanted = tree(&[("t/x.yaml", "a: 1\n"), ("u/x.yaml", "a: 1\n")]);
    assert_eq!(state_of(folder.path(), &wanted, "t/x.yaml"), not_regular("t/x.yaml", "folder"));
    assert_eq!(state_of(folder.path(), &wanted, "u/x.yaml"), not_regular("u", "file"));
}

/// What a step that was planned does when the disk has changed since.
#[test]
fn a_link_that_appears_after_the_plan_stops_the_compile() {
    let folder = tempfile::tempdir().unwrap();
    let (root, outside) = (folder.path().join("generated"), folder.path().join("outside"));
    put(&outside, "x.yaml", "precious");
    fs::create_dir_all(&root).unwrap();
    symlink(&outside, root.join("t")).unwrap();
    fs::create_dir(root.join("u")).unwrap();
    symlink(outside.join("x.yaml"), root.join("u/x.yaml")).unwrap();
    put(&root, "u/new", "new");
    let own = |path: &str| path.to_owned();
    let steps = [
        Operation::WriteTemp { path: own("t/y.yaml"), temp: own("t/.y.yaml.1.kubebench-tmp"), bytes: b"a" },
        Operation::DeleteFile { path: own("t/x.yaml") },
        Operation::RemoveStaleTemp { path: own("t/x.yaml") },
        Operation::Rename { from: own("u/new"), to: own("t/x.yaml") },
        Operation::Rename { from: own("u/new"), to: own("u/x.yaml") },
        Operation::CreateDir { path: own("t/new") },
        Operation::RemoveDir { path: own("t/new") },
        Operation::DeleteFile { path: own("u/x.yaml") },
        Operation::DeleteFile { path: own("u") },
        Operation::DeleteFile { path: own("../outside/x.yaml") },
        Operation::WriteTemp { path: own("u/x.yaml"), temp: own("u/x.yaml"), bytes: b"a" },
    ];
    for step in steps {
        let error = format!("{:#}", apply(&root, std::slice::from_ref(&step)).unwrap_err());
        assert!(error.contains(root.to_str().unwrap()), "{step:?}: {error}");
    }
    assert_eq!(listing(&outside).into_iter().collect::<Vec<_>>(), [("x.yaml".to_owned(), b"precious".to_vec())]);
    assert!(fs::symlink_metadata(root.join("u/x.yaml")).unwrap().is_symlink());
}

#[test]
fn a_folder_that_got_company_stays() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "t/mine", "mine");
    let steps = [
        Operation::RemoveDir { path: "t".to_owned() },
        Operation::RemoveDir { path: "absent".to_owned() },
        Operation::DeleteFile { path: "t/absent".to_owned() },
    ];
    apply(folder.path(), &steps).unwrap();
    assert_eq!(listing(folder.path()).len(), 2);
}

/// The superuser may write anywhere but below `/sys`.
#[test]
fn a_read_only_tree_is_named() {
    let wanted = tree(&[("t/x.yaml", "a: 1\n")]);
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let superuser = fs::write(folder.path().join("probe"), "").is_ok();
    let read_only = if superuser { Path::new("/sys/kernel") } else { folder.path() };
    if superuser && !read_only.is_dir() {
        println!("skipped: the superuser, and no /sys");
        return;
    }
    let on_disk = kubebench_compiler::tree::OnDisk { folders: [String::new()].into(), ..Default::default() };
    let plan = plan(&wanted, &on_disk, &Scope::default());
    let error = format!("{:#}", apply(read_only, &plan.operations(1, EditedFiles::Keep)).unwrap_err());
    let place = read_only.join("t");
    assert!(error.starts_with(&format!("cannot create the folder `{}`: ", place.display())), "{error}");
    assert!(lock(read_only, || ()).is_ok());
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn an_unreadable_file_is_recorded_and_the_rest_is_read() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "t/x.yaml", "a");
    put(folder.path(), "t/y.yaml", "b");
    fs::set_permissions(folder.path().join("t/x.yaml"), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(folder.path().join("t/x.yaml")).is_ok() {
        println!("skipped: the superuser reads everything");
        return;
    }
    let on_disk = scan(folder.path(), &OutputTree::default()).unwrap();
    assert_eq!(
        on_disk.entries["t/x.yaml"],
        kubebench_compiler::tree::Found::Unreadable("permission denied".to_owned())
    );
    assert_eq!(on_disk.entries["t/y.yaml"], kubebench_compiler::tree::Found::File(b"b".to_vec()));
}

#[test]
fn huge_files_and_strange_names_are_only_looked_at() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().unwrap();
    fs::File::create(folder.path().join("huge.yaml")).unwrap().set_len(1 << 40).unwrap();
    let strange = folder.path().join(std::ffi::OsStr::from_bytes(b"\xff.yaml"));
    fs::write(&strange, &*manifest("specs/gone.yaml", "a: 1\n").text).unwrap();
    let on_disk = scan(folder.path(), &OutputTree::default()).unwrap();
    assert!(
        matches!(&on_disk.entries["huge.yaml"], kubebench_compiler::tree::Found::Large(head) if head.len() == 4096)
    );
    let wanted = tree(&[]);
    assert_eq!(plan(&wanted, &on_disk, &Scope::default()).operations(1, EditedFiles::Overwrite), []);
}
