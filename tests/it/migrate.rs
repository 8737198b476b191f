//! The ancestor's benchmarks become specs: every value is spoken of once, every spec compiles, and its example runs.

mod ancestor;

use std::fs;
use std::path::{Path, PathBuf};

use kubebench_migrate::{Given, Input, Line, Migration, migrate};
use kubebench_syntax::diag::Severity;
use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml::{Node, Step, Value, read_manifest};
use serde_json::Value as Json;

use crate::support::judges;
use crate::support::project::{Folder, assert_yes, errors, files_below, relative, repository};

/// The old files of this repository.
fn own() -> PathBuf {
    repository().join("tests/data/ancestor")
}

/// The ancestor's files as they were published.
fn fixtures(test: &str) -> Option<PathBuf> {
    judges::published(test, "fixtures/kubebench-legacy")
}

fn old_files(folder: &Path) -> Vec<PathBuf> {
    let is_old = |path: &PathBuf| path.extension().is_some_and(|end| end == "yaml" || end == "libsonnet");
    files_below(folder).into_iter().filter(is_old).collect()
}

fn inputs(folder: &Path, files: &[PathBuf]) -> Vec<Input> {
    let input =
        |path: &PathBuf| Input { path: relative(folder, path), bytes: fs::read(path).unwrap(), given: Given::Found };
    files.iter().map(input).collect()
}

/// The way to each value of a tree that has no parts.
fn leaves(node: &Node, steps: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
    let mut go = |step: Step, child: &Node| {
        steps.push(step);
        leaves(child, steps, found);
        steps.pop();
    };
    match &node.value {
        Value::Map(entries) if !entries.is_empty() => {
            for entry in entries {
                go(entry.key.as_str().into(), &entry.value);
            }
        }
        Value::Seq(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                go(index.into(), item);
            }
        }
        _ => found.push(steps.clone()),
    }
}

/// What is wrong with the lines about the files: values that have none or several.
fn miscounted(inputs: &[Input], migration: &Migration) -> (usize, Vec<String>) {
    let (mut count, mut wrong) = (0, Vec::new());
    for (input, file) in inputs.iter().zip(&migration.files) {
        assert_eq!(input.path, file.path);
        let text = String::from_utf8(input.bytes.clone()).unwrap();
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        let text = if input.path.ends_with("libsonnet") { lines } else { text };
        let source = Source::new(input.path.as_str(), text.as_bytes());
        for (document, root) in read_manifest(SourceId::default(), &source).documents.iter().enumerate() {
            let mut found = Vec::new();
            leaves(root, &mut Vec::new(), &mut found);
            for leaf in found {
                let about = |line: &&Line| line.document == document && leaf.starts_with(&line.steps);
                let about: Vec<String> = file.lines.iter().filter(about).map(Line::path).collect();
                count += 1;
                if about.len() != 1 {
                    wrong.push(format!("{} {leaf:?}: {about:?}", input.path));
                }
            }
        }
        wrong.extend(
            file.lines.iter().filter(|line| line.said.is_empty()).map(|line| format!("{}: nothing said", line.path())),
        );
    }
    (count, wrong)
}

#[test]
fn every_value_has_one_line() {
    let folders = [Some(own()), fixtures("every_value_has_one_line")];
    for folder in folders.into_iter().flatten() {
        let files = old_files(&folder);
        let alone = files.iter().map(|file| vec![file.clone()]);
        for files in alone.chain([files.clone()]) {
            let inputs = inputs(&folder, &files);
            let migration = migrate(&inputs, 1);
            let (count, wrong) = miscounted(&inputs, &migration);
            assert!(count > 0 && wrong.is_empty(), "{wrong:#?}");
        }
        let inputs = inputs(&folder, &files);
        let migration = migrate(&inputs, 1);
        let (count, _) = miscounted(&inputs, &migration);
        assert!(count > 200, "{count} values");
        // The test can fail: without its first line some file lacks one.
        let mut short = migration;
        let file = short.files.iter_mut().find(|file| !file.lines.is_empty()).unwrap();
        file.lines.remove(0);
        assert!(!miscounted(&inputs, &short).1.is_empty());
    }
}

