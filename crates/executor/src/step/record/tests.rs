use std::sync::Mutex;

use kubebench_syntax::invariant::Invariant as _;
use kubebench_testing::server::{Server, status};

use super::super::inputs::{Inputs, RulesText};
use super::super::run::outcome_without_job;
use super::super::run_list::KeptList;
use super::super::snapshot;
use super::super::tests::{attempt, cluster, config, session};
use super::*;
use kubebench_contract::Created;
use kubebench_format::result::v1::Status;

fn destination() -> Destination {
    Destination {
        mode: Mode::Branch,
        folder: "/".into(),
        remote: "https://git.example/results.git".to_owned(),
        branch: "kubebench/results".to_owned(),
        inbox: "refs/kubebench/inbox".to_owned(),
        deadline: Duration::ZERO,
        credential: None,
        authorities: None,
        host_keys: git::HostKeys::Known,
        signing: Signing::Never,
        cache: "/".into(),
        program: "git".into(),
        again: "again",
        tell: |_| {},
    }
}

/// The second of three breaks what records it.
#[test]
fn a_result_that_breaks_the_recording_waits_and_the_others_are_recorded() {
    let volume = tempfile::tempdir().unwrap();
    let server = Server::new(|_, _| status(404, "NotFound", "not found"));
    let mut session = session(cluster(&server), volume.path());
    let settings = session.settings.results.clone();
    let rules = json!({"schemaVersion": 1, "benchmark": "matmul", "metrics": [], "checks": []});
    let rules = RulesText { rules: Some(rules.to_string()), spec: None };
    let inputs = Inputs { config: config(), settings: session.settings.clone() };
    KeptList::of(&session.environment, &inputs, &rules).unwrap().keep(volume.path()).unwrap();
    let environment = session.environment.clone();
    let mut admission = Admission::of(&environment);
    let mut waiting = Vec::new();
    for number in 1..=3 {
        let mut attempt = attempt(number);
        let run = snapshot::make(volume.path(), &attempt.job).unwrap();
        let created = Created { before: Vec::new(), workload: Json::Null, endpoint_at: Vec::new() };
        snapshot::keep(&run, &created, None, &rules).unwrap();
        attempt.outcome = Some(outcome_without_job(&attempt, Status::Failed, Vec::new()));
        session.conclude_left(attempt).unwrap();
        let found = unrecorded(run, "matmul", &settings, &mut admission);
        waiting.extend(found.unwrap_or_else(|unusable| panic!("{unusable}")));
    }
    let [first, second, third] = waiting.as_slice() else { panic!("three results") };
    let broken = second.addition.path.clone();
    let seen = Mutex::new(Vec::new());
    let add = move |additions: &[Addition], _: &Destination| {
        let paths: Vec<String> = additions.iter().map(|addition| addition.path.clone()).collect();
        seen.lock().unwrap().push(paths.clone());
        (!paths.contains(&broken)).then_some(()).expected("a path that can be recorded");
        Ok(Recorded { added: paths, ..Recorded::default() })
    };
    let mut tally = Tally::default();
    assert!(record(&waiting, &destination(), &mut tally, &add), "there is no reason not to go on");
    assert_eq!((tally.recorded, tally.faults), (2, Some(Kind::TryAgain)));
    let is_marked = |waiting: &Waiting| is_marked(&waiting.run, &waiting.digest);
    assert_eq!([first, second, third].map(is_marked), [true, false, true]);
}
