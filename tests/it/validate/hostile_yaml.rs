//! YAML made to trip readers: nothing panics, nothing hangs, and every verdict is the one that the collection expects.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml;
use kubebench_testing::watchdog::{self, returns};
use serde_json::Value;

use crate::support::judges;
use crate::support::project::{Folder, compile, files_below};

/// What specs may not use although YAML has it: a refusal with one of these is no misreading.
const STRICTER_THAN_YAML: &[&str] =
    &["KB0103", "KB0105", "KB0106", "KB0107", "KB0108", "KB0109", "KB0110", "KB0111", "KB0112", "KB0113"];

/// What reading a file gave: the value unless something is wrong, and the codes of all findings.
struct Verdict {
    value: Option<Value>,
    codes: Vec<&'static str>,
}

#[test]
fn the_yaml_suite_is_judged_as_expected() {
    let Some(folder) = manifests("the_yaml_suite_is_judged_as_expected").map(|folder| folder.join("yaml-suite")) else {
        return;
    };
    let index = fs::read_to_string(folder.join("index.tsv")).unwrap();
    let mut wrong = Vec::new();
    let mut accepted = 0;
    let rows: Vec<Vec<&str>> = index.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    assert!(rows.len() > 20);
    for row in &rows {
        let (file, expected, json) = (row[0], row[1], row[5]);
        let Verdict { value, codes } = judged(&folder.join(file));
        let refused = !codes.is_empty();
        let stricter = refused && codes.iter().all(|code| STRICTER_THAN_YAML.contains(code));
        match expected {
            "error" if !refused => wrong.push(format!("{file} is taken")),
            "error" => {}
            "valid" if stricter => {}
            "valid" if refused => wrong.push(format!("{file} is refused: {codes:?}")),
            "valid" => {
                let text = fs::read_to_string(folder.join(json)).unwrap();
                let meant: Value = serde_json::from_str(&text).unwrap();
                accepted += 1;
                if value.as_ref() != Some(&meant) {
                    wrong.push(format!("{file} is read as {value:?}, not {meant}"));
                }
            }
            other => panic!("{file}: `{other}` is no expectation"),
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(accepted > 0, "a reader that refuses everything is no reader");
}

/// A file of the suite that holds something which specs forbid is refused for that, and a file without is taken.
#[test]
fn strictness_is_distinguished_from_faults() {
    let Some(folder) = manifests("strictness_is_distinguished_from_faults").map(|folder| folder.join("yaml-suite"))
    else {
        return;
    };
    for (file, code) in [
        ("X38W.yaml", "KB0106"),
        ("6CK3.yaml", "KB0107"),
        ("565N.yaml", "KB0107"),
        ("AVM7.yaml", "KB0103"),
        ("DK95-00.yaml", "KB0108"),
    ] {
        let codes = judged(&folder.join(file)).codes;
        assert!(codes.contains(&code), "{file}: {codes:?}");
    }
}

#[test]
fn published_files_that_nobody_can_read_are_refused() {
    let Some(folder) = manifests("published_files_that_nobody_can_read_are_refused") else { return };
    let files = files_below(&folder.join("invalid"));
    assert!(files.len() >= 5);
    for file in files {
        assert!(!judged(&file).codes.is_empty(), "{} is taken", file.display());
    }
}

/// Everything that is published in the collection is read or refused in time, and is no spec.
#[test]
fn published_manifests_are_refused_as_specs() {
    let Some(folder) = manifests("published_manifests_are_refused_as_specs") else { return };
    let files = files_below(&folder).into_iter().filter(|file| file.extension().is_some_and(|end| end == "yaml"));
    let texts: Vec<(String, String)> = files
        .map(|file| {
            let _ = judged(&file);
            (format!("specs/{}", file.file_name().unwrap().to_string_lossy()), fs::read_to_string(&file).unwrap())
        })
        .collect();
    assert!(texts.len() > 80);
    let borrowed: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let compilation = compile(&borrowed);
    assert!(compilation.tree.is_empty() && compilation.benchmarks.is_empty());
    for (path, _) in &texts {
        assert!(compilation.faulty.contains(path), "{path} is taken for a spec");
    }
}

/// Every prefix and every single damaged byte of a spec gives findings or a tree, never a panic.
#[test]
fn damaged_specs_are_read_or_refused() {
    let spec = "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: a, labels: {\"k\": 'v'}}\nspec:\n  # c\n  workload:\n    job:\n      image: \"registry.example/a:1\"\n      args: [--a, \"${{ matrix.b }}\", |-]\n  matrix: {axes: {b: [1, 2]}}\n";
    let mut specs: Vec<Vec<u8>> = (0..spec.len()).map(|end| spec.as_bytes()[..end].to_vec()).collect();
    for (at, _) in spec.bytes().enumerate().step_by(3) {
        for damage in [b'\0', b'\t', b'{', b'"', b'&', 0xff, b'\n', b'-'] {
            let mut bytes = spec.as_bytes().to_vec();
            bytes[at] = damage;
            specs.push(bytes);
        }
    }
    let inputs = specs.into_iter().enumerate();
    let inputs =
        inputs.map(|(index, bytes)| kubebench_compiler::compile::Input { path: format!("specs/{index}.yaml"), bytes });
    let compilation = kubebench_compiler::compile::Workspace::open(None, "0.1.0").compile(inputs.collect());
    assert!(compilation.has_errors());
}

fn manifests(test: &str) -> Option<PathBuf> {
    judges::published(test, "manifests")
}

/// Reads a file in a thread of its own, so that a reader that hangs fails the test instead of stopping it.
fn judged(file: &Path) -> Verdict {
    let bytes = fs::read(file).unwrap();
    returns(&file.display().to_string(), move || {
        let source = Source::new("specs/a.yaml", &bytes);
        let read = yaml::read(SourceId::default(), &source);
        let codes: Vec<&'static str> = read.diagnostics.iter().map(|fault| fault.code.id).collect();
        let value = read.root.filter(|_| codes.is_empty()).map(|root| root.to_json());
        Verdict { value, codes }
    })
}

/// What a file of 1 MiB may hold many of, each as it would slow down a reader that looks at all others for every one.
#[test]
fn very_many_mistakes_are_found_in_time_and_not_all_shown() {
    let head = "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: x}\nspec:\n  workload: {job: {image: 'a/b:1'}}\n";
    let lines = |count: usize, line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<String>();
    let matrix = "  matrix:\n    axes: {a: [1, 2, 3, 4, 5, 6, 7, 8, 9, 0], b: [1, 2, 3, 4, 5, 6, 7, 8, 9, 0], c: [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]}\n    exclude:\n";
    for (what, text) in [
        ("unknown fields", lines(20_000, &|n| format!("  an-unknown-field-with-a-long-name-{n:05}: 1\n"))),
        ("malformed keys", format!("  parameters:\n{}", lines(20_000, &|n| format!("    no name {n}: 1\n")))),
        ("ambiguous scalars", format!("  parameters:\n{}", lines(20_000, &|n| format!("    k{n}: yes\n")))),
        ("wrong types", format!("  metrics:\n{}", lines(10_000, &|n| format!("    - {{nam: {n}}}\n")))),
        ("repeated keys", lines(20_000, &|n| format!("  repeats: {n}\n"))),
        ("exclusions", format!("{matrix}{}", lines(5_000, &|_| "      - {a: 1, b: 2, c: 3}\n".to_owned()))),
        (
            "large patterns",
            format!(
                "  metrics:\n{}",
                lines(200, &|n| format!(
                    "    - {{name: m{n}, unit: s, better: lower, from: {{log: {{pattern: '(?P<value>[0-9]{{1000}}{{1000}})'}}}}}}\n"
                ))
            ),
        ),
    ] {
        let folder = Folder::with([("specs/a.yaml", format!("{head}{text}"))]);
        let child = folder
            .command(&["validate", "--output-format", "concise"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        println!("{what}");
        let said = String::from_utf8(watchdog::output(child).stdout).unwrap();
        assert_eq!(said.lines().count(), 101, "{what}: {said}");
        assert!(said.lines().last().unwrap().contains("KB0116"), "{what}: {said}");
    }
}