#[test]
fn every_spec_compiles() {
    let folders = [Some(own()), fixtures("every_spec_compiles")];
    for folder in folders.into_iter().flatten() {
        let mut specs = 0;
        for file in old_files(&folder) {
            for spec in migrate(&inputs(&folder, std::slice::from_ref(&file)), 1).specs {
                let path = format!("specs/{}.yaml", spec.name);
                let compilation = crate::support::project::compile(&[(&path, &spec.text)]);
                assert_eq!(errors(&compilation), Vec::<String>::new(), "{}\n{}", file.display(), spec.text);
                specs += 1;
            }
        }
        assert!(specs > 7, "{specs} specs");
    }
}

#[test]
fn files_of_kubeflow_kubebench_are_read_as_they_are_meant() {
    let Some(folder) = fixtures("files_of_kubeflow_kubebench_are_read_as_they_are_meant") else { return };
    let mut seen = 0;
    for expected in files_below(&folder).into_iter().filter(|path| path.to_string_lossy().ends_with(".expect.json")) {
        let meant: Json = serde_json::from_str(&fs::read_to_string(&expected).unwrap()).unwrap();
        let file = PathBuf::from(expected.to_string_lossy().trim_end_matches(".expect.json"));
        let migration = migrate(&inputs(&folder, &[file]), 1);
        let lines = &migration.files[0].lines;
        let has = |steps: &[Step]| lines.iter().any(|line| line.steps.starts_with(steps));
        for key in meant["specKeys"].as_array().unwrap() {
            assert!(has(&["spec".into(), key.as_str().unwrap().into()]), "{key} of {}", expected.display());
        }
        for key in meant["jobSpecs"].as_array().unwrap() {
            assert!(
                has(&["spec".into(), "jobSpecs".into(), key.as_str().unwrap().into()]),
                "{key} of {}",
                expected.display()
            );
        }
        for (index, _) in meant["tasks"].as_array().unwrap().iter().enumerate() {
            assert!(has(&["spec".into(), "tasks".into(), index.into()]), "{index} of {}", expected.display());
        }
        if meant["tasks"].as_array().unwrap().is_empty() {
            let codes: Vec<&str> = migration.diagnostics.as_slice().iter().map(|fault| fault.code.id).collect();
            assert_eq!(codes, ["KB0432"], "its parameters are in another file");
        } else {
            assert_eq!(migration.specs[0].name, meant["name"].as_str().unwrap());
        }
        seen += 1;
    }
    assert!(seen >= 3, "{seen} files");
}

/// The example with its parameters, as it was in the repository of kubeflow/kubebench.
fn example() -> Folder {
    let text = |path: &str| fs::read_to_string(own().join(path)).unwrap();
    Folder::with([
        ("old/job.yaml", text("job-example.yaml")),
        ("old/config/tf-cnn/tf-cnn-dummy.yaml", text("tf-cnn/tf-cnn-dummy.yaml")),
    ])
}

#[cfg(unix)]
#[test]
fn the_example_of_kubeflow_kubebench_runs_here() {
    use std::os::unix::fs::PermissionsExt as _;

    let project = example();
    assert_yes(&project.run(&["migrate", "old"]));
    assert_yes(&project.run(&["fmt", "--check"]));
    assert_yes(&project.run(&["compile"]));
    assert_yes(&project.run(&["compile", "--check"]));
    // TensorFlow 1.13 runs on no machine of today, so what it prints is printed by a stand-in.
    let log =
        "echo \"$@\"\nprintf 'Step\\tImg/sec\\ttotal_loss\\n1\\timages/sec: 3.1 +/- 0.0 (jitter = 0.0)\\t7.7\\n'\n";
    project.write("bin/python", format!("#!/bin/sh\n{log}echo 'total images/sec: 42.50'\n"));
    let program = project.path().join("bin/python");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let run = ["run", "specs/kubebench-job.yaml", "--output-format", "json"];
    let output = project.command(&run).env("PATH", path).output().unwrap();
    assert_yes(&output);
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    let result = &answer["results"][0];
    assert_eq!(result["status"], "succeeded", "{answer:#}");
    let metric = &result["metrics"][0];
    assert_eq!((&metric["name"], metric["value"].as_f64()), (&"images_per_sec_total".into(), Some(42.5)), "{answer:#}");
}

