//! The examples of the explain pages: what is called wrong is reported under the page's code, what is called right not.

use std::collections::BTreeSet;

use kubebench_compiler::compile::Compiled;
use kubebench_compiler::fixture;
use kubebench_compiler::lower::Unreadable;
use kubebench_executor::local::{Engine, Secrets, refusals};
use kubebench_extract::rules::Rules;
use kubebench_syntax::diag::{Diagnostics, Severity, code};
use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml::read_manifest;

use crate::support::project::{codes, compile, compile_sound, errors};

/// Codes whose rule is still being written. This list must be empty in the end.
const NOT_YET_REPORTED: &[&str] = &[];

/// Pages whose fault needs more than texts: bytes, a tree on disk, a committed claim. Their blocks are `sh` or `diff`.
const WITHOUT_WRONG_YAML: &[&str] = &[
    "KB0101", "KB0102", "KB0114", "KB0115", "KB0116", "KB0344", "KB0417", "KB0418", "KB0501", "KB0502", "KB0503",
    "KB0504", "KB0505", "KB0506", "KB0507", "KB0508", "KB0509", "KB0601", "KB0363", "KB0364", "KB0365", "KB0366",
    "KB0367", "KB0368", "KB0452", "KB0453", "KB0460", "KB0461", "KB0462", "KB0463", "KB0464", "KB0465", "KB0430",
    "KB0431", "KB0432", "KB0433", "KB0434", "KB0435", "KB0436", "KB0511", "KB0512",
];

/// Findings besides the page's own that its examples cannot do without.
const COMPANIONS: &[(&str, &[&str])] = &[
    // What a target says is shown by a code of its own too.
    ("KB0382", &["KB0392"]),
    ("KB0387", &["KB0392"]),
    ("KB0388", &["KB0392"]),
    ("KB0394", &["KB0392"]),
    ("KB0385", &["KB0386"]),
];

/// Codes that only a local run gives.
const LOCAL: &[&str] = &["KB0350", "KB0351", "KB0352", "KB0442"];

/// Codes that only `validate` gives, which reads kept logs.
const OF_FIXTURES: &[&str] = &["KB0360", "KB0361"];

/// Codes that only the reader of manifests gives.
const OF_MANIFESTS: &[&str] = &["KB0117", "KB0118", "KB0119", "KB0120"];

/// A spec with the manifest of an example.
const OF_A_MANIFEST: &str = "\
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: train}
spec:
  timeout: 1h
  workload: {manifest: {file: jobs/x.yaml, main: NAME, success: condition=Complete, failure: condition=Failed}}
  metrics: [{name: seconds, unit: s, better: lower, primary: true, from: {duration: run}}]
";

/// The files of one example.
type Project = Vec<(String, String)>;

