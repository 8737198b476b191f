//! Suites: what of them reaches the tree, what a benchmark has from its suite, and what is refused.

use std::collections::BTreeMap;

use kubebench_compiler::compile::Compilation;
use kubebench_testing::snapshot::{Snapshot, assert_findings, str};
use serde_json::{Value, json};

use crate::support::project::{Folder, compile, compile_sound, errors, located_errors, objects};

const PROJECT: &str = "
apiVersion: kubebench.dev/v1
kind: Project
metadata: {name: ml}
spec:
  defaults: {timeout: 1h, claimSize: 2Gi}
  targets: {eu: {namespace: eu}, us: {namespace: us}}
";

/// A benchmark of this name; `more` are further lines of its `spec`.
fn benchmark(name: &str, more: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: {name}, labels: {{team: own}}}}\nspec:\n{more}  workload:\n    \
         job: {{image: 'busybox:1.37.0', command: [echo, rate 1], resources: {{cpu: 1, memory: 1Gi}}}}\n  metrics:\n    \
         - {{name: rate, better: higher, primary: true, from: {{log: {{pattern: 'rate (?P<value>\\S+)'}}}}}}\n"
    )
}

fn suite(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Suite\nmetadata: {{name: {name}, labels: {{team: s, of: {name}}}}}\nspec: {spec}\n"
    )
}

/// A project of `a`, `b` and `c`, of which `suite` is the one suite.
fn project(spec: &str) -> Vec<(String, String)> {
    let mut files = vec![("kubebench.yaml".to_owned(), PROJECT.to_owned())];
    files.extend(["a", "b", "c"].map(|name| (format!("specs/{name}.yaml"), benchmark(name, ""))));
    files.push(("specs/nightly.yaml".to_owned(), suite("nightly", spec)));
    files
}

fn borrowed(files: &[(String, String)]) -> Vec<(&str, &str)> {
    files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect()
}

fn sound(files: &[(String, String)]) -> Compilation {
    compile_sound(&borrowed(files))
}

/// The objects of a compilation by their paths.
fn tree(compilation: &Compilation) -> BTreeMap<String, Value> {
    objects(compilation).into_iter().map(|emitted| (emitted.path, emitted.object)).collect()
}

fn parameter<'o>(workflow: &'o Value, name: &str) -> &'o str {
    let parameters = workflow["spec"]["arguments"]["parameters"].as_array().unwrap();
    parameters.iter().find(|parameter| parameter["name"] == name).unwrap()["value"].as_str().unwrap()
}

#[test]
fn a_suite_has_one_workflow_and_one_claim_for_its_benchmarks() {
    let files = project("{targets: [eu], benchmarks: [b, {benchmark: a, needs: [b]}], results: {claim: {size: 9Gi}}}");
    let compilation = sound(&files);
    let tree = tree(&compilation);
    let folder = |folder: &str| -> Vec<&str> {
        let names = tree.keys().filter_map(|path| path.strip_prefix(folder)?.strip_prefix('/'));
        names.collect()
    };
    assert_eq!(folder("eu/nightly"), ["results.yaml", "suite.yaml", "workflow.yaml"]);
    assert_eq!(folder("eu/a"), ["config.yaml", "rules.yaml"], "it runs by the suite");
    assert_eq!(folder("eu/c"), ["config.yaml", "results.yaml", "rules.yaml", "workflow.yaml"], "it is in no suite");
    assert_eq!(folder("us/a"), folder("eu/c"), "the suite is not there");
    assert!(
        tree.contains_key("eu/pipeline/suite-template.yaml") && !tree.contains_key("us/pipeline/suite-template.yaml")
    );

    let workflow = &tree["eu/nightly/workflow.yaml"];
    assert_eq!(
        workflow["spec"]["workflowTemplateRef"]["name"],
        tree["eu/pipeline/suite-template.yaml"]["metadata"]["name"]
    );
    let items: Value = serde_json::from_str(parameter(workflow, "benchmarks")).unwrap();
    let config = |name: &str| tree[&format!("eu/{name}/config.yaml")]["metadata"]["name"].clone();
    assert_eq!(
        items,
        json!([{"benchmark": "b", "config": config("b"), "lanes": "1"}, {"benchmark": "a", "config": config("a"), "lanes": "1"}])
    );
    assert_eq!(parameter(workflow, "claim"), tree["eu/nightly/results.yaml"]["metadata"]["name"]);
    assert_eq!(tree["eu/nightly/results.yaml"]["spec"]["resources"]["requests"]["storage"], "9Gi");
    let list = &tree["eu/nightly/suite.yaml"];
    assert_eq!(parameter(workflow, "suite-config"), list["metadata"]["name"]);
    assert_eq!(list["immutable"], true);
    let list: Value = serde_json::from_str(list["data"]["suite.json"].as_str().unwrap()).unwrap();
    let members: Vec<(&Value, &Value)> =
        list["benchmarks"].as_array().unwrap().iter().map(|member| (&member["benchmark"], &member["needs"])).collect();
    assert_eq!(members, [(&json!("b"), &json!([])), (&json!("a"), &json!(["b"]))]);
    let runs: Value = serde_json::from_str(tree["eu/a/config.yaml"]["data"]["runs.json"].as_str().unwrap()).unwrap();
    assert_eq!(list["benchmarks"][1]["runDigest"], runs["runDigest"]);
    assert_eq!(list["benchmarks"][1]["runs"][0], runs["runs"][0]["id"]);
}

