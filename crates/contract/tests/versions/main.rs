//! Old and new readers, old and new files: a Workflow that was compiled by one version is run by another.
//!
//! `golden/v1` holds files as version 0.1.0 wrote them before they had types; `before` is how its steps read them. A change that
//! breaks one of these tests needs another `schemaVersion`, and a folder and a reader of its own here.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod before;

use std::collections::BTreeMap;

use kubebench_contract::{
    Case, Config, Described, Endpoint, Fault, Member, Order, PodMetadata, Prices, Probe, Prometheus, ResultsSettings,
    RulesFile, Run, RunList, Served, Server, Settings, SpecSource, StepJob, SuiteList,
};
use serde_json::{Value as Json, json};

const RUNS: [&str; 2] =
    [include_str!("../../golden/v1/runs-prepare.json"), include_str!("../../golden/v1/runs-servers.json")];
const SUITE: &str = include_str!("../../golden/v1/suite.json");
const SETTINGS: &str = include_str!("../../golden/v1/settings.json");
const RULES: &str = include_str!("../../golden/v1/rules.json");

fn run_list(text: &str) -> RunList {
    let files = BTreeMap::from([(RunList::FILE.to_owned(), text.to_owned())]);
    Config::read(files).unwrap().list
}

fn suite_list(text: &str) -> Result<SuiteList, Fault> {
    SuiteList::read(&BTreeMap::from([(SuiteList::FILE.to_owned(), text.to_owned())]))
}

/// A run list in which every field has a value.
fn whole_list() -> RunList {
    let described = Described {
        kind: "Job".to_owned(),
        name_at: vec!["/metadata/name".to_owned()],
        labels_at: vec!["/metadata/labels".to_owned()],
        endpoint_at: vec!["/spec/template/spec/containers/0/env/0/value".to_owned()],
        server_at: vec!["/spec/template/spec/containers/0/env/1/value".to_owned()],
    };
    let served = Served {
        endpoint: Endpoint::Service { port: Some(8000), suffix: "-server".to_owned() },
        probe: Probe::Http { path: "/health".to_owned() },
        ready_seconds: 600,
    };
    let job = |file: &str| StepJob { manifest: file.to_owned(), objects: vec![described.clone()] };
    let case = Case {
        name: "size=1".to_owned(),
        values: BTreeMap::from([("size".to_owned(), json!(1))]),
        inputs: json!({"seed": 42}),
        timeout_seconds: 60,
        manifest: "size-1-0a1b2c3d.yaml".to_owned(),
        objects: vec![described.clone()],
        served: Some(served.clone()),
        server: Some("server-0a1b2c3d".to_owned()),
        postprocess: Some(job("size-1-0a1b2c3d.postprocess.yaml")),
        workload_digest: Some("sha256:2c".to_owned()),
    };
    let server = Server {
        manifest: "server-0a1b2c3d.server.yaml".to_owned(),
        objects: vec![described.clone()],
        served,
        warmups: 2,
    };
    let run = Run {
        id: "size-1-0a1b2c3d-r1".to_owned(),
        case: "size-1-0a1b2c3d".to_owned(),
        repeat: 1,
        warmup: false,
        job: "bench-00000000".to_owned(),
    };
    RunList {
        benchmark: "bench".to_owned(),
        run: 1,
        run_digest: "sha256:00".to_owned(),
        order: Order::Grouped,
        parallelism: 2,
        queue_timeout_seconds: 3600,
        cases: BTreeMap::from([("size-1-0a1b2c3d".to_owned(), case)]),
        servers: BTreeMap::from([("server-0a1b2c3d".to_owned(), server)]),
        prepare: Some(job("prepare.yaml")),
        runs: vec![run],
    }
}

fn whole_settings() -> Settings {
    Settings {
        target: "gpu".to_owned(),
        cluster: "lab".to_owned(),
        prometheus: Some(Prometheus { url: "http://prometheus:9090".to_owned() }),
        prices: Some(Prices { currency: "EUR".to_owned(), hourly: BTreeMap::from([("cpu".to_owned(), 0.04)]) }),
        pods: PodMetadata::of_runs(),
        results: ResultsSettings {
            mode: "inbox".to_owned(),
            remote: Some("https://git.example/results".to_owned()),
            branch: "kubebench/results".to_owned(),
            directory: "results".to_owned(),
            inbox: "refs/kubebench/inbox".to_owned(),
            ssh_host_keys: Some("acceptNew".to_owned()),
            one_user: true,
        },
    }
}

fn whole_rules() -> RulesFile {
    RulesFile {
        benchmark: "bench".to_owned(),
        checks: vec![json!({"restarts": 0})],
        extraction: Some(2),
        gates: vec![json!({"metric": "loss", "max": 3})],
        labels: BTreeMap::from([("team".to_owned(), "vision".to_owned())]),
        log_limit_bytes: Some(1 << 20),
        metrics: vec![json!({"name": "loss", "from": {"keyValue": {"key": "loss"}}})],
        source: SpecSource { digest: "sha256:01".to_owned(), path: "specs/bench.yaml".to_owned() },
    }
}

fn whole_suite() -> SuiteList {
    let member = Member {
        benchmark: "bench".to_owned(),
        needs: vec!["disk".to_owned()],
        run_digest: "sha256:00".to_owned(),
        runs: vec!["size-1-0a1b2c3d-r1".to_owned()],
    };
    SuiteList { suite: "nightly".to_owned(), benchmarks: vec![member] }
}

