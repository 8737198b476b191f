//! Every command that finds something reports it in the same ways: on the screen, in reports, by its status.

use std::fs;
use std::process::Output;

use kubebench_testing::snapshot::{assert_line, assert_text, str};
use serde_json::Value;

use crate::record::run as run_git;
use crate::support::project::{Folder, assert_yes};

const PROJECT: &str = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: team}\nspec: {targets: {one: {}, two: {namespace: other}}}\n";

/// Commands that judge the specs, with the arguments that make them write nothing.
const COMMANDS: [&[&str]; 5] = [&["validate"], &["compile", "--check"], &["plan"], &["list"], &["render"]];

fn spec(name: &str, image: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: {name}, labels: {{team: {name}}}}}\nspec:\n  timeout: 1h\n  targets: [one]\n  workload:\n    job: {{image: '{image}', resources: {{cpu: 1, memory: 1Gi}}}}\n  metrics: [{{name: seconds, unit: s, better: lower, primary: true, from: {{duration: run}}}}]\n"
    )
}

/// A compiled project with one warning: an image without a tag.
fn warned() -> Folder {
    let files = [
        ("kubebench.yaml", PROJECT.to_owned()),
        ("specs/a.yaml", spec("a", "a/b")),
        ("specs/b.yaml", spec("b", "a/b:1")),
    ];
    let folder = Folder::with(files);
    assert_yes(&folder.run(&["compile"]));
    folder
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the codes of faults: `plan` reports permissions as well.
fn codes_of(report: &str) -> Vec<String> {
    let report: Value = serde_json::from_str(report).unwrap();
    let faults = report["diagnostics"].as_array().unwrap().iter().filter(|fault| fault["severity"] != "info");
    faults.map(|fault| fault["code"].as_str().unwrap().to_owned()).collect()
}

fn run(folder: &Folder, command: &[&str], options: &[&str]) -> Output {
    folder.run(&[command, options].concat())
}

#[test]
fn reports_and_denied_warnings_hold_for_every_command_and_format() {
    let folder = warned();
    for command in COMMANDS {
        for format in ["human", "concise", "json", "github", "gitlab", "sarif", "junit"] {
            let format = ["--output-format", format];
            let report = ["--report", "json=found.txt"];
            assert_yes(&run(&folder, command, &[&format[..], &report].concat()));
            let found = fs::read_to_string(folder.path().join("found.txt")).unwrap();
            assert_eq!(codes_of(&found), ["KB0401"], "{command:?} {format:?}");
            fs::remove_file(folder.path().join("found.txt")).unwrap();
            let denied = run(&folder, command, &[&format[..], &["--deny-warnings"]].concat());
            assert_eq!(denied.status.code(), Some(1), "{command:?} {format:?}");
        }
    }
}

/// GitHub, GitLab and code scanning look for files from the top of the repository, whatever folder a job works in.
#[test]
fn ci_systems_are_given_paths_from_the_top_of_the_repository() {
    let project = "ml/bench é";
    let files = [("kubebench.yaml", PROJECT.to_owned()), ("specs/a.yaml", spec("a", "a/b"))];
    let folder = Folder::with(files.map(|(path, text)| (format!("{project}/{path}"), text)));
    let named = |start: &str, format: &str| {
        let output = folder.run(&["-C", start, "validate", "--output-format", format]);
        let text = said(&output.stdout);
        let json = || serde_json::from_str::<Value>(&text).unwrap();
        match format {
            "gitlab" => json()[0]["location"]["path"].as_str().unwrap().to_owned(),
            "sarif" => {
                let location = &json()["runs"][0]["results"][0]["locations"][0];
                location["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap().to_owned()
            }
            "github" => text.split_once("file=").unwrap().1.split(',').next().unwrap().to_owned(),
            "junit" => text
                .split("file=\"")
                .find(|part| part.contains("KB0401"))
                .unwrap()
                .split('"')
                .next()
                .unwrap()
                .to_owned(),
            _ => text.split(':').next().unwrap().to_owned(),
        }
    };
    let formats = ["github", "gitlab", "sarif", "junit", "concise"];
    for format in formats {
        assert_eq!(named(project, format), "specs/a.yaml", "{format}, without a repository");
    }
    run_git(folder.path(), &["init", "-q"]);
    for start in [project, &format!("{project}/specs")] {
        assert_eq!(
            formats.map(|format| named(start, format)),
            [
                "ml/bench é/specs/a.yaml",
                "ml/bench é/specs/a.yaml",
                "ml/bench%20%C3%A9/specs/a.yaml",
                "ml/bench é/specs/a.yaml",
                "specs/a.yaml"
            ]
        );
    }
}

#[test]
fn findings_do_not_spoil_data() {
    let folder = warned();
    for command in [&["plan", "--output-format", "json"][..], &["list", "--output-format", "json"]] {
        let output = folder.run(command);
        assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok(), "{command:?}");
        assert!(said(&output.stderr).contains("warning[KB0401]"), "{command:?}");
    }
    let rendered = folder.run(&["render"]);
    assert!(!said(&rendered.stdout).contains("KB0401"));
    assert!(said(&rendered.stderr).contains("warning[KB0401]"));
}

#[test]
fn color_is_what_was_asked_for_on_both_streams() {
    let folder = warned();
    for command in COMMANDS {
        for (color, expected) in [("always", true), ("never", false)] {
            let output = run(&folder, command, &["--color", color]);
            let all = [said(&output.stdout), said(&output.stderr)].concat();
            assert_eq!(all.contains('\u{1b}'), expected, "{command:?} {color}");
        }
    }
}

#[test]
fn a_report_never_overwrites_what_it_is_about() {
    let folder = warned();
    folder.write("generated/note.txt", "mine");
    #[cfg(unix)]
    std::os::unix::fs::symlink("specs/a.yaml", folder.path().join("link")).unwrap();
    let before = folder.tree("");
    let places = ["specs/a.yaml", "specs/new.yml", "kubebench.yaml", "generated/x.json", "generated/one/../note.txt"];
    for place in places.into_iter().chain(cfg!(unix).then_some("link")) {
        for command in [&["validate"][..], &["compile"], &["render"], &["list"], &["plan"]] {
            let output = run(&folder, command, &["--report", &format!("json={place}")]);
            assert_eq!(output.status.code(), Some(2), "{command:?} {place}");
            assert!(said(&output.stderr).contains("the report "), "{command:?} {place}: {}", said(&output.stderr));
        }
        assert_eq!(folder.tree(""), before, "{place}");
    }
    let formatted = folder.run(&["fmt", "--report", "json=specs/a.yaml"]);
    assert_eq!(formatted.status.code(), Some(2));
    assert_eq!(folder.tree(""), before);
}

#[test]
fn counts_are_of_what_was_asked_for() {
    let folder = warned();
    let summary =
        |arguments: &[&str]| said(&folder.run(arguments).stderr).lines().last().unwrap_or_default().to_owned();
    assert_text(summary(&["validate", "specs/b.yaml"]), str! {"1 spec checked, no errors"});
    assert_text(summary(&["validate", "--select", "team=b"]), str! {"1 spec checked, no errors"});
    assert_text(summary(&["validate", "--target", "two"]), str! {"0 specs checked, no errors"});
    assert_text(summary(&["validate", "kubebench.yaml"]), str! {"0 specs checked, no errors"});
    assert_text(summary(&["validate", "specs"]), str! {"2 specs checked, no errors"});
    assert_line(
        summary(&["compile", "--check", "specs/b.yaml"]),
        str! {"generated/ is up to date: 4 manifests of 1 spec"},
    );
    assert_yes(&folder.run(&["validate", "specs/b.yaml", "--report", "junit=found.xml"]));
    let junit = fs::read_to_string(folder.path().join("found.xml")).unwrap();
    assert!(junit.contains("specs/b.yaml") && !junit.contains("specs/a.yaml"), "{junit}");
}

#[test]
fn files_with_other_endings_are_not_passed_over_in_silence() {
    let folder = warned();
    folder.write("specs/b.yaml", spec("b", "a/b:1"));
    folder.write("specs/a.yaml", spec("a", "a/b:1"));
    for name in ["c.YAML", "d.Yml", "e.json"] {
        folder.write(&format!("specs/{name}"), spec("c", "a/b:1"));
    }
    folder.write("specs/README.md", "words");
    let output = folder.run(&["validate", "--output-format", "concise"]);
    assert_yes(&output);
    let lines = said(&output.stdout);
    assert_eq!(lines.matches("KB0115").count(), 3, "{lines}");
    assert!(lines.contains("specs/c.YAML"), "{lines}");

    folder.write("kubebench.yaml", PROJECT.replace("spec: {", "spec: {lints: {KB0115: error}, "));
    assert_eq!(folder.run(&["validate"]).status.code(), Some(1));
    folder.write("kubebench.yaml", PROJECT.replace("spec: {", "spec: {lints: {KB0115: \"off\"}, "));
    assert_eq!(said(&folder.run(&["validate"]).stdout), "");
    assert_yes(&folder.run(&["fmt", "--check"]));
}
