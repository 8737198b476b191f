//! `extends` and `${{ project.parameters }}`: what several specs have in common is written once, and means what it would in each of them.

use std::collections::BTreeMap;

use kubebench_compiler::compile::Compilation;
use kubebench_testing::snapshot::{Snapshot, assert_findings, str};

use crate::compiled::{compile, compile_sound, errors_at, located_errors};

const NODE: &str = "
  timeout: 1h
  workload:
    job:
      image: registry.example/train:1
      resources: {cpu: 8, memory: 32Gi, nvidia.com/gpu: 8}
      env: {NCCL_DEBUG: WARN, OMP_NUM_THREADS: 4}
";
const MEASURED: &str = "
  metrics:
    - {name: throughput, unit: samples/s, better: higher, primary: true, from: {log: {pattern: 'throughput: (?P<value>\\S+)'}}}
    - {name: loss, from: {log: {pattern: 'loss: (?P<value>\\S+)'}}}
  checks: [{metric: loss, finite: true}, {restarts: 0}]
  gates: [{metric: throughput, maxRegression: 5%, confirm: required}]
";

fn document(kind: &str, name: &str, spec: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n{}\n",
        spec.trim_matches('\n')
    )
}

/// Compiles benchmarks and fragments, each with the `spec` that it has: `a` is `specs/a.yaml`, `fragment x` is `specs/x.yaml`.
fn project(specs: &[(&str, &str)]) -> Compilation {
    let texts: Vec<(String, String)> = specs
        .iter()
        .map(|(name, spec)| match name.strip_prefix("fragment ") {
            Some(name) => (format!("specs/{name}.yaml"), document("Fragment", name, spec)),
            None => (format!("specs/{name}.yaml"), document("Benchmark", name, spec)),
        })
        .collect();
    compile(&texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>())
}

/// The spec of `a` as one with what it extends.
#[track_caller]
fn whole(specs: &[(&str, &str)]) -> serde_json::Value {
    let compilation = project(specs);
    assert!(!compilation.has_errors(), "{:#?}", located_errors(&compilation));
    let a = compilation.benchmarks.iter().find(|compiled| compiled.benchmark.name == "a").unwrap();
    a.spec.as_ref().unwrap().to_json()["spec"].clone()
}

#[track_caller]
fn check_errors(specs: &[(&str, &str)], expected: &[(&str, Snapshot)]) {
    assert_findings(&errors_at(&project(specs)), expected);
}

#[test]
fn a_spec_says_over_its_fragments() {
    let own = "
  extends: [node, measured]
  workload: {job: {command: [train], env: {NCCL_DEBUG: null, OMP_NUM_THREADS: 8}, resources: {nvidia.com/gpu: 4}}}
  metrics: [{name: loss, reduce: min}, {name: seconds, from: {duration: run}}]
  checks: [{restarts: 3}, {metric: throughput, min: 1}]
  gates: [{metric: throughput, maxRegression: 3%}]
";
    let spec = whole(&[("a", own), ("fragment node", NODE), ("fragment measured", MEASURED)]);
    let at = |pointer: &str| spec.pointer(pointer).cloned().unwrap_or_default();
    assert_eq!(at("/extends"), serde_json::Value::Null);
    assert_eq!(at("/timeout"), "1h");
    assert_eq!(at("/workload/job/env"), serde_json::json!({"OMP_NUM_THREADS": 8}));
    assert_eq!(at("/workload/job/resources"), serde_json::json!({"cpu": 8, "memory": "32Gi", "nvidia.com/gpu": 4}));
    let names: Vec<_> = at("/metrics").as_array().unwrap().iter().map(|metric| metric["name"].clone()).collect();
    assert_eq!(names, ["throughput", "loss", "seconds"]);
    assert_eq!(at("/metrics/1/reduce"), "min");
    assert_eq!(at("/metrics/1/from/log/pattern"), "loss: (?P<value>\\S+)");
    assert_eq!(
        at("/checks"),
        serde_json::json!([{"metric": "loss", "finite": true}, {"restarts": 3}, {"metric": "throughput", "min": 1}])
    );
    assert_eq!(
        at("/gates"),
        serde_json::json!([{"metric": "throughput", "maxRegression": "3%", "confirm": "required"}])
    );
}

#[test]
fn a_later_fragment_says_over_an_earlier_one_and_over_what_it_extends() {
    let job = "workload: {job: {command: [x], resources: {cpu: 1, memory: 1Gi}";
    let specs = [
        ("a", "  extends: [one, two]\n"),
        ("fragment one", "  timeout: 1h\n  repeats: 1\n  warmups: 1\n"),
        ("fragment two", "  extends: [base]\n  repeats: 2\n  warmups: null\n"),
        (
            "fragment base",
            &format!("  timeout: 3h\n  repeats: 3\n  queueTimeout: 1h\n  {job}, image: r.example/a:1}}}}\n"),
        ),
    ];
    let spec = whole(&specs);
    assert_eq!(spec["timeout"], "3h");
    assert_eq!(spec["repeats"], 2);
    assert_eq!(spec["warmups"], serde_json::Value::Null);
    assert_eq!(spec["queueTimeout"], "1h");
}

