//! A suite: its benchmarks one after another, what becomes of those that need one which failed, and what is left to do when it
//! changes.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Loop, Settings, outcome};

fn benchmark(name: &str, command: &str, more: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: {name}}}\nspec:\n  timeout: 5m\n{more}  workload:\n    \
         job: {{image: 'busybox:1', command: {command}, resources: {{cpu: 10m, memory: 16Mi}}}}\n  metrics:\n    \
         - {{name: rate, unit: x/s, better: higher, primary: true, from: {{log: {{pattern: 'rate (?P<value>\\S+) x/s'}}}}}}\n"
    )
}

/// `second` needs `first`, and has two variants at once; `broken` fails, and `fourth` needs it.
const SUITE: &str = r"
apiVersion: kubebench.dev/v1
kind: Suite
metadata: {name: nightly, labels: {cadence: nightly}}
spec:
  defaults: {repeats: 2}
  benchmarks:
    - first
    - {benchmark: second, needs: [first]}
    - broken
    - {benchmark: fourth, needs: [broken, first]}
";

const VARIANTS: &str = "  repeats: 1\n  parallelism: 2\n  variants: [{name: slow}, {name: fast, workload: {job: {command: [echo, rate 7 x/s]}}}]\n";

/// The number of commits on the branch of results.
fn commits(results: &super::Results) -> usize {
    let log = super::git(results.path(), &["log", "--format=%H"]).output().unwrap();
    String::from_utf8(log.stdout).unwrap().lines().count()
}

fn sessions<'r>(results: &'r [&'r Value]) -> BTreeSet<&'r str> {
    results.iter().map(|result| result["run"]["session"].as_str().unwrap()).collect()
}

#[test]
fn a_suite_runs_as_one_and_continues_where_it_changed() {
    let project = Settings::of("suites").text();
    let first = benchmark("first", "[echo, rate 1 x/s]", "");
    let second = benchmark("second", "[echo, rate 2 x/s]", VARIANTS);
    let broken = benchmark("broken", "[sh, -c, exit 3]", "  repeats: 1\n");
    let fourth = benchmark("fourth", "[echo, rate 4 x/s]", "");
    let files = [
        ("kubebench.yaml", project.as_str()),
        ("specs/first.yaml", first.as_str()),
        ("specs/second.yaml", second.as_str()),
        ("specs/broken.yaml", broken.as_str()),
        ("specs/fourth.yaml", fourth.as_str()),
        ("specs/nightly.yaml", SUITE),
    ];
    let Some(cycle) = Loop::new("a_suite_runs_as_one_and_continues_where_it_changed", &files) else { return };
    cycle.apply();
    let ended = cycle.ends("test", "nightly", "Failed");
    let results = cycle.results();
    assert_eq!(commits(&results), 1, "one commit for all");
    let all: Vec<&Value> = results.all.iter().collect();
    assert_eq!(sessions(&all), BTreeSet::from([ended["metadata"]["uid"].as_str().unwrap()]), "one session for all");
    assert!(all.iter().all(|result| result["metadata"]["labels"]["cadence"] == "nightly"), "{all:#?}");
    let outcomes = |benchmark: &str| results.of(benchmark).into_iter().map(outcome).collect::<Vec<_>>();
    assert_eq!(outcomes("first"), [("succeeded", vec![Some(1.0)]), ("succeeded", vec![Some(1.0)])]);
    for result in results.of("first") {
        let usage = &result["usage"];
        assert_eq!((&usage["pods"], &usage["nodes"]), (&1.into(), &1.into()));
        assert_eq!(usage["resources"], serde_json::json!({"cpu": 0.01, "memory": 0.015_625}));
    }
    let values: BTreeSet<String> = results
        .of("second")
        .iter()
        .map(|result| format!("{} {}", result["metadata"]["params"]["variant"], result["metrics"][0]["value"]))
        .collect();
    assert_eq!(values, BTreeSet::from(["\"fast\" 7.0".to_owned(), "\"slow\" 2.0".to_owned()]));
    assert_eq!(outcomes("broken").iter().map(|(status, _)| *status).collect::<Vec<_>>(), ["failed"]);
    let fourth = results.of("fourth");
    assert_eq!(fourth.len(), 2, "that it was not run is said of each run");
    for result in fourth {
        assert_eq!(result.get("usage"), None);
        assert_eq!(
            (&result["run"]["status"], &result["run"]["reasons"][0]["code"]),
            (&"failed".into(), &"needs".into())
        );
        let message = result["run"]["reasons"][0]["message"].as_str().unwrap();
        assert!(message.contains("`fourth` needs `broken`, of which 0 of 1 runs succeeded"), "{message}");
    }
    in_order(&ended, &["first", "second", "broken", "fourth"]);

    // What is fixed runs, and what needs it; the others have their results.
    cycle.change("specs/broken.yaml", &benchmark("broken", "[echo, rate 3 x/s]", "  repeats: 1\n"));
    cycle.apply();
    let ended = cycle.ends("test", "nightly", "Succeeded");
    let results = cycle.results();
    assert_eq!(commits(&results), 2);
    assert_eq!(results.of("first").len(), 2, "measured once");
    let fixed = results.of("broken");
    assert_eq!(fixed.len(), 2);
    let again: Vec<(u64, &str)> = results
        .of("fourth")
        .iter()
        .map(|result| (result["run"]["attempt"].as_u64().unwrap(), result["run"]["status"].as_str().unwrap()))
        .collect();
    assert_eq!(again, [(1, "failed"), (2, "succeeded"), (1, "failed"), (2, "succeeded")]);
    let runs = steps(&ended, "run");
    assert_eq!(runs.len(), 3, "one of `broken` and two of `fourth`: {runs:?}");
}

/// The steps of a Workflow by their template, each with the benchmark it is of and when it started and ended.
fn steps(workflow: &Value, template: &str) -> Vec<(String, String, String)> {
    let nodes = workflow["status"]["nodes"].as_object().unwrap().values();
    let of = nodes.filter(|node| node["templateName"] == template && node["type"] == "Retry");
    let mut found: Vec<(String, String, String)> = of
        .map(|node| {
            let inputs = node["inputs"]["parameters"].as_array().unwrap();
            let benchmark = inputs.iter().find(|input| input["name"] == "benchmark").unwrap();
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            (text(&node["startedAt"]), text(&node["finishedAt"]), text(&benchmark["value"]))
        })
        .collect();
    found.sort();
    found
}

/// No benchmark begins before the one before it has its summary.
#[track_caller]
fn in_order(workflow: &Value, benchmarks: &[&str]) {
    let (begun, ended) = (steps(workflow, "prepare"), steps(workflow, "summary"));
    let names: Vec<&str> = begun.iter().map(|(_, _, benchmark)| benchmark.as_str()).collect();
    assert_eq!(names, benchmarks);
    for (before, after) in ended.iter().zip(begun.iter().skip(1)) {
        assert!(before.1 <= after.0, "{after:?} began before {before:?} ended");
    }
}
