//! Variants: cases of one benchmark in several forms.

use std::collections::BTreeSet;

use kubebench_compiler::compile::Compilation;
use kubebench_syntax::diag::Severity;
use serde_json::json;

use crate::support::project::{Folder, compile, compile_sound, created, errors};

/// A spec whose lines below `spec` are `spec`.
fn text(spec: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: toolkits}}\nspec:\n  timeout: 1h\n{spec}  metrics:\n    \
         - {{name: rate, better: higher, primary: true, from: {{log: {{pattern: 'rate (?P<value>\\S+)'}}}}}}\n"
    )
}

const BASE: &str = "  workload:
    tfJob:
      image: registry.example/tf:1
      resources: {cpu: 1, memory: 1Gi}
      worker: {replicas: 1, command: [python3, train.py], args: ['--batch=${{ matrix.batch }}', '${{ variant.name }}']}
";
const MATRIX: &str = "  matrix: {axes: {batch: [64, 128]}}\n";
const TWO: &str = "  variants:
    - {name: tensorflow}
    - name: pytorch
      timeout: 2h
      workload:
        pytorchJob:
          image: registry.example/pt:1
          resources: {cpu: 1, memory: 1Gi}
          worker: {replicas: 1, command: [torchrun, train.py], args: ['--batch=${{ matrix.batch }}']}
";
const THIRD: &str = "    - {name: large, workload: {tfJob: {resources: {cpu: 8}}}}\n";

fn sound(spec: &str) -> Compilation {
    compile_sound(&[("specs/toolkits.yaml", &text(spec))])
}

/// The messages of all errors, with their notes about cases.
fn faults(spec: &str) -> Vec<String> {
    errors(&compile(&[("specs/toolkits.yaml", &text(spec))]))
}

fn ids(compilation: &Compilation) -> Vec<(String, String)> {
    let cases = compilation.benchmarks.iter().flat_map(|compiled| &compiled.benchmark.cases);
    cases.map(|case| (case.name.clone(), case.id.clone())).collect()
}

#[test]
fn a_variant_is_a_dimension_of_the_cases() {
    let compilation = sound(&format!("{MATRIX}{BASE}{TWO}{THIRD}"));
    let names: Vec<String> = ids(&compilation).into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "variant=tensorflow, batch=64",
            "variant=pytorch, batch=64",
            "variant=large, batch=64",
            "variant=tensorflow, batch=128",
            "variant=pytorch, batch=128",
            "variant=large, batch=128",
        ]
    );
    let benchmark = &compilation.benchmarks[0].benchmark;
    let kinds: Vec<&str> = benchmark.cases.iter().map(|case| case.workload.key).collect();
    assert_eq!(kinds[..3], ["tfJob", "pytorchJob", "tfJob"]);
    assert_eq!(benchmark.cases[1].values["variant"], json!("pytorch"));
    assert_eq!(benchmark.cases[0].workload.roles[0].args, ["--batch=64", "tensorflow"]);
    assert_eq!(benchmark.cases[1].timeout.seconds(), 7200);
    let cpu = |case: usize| benchmark.cases[case].workload.roles[0].limits["cpu"].canonical();
    assert_eq!((cpu(0), cpu(2)), ("1".to_owned(), "8".to_owned()));
    let memory = benchmark.cases[2].workload.roles[0].limits["memory"].canonical();
    assert_eq!(memory, "1Gi", "what the variant does not say stays");
    let kinds: BTreeSet<String> =
        created(&compilation).iter().map(|emitted| emitted.object["kind"].as_str().unwrap().to_owned()).collect();
    assert_eq!(kinds, BTreeSet::from(["PyTorchJob".to_owned(), "TFJob".to_owned()]));
    assert!(benchmark.cases[1].is_called("batch=64, variant=pytorch"));
}

#[test]
fn another_variant_leaves_the_identity_of_the_others_alone() {
    let two = ids(&sound(&format!("{MATRIX}{BASE}{TWO}")));
    let three = ids(&sound(&format!("{MATRIX}{BASE}{TWO}{THIRD}")));
    assert!(two.iter().all(|case| three.contains(case)), "{two:?} {three:?}");
    let without = ids(&sound(&format!("{BASE}{TWO}").replace("${{ matrix.batch }}", "64")));
    assert_eq!(without[0].0, "variant=tensorflow");
}

#[test]
fn entries_of_the_matrix_may_be_of_one_variant() {
    let matrix = "  matrix: {axes: {batch: [64, 128]}, include: [{batch: 256, variant: pytorch}, {batch: 512}], exclude: [{batch: 128, variant: tensorflow}]}\n";
    let names: BTreeSet<String> =
        ids(&sound(&format!("{matrix}{BASE}{TWO}"))).into_iter().map(|(name, _)| name).collect();
    let expected = [
        "variant=pytorch, batch=128",
        "variant=pytorch, batch=256",
        "variant=pytorch, batch=512",
        "variant=pytorch, batch=64",
        "variant=tensorflow, batch=512",
        "variant=tensorflow, batch=64",
    ];
    assert_eq!(names, expected.map(str::to_owned).into());
}