/// Run digests by benchmark.
fn digests(compilation: &Compilation) -> BTreeMap<String, String> {
    let of = |compiled: &kubebench_compiler::compile::Compiled| {
        (compiled.benchmark.name.clone(), compiled.identity.digest.to_string())
    };
    compilation.benchmarks.iter().map(of).collect()
}

#[test]
fn fifty_specs_share_an_image_that_is_one_line_and_moving_it_there_starts_nothing() {
    let own = |number: usize| format!("\n  matrix: {{axes: {{batch: [{number}, 1000]}}}}\n");
    let command = "command: [train, '${{ matrix.batch }}']";
    let before: Vec<(String, String)> = (0..50)
        .map(|number| {
            let node = NODE.replace("image:", &format!("{command}\n      image:"));
            let text = format!("{}{node}{MEASURED}", own(number));
            (format!("specs/b{number}.yaml"), document("Benchmark", &format!("b{number}"), &text))
        })
        .collect();
    let mut after: Vec<(String, String)> = (0..50)
        .map(|number| {
            let text = format!("{}  extends: [node]\n  workload: {{job: {{{command}}}}}\n", own(number));
            (format!("specs/b{number}.yaml"), document("Benchmark", &format!("b{number}"), &text))
        })
        .collect();
    after.push(("specs/node.yaml".to_owned(), document("Fragment", "node", &format!("{NODE}{MEASURED}"))));
    let compiled = |files: &[(String, String)]| {
        compile_sound(&files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>())
    };
    let (one, other) = (compiled(&before), compiled(&after));
    assert_eq!(digests(&one).len(), 50);
    assert_eq!(digests(&one), digests(&other));
    // Only the digest of the text of the spec, which results have, is another one.
    for ((path, one), (_, other)) in one.tree.iter().zip(other.tree.iter()) {
        let differs: Vec<_> =
            one.body().lines().zip(other.body().lines()).filter(|(one, other)| one != other).collect();
        assert!(
            differs.iter().all(|(line, _)| line.contains("\"source\":{\"digest\"") || line.contains("digest")),
            "{path}: {differs:?}"
        );
    }
    let image = after.last_mut().unwrap();
    image.1 = image.1.replace("train:1", "train:2");
    let changed = digests(&compiled(&after));
    assert!(digests(&other).iter().all(|(name, digest)| changed.get(name) != Some(digest)));
}

#[test]
fn a_mistake_in_a_fragment_is_one_finding_there() {
    let extends = "  extends: [node]\n";
    let bad = NODE.replace("timeout: 1h", "timeout: 1x");
    let specs = [("a", extends), ("b", extends), ("fragment node", bad.as_str())];
    let found = located_errors(&project(&specs));
    assert_findings(&found, &[("KB0205 specs/node.yaml", str! {"`x` is not a unit of time"})]);
    let unknown = NODE.replace("WARN", "'${{ matrix.level }}'");
    let specs = [
        ("a", extends),
        ("b", extends),
        ("c", "  extends: [node]\n  matrix: {axes: {level: [INFO]}}\n"),
        ("fragment node", &unknown),
    ];
    let compilation = project(&specs);
    assert_findings(&located_errors(&compilation), &[("KB0301 specs/node.yaml", str! {"there is no `matrix.level`"})]);
    let error = compilation.diagnostics.iter().find(|finding| finding.code.id == "KB0301").unwrap();
    assert_eq!(error.notes.last().unwrap(), "through `extends` in specs/a.yaml, specs/b.yaml");
    let compiled: Vec<&str> = compilation.benchmarks.iter().map(|compiled| compiled.benchmark.name.as_str()).collect();
    assert_eq!(compiled, ["c"]);
    assert!(compilation.faulty.contains("specs/a.yaml") && !compilation.faulty.contains("specs/c.yaml"));
}

#[test]
fn a_suite_waits_silently_for_a_benchmark_whose_fragment_has_errors() {
    let bad = document("Fragment", "node", &NODE.replace("timeout: 1h", "timeout: 1x"));
    let files = [
        ("specs/a.yaml", document("Benchmark", "a", "  extends: [node]\n")),
        ("specs/node.yaml", bad),
        ("specs/s.yaml", document("Suite", "s", "  benchmarks: [a]\n")),
    ];
    let found = compile(&files.iter().map(|(path, text)| (*path, text.as_str())).collect::<Vec<_>>());
    assert_findings(&located_errors(&found), &[("KB0205 specs/node.yaml", str! {"`x` is not a unit of time"})]);
    assert!(found.faulty.contains("specs/s.yaml"));
}