#[test]
fn a_benchmark_keeps_its_identity_in_a_suite() {
    let alone = project("{benchmarks: [c]}");
    let inside = project("{benchmarks: [c, a]}");
    let config = |files: &[(String, String)]| tree(&sound(files))["eu/a/config.yaml"].clone();
    assert_eq!(config(&alone), config(&inside));
}

#[test]
fn another_digest_of_a_benchmark_another_order_and_another_need_make_another_workflow() {
    let name = |files: &[(String, String)]| {
        tree(&sound(files))["eu/nightly/workflow.yaml"]["metadata"]["name"].as_str().unwrap().to_owned()
    };
    let first = name(&project("{benchmarks: [a, b]}"));
    assert!(first.starts_with("nightly-") && first.ends_with("-r1"), "{first}");
    let mut changed = project("{benchmarks: [a, b]}");
    changed[1].1 = changed[1].1.replace("rate 1", "rate 2");
    let mut described = project("{description: words, benchmarks: [a, b], results: {claim: {size: 90Gi}}}");
    described[1].1 = described[1].1.replace("better: higher", "unit: x, better: higher");
    let others = [
        name(&changed),
        name(&project("{benchmarks: [b, a]}")),
        name(&project("{benchmarks: [a, {benchmark: b, needs: [a]}]}")),
        name(&project("{run: 2, benchmarks: [a, b]}")),
    ];
    assert!(!others.contains(&first), "{others:?}");
    assert_eq!(name(&described), first, "what is not executed");
    assert_eq!(name(&project("{benchmarks: [a, {benchmark: b}]}")), first);
}

#[test]
fn a_benchmark_has_from_its_suite_what_it_leaves_unsaid() {
    let mut files = project(
        "{targets: [eu], run: 3, benchmarks: [a, b], defaults: {repeats: 4, warmups: 2, timeout: 7m, queueTimeout: 8m, parameters: {word: suites, own: x}}}",
    );
    let spec = "  repeats: 2\n  run: 5\n  parameters: {own: mine}\n";
    files[2].1 = benchmark("b", spec).replace("rate 1", "\"${{ parameters.word }} ${{ parameters.own }}\"");
    let compilation = compile(&borrowed(&files));
    let found = errors(&compilation);
    assert!(
        found.iter().all(|fault| fault.contains("parameters.word")) && found.len() == 1,
        "{found:#?}: it is not there alone"
    );
    files[2].1 = files[2].1.replace("spec:\n", "spec:\n  targets: [eu]\n");
    let compilation = sound(&files);
    let of = |name: &str, target: &str| {
        let all = compilation.benchmarks.iter().map(|compiled| &compiled.benchmark);
        all.into_iter().find(|benchmark| benchmark.name == name && benchmark.target.name == target).unwrap()
    };
    let said = |name: &str, target: &str| {
        let benchmark = of(name, target);
        let timeout = benchmark.cases[0].timeout.seconds();
        (benchmark.repeats, benchmark.warmups, timeout, benchmark.queue_timeout.seconds(), benchmark.run)
    };
    assert_eq!(said("a", "eu"), (4, 2, 420, 480, 3));
    assert_eq!(said("a", "us"), (1, 0, 3600, 86400, 1), "it runs by itself there");
    assert_eq!(said("b", "eu"), (2, 2, 420, 480, 7));
    assert_eq!(of("b", "eu").cases[0].workload.roles[0].command, ["echo", "suites mine"]);
    let labels: Vec<(&str, &str)> =
        of("a", "eu").labels.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    assert_eq!(labels, [("of", "nightly"), ("team", "own")]);
    assert_eq!(of("a", "us").labels.len(), 1);
}