#[test]
fn what_a_variant_cannot_be_is_refused() {
    let with = |matrix: &str, variants: &str| faults(&format!("{matrix}{BASE}  variants: {variants}\n"));
    let path = "specs/toolkits.yaml";
    assert_eq!(with(MATRIX, "[{name: a}, {name: a}]"), [format!("KB0359 {path}: two variants have the name `a`")]);
    assert_eq!(with(MATRIX, "[{name: a}]"), [format!("KB0206 {path}: `variants` must be a list of at least 2")]);
    let malformed = with(MATRIX, "[{name: A_b}, {name: b}]");
    assert!(malformed.len() == 1 && malformed[0].starts_with("KB0205"), "{malformed:?}");
    assert_eq!(
        with("  matrix: {axes: {batch: [1], variant: [x]}}\n", "[{name: a}, {name: b}]").first().map(String::as_str),
        Some("KB0305 specs/toolkits.yaml: an axis cannot be called `variant` in a spec with `variants`")
    );
    assert_eq!(
        with("  matrix: {axes: {batch: [1, 2]}, exclude: [{batch: 1, variant: c}]}\n", "[{name: a}, {name: b}]"),
        [format!("KB0305 {path}: there is no variant `c`")]
    );
    let part = with(MATRIX, "[{name: a}, {name: b, workload: {pytorchJob: {image: 'registry.example/pt:1'}}}]");
    assert!(!part.is_empty() && part.iter().all(|fault| !fault.contains("panicked")), "a job without pods: {part:?}");
    let none = faults(
        "  variants: [{name: a, workload: {job: {image: 'registry.example/a:1', resources: {cpu: 1, memory: 1Gi}}}}, {name: b}]\n",
    );
    assert_eq!(none, [format!("KB0359 {path}: the variant `b` has no workload")]);
    let lookup = faults(&format!("{MATRIX}{BASE}").replace("'${{ variant.name }}'", "'${{ variant.name }}'"));
    assert!(lookup.len() == 1 && lookup[0].contains("variant"), "{lookup:?}");
    assert_eq!(faults(""), [format!("KB0202 {path}: `spec` needs the field `workload`")]);
}

#[test]
fn a_needed_metric_is_there_in_every_variant() {
    let spec = format!("{MATRIX}{BASE}{TWO}")
        .replace("worker: {replicas: 1, command: [torchrun", "master: {replicas: 1, command: [torchrun");
    let text = text(&spec).replace(r"value>\S+)'", r"value>\S+)', role: worker");
    let compilation = compile(&[("specs/toolkits.yaml", &text)]);
    assert_eq!(
        errors(&compilation),
        ["KB0324 specs/toolkits.yaml: the workload has no role `worker` in the case variant=pytorch, batch=64"]
    );
    let optional = text.replace("primary: true, ", "");
    assert_eq!(errors(&compile(&[("specs/toolkits.yaml", &optional)])), Vec::<String>::new());
}

#[test]
fn findings_about_a_variant_are_where_it_is_written() {
    let spec = format!(
        "{MATRIX}{BASE}{TWO}    - {{name: wrong, workload: {{tfJob: {{worker: {{replicas: '${{{{ variant.name }}}}'}}}}}}}}\n"
    );
    let compilation = compile(&[("specs/toolkits.yaml", &text(&spec))]);
    let found: Vec<_> = compilation.diagnostics.iter().filter(|fault| fault.severity == Severity::Error).collect();
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].notes.iter().any(|note| note.contains("variant=wrong")), "{found:#?}");
}

#[test]
fn variants_share_one_set_of_files() {
    let with = |one: &str, two: &str| {
        let carried = |name: &str, path: &str| {
            format!("    - {{name: {name}, workload: {{job: {{files: {{bench.sh: {{path: {path}}}}}}}}}}}\n")
        };
        let base = "  workload: {job: {image: 'registry.example/a:1', resources: {cpu: 1, memory: 1Gi}, command: [sh, /kubebench/files/bench.sh]}}\n";
        let spec = text(&format!("{base}  variants:\n{}{}", carried("one", one), carried("two", two)));
        errors(&compile(&[("specs/toolkits.yaml", &spec), ("scripts/a.sh", "true\n"), ("scripts/b.sh", "false\n")]))
    };
    assert_eq!(with("scripts/a.sh", "scripts/a.sh"), Vec::<String>::new());
    assert_eq!(
        with("scripts/a.sh", "scripts/b.sh"),
        ["KB0342 specs/toolkits.yaml: variants carry two different files as `bench.sh`"]
    );
}

#[test]
fn a_local_run_has_a_variant_as_a_case() {
    let spec = text(
        "  workload: {job: {image: 'registry.example/a:1', resources: {cpu: 1, memory: 1Gi}, command: [echo, rate 1]}}\n  variants:\n    - {name: one}\n    - {name: two, workload: {job: {command: [echo, rate 2]}}}\n",
    );
    let folder = Folder::with([("specs/toolkits.yaml", spec.as_str())]);
    let ran = folder.run(&["run", "specs/toolkits.yaml", "--case", "variant=two", "-q"]);
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{said}");
    assert!(said.contains("variant=two") && !said.contains("variant=one"), "{said}");
}