#[test]
fn what_is_missing_in_the_whole_is_missing() {
    check_errors(
        &[("a", "  extends: [t]\n"), ("fragment t", "  timeout: 1h\n")],
        &[("KB0202 at spec", str! {"`spec` needs the field `workload`"})],
    );
}

#[test]
fn fragments_that_cannot_be_extended() {
    let node = ("fragment node", NODE);
    check_errors(&[("a", "  extends: [nod]\n"), node], &[("KB0399 at nod", str! {"there is no fragment `nod`"})]);
    check_errors(
        &[("a", "  extends: [specs/node.yaml]\n"), node],
        &[("KB0399 at specs/node.yaml", str! {"there is no fragment `specs/node.yaml`"})],
    );
    check_errors(
        &[("a", "  extends: node\n"), node],
        &[("KB0203 at node", str! {"`extends` must be a list, not the string `node`"})],
    );
    check_errors(&[("a", "  extends: [node]\n")], &[("KB0399 at node", str! {"there is no fragment `node`"})]);
    check_errors(&[("a", "  extends: [b]\n"), ("b", NODE)], &[("KB0399 at b", str! {"there is no fragment `b`"})]);
    check_errors(
        &[("a", "  extends: [x]\n"), ("fragment x", "  extends: [z]\n"), ("fragment z", "  extends: [x]\n")],
        &[
            ("KB0399 at z", str! {"the fragment `z` extends itself"}),
            ("KB0399 at x", str! {"the fragment `x` extends itself"}),
        ],
    );
    let chain = |length: usize| -> Vec<(String, String)> {
        let link = |number: usize| {
            let next = format!("  extends: [f{}]\n", number + 1);
            (format!("fragment f{number}"), if number == length { NODE.to_owned() } else { next })
        };
        (1..=length).map(link).chain([("a".to_owned(), "  extends: [f1]\n".to_owned())]).collect()
    };
    let with = |length: usize| {
        let files = chain(length);
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        errors_at(&project(&files))
    };
    assert_findings(&with(5), &[]);
    assert_findings(&with(6), &[("KB0399 at f6", str! {"this chain of fragments is longer than 5"})]);
    let twice = [("specs/a.yaml", document("Fragment", "x", NODE)), ("specs/b.yaml", document("Fragment", "x", NODE))];
    let found = compile(&twice.iter().map(|(path, text)| (*path, text.as_str())).collect::<Vec<_>>());
    assert_findings(&located_errors(&found), &[("KB0308 specs/b.yaml", str! {"the name `x` is taken"})]);
    // A document that cannot be read may be the fragment.
    let unreadable =
        [("specs/a.yaml", document("Benchmark", "a", "  extends: [x]\n")), ("specs/x.yaml", "{".to_owned())];
    let found = compile(&unreadable.iter().map(|(path, text)| (*path, text.as_str())).collect::<Vec<_>>());
    assert_eq!(located_errors(&found).iter().filter(|(place, _)| !place.contains("x.yaml")).count(), 0);
}

#[test]
fn a_fragment_is_validated_as_a_part() {
    check_errors(
        &[("fragment x", "  timeout: 1x\n  workload: {job: {imag: a, env: null}}\n  typo: 1\n")],
        &[
            ("KB0205 at x", str! {"`x` is not a unit of time"}),
            ("KB0201 at imag", str! {"`imag` is not a field of `job`"}),
            ("KB0201 at typo", str! {"`typo` is not a field of `spec`"}),
        ],
    );
    // A field that removes an absent field has no effect.
    check_errors(
        &[("a", "  extends: [node]\n  repeats: null\n  workload: {job: {command: [x]}}\n"), ("fragment node", NODE)],
        &[("KB0203 at repeats", str! {"`repeats` has no value"})],
    );
}

#[test]
fn a_new_value_of_a_project_parameter_concerns_the_specs_that_use_it() {
    let file = |tag: &str| {
        format!(
            "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {{parameters: {{tag: {tag}, other: 1}}}}\n"
        )
    };
    let using = document("Benchmark", "using", &NODE.replace("train:1", "train:${{ project.parameters.tag }}"));
    let other = document("Benchmark", "other", NODE);
    let with = |tag: &str| {
        let file = file(tag);
        digests(&compile_sound(&[("kubebench.yaml", &file), ("specs/a.yaml", &using), ("specs/b.yaml", &other)]))
    };
    let (one, two) = (with("1.10"), with("1.1"));
    assert_eq!(one["other"], two["other"]);
    assert_ne!(one["using"], two["using"]);
    let unknown = document("Benchmark", "a", &NODE.replace("train:1", "train:${{ project.parameters.tga }}"));
    let file = file("1");
    let found = compile(&[("kubebench.yaml", &file), ("specs/a.yaml", &unknown)]);
    assert_findings(&located_errors(&found), &[("KB0301 specs/a.yaml", str! {"there is no `project.parameters.tga`"})]);
}