#[test]
fn a_schedule_is_the_suites() {
    let files = project("{targets: [eu], schedule: {cron: '0 2 * * *'}, benchmarks: [a]}");
    let tree = tree(&sound(&files));
    let workflow = &tree["eu/nightly/workflow.yaml"];
    assert_eq!((&workflow["kind"], &workflow["metadata"]["name"]), (&json!("CronWorkflow"), &json!("nightly")));
    assert_eq!(workflow["spec"]["schedules"], json!(["0 2 * * *"]));
    let labels = json!({"kubebench.dev/benchmark": "nightly", "kubebench.dev/suite": "nightly"});
    assert_eq!(workflow["spec"]["workflowMetadata"]["labels"], labels);
    let of_cron = json!({"spec": workflow["spec"]["workflowSpec"]});
    assert_eq!(parameter(&of_cron, "session"), "scheduled");
}

#[test]
fn what_contradicts_a_suite_is_refused_where_it_is() {
    let check = |files: Vec<(String, String)>, expected: &[(&str, Snapshot)]| {
        assert_findings(&located_errors(&compile(&borrowed(&files))), expected);
    };
    let with = |spec: &str, path: &str, text: String| {
        let mut files = project(spec);
        files.retain(|(old, _)| old != path);
        files.push((path.to_owned(), text));
        files
    };
    check(
        project("{benchmarks: [{benchmark: a, needs: [b, a, c]}, b]}"),
        &[
            ("KB0444 specs/nightly.yaml", str! {"`a` needs `b`, which comes after it"}),
            ("KB0444 specs/nightly.yaml", str! {"`a` needs itself"}),
            ("KB0444 specs/nightly.yaml", str! {"`a` needs `c`, which is not in the suite"}),
        ],
    );
    check(
        with("{benchmarks: [a]}", "specs/weekly.yaml", suite("weekly", "{benchmarks: [b, a]}")),
        &[("KB0443 specs/weekly.yaml", str! {"`a` is already in the suite `nightly`"})],
    );
    check(
        with(
            "{targets: [eu], benchmarks: [a]}",
            "specs/weekly.yaml",
            suite("weekly", "{targets: [us], benchmarks: [a]}"),
        ),
        &[],
    );
    check(
        with(
            "{benchmarks: [a]}",
            "specs/a.yaml",
            benchmark("a", "  schedule: {cron: '0 3 * * 1'}\n  results: {claim: {size: 1Gi}}\n"),
        ),
        &[
            ("KB0445 specs/a.yaml", str! {"`a` has its own schedule, but the suite `nightly` runs it"}),
            ("KB0445 specs/a.yaml", str! {"`a` has its own claim, but the suite `nightly` runs it"}),
        ],
    );
    check(
        with("{benchmarks: [a, {benchmark: b, needs: [a]}]}", "specs/a.yaml", benchmark("a", "  targets: [eu]\n")),
        &[("KB0448 specs/nightly.yaml", str! {"`b` needs `a`, which does not run on the target `us`"})],
    );
    check(project("{benchmarks: [d]}"), &[("KB0321 specs/nightly.yaml", str! {"there is no benchmark `d`"})]);
    check(
        project("{benchmarks: [nightly]}"),
        &[("KB0321 specs/nightly.yaml", str! {"there is no benchmark `nightly`"})],
    );
    check(
        project("{run: 2, schedule: {cron: '0 3 * * 1'}, benchmarks: [a]}"),
        &[("KB0310 specs/nightly.yaml", str! {"`run` is combined with `schedule`"})],
    );
    check(
        project("{benchmarks: [a, b], defaults: {repeats: 501}}"),
        &[
            ("KB0416 specs/nightly.yaml", str! {"the suite has 1002 runs on `eu`, more than 1000"}),
            ("KB0416 specs/nightly.yaml", str! {"the suite has 1002 runs on `us`, more than 1000"}),
        ],
    );
    check(
        vec![
            ("specs/pipeline.yaml".to_owned(), suite("pipeline", "{benchmarks: [a]}")),
            ("specs/a.yaml".to_owned(), benchmark("a", "  timeout: 1h\n")),
        ],
        &[("KB0309 specs/pipeline.yaml", str! {"a suite cannot be called `pipeline`"})],
    );
}

