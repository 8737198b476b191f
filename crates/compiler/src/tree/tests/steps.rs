use super::disk::{made_for, temporary};
use super::*;

fn shown(operations: &[Operation<'_>]) -> Vec<String> {
    operations
        .iter()
        .map(|operation| match operation {
            Operation::RemoveStaleTemp { path } => format!("clean {path}"),
            Operation::CreateDir { path } => format!("mkdir {path}"),
            Operation::WriteTemp { temp, .. } => format!("write {temp}"),
            Operation::Rename { from, to } => format!("rename {from} {to}"),
            Operation::DeleteFile { path } => format!("delete {path}"),
            Operation::RemoveDir { path } => format!("rmdir {path}"),
        })
        .collect()
}

fn steps(wanted: &OutputTree, on_disk: &OnDisk) -> Vec<String> {
    shown(&plan(wanted, on_disk, &Scope::default()).operations(7, EditedFiles::Keep))
}

#[test]
fn temporary_names_are_hidden_and_recognized() {
    assert_eq!(temporary("t/b/x.yaml", 7), "t/b/.x.yaml.7.kubebench-tmp");
    assert_eq!(made_for("t/b/.x.yaml.7.kubebench-tmp").as_deref(), Some("t/b/x.yaml"));
    assert_eq!(made_for(&temporary("t", 1)).as_deref(), Some("t"));
    for other in
        ["x.yaml", ".kubebench-tmp", ".7.kubebench-tmp", ".x.kubebench-tmp", ".x.y.kubebench-tmp", "x.7.kubebench-tmp"]
    {
        assert_eq!(made_for(other), None, "{other}");
    }
}

#[test]
fn a_first_compile_makes_folders_then_files() {
    let wanted = tree(&[("t/b/x.yaml", "a: 1\n"), ("t/c/x.yaml", "a: 1\n")]);
    assert_eq!(
        steps(&wanted, &OnDisk::default()),
        [
            "mkdir ",
            "mkdir t",
            "mkdir t/b",
            "mkdir t/c",
            "write t/b/.x.yaml.7.kubebench-tmp",
            "rename t/b/.x.yaml.7.kubebench-tmp t/b/x.yaml",
            "write t/c/.x.yaml.7.kubebench-tmp",
            "rename t/c/.x.yaml.7.kubebench-tmp t/c/x.yaml",
        ]
    );
}

#[test]
fn deletes_come_last_and_folders_leave_a_mark() {
    let wanted = tree(&[("new/x.yaml", "a: 1\n")]);
    let on_disk = disk([
        ("t/b/x.yaml", written("s", "a: 1\n")),
        ("t/b/y.yaml", written("s", "a: 1\n")),
        ("t/c/x.yaml", written("s", "a: 1\n")),
        ("u/x.yaml", written("s", "a: 1\n")),
        ("u/mine.txt", Found::File(b"mine".to_vec())),
    ]);
    assert_eq!(
        steps(&wanted, &on_disk),
        [
            "mkdir new",
            "write new/.x.yaml.7.kubebench-tmp",
            "rename new/.x.yaml.7.kubebench-tmp new/x.yaml",
            "delete t/b/x.yaml",
            "delete u/x.yaml",
            "rename t/b/y.yaml t/.b.7.kubebench-tmp",
            "rmdir t/b",
            "rename t/c/x.yaml t/.c.7.kubebench-tmp",
            "rmdir t/c",
            "clean t/.c.7.kubebench-tmp",
            "rename t/.b.7.kubebench-tmp .t.7.kubebench-tmp",
            "rmdir t",
            "clean .t.7.kubebench-tmp",
        ]
    );
}

#[test]
fn an_empty_folder_goes_only_with_proof() {
    let mut on_disk = disk([]);
    on_disk.folders.extend(["mine", "t", "t/b"].map(str::to_owned));
    assert_eq!(steps(&OutputTree::default(), &on_disk), [""; 0]);
    on_disk.leftovers.insert("t/.b.9.kubebench-tmp".to_owned());
    assert_eq!(
        steps(&OutputTree::default(), &on_disk),
        ["rmdir t/b", "rename t/.b.9.kubebench-tmp .t.7.kubebench-tmp", "rmdir t", "clean .t.7.kubebench-tmp"]
    );
}

#[test]
fn leftovers_go_first_so_that_a_reused_pid_is_no_obstacle() {
    let wanted = tree(&[("t/x.yaml", "a: 1\n")]);
    let mut on_disk = disk([("t/y.yaml", Found::File(b"mine".to_vec()))]);
    on_disk.leftovers.insert("t/.x.yaml.7.kubebench-tmp".to_owned());
    assert_eq!(
        steps(&wanted, &on_disk),
        [
            "clean t/.x.yaml.7.kubebench-tmp",
            "write t/.x.yaml.7.kubebench-tmp",
            "rename t/.x.yaml.7.kubebench-tmp t/x.yaml",
        ]
    );
}

#[test]
fn folders_outside_the_selection_stay() {
    let wanted = tree(&[("t/b/x.yaml", "a: 1\n")]);
    let on_disk = disk([("t/b/old.yaml", written("specs/old.yaml", "a: 1\n"))]);
    let scope = Scope { sources: Filter::Only(["specs/old.yaml".to_owned()].into()), ..Scope::default() };
    let steps = shown(&plan(&wanted, &on_disk, &scope).operations(7, EditedFiles::Keep));
    assert_eq!(steps, ["delete t/b/old.yaml"]);
}
