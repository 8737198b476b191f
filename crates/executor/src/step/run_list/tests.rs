#![expect(clippy::disallowed_methods, reason = "tests look at files")]

use std::path::Path;

use serde_json::json;

use super::super::run::outcome_without_job;
use super::super::snapshot;
use super::super::tests::{attempt, cluster, config, session};
use super::*;
use kubebench_format::result::v1::Status;
use kubebench_testing::server::{Server, status};
use kubebench_testing::snapshot::{assert_text, named, str};

fn rules(checks: &str) -> RulesText {
    let rules =
        json!({"schemaVersion": 1, "benchmark": "matmul", "metrics": [], "checks": [], "labels": {"team": checks}});
    RulesText { rules: Some(rules.to_string()), spec: None }
}

/// What the Workflow `w` has on the volume after its one run: its list, the attempt, and the result.
fn after_a_run(volume: &Path) -> (KeptList, Attempt, BenchmarkResult) {
    let mut session = session(cluster(&Server::new(|_, _| status(404, "NotFound", "not found"))), volume);
    let inputs = Inputs { config: config(), settings: session.settings.clone() };
    let list = KeptList::of(&session.environment, &inputs, &rules("a")).unwrap();
    list.keep(volume).unwrap();
    let mut attempt = attempt(1);
    let run = snapshot::make(volume, &attempt.job).unwrap();
    snapshot::keep_rules(&run, &rules("a")).unwrap();
    attempt.keep(volume).unwrap();
    attempt.outcome = Some(outcome_without_job(&attempt, Status::Failed, Vec::new()));
    session.conclude_left(attempt.clone()).unwrap();
    let result = session.result_of(&attempt.job).unwrap().unwrap();
    (list, attempt, result)
}

#[test]
fn a_list_is_read_as_it_was_kept_and_under_no_other_name() {
    let volume = tempfile::tempdir().unwrap();
    let (list, _, _) = after_a_run(volume.path());
    let read = KeptList::read(volume.path(), "w", "matmul").unwrap().unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), serde_json::to_value(&list).unwrap());
    for (uid, benchmark) in [("v", "matmul"), ("w", "sort"), ("", "matmul"), ("../.workflows/w", "matmul"), ("..", "w")]
    {
        assert!(KeptList::read(volume.path(), uid, benchmark).unwrap().is_none(), "{uid} {benchmark}");
    }
    std::fs::copy(volume.path().join(".workflows/w/matmul.json"), volume.path().join(".workflows/w/sort.json"))
        .unwrap();
    let error = KeptList::read(volume.path(), "w", "sort").unwrap_err();
    assert_text(
        named(error, &[(volume.path().to_str().unwrap(), "VOLUME")]),
        str! {"VOLUME/.workflows/w/sort.json: it is not the run list that its path names"},
    );
    std::fs::write(volume.path().join(".workflows/w/sort.json"), "{").unwrap();
    KeptList::read(volume.path(), "w", "sort").unwrap_err();
}

/// What says why a result is refused of which `change` makes something else.
fn refusal(change: impl FnOnce(&mut BenchmarkResult, &mut Attempt, &mut KeptList)) -> String {
    let volume = tempfile::tempdir().unwrap();
    let (mut list, mut attempt, mut result) = after_a_run(volume.path());
    change(&mut result, &mut attempt, &mut list);
    let words = list.admit(&result, Some(&attempt), []).unwrap_err();
    let texts = [&attempt.id, &result.run.started_at, &result.run.finished_at].map(String::clone);
    named(&words, &[(&texts[0], "ID"), (&texts[1], "START"), (&texts[2], "END")])
}

#[test]
fn a_result_of_the_list_is_admitted() {
    let volume = tempfile::tempdir().unwrap();
    let (list, attempt, result) = after_a_run(volume.path());
    list.admit(&result, Some(&attempt), []).unwrap();
}