#[test]
fn files_are_written_as_they_were() {
    for text in RUNS {
        assert_eq!(run_list(text).write(), text);
    }
    assert_eq!(suite_list(SUITE).unwrap().write(), SUITE);
    assert_eq!(Settings::read(SETTINGS).unwrap().write(), SETTINGS);
    assert_eq!(RulesFile::read(RULES).unwrap().write(), RULES);
}

#[test]
fn what_is_written_is_read() {
    assert_eq!(run_list(&whole_list().write()), whole_list());
    assert_eq!(suite_list(&whole_suite().write()).unwrap(), whole_suite());
    assert_eq!(Settings::read(&whole_settings().write()).unwrap(), whole_settings());
    assert_eq!(RulesFile::read(&whole_rules().write()).unwrap(), whole_rules());
}

#[test]
fn steps_of_before_read_files_of_before_and_of_now() {
    for text in RUNS.map(str::to_owned).into_iter().chain([whole_list().write()]) {
        let (old, new): (before::RunList, RunList) = (serde_json::from_str(&text).unwrap(), run_list(&text));
        assert_eq!((old.benchmark, old.run, old.run_digest), (new.benchmark, new.run, new.run_digest));
        assert_eq!((old.parallelism, old.queue_timeout_seconds), (new.parallelism, new.queue_timeout_seconds));
        assert_eq!(old.runs, new.runs);
        assert!(old.cases.keys().eq(new.cases.keys()) && old.servers.keys().eq(new.servers.keys()));
        for (old, new) in old.cases.into_values().zip(new.cases.into_values()) {
            assert_eq!((old.name, old.values, old.inputs), (new.name, new.values, new.inputs));
            assert_eq!(
                (old.timeout_seconds, old.manifest, old.server),
                (new.timeout_seconds, new.manifest, new.server)
            );
            assert_eq!((old.served, old.workload_digest), (new.served, new.workload_digest));
            assert_eq!(pointers(&old.objects), new.objects.iter().map(new_pointers).collect::<Vec<_>>());
            assert_eq!(old.postprocess.map(|job| job.manifest), new.postprocess.map(|job| job.manifest));
        }
        for (old, new) in old.servers.into_values().zip(new.servers.into_values()) {
            assert_eq!((old.manifest, old.served, old.warmups), (new.manifest, new.served, new.warmups));
            assert_eq!(pointers(&old.objects), new.objects.iter().map(new_pointers).collect::<Vec<_>>());
        }
        assert_eq!(
            old.prepare.map(|job| pointers(&job.objects)),
            new.prepare.map(|job| job.objects.iter().map(new_pointers).collect())
        );
    }
    for text in [SUITE.to_owned(), whole_suite().write()] {
        let (old, new): (before::SuiteList, _) = (serde_json::from_str(&text).unwrap(), suite_list(&text).unwrap());
        assert_eq!(old.suite, new.suite);
        for (old, new) in old.benchmarks.into_iter().zip(new.benchmarks) {
            assert_eq!(
                (old.benchmark, old.needs, old.run_digest, old.runs),
                (new.benchmark, new.needs, new.run_digest, new.runs)
            );
        }
    }
    for text in [SETTINGS.to_owned(), whole_settings().write()] {
        let (old, new): (before::Settings, _) = (serde_json::from_str(&text).unwrap(), Settings::read(&text).unwrap());
        assert_eq!((old.target, old.cluster, old.prices), (new.target, new.cluster, new.prices));
        assert_eq!(old.prometheus.map(|found| found.url), new.prometheus.map(|found| found.url));
        assert_eq!(
            (old.results.mode, old.results.remote, old.results.branch),
            (new.results.mode, new.results.remote, new.results.branch)
        );
        assert_eq!((old.results.directory, old.results.inbox), (new.results.directory, new.results.inbox));
    }
    for text in [RULES.to_owned(), whole_rules().write()] {
        let (old, new): (before::About, _) = (serde_json::from_str(&text).unwrap(), RulesFile::read(&text).unwrap());
        assert_eq!((old.labels, old.log_limit_bytes), (new.labels, new.log_limit_bytes));
        assert_eq!((old.source.path, old.source.digest), (new.source.path, new.source.digest));
        let rules: before::Rules = serde_json::from_str(&text).unwrap();
        assert_eq!((rules.schema_version, rules.metrics, rules.checks), (1, new.metrics, new.checks));
    }
}

type Pointers = [Vec<String>; 4];

fn pointers(objects: &[before::Described]) -> Vec<Pointers> {
    objects.iter().map(|of| [&of.name_at, &of.labels_at, &of.endpoint_at, &of.server_at].map(Clone::clone)).collect()
}

fn new_pointers(of: &Described) -> Pointers {
    [&of.name_at, &of.labels_at, &of.endpoint_at, &of.server_at].map(Clone::clone)
}

/// A later version may say more.
#[test]
fn what_is_not_known_is_passed_over_and_another_version_is_refused() {
    for text in [SUITE.to_owned(), whole_suite().write()] {
        let mut root: Json = serde_json::from_str(&text).unwrap();
        root["added"] = json!({"later": true});
        assert_eq!(suite_list(&root.to_string()).unwrap(), suite_list(&text).unwrap());
        root["schemaVersion"] = json!(2);
        let refused = suite_list(&root.to_string()).unwrap_err();
        assert_eq!(refused, Fault::UnknownVersion { file: "suite.json".to_owned(), version: "2".to_owned() });
    }
    let without = RULES.replace("\"schemaVersion\": 1,\n", "");
    assert!(matches!(RulesFile::read(&without), Err(Fault::UnknownVersion { .. })), "{without}");
    assert!(matches!(RulesFile::read("{"), Err(Fault::Malformed { .. })));
}
