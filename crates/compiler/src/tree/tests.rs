mod headers;
mod patches;
mod states;
mod steps;

use super::*;
use kubebench_syntax::diag::{Diagnostic, Place, Severity};
use kubebench_syntax::text::SourceId;
use kubebench_testing::snapshot::{assert_text, str};

fn manifest(source: &str, body: &str) -> OutputFile {
    OutputFile::new(source, Some(Span::new(SourceId(0), 3..5)), body)
}

fn tree(files: &[(&str, &str)]) -> OutputTree {
    let mut tree = OutputTree::default();
    for (path, body) in files {
        tree.insert(*path, manifest("specs/x.yaml", body)).unwrap();
    }
    tree
}

fn written(source: &str, body: &str) -> Found {
    Found::File(manifest(source, body).text.into_bytes())
}

fn disk(entries: impl IntoIterator<Item = (&'static str, Found)>) -> OnDisk {
    let mut on_disk = OnDisk::default();
    on_disk.folders.insert(String::new());
    for (path, found) in entries {
        on_disk.folders.extend(ancestors(path).map(str::to_owned));
        on_disk.entries.insert(path.to_owned(), found);
    }
    on_disk
}

#[test]
fn one_path_takes_one_file() {
    let mut tree = tree(&[("t/a/x.yaml", "a: 1\n")]);
    for path in ["t/a/x.yaml", "t/a", "t", "t/a/x.yaml/y"] {
        let rejected = tree.insert(path, manifest("specs/other.yaml", "b: 1\n")).unwrap_err();
        assert_eq!(rejected.reason, Reason::Taken { by: "t/a/x.yaml".to_owned() }, "{path}");
        assert_eq!(rejected.file.source, "specs/other.yaml");
    }
    assert_eq!(tree.get("t/a/x.yaml").unwrap().body(), "a: 1\n");
    tree.insert("t/ab/x.yaml", manifest("specs/other.yaml", "b: 1\n")).unwrap();
    assert_eq!(tree.len(), 2);
}

#[test]
fn paths_stay_in_the_tree() {
    for path in ["", "/etc/x", "../x", "a/../../x", "a//b", "a/", "./a", "a\\b", "c:x", "a/\n"] {
        let mut tree = OutputTree::default();
        let rejected = tree.insert(path, manifest("s", "a: 1\n")).unwrap_err();
        assert_eq!(rejected.reason, Reason::Malformed, "{path:?}");
        assert!(tree.is_empty());
    }
}

#[test]
fn a_large_target_is_named_before_argo_cd_refuses_it() {
    let body = format!("a: {}\n", "x".repeat(4_100_000));
    let mut large = tree(&[("gpu/a/x.yaml", &body), ("gpu/b/x.yaml", &body), ("cpu/a/x.yaml", &body)]);
    let found = size::warnings(&large, "generated");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].place, Place::File("generated/gpu".to_owned()));
    assert_text(
        &found[0].message,
        str! {"`generated/gpu` holds 8.2 MB of manifests, close to the 10 MB that Argo CD reads"},
    );
    large.insert("gpu/c/x.yaml", manifest("s", &body)).unwrap();
    assert!(size::warnings(&large, "generated")[0].message.contains("12.3 MB of manifests, more than the"));
}
