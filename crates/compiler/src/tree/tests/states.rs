use kubebench_testing::snapshot::{assert_text, assert_texts, str};

use super::plan::Summary;
use super::*;

fn states<'a>(plan: &'a Plan<'_>) -> Vec<(&'a str, &'a State)> {
    plan.changes.iter().map(|change| (change.path, &change.state)).collect()
}

fn only(names: &[&str]) -> Filter {
    Filter::Only(names.iter().map(|name| (*name).to_owned()).collect())
}

fn check(plan: &Plan<'_>) -> Vec<Diagnostic> {
    plan.diagnostics(Mode::Check, "generated", &Parts::new())
}

fn write(plan: &Plan<'_>) -> Vec<Diagnostic> {
    plan.diagnostics(Mode::Write(EditedFiles::Keep), "generated", &Parts::new())
}

/// Plans one manifest at `t/b/x.yaml` against `found` there.
fn one(found: Found) -> (State, Vec<Diagnostic>, Vec<Diagnostic>) {
    let wanted = tree(&[("t/b/x.yaml", "a: 1\n")]);
    let on_disk = disk([("t/b/x.yaml", found)]);
    let plan = plan(&wanted, &on_disk, &Scope::default());
    assert_eq!(plan.changes.len(), 1, "{:?}", plan.changes);
    (plan.changes[0].state.clone(), check(&plan), write(&plan))
}

fn file(text: &str) -> Found {
    Found::File(text.as_bytes().to_vec())
}

fn rendered() -> String {
    manifest("specs/x.yaml", "a: 1\n").text
}

#[test]
fn an_equal_tree_is_clean() {
    let wanted = tree(&[("t/b/x.yaml", "a: 1\n"), ("t/b/y.yaml", "a: 2\n")]);
    let on_disk =
        disk([("t/b/x.yaml", written("specs/x.yaml", "a: 1\n")), ("t/b/y.yaml", written("specs/x.yaml", "a: 2\n"))]);
    let plan = plan(&wanted, &on_disk, &Scope::default());
    assert!(plan.is_clean());
    assert_eq!(plan.unchanged, 2);
    assert_eq!(plan.operations(1, EditedFiles::Keep), []);
    assert_eq!(check(&plan), []);
}

#[test]
fn missing_points_at_the_spec_and_names_the_repair() {
    let wanted = tree(&[("t/b/x.yaml", "a: 1\n")]);
    let on_disk = OnDisk::default();
    let plan = plan(&wanted, &on_disk, &Scope::default());
    assert_eq!(states(&plan), [("t/b/x.yaml", &State::Missing)]);
    let found = check(&plan);
    assert_eq!((found[0].code.id, found[0].severity), ("KB0501", Severity::Error));
    assert_eq!(found[0].place, Place::File("generated/t/b/x.yaml".to_owned()));
    assert_eq!(found[0].related[0].place, Place::Span(Span::new(SourceId(0), 3..5)));
    assert_text(found[0].help.as_ref().unwrap(), str! {"run `kubebench compile` and commit the result"});
    assert_eq!(write(&plan), []);
}

#[test]
fn stale_is_written_silently() {
    let (state, check, write) = one(written("specs/x.yaml", "a: 0\n"));
    assert_eq!((state, check[0].code.id), (State::Stale, "KB0502"));
    assert_eq!(write, []);
    let (state, ..) = one(written("specs/renamed.yaml", "a: 1\n"));
    assert_eq!(state, State::Stale);
}

#[test]
fn edited_is_refused_unless_allowed() {
    let edited = rendered().replace("a: 1", "a: 7");
    let (state, check, write) = one(file(&edited));
    assert_eq!((state, check[0].code.id), (State::Edited { conflict: false }, "KB0503"));
    assert_eq!((write[0].code.id, write[0].severity), ("KB0503", Severity::Error));
    assert_text(
        write[0].help.as_ref().unwrap(),
        str! {"run `kubebench compile --overwrite-edited` to put the compiled text back"},
    );
    let wanted = tree(&[("t/b/x.yaml", "a: 1\n")]);
    let on_disk = disk([("t/b/x.yaml", file(&edited))]);
    let plan = plan(&wanted, &on_disk, &Scope::default());
    assert_eq!(plan.operations(1, EditedFiles::Keep), []);
    assert_eq!(plan.operations(1, EditedFiles::Overwrite).len(), 2);
    assert_eq!(plan.diagnostics(Mode::Write(EditedFiles::Overwrite), "generated", &Parts::new()), []);
    assert_eq!(plan.summary(EditedFiles::Overwrite), Summary { changed: 1, ..Summary::default() });
}