#[test]
fn wrong_examples_are_reported() {
    let mut wrong = Vec::new();
    for code in code::ALL {
        let projects = examples(code.page, "Wrong");
        assert_eq!(projects.is_empty(), WITHOUT_WRONG_YAML.contains(&code.id), "{}: YAML blocks under Wrong", code.id);
        for project in projects {
            let found = findings(code.id, &project);
            let reported = found.contains(code.id);
            match (reported, NOT_YET_REPORTED.contains(&code.id)) {
                (true, true) => wrong.push(format!("{} is reported now: take it off the list", code.id)),
                (false, false) => wrong.push(format!("{}.md: its wrong example gives {found:?}", code.id)),
                _ => {}
            }
            let beside: Vec<&String> =
                found.iter().filter(|id| *id != code.id && !companions(code.id).contains(&id.as_str())).collect();
            if !beside.is_empty() {
                wrong.push(format!("{}.md: its wrong example also gives {beside:?}", code.id));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn right_examples_are_without_any_finding() {
    let mut wrong = Vec::new();
    for code in code::ALL {
        for project in examples(code.page, "Right") {
            let mut found = findings(code.id, &project);
            found.retain(|id| !companions(code.id).contains(&id.as_str()));
            if !found.is_empty() {
                let borrowed = borrow(&project);
                wrong.push(format!(
                    "{}.md: its right example gives {found:?} {:?}",
                    code.id,
                    errors(&compile(&borrowed))
                ));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_yaml_block_is_under_a_heading_that_is_tested() {
    for code in code::ALL {
        let blocks = code.page.matches("\n```yaml").count();
        let yaml = |heading| files(code.page, heading).iter().filter(|(info, _)| info.starts_with("yaml")).count();
        let tested: usize = ["Wrong", "Right"].map(yaml).iter().sum();
        assert_eq!(blocks, tested, "{}.md", code.id);
    }
}

/// A lint that a page says can be switched off is switched off that way.
#[test]
fn lints_can_be_set_as_their_pages_say() {
    for code in code::ALL.iter().filter(|code| code.configurable) {
        for project in examples(code.page, "Wrong") {
            if NOT_YET_REPORTED.contains(&code.id) {
                continue;
            }
            for (level, expected) in [("\"off\"", false), ("error", true)] {
                let mut project = project.clone();
                if OF_MANIFESTS.contains(&code.id) {
                    for (path, _) in &mut project {
                        "jobs/x.yaml".clone_into(path);
                    }
                    let name = if project.iter().any(|(_, text)| text.contains("kind: Job")) {
                        "Job/train"
                    } else {
                        "ConfigMap/grid"
                    };
                    project.push(("specs/a.yaml".to_owned(), OF_A_MANIFEST.replace("NAME", name)));
                }
                let line = format!("  lints: {{{}: {level}}}\n", code.id);
                match project.iter_mut().find(|(path, _)| path == "kubebench.yaml") {
                    Some((_, text)) => text.push_str(&line),
                    None => project.push((
                        "kubebench.yaml".to_owned(),
                        format!("apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec:\n{line}"),
                    )),
                }
                let compilation = compile(&borrow(&project));
                assert_eq!(codes(&compilation).contains(&code.id), expected, "{} {level}", code.id);
                assert_eq!(compilation.has_errors(), expected, "{} {level}: {:?}", code.id, errors(&compilation));
            }
        }
    }
}

/// The right example of the first page is what the other tests of this file take for sound.
#[test]
fn a_sound_example_has_a_tree() {
    let project = examples(code::KB0103.page, "Right").remove(0);
    assert!(compile_sound(&borrow(&project)).tree.len() > 10);
}

fn companions(code: &str) -> &'static [&'static str] {
    COMPANIONS.iter().find(|(id, _)| *id == code).map_or(&[], |(_, with)| with)
}

fn findings(code: &str, project: &Project) -> BTreeSet<String> {
    if OF_MANIFESTS.contains(&code) {
        let read = |text: &str| read_manifest(SourceId::default(), &Source::new("jobs/x.yaml", text.as_bytes()));
        let faults = project.iter().flat_map(|(_, text)| read(text).diagnostics);
        return faults.map(|fault| fault.code.id.to_owned()).collect();
    }
    let compilation = compile(&borrow(project));
    let mut found: BTreeSet<String> = codes(&compilation).into_iter().map(str::to_owned).collect();
    if code::find(code).is_some_and(|code| code.severity == Severity::Info) {
        let of_benchmarks = compilation.benchmarks.iter().flat_map(|compiled| &compiled.permissions);
        let all = of_benchmarks.chain(compilation.of_targets.iter().map(|of| &of.finding));
        found.extend(all.map(|finding| finding.code.id.to_owned()));
    }
    if !compilation.has_errors() && LOCAL.contains(&code) {
        let of = |compiled: &Compiled| refusals(&compiled.benchmark, Engine::Process, &Secrets::default());
        let refused = compilation.benchmarks.iter().flat_map(|compiled| of(compiled).into_iter());
        found.extend(refused.map(|fault| fault.code.id.to_owned()));
    }
    if !compilation.has_errors() && OF_FIXTURES.contains(&code) {
        let files = project.clone();
        let open = move |path: &str| match files.iter().find(|(known, _)| known == path) {
            Some((_, text)) => Ok(Box::new(std::io::Cursor::new(text.clone())) as Box<dyn std::io::BufRead>),
            None => Err(Unreadable::Absent { beside: Vec::new() }),
        };
        let mut faults = Diagnostics::default();
        for compiled in &compilation.benchmarks {
            let rules = Rules::read(&compiled.rules).unwrap();
            fixture::check(&compiled.benchmark, &rules, &["specs"], &open, &mut faults);
        }
        found.extend(faults.into_iter().map(|fault| fault.code.id.to_owned()));
    }
    found
}

fn borrow(project: &Project) -> Vec<(&str, &str)> {
    project.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect()
}

/// The projects under a heading: files with paths make up one, a block without a path is one by itself.
fn examples(page: &str, heading: &str) -> Vec<Project> {
    let mut projects = Vec::new();
    let mut together = Vec::new();
    for (info, text) in files(page, heading) {
        match info.split_once(' ') {
            Some((_, path)) => together.push((path.to_owned(), text)),
            None if text.contains("kind: Project") => projects.push(vec![("kubebench.yaml".to_owned(), text)]),
            None => projects.push(vec![("specs/a.yaml".to_owned(), text)]),
        }
    }
    projects.extend((!together.is_empty()).then_some(together));
    projects
}

/// The YAML blocks and other files under a heading: what follows the back quotes, and the text.
fn files(page: &str, heading: &str) -> Vec<(String, String)> {
    let section = page.split("\n## ").find(|section| section.starts_with(&format!("{heading}\n"))).unwrap_or_default();
    let mut files = Vec::new();
    let mut lines = section.split_inclusive('\n');
    while let Some(line) = lines.next() {
        if let Some(info) =
            line.strip_prefix("```").map(str::trim_end).filter(|info| info.starts_with("yaml") || info.contains(' '))
        {
            files.push((info.to_owned(), lines.by_ref().take_while(|line| line.trim_end() != "```").collect()));
        } else if line.starts_with("```") {
            lines.by_ref().find(|line| line.trim_end() == "```");
        }
    }
    files
}