/// Rules may change while a Workflow runs.
#[test]
fn rules_that_came_while_it_ran_are_admitted_and_others_are_not() {
    let volume = tempfile::tempdir().unwrap();
    let (list, attempt, mut result) = after_a_run(volume.path());
    let later = RulesOf::of(&rules("b")).unwrap();
    result.source.rules_digest = later.digest.clone();
    list.admit(&result, Some(&attempt), [later]).unwrap();
    list.admit(&result, Some(&attempt), RulesOf::of(&rules("c"))).unwrap_err();
}

#[test]
fn what_the_steps_cannot_have_made_is_refused() {
    assert_text(
        refusal(|result, _, _| result.synthetic = true),
        str! {"no run wrote it: its numbers were made by `mock`, or read again by `reparse`"},
    );
    assert_text(
        refusal(|result, _, _| result.metadata.target = "prod-gpu".to_owned()),
        str! {"it says that the target is `prod-gpu`, but its Workflow has `default`"},
    );
    assert_text(
        refusal(|result, _, _| result.environment.cluster.name = "another".to_owned()),
        str! {"it says that the cluster is `another`, but its Workflow has `lab`"},
    );
    assert_text(
        refusal(|result, _, _| result.environment.cluster.engine = "process".to_owned()),
        str! {"it says that the engine is `process`, but its Workflow has `kubernetes`"},
    );
    assert_text(
        refusal(|result, _, _| result.source.run_digest = "sha256:0b".to_owned()),
        str! {"it says that the run digest is `sha256:0b`, but its Workflow has `sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a`"},
    );
    assert_text(
        refusal(|result, _, _| result.source.workload_digest = Some("sha256:0b".to_owned())),
        str! {"it says that the workload digest is `sha256:0b`, but its Workflow has `none`"},
    );
    assert_text(
        refusal(|result, _, _| result.source.run = 2),
        str! {"it says that `run` is `2`, but its Workflow has `1`"},
    );
    assert_text(
        refusal(|result, _, _| result.source.spec_digest = "sha256:0c".to_owned()).split("sha256:0c").nth(1).unwrap(),
        str! {", which its Workflow never had"},
    );
    for change in [
        |result: &mut BenchmarkResult| result.run.repeat = 2,
        |result: &mut BenchmarkResult| result.run.warmup = true,
        |result: &mut BenchmarkResult| result.metadata.case = "size-512-0a1b2c3d".to_owned(),
    ] {
        let words = refusal(|result, _, _| change(result));
        assert!(words.ends_with(", which is not a run of its Workflow"), "{words}");
    }
}

#[test]
fn an_attempt_that_no_step_began_is_refused() {
    const WHY: &str = "no step started it: `attempt.json` next to it does not mention it";
    assert_eq!(refusal(|result, _, _| result.run.attempt = 2), WHY);
    assert_eq!(refusal(|result, _, _| result.run.id = "0".repeat(32)), WHY);
    assert_eq!(refusal(|_, attempt, _| attempt.workflow.uid = "v".to_owned()), WHY);
    let volume = tempfile::tempdir().unwrap();
    let (list, _, result) = after_a_run(volume.path());
    assert_eq!(list.admit(&result, None, []).unwrap_err(), WHY);
}

#[test]
fn times_before_the_workflow_and_after_now_are_refused() {
    assert_text(
        refusal(|result, _, _| result.run.started_at = "2020-01-01T00:00:00Z".to_owned()),
        str! {"it says that it began at START, before its Workflow was created at 2026-01-01T00:00:00Z"},
    );
    assert_text(
        refusal(|result, _, _| result.run.finished_at = "2131-01-01T00:00:00Z".to_owned()),
        str! {"it says that it ended at END, which is in the future"},
    );
    assert_text(
        refusal(|result, _, _| result.run.finished_at = "2026-02-01T00:00:00Z".to_owned()),
        str! {"it says that it ended at END, before it began at START"},
    );
}