/// What a spec with faults would emit is unknown, and so is what a suite of it would.
#[test]
fn a_suite_with_a_faulty_benchmark_is_neither_written_nor_pruned() {
    let mut files = project("{benchmarks: [a, b]}");
    let folder = Folder::with(borrowed(&files));
    assert!(folder.run(&["compile"]).status.success());
    let workflow = std::fs::read(folder.path().join("generated/eu/nightly/workflow.yaml")).unwrap();
    files[1].1 = files[1].1.replace("command", "comand");
    folder.write("specs/a.yaml", &files[1].1);
    assert!(!folder.run(&["compile"]).status.success());
    let checked = folder.run(&["compile", "--check", "specs/c.yaml"]);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    assert_eq!(std::fs::read(folder.path().join("generated/eu/nightly/workflow.yaml")).unwrap(), workflow);
    folder.write("specs/a.yaml", benchmark("a", ""));
    assert!(folder.run(&["compile", "--check"]).status.success());
}

#[test]
fn the_plan_says_what_a_suite_does() {
    let files = project("{targets: [eu], benchmarks: [b, {benchmark: a, needs: [b]}]}");
    let folder = Folder::with(borrowed(&files));
    let said = |arguments: &[&str]| String::from_utf8(folder.run(arguments).stdout).unwrap();
    let text = said(&["plan"]);
    assert!(text.contains("suite nightly on eu, one after another in 2.0 h at most: b, a (needs b)\n"), "{text}");
    let json: Value = serde_json::from_str(&said(&["plan", "--output-format", "json"])).unwrap();
    let suites: Vec<(&Value, &Value, &Value)> = json["benchmarks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (&row["name"], &row["target"], &row["suite"]))
        .filter(|(_, _, suite)| !suite.is_null())
        .collect();
    assert_eq!(
        suites,
        [(&json!("a"), &json!("eu"), &json!("nightly")), (&json!("b"), &json!("eu"), &json!("nightly"))]
    );
}

#[test]
fn a_new_suite_takes_what_runs_by_itself() {
    let mut files = project("{benchmarks: [a]}");
    files[3].1 = benchmark("c", "  schedule: {cron: '0 3 * * 1'}\n");
    files.push(("specs/d.yaml".to_owned(), benchmark("d", "")));
    let folder = Folder::with(borrowed(&files));
    let made = folder.run(&["new", "suite", "weekly"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let text = std::fs::read_to_string(folder.path().join("specs/weekly.yaml")).unwrap();
    assert!(text.contains("benchmarks:\n    - b\n    - d\n") && text.contains("schema/suite.v1.json"), "{text}");
    assert!(folder.run(&["validate"]).status.success());
}

/// `name` is what most lists of Kubernetes call it.
#[test]
fn the_message_names_an_element_as_it_is_called_here() {
    let suite = "apiVersion: kubebench.dev/v1\nkind: Suite\nmetadata: {name: s}\nspec:\n  benchmarks: [{name: one}]\n";
    let found = compile(&[("specs/s.yaml", suite)]).diagnostics;
    let helps: Vec<&str> = found.iter().filter_map(|fault| fault.help.as_deref()).collect();
    assert!(helps.contains(&"write `benchmark: one`: the name of a benchmark of the project"), "{helps:?}");
}
