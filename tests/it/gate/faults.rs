//! Specs and project files with errors: nothing is reported by what they would have said.

use kubebench_testing::snapshot::{assert_line, named, str};

use super::{Project, QUIET, SPEC, Special, texts};

#[test]
fn nothing_is_reported_or_accepted_by_specs_with_errors() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    project.sessions(&[92.0, 92.2, 91.9, 92.1, 92.0, 91.8, 92.3], &Special::default());
    let settings = std::fs::read_to_string(project.folder.path().join("kubebench.yaml")).unwrap();
    let broken = [
        ("specs/train.yaml", SPEC.replace("spec:\n", "spec:\n  nonsense: 1\n"), SPEC.to_owned()),
        ("kubebench.yaml", settings.replace("spec: {", "spec: {nonsense: 1, "), settings),
    ];
    for (path, at_fault, right) in broken {
        project.folder.write(path, at_fault);
        let ack = ["ack", "train", "--metric", "speed", "--by", "ada", "--reason", "bf16"];
        for command in [&["report", "--out", "site"][..], &["report", "--format", "markdown"], &ack] {
            let (status, said, error) = project.says(command);
            assert!(status == 1 && format!("{said}{error}").contains("nonsense"), "{command:?}: {said}{error}");
        }
        assert!(!project.folder.path().join("site").exists() && !project.folder.path().join("acks").exists());
        let (status, answer) = project.json(&["history"]);
        assert_eq!(status, 0);
        assert_line(
            named(texts(&answer["notes"]), &[(path, "PATH")]),
            str! {"PATH has errors: results are shown without their thresholds and directions; `kubebench validate` lists the errors"},
        );
        project.folder.write(path, right);
        assert!(project.json(&["history"]).1["notes"].as_array().is_none_or(Vec::is_empty));
    }
    // A folder of results is reported without a project.
    std::fs::create_dir(project.folder.path().join("elsewhere")).unwrap();
    let apart = ["-C", "elsewhere", "report", "--results", "../results", "--out", "site"];
    assert_eq!(project.says(&apart).0, 0);
}