#[test]
fn a_merge_conflict_is_called_one_and_compiled_away() {
    let conflict = format!("{}<<<<<<< HEAD\n=======\n>>>>>>> b\n", rendered());
    let (state, check, write) = one(file(&conflict));
    assert_eq!(state, State::Edited { conflict: true });
    assert_text(
        &check[0].message,
        str! {"manifest `generated/t/b/x.yaml` holds conflict markers of an unresolved merge"},
    );
    assert_text(check[0].help.as_ref().unwrap(), str! {"run `kubebench compile` and commit the result"});
    assert_eq!(write, []);
    let wanted = tree(&[("t/b/x.yaml", "a: 1\n")]);
    let on_disk = disk([("t/b/x.yaml", file(&conflict))]);
    let plan = plan(&wanted, &on_disk, &Scope::default());
    assert_eq!(plan.operations(1, EditedFiles::Keep).len(), 2);
    assert_eq!(plan.summary(EditedFiles::Keep), Summary { changed: 1, conflicts: 1, ..Summary::default() });
}

#[test]
fn foreign_at_a_manifests_path_is_refused() {
    for found in [file("a: 1\n"), file(""), Found::Large(b"a: 1\n".to_vec()), Found::File(vec![0xff, 0x00])] {
        let (state, check, write) = one(found);
        assert_eq!(state, State::Foreign);
        assert_eq!((check[0].code.id, check[0].severity), ("KB0505", Severity::Error));
        assert_eq!((write[0].code.id, write[0].severity), ("KB0505", Severity::Error));
        assert_text(
            write[0].help.as_ref().unwrap(),
            str! {"move it out of `generated` or delete it (`rm -r generated/t/b/x.yaml`), then run `kubebench compile`"},
        );
    }
}

#[test]
fn line_endings_are_a_state_of_their_own() {
    let (state, check, write) = one(file(&rendered().replace('\n', "\r\n")));
    assert_eq!((state, check[0].code.id), (State::LineEndings, "KB0506"));
    assert_text(
        check[0].help.as_ref().unwrap(),
        str! {"add the line `generated/** text eol=lf` to `.gitattributes`, then run `kubebench compile` and `git add --renormalize generated`"},
    );
    assert_eq!(write, []);
    let stale = manifest("specs/x.yaml", "a: 0\n").text.replace('\n', "\r\n");
    assert_eq!(one(file(&stale)).0, State::Stale);
    assert_eq!(one(file(&rendered().replace('\n', "\r"))).0, State::Foreign);
    assert_eq!(one(file(&rendered().replace("1\n", "1\r\r\n"))).0, State::Edited { conflict: false });
}

#[test]
fn only_regular_files_in_real_folders_are_touched() {
    for (found, kind) in [(Found::Symlink, "symbolic link"), (Found::Other("named pipe"), "named pipe")] {
        let (state, check, write) = one(found);
        assert_eq!(state, State::NotRegular { by: "t/b/x.yaml".to_owned(), kind });
        assert_eq!((check[0].code.id, write[0].code.id), ("KB0507", "KB0507"));
        assert_eq!(write[0].severity, Severity::Error);
    }
}

#[test]
fn one_link_above_many_manifests_is_one_finding() {
    let wanted = tree(&[("t/b/x.yaml", "a: 1\n"), ("t/b/y.yaml", "a: 1\n"), ("t/c/x.yaml", "a: 1\n")]);
    for (link, message) in [
        ("t", str! {"`generated/t` is a symbolic link, but manifests belong below it"}),
        ("", str! {"`generated` is a symbolic link, but manifests belong below it"}),
    ] {
        let mut on_disk = OnDisk::default();
        on_disk.entries.insert(link.to_owned(), Found::Symlink);
        let plan = plan(&wanted, &on_disk, &Scope::default());
        assert_eq!(plan.changes.len(), 3);
        assert_eq!(check(&plan).len(), 1);
        assert_text(&check(&plan)[0].message, message);
        assert_eq!(plan.operations(1, EditedFiles::Overwrite), []);
    }
}

#[test]
fn a_folder_at_a_manifests_path_is_not_regular() {
    let wanted = tree(&[("t/b/x.yaml", "a: 1\n")]);
    let on_disk = disk([("t/b/x.yaml/inside.txt", file("mine"))]);
    let plan = plan(&wanted, &on_disk, &Scope::default());
    let messages: Vec<_> = check(&plan).into_iter().map(|found| found.message).collect();
    assert_texts(
        &messages,
        &[
            str! {"`generated/t/b/x.yaml/inside.txt` was not written by kubebench"},
            str! {"`generated/t/b/x.yaml` is a folder, but a manifest belongs there"},
        ],
    );
}

#[test]
fn an_unreadable_manifest_is_named() {
    let (_, check, write) = one(Found::Unreadable("permission denied".to_owned()));
    assert_eq!(check[0].code.id, "KB0114");
    assert_text(&check[0].message, str! {"cannot read `generated/t/b/x.yaml`: permission denied"});
    assert_eq!(check, write);
}

