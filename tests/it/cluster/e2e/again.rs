//! What runs again and what does not, when a tree is applied that is there already, or that has changed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Loop, Settings, round};

/// One that is raised, one whose command changes, one of which only the description and the metrics change.
const PLAIN: &str = r"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: NAME}
spec:
  description: the first
  run: 1
  timeout: 5m
  workload:
    job: {image: 'busybox:1', command: [echo, rate 1 x/s], resources: {cpu: 10m, memory: 16Mi}}
  metrics:
    - {name: rate, unit: x/s, better: higher, primary: true, from: {log: {pattern: 'rate (?P<value>\S+) x/s'}}}
";

/// Of its two runs one fails.
const HALF: &str = r#"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: half}
spec:
  timeout: 5m
  parallelism: 2
  matrix: {axes: {status: [0, 3]}}
  results: {claim: {accessModes: [ReadWriteOnce]}}
  workload:
    job:
      image: busybox:1
      command: [sh, -c, 'echo rate 1 x/s; exit "$STATUS"']
      env: {STATUS: "${{ matrix.status }}"}
      resources: {cpu: 10m, memory: 16Mi}
  metrics:
    - {name: rate, unit: x/s, better: higher, primary: true, from: {log: {pattern: 'rate (?P<value>\S+) x/s'}}}
"#;

/// What Flux leaves in the cluster when it vanishes from git.
const KEPT: &str = "kustomize.toolkit.fluxcd.io/prune";

#[test]
fn what_changed_runs_again_and_nothing_else() {
    let named = |name: &str| PLAIN.replace("NAME", name);
    let specs = ["raised", "changed", "described"].map(|name| (format!("specs/{name}.yaml"), named(name)));
    let project = Settings::of("again").text();
    let mut files = vec![("kubebench.yaml", project.as_str()), ("specs/half.yaml", HALF)];
    files.extend(specs.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let Some(cycle) = Loop::new("what_changed_runs_again_and_nothing_else", &files) else { return };
    cycle.apply();
    cycle.apply();
    let first = cycle.workflows("test");
    for (benchmark, phase) in
        [("raised", "Succeeded"), ("changed", "Succeeded"), ("described", "Succeeded"), ("half", "Failed")]
    {
        cycle.ends("test", benchmark, phase);
    }
    let before = uids(&cycle);
    cycle.apply();
    assert_eq!(uids(&cycle), before, "a second apply made something anew");
    assert_eq!(rounds(&cycle, "half").len(), 2);

    // All that may happen to a tree at once.
    cycle.change("specs/raised.yaml", &named("raised").replace("run: 1", "run: 2"));
    cycle.change("specs/changed.yaml", &named("changed").replace("rate 1", "rate 7"));
    let described = named("described").replace("the first", "the second").replace("unit: x/s", "unit: y/s");
    cycle.change("specs/described.yaml", &described);
    let namespace = cycle.namespace("test");
    cycle.cluster().say(["-n", namespace, "delete", "workflow", &first["half"]]);
    cycle.apply();
    let second = cycle.workflows("test");
    for (benchmark, is_other) in [("raised", true), ("changed", true), ("described", false), ("half", false)] {
        assert_eq!(first[benchmark] != second[benchmark], is_other, "{benchmark}: {}", second[benchmark]);
    }
    for (benchmark, phase) in [("raised", "Succeeded"), ("changed", "Succeeded"), ("half", "Failed")] {
        cycle.ends("test", benchmark, phase);
    }
    let after = uids(&cycle);
    assert_eq!(after[&second["described"]], before[&first["described"]]);
    assert_ne!(after[&second["half"]], before[&first["half"]], "it was made again");

    let results = cycle.results();
    let values = |benchmark: &str| -> BTreeSet<String> {
        let of = results.of(benchmark).into_iter();
        of.map(|result| result["metrics"][0]["value"].to_string()).collect()
    };
    assert_eq!(results.of("described").len(), 1);
    assert_eq!(
        (results.of("changed").len(), values("changed")),
        (2, BTreeSet::from(["1.0".to_owned(), "7.0".to_owned()]))
    );
    let runs = |result: &&Value| (result["source"]["run"].clone(), result["source"]["runDigest"].clone());
    let raised: Vec<_> = results.of("raised").iter().map(runs).collect();
    assert_eq!(raised.len(), 2, "{raised:?}");
    assert_ne!(raised[0], raised[1]);
    // What had succeeded was not done again; what had not was tried again, and both tries are kept.
    let half: Vec<_> =
        results.of("half").iter().map(|result| (result["run"]["status"].clone(), round(result).3)).collect();
    assert_eq!(half, [("succeeded".into(), 1), ("failed".into(), 1), ("failed".into(), 2)]);

    prune(&cycle);
}

/// What goes from git goes from the cluster, but for the volume and what is on it.
fn prune(cycle: &Loop) {
    let objects = |cycle: &Loop| -> BTreeMap<(String, String), Value> {
        let named = |object: &Value| {
            let text = |at: &str| object.pointer(at).unwrap().as_str().unwrap().to_owned();
            (text("/kind"), text("/metadata/name"))
        };
        cycle.project.objects().into_iter().map(|emitted| (named(&emitted.object), emitted.object)).collect()
    };
    let before = objects(cycle);
    cycle.project.folder.remove("specs/half.yaml");
    cycle.compile();
    let after = objects(cycle);
    let namespace = cycle.namespace("test");
    let gone: Vec<_> = before.iter().filter(|(name, _)| !after.contains_key(*name)).collect();
    assert!(gone.len() >= 4, "{gone:?}");
    for ((kind, name), object) in gone {
        if object["metadata"]["annotations"][KEPT] != "disabled" {
            cycle.cluster().say(["-n", namespace, "delete", kind, name, "--cascade=foreground", "--timeout=60s"]);
        }
    }
    let kinds = "workflows,configmaps,jobs,services,pods,persistentvolumeclaims";
    let label = "kubebench.dev/benchmark=half";
    let left = cycle.cluster().say(["-n", namespace, "get", kinds, "-l", label, "-o", "name"]);
    assert_eq!(left.trim(), "persistentvolumeclaim/half-results");
    let there = cycle.look("test", "half", "ls -d */result.json | wc -l");
    assert_eq!(there.trim(), "3", "results on the volume");
}

/// The uid of each Workflow in the cluster.
fn uids(cycle: &Loop) -> BTreeMap<String, String> {
    let list = cycle.cluster().json(["-n", cycle.namespace("test"), "get", "workflows", "-o", "json"]);
    let text = |object: &Value, at: &str| object.pointer(at).unwrap().as_str().unwrap().to_owned();
    let items = list["items"].as_array().unwrap();
    items.iter().map(|object| (text(object, "/metadata/name"), text(object, "/metadata/uid"))).collect()
}

fn rounds(cycle: &Loop, benchmark: &str) -> Vec<(String, bool, u64, u64)> {
    cycle.results().of(benchmark).into_iter().map(round).collect()
}
