use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use kubebench_compiler::compile::{Input, Workspace};
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::StatusReason;
use kubebench_syntax::invariant::broken;

/// Breaks the first replica that is about to be started.
#[derive(Default)]
struct Broken {
    is_over: AtomicBool,
    ended: RefCell<Vec<String>>,
}

impl Watcher for Broken {
    fn started(&self, _: &Run, _: &Case, _: usize, _: usize) {}

    fn continues(&self, _: Duration, _: Option<f64>) {}

    fn ended(&self, stored: &Stored) {
        self.ended.borrow_mut().push(stored.sealed.result.metadata.case_name.clone());
    }

    fn failed(&self, _: &[ReplicaLog]) {}

    fn tell(&self, _: &str) {}

    fn echo(&self) -> Option<Echo> {
        if self.is_over.swap(true, Ordering::SeqCst) { None } else { broken("a screen for each replica") }
    }
}

#[test]
fn a_run_that_breaks_the_session_has_its_result_and_the_next_one_continues() {
    let text = "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: x}\nspec:\n  \
        matrix: {axes: {program: [sh, is-not-there]}}\n  \
        workload:\n    job: {image: a/b:1, command: ['${{ matrix.program }}'], resources: {cpu: 1, memory: 1Gi}}\n  \
        metrics:\n    - {name: t, unit: s, better: lower, primary: true, from: {duration: run}}\n";
    let input = Input { path: "specs/x.yaml".to_owned(), bytes: text.into() };
    let compilation = Workspace::open(None, "0.1.0").compile(vec![input]);
    let compiled = compilation.benchmarks.first().unwrap_or_else(|| panic!("{:#?}", compilation.diagnostics));
    let rules = compiled.rules.clone();
    let root = tempfile::tempdir().unwrap();
    let request = Request {
        root: root.path(),
        session: "0123456789abcdef".to_owned(),
        compiled,
        rules: &rules,
        results: root.path().join("results"),
        engine: Engine::Process,
        client: BTreeMap::new(),
        base: BTreeMap::from([("PATH".to_owned(), "/bin:/usr/bin".to_owned())]),
        secrets: Secrets::new(BTreeMap::new()),
        runs: compiled.identity.runs.clone(),
        after_failure: AfterFailure::KeepGoing,
        log_limit: collect::LOG_LIMIT,
        name: Name::Hashed,
        commit: None,
        version: "0.1.0",
    };
    let watcher = Broken::default();
    let outcome = run(&request, &watcher).unwrap();
    assert_eq!((outcome.problem, outcome.not_started.len()), (None, 0));
    assert_eq!(*watcher.ended.borrow(), ["program=sh", "program=is-not-there"]);
    let [first, next] = outcome.stored.as_slice() else { panic!("{} results", outcome.stored.len()) };
    assert!(first.path.as_ref().is_some_and(|path| path.starts_with(root.path().join("results"))), "it is on disk");
    let run = &first.sealed.result.run;
    let [StatusReason { code, message }] = run.reasons.as_slice() else { panic!("{:?}", run.reasons) };
    assert_eq!((run.status, code), (Status::Failed, &ReasonCode::InternalFault));
    assert!(message.contains("expected a screen for each replica (") && message.contains("run/tests.rs:"), "{message}");
    let logs: Vec<&str> = first.sealed.result.artifacts.iter().map(|artifact| artifact.name.as_str()).collect();
    assert_eq!(logs, ["logs/job-0.log"], "what there was of a log");
    assert_eq!(next.sealed.result.run.reasons[0].code, ReasonCode::CannotStart);
}
