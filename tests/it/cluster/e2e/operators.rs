//! Kinds whose controllers cannot be had here: a script plays those ([`operators`](super::super::scripted::operators)), and all else is
//! real: the runner follows what they make, reads its logs, loads what serves, and takes it down.

use serde_json::Value;

use super::super::scripted::{Scripted, operators};
use super::super::{cluster, definitions};
use super::{Loop, Settings, outcome};

const SMALL: &str = "image: 'busybox:1', resources: {cpu: 10m, memory: 32Mi}";
/// What answers for a path, and what asks for it.
const SERVER: &str = "[sh, -ec, 'mkdir -p /tmp/www; for word in up ready health; do echo yes > /tmp/www/$word; done; exec busybox httpd -f -p 8000 -h /tmp/www']";
const LOAD: &str = r#"command: [sh, -ec, 'test "$(wget -q -O - "$KUBEBENCH_ENDPOINT/up")" = yes; echo "by $KUBEBENCH_PROTOCOL"; echo "rate 2 x/s"']"#;

/// Benchmarks by their names: the workload, and the role whose log has the metric.
fn workloads() -> [(&'static str, String, &'static str); 6] {
    let serves = format!("pod: {{terminationGracePeriodSeconds: 1}}, load: {{{SMALL}, {LOAD}}}");
    [
        (
            "volcano",
            format!("volcanoJob: {{{SMALL}, tasks: [{{name: master, command: [sh, -c, 'sleep 2; echo rate 2 x/s']}}, {{name: worker, replicas: 2, command: [sh, -c, 'echo here; sleep 1']}}]}}"),
            "master",
        ),
        (
            "ray",
            format!("rayJob: {{{SMALL}, rayVersion: 2.52.0, entrypoint: [echo, rate, '2', x/s], workerGroups: [{{name: worker, replicas: 2}}]}}"),
            "submitter",
        ),
        (
            "spark",
            "sparkApplication: {image: 'busybox:1', type: Python, sparkVersion: 4.0.4, mainApplicationFile: 'local:///x.py', arguments: ['sleep 3; echo rate 2 x/s'], driver: {serviceAccount: default, cores: 1, memory: 16m, memoryOverhead: 16m}, executor: {instances: 2, cores: 1, memory: 16m, memoryOverhead: 16m}}".to_owned(),
            "driver",
        ),
        (
            "language",
            format!("llmInferenceService: {{{SMALL}, model: {{uri: 'hf://some/model'}}, replicas: 2, command: {SERVER}, {serves}}}"),
            "load",
        ),
        (
            "seldon",
            format!("seldonDeployment: {{protocol: v2, predictors: [{{{SMALL}, name: main, graph: {{name: m}}, command: {SERVER}, pod: {{terminationGracePeriodSeconds: 1}}}}], load: {{{SMALL}, {LOAD}}}}}"),
            "load",
        ),
        ("model", format!("seldonModel: {{storageUri: 'gs://some/model', load: {{{SMALL}, {LOAD}}}}}"), "load"),
    ]
}

/// The group, the version, the kind and its plural.
const DEFINITIONS: [(&str, &str, &str, &str); 6] = [
    ("batch.volcano.sh", "v1alpha1", "Job", "jobs"),
    ("ray.io", "v1", "RayJob", "rayjobs"),
    ("sparkoperator.k8s.io", "v1beta2", "SparkApplication", "sparkapplications"),
    ("serving.kserve.io", "v1alpha2", "LLMInferenceService", "llminferenceservices"),
    ("machinelearning.seldon.io", "v1", "SeldonDeployment", "seldondeployments"),
    ("mlops.seldon.io", "v1alpha1", "Model", "models"),
];

#[test]
fn what_operators_make_is_followed() {
    const NAME: &str = "what_operators_make_is_followed";
    let Some(cluster) = cluster(NAME) else { return };
    for (group, version, kind, plural) in DEFINITIONS {
        let name = format!("{plural}.{group}");
        let is_there = cluster.kubectl(["get", "customresourcedefinition", &name]).status.success();
        // What the operators make of a job is the same where their definitions are not at hand.
        if !is_there && !definitions::as_published(cluster, &format!("{group}/{version}"), kind) {
            definitions::of_anything(cluster, (group, version), kind, plural);
        }
    }
    let project = Settings::of("operators").text();
    let specs = workloads().map(|(name, workload, role)| {
        let text = format!(
            "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: {name}}}\nspec:\n  timeout: 5m\n  workload: {{{workload}}}\n  metrics: [{{name: rate, unit: x/s, better: higher, primary: true, from: {{log: {{pattern: 'rate (?P<value>\\S+) x/s', role: {role}}}}}}}]\n  checks: [{{metric: rate, finite: true}}]\n"
        );
        (format!("specs/{name}.yaml"), text)
    });
    let mut files = vec![("kubebench.yaml", project.as_str())];
    files.extend(specs.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let Some(cycle) = Loop::new(NAME, &files) else { return };
    let _controllers = Scripted::play(cluster, cycle.namespace("test"), operators::OBJECTS, operators::act);
    cycle.apply();
    for (name, ..) in workloads() {
        cycle.ends("test", name, "Succeeded");
    }
    let results = cycle.results();
    for (name, ..) in workloads() {
        let of = results.of(name);
        assert_eq!(of.len(), 1, "{name}");
        assert_eq!(outcome(of[0]), ("succeeded", vec![Some(2.0)]), "{:#}", of[0]);
    }
    for name in ["language", "seldon", "model"] {
        assert_eq!(results.of(name)[0]["server"]["broughtUp"], true);
    }
    let left = cycle.cluster().json(["-n", cycle.namespace("test"), "get", operators::OBJECTS, "-o", "json"]);
    assert_eq!(left["items"], Value::Array(Vec::new()), "what was measured is taken down");
}
