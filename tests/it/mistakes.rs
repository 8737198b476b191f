//! Mistakes around a project's files that must not cost a tree of manifests.

use crate::project::{Folder, assert_yes};

const PROJECT: &str = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: team}\n";

fn spec(name: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: {name}}}\nspec:\n  timeout: 1h\n  workload:\n    job: {{image: a/b:1, resources: {{cpu: 1, memory: 1Gi}}}}\n"
    )
}

fn compiled() -> Folder {
    let files = [("kubebench.yaml", PROJECT.to_owned()), ("specs/a.yaml", spec("a")), ("specs/b.yaml", spec("b"))];
    let folder = Folder::with(files);
    assert_yes(&folder.run(&["compile"]));
    folder
}

#[test]
fn a_missing_spec_folder_deletes_nothing() {
    let folder = compiled();
    let before = folder.tree("generated");
    std::fs::rename(folder.path().join("specs"), folder.path().join("spex")).unwrap();
    assert_eq!(folder.run(&["compile"]).status.code(), Some(1));
    assert_eq!(folder.tree("generated"), before);
}

#[test]
fn a_project_file_by_another_name_is_no_missing_project() {
    let folder = compiled();
    let before = folder.tree("generated");
    std::fs::rename(folder.path().join("kubebench.yaml"), folder.path().join("kubebench.yml")).unwrap();
    assert_eq!(folder.run(&["compile"]).status.code(), Some(2));
    assert_eq!(folder.tree("generated"), before);
}

#[test]
fn a_folder_of_specs_prunes_what_was_deleted_below_it_and_nothing_else() {
    let folder = compiled();
    std::fs::remove_file(folder.path().join("specs/b.yaml")).unwrap();
    folder.write("specs/other/c.yaml", spec("c"));
    assert_eq!(folder.run(&["compile", "--check", "specs"]).status.code(), Some(1));
    assert_yes(&folder.run(&["compile", "specs/other"]));
    assert!(folder.path().join("generated/default/b").exists());
    assert_yes(&folder.run(&["compile", "specs"]));
    assert!(!folder.path().join("generated/default/b").exists());
    assert!(folder.path().join("generated/default/a").exists());
}

#[test]
fn a_fault_of_the_project_file_is_told_once_and_by_validate_too() {
    let folder = compiled();
    let before = folder.tree("generated");
    for (spec, code) in [("{specs: [none], output: none}", "KB0323"), ("{specs: [none], outptu: x}", "KB0201")] {
        folder.write("kubebench.yaml", format!("{PROJECT}spec: {spec}\n"));
        for command in ["validate", "compile"] {
            let output = folder.run(&[command, "--output-format", "concise"]);
            assert_eq!(output.status.code(), Some(1), "{command} {spec}");
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(said.lines().count() == 1 && said.contains(code), "{command} {spec}: {said}");
        }
    }
    assert_eq!(folder.tree("generated"), before);
}