#[test]
fn orphans_go_and_edited_orphans_stay() {
    let wanted = tree(&[("t/b/x.yaml", "a: 1\n")]);
    let edited = rendered().replace("a: 1", "a: 7");
    let on_disk = disk([
        ("t/b/x.yaml", written("specs/x.yaml", "a: 1\n")),
        ("t/b/old.yaml", written("specs/x.yaml", "a: 2\n")),
        ("t/gone/x.yaml", written("specs/gone.yaml", "a: 3\n")),
        ("t/gone/crlf.yaml", file(&manifest("specs/gone.yaml", "a: 1\n").text.replace('\n', "\r\n"))),
        ("t/kept/x.yaml", file(&edited)),
    ]);
    let plan = plan(&wanted, &on_disk, &Scope::default());
    assert_eq!(
        states(&plan),
        [
            ("t/b/old.yaml", &State::Orphan),
            ("t/gone/crlf.yaml", &State::Orphan),
            ("t/gone/x.yaml", &State::Orphan),
            ("t/kept/x.yaml", &State::EditedOrphan),
        ]
    );
    let found = check(&plan);
    assert_eq!(found.iter().map(|found| found.code.id).collect::<Vec<_>>(), ["KB0504", "KB0504", "KB0504", "KB0503"]);
    assert_text(
        &found[0].message,
        str! {"manifest `generated/t/b/old.yaml` is left over: `specs/x.yaml` no longer compiles to it"},
    );
    assert_text(
        &found[1].message,
        str! {"manifest `generated/t/gone/crlf.yaml` is left over: nothing is compiled from `specs/gone.yaml` any more"},
    );
    assert_eq!(write(&plan).iter().map(|found| found.code.id).collect::<Vec<_>>(), ["KB0503"]);
}

#[test]
fn foreign_files_elsewhere_only_warn_when_writing() {
    let wanted = tree(&[("t/b/x.yaml", "a: 1\n")]);
    let on_disk = disk([
        ("t/b/x.yaml", written("specs/x.yaml", "a: 1\n")),
        ("t/b/mine.yaml", file("kind: Secret\n")),
        ("t/b/link", Found::Symlink),
        (".gitattributes", file("* text eol=lf\n")),
        ("t/.gitkeep", file("")),
    ]);
    let plan = plan(&wanted, &on_disk, &Scope::default());
    assert_eq!(check(&plan).iter().map(|found| found.severity).collect::<Vec<_>>(), [Severity::Error; 2]);
    assert_eq!(write(&plan).iter().map(|found| found.severity).collect::<Vec<_>>(), [Severity::Warning; 2]);
    assert_text(&check(&plan)[1].notes[0], str! {"Argo CD and Flux apply every manifest in this folder"});
    assert_eq!(plan.operations(1, EditedFiles::Overwrite), []);
}

#[test]
fn a_selection_checks_and_prunes_only_what_it_selects() {
    let mut wanted = tree(&[("t/b/x.yaml", "a: 1\n"), ("u/b/x.yaml", "a: 1\n")]);
    wanted.insert("t/c/y.yaml", manifest("specs/y.yaml", "a: 1\n")).unwrap();
    let on_disk = disk([
        ("t/b/orphan.yaml", written("specs/x.yaml", "a: 2\n")),
        ("t/b/foreign.yaml", file("a: 1\n")),
        ("t/d/foreign.yaml", file("a: 1\n")),
        ("t/d/orphan.yaml", written("specs/gone.yaml", "a: 2\n")),
        ("u/b/orphan.yaml", written("specs/x.yaml", "a: 2\n")),
        ("README", file("hello\n")),
    ]);
    let paths = |scope: &Scope| -> Vec<String> {
        plan(&wanted, &on_disk, scope).changes.iter().map(|change| change.path.to_owned()).collect()
    };
    let source = only(&["specs/x.yaml"]);
    assert_eq!(
        paths(&Scope { sources: source.clone(), ..Scope::default() }),
        ["t/b/foreign.yaml", "t/b/orphan.yaml", "t/b/x.yaml", "u/b/orphan.yaml", "u/b/x.yaml"]
    );
    assert_eq!(
        paths(&Scope { targets: only(&["t"]), sources: source }),
        ["t/b/foreign.yaml", "t/b/orphan.yaml", "t/b/x.yaml"]
    );
    assert_eq!(paths(&Scope { targets: only(&["u"]), ..Scope::default() }), ["u/b/orphan.yaml", "u/b/x.yaml"]);
    let faulty = Filter::Except(["specs/gone.yaml".to_owned()].into());
    let without_faulty = paths(&Scope { sources: faulty, ..Scope::default() });
    assert!(!without_faulty.contains(&"t/d/orphan.yaml".to_owned()));
    assert_eq!(without_faulty.len(), 8);
}

#[test]
fn a_command_in_a_message_survives_the_shell() {
    let wanted = OutputTree::default();
    let on_disk = disk([("it's mine; rm.yaml", file("a: 1\n"))]);
    let found = check(&plan(&wanted, &on_disk, &Scope::default()));
    assert!(
        found[0].help.as_ref().unwrap().ends_with(r"`rm -r 'generated/it'\''s mine; rm.yaml'`)"),
        "{:?}",
        found[0].help
    );
}