#[test]
fn nothing_is_overwritten_and_check_writes_nothing() {
    let project = example();
    let status = |arguments: &[&str]| project.run(arguments).status.code();
    let before = project.tree("");
    assert_eq!(status(&["migrate", "--check", "old"]), Some(1), "the spec is missing");
    assert_eq!(project.tree(""), before);
    assert_eq!(status(&["migrate", "old"]), Some(0));
    let spec = fs::read_to_string(project.path().join("specs/kubebench-job.yaml")).unwrap();
    assert_eq!(status(&["migrate", "old"]), Some(0), "the same again");
    assert_eq!(status(&["migrate", "--check", "old"]), Some(0));
    let edited = format!("{spec}# settled\n");
    project.write("specs/kubebench-job.yaml", &edited);
    assert_eq!(status(&["migrate", "--check", "old"]), Some(0), "an edited spec is a migrated one");
    assert_eq!(status(&["migrate", "old"]), Some(1), "it would have to be overwritten");
    assert_eq!(fs::read_to_string(project.path().join("specs/kubebench-job.yaml")).unwrap(), edited);
    assert_eq!(status(&["migrate", "old/job.yaml"]), Some(1), "the parameters are not given");
    assert_eq!(status(&["migrate", "old/none.yaml"]), Some(2));
}

#[test]
fn what_was_lost_is_lost_until_someone_edits_the_spec() {
    let project = Folder::with([("old/graph.yaml", fs::read_to_string(own().join("graph-example.yaml")).unwrap())]);
    let status = |arguments: &[&str]| project.run(arguments).status.code();
    assert_eq!(status(&["migrate", "old"]), Some(1));
    assert_eq!(status(&["migrate", "--check", "old"]), Some(1));
    let spec = project.path().join("specs/kubebench-job.yaml");
    project.write("specs/kubebench-job.yaml", fs::read_to_string(&spec).unwrap() + "# settled\n");
    assert_eq!(status(&["migrate", "--check", "old"]), Some(0));
}

#[test]
fn programs_get_the_same_report() {
    let project = example();
    let output = project.run(&[
        "migrate",
        "old",
        "--output-format",
        "json",
        "--job-config",
        "old/config/tf-cnn/tf-cnn-dummy.yaml",
    ]);
    assert_yes(&output);
    let report: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["specs"][0]["state"], "new");
    let lines = report["files"].as_array().unwrap().iter().flat_map(|file| file["lines"].as_array().unwrap());
    let lines: Vec<&Json> = lines.collect();
    assert!(
        lines.iter().any(|line| line["path"] == "batch_size" && line["outcome"] == "kept" && line["line"] == 6),
        "{report:#}"
    );
    assert!(lines.iter().all(|line| line["outcome"] != "lost"));
}

#[test]
fn hostile_files_have_findings() {
    let huge = vec![b'a'; (1 << 20) + 10];
    let files: [(&str, &[u8]); 5] = [
        ("old/a.yaml", b"\xff\xfe\x00"),
        ("old/b.yaml", b"a: &a [*a]"),
        ("old/c.yaml", b""),
        ("old/d.yaml", &huge),
        ("old/e.yaml", b"a: ["),
    ];
    let project = Folder::with(files);
    for (path, _) in files {
        let output = project.run(&["migrate", path]);
        assert_eq!(output.status.code(), Some(1), "{path}: {output:?}");
    }
    assert_eq!(project.run(&["migrate", "old"]).status.code(), Some(1));
    assert!(!project.path().join("specs").exists());
}

#[test]
fn the_spec_of_the_document_is_what_is_written() {
    let text = fs::read_to_string(repository().join("docs/how-to/migrate-from-kubeflow-kubebench.md")).unwrap();
    let block = |opening: &str| text.split_once(opening).unwrap().1.split_once("```").unwrap().0.to_owned();
    let project = Folder::with([
        ("old/job.yaml", block("```yaml old/job.yaml\n")),
        ("old/tf-cnn/resnet.yaml", block("```yaml old/tf-cnn/resnet.yaml\n")),
    ]);
    assert_yes(&project.run(&["migrate", "old"]));
    let spec = fs::read_to_string(project.path().join("specs/resnet.yaml")).unwrap();
    assert!(text.contains(&format!("```yaml\n{spec}```")), "the page should show\n{spec}");
}

#[test]
fn what_compiles_has_no_errors_of_its_own() {
    let files = old_files(&own());
    let migration = migrate(&inputs(&own(), &files), 1);
    let faults = migration.diagnostics.as_slice().iter().filter(|fault| fault.severity == Severity::Error);
    let codes: Vec<&str> = faults.map(|fault| fault.code.id).collect();
    assert!(codes.iter().all(|code| matches!(*code, "KB0430" | "KB0433")), "{codes:?}");
}
