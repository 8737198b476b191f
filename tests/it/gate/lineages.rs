//! `gate` and `ack` where results are of several branches, tags and generated trees.

use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{BenchmarkResult, Status, StatusReason};
use kubebench_testing::snapshot::{assert_line, str};
use serde_json::json;

use super::{Project, QUIET, SPEC, Special, texts, verdict};

/// An acknowledgement of what the default branch has applies to a gate against a release, from there on.
#[test]
fn what_was_accepted_since_a_release_is_accepted_against_it() {
    let mut project = Project::with(&SPEC.replace("maxRegression: 3%}", "maxRegression: 3%, baseline: {tag: v1}}"));
    let release = project.commit("release");
    project.git(&["tag", "v1"]);
    project.sessions(&QUIET, &Special { commit: Some(release), ..Special::default() });
    let later = project.commit("later");
    let on = Special { commit: Some(later), ..Special::default() };
    let first = project.sessions(&[93.0, 92.7, 93.2], &on).remove(0);
    assert_eq!(project.gate(&[]).0, 1);
    let ack = ["ack", "train", "--metric", "speed", "--by", "ada", "--reason", "right", "--from", &first];
    assert_eq!(project.says(&ack).0, 0);
    for value in [93.1, 92.9] {
        let (status, line) = project.gate(&[]);
        assert_eq!((status, line["reason"].as_str()), (0, Some("accepted")), "{line:#}");
        project.session(value, &on);
    }
    project.session(80.0, &on);
    assert_eq!(project.gate(&[]).0, 1, "that is more than was accepted");
}

/// What was accepted holds as long as it lasts, and for the branch that it is of.
#[test]
fn what_is_over_or_of_another_branch_accepts_nothing_later() {
    let mut project = Project::with(&SPEC.replace("maxRegression: 3%}", "maxRegression: 3%, baseline: {tag: v1}}"));
    let release = project.commit("release");
    project.git(&["tag", "v1"]);
    project.sessions(&QUIET, &Special { commit: Some(release), ..Special::default() });
    project.git(&["checkout", "-q", "-b", "feature"]);
    let feature = project.commit("feature");
    let aside = project.session(93.0, &Special { commit: Some(feature), ..Special::default() });
    project.git(&["checkout", "-q", "main"]);
    let later = project.commit("later");
    let on = Special { commit: Some(later), ..Special::default() };
    let ack = |from: &str| {
        ["ack", "train", "--metric", "speed", "--by", "ada", "--reason", "right", "--from", from].map(str::to_owned)
    };
    let says = |project: &Project, from: &str| project.says(&ack(from).iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(says(&project, &aside).0, 0);
    let first = project.sessions(&[92.9, 93.1, 92.8, 93.0, 92.7, 93.2], &on).remove(0);
    assert_eq!(project.gate(&[]).0, 1, "another branch's session was accepted alone");
    assert_eq!(says(&project, &first).0, 0);
    assert_eq!(project.gate(&[]).0, 0);
    project.sessions(&QUIET[..10], &on);
    assert_eq!(project.gate(&[]).0, 0);
    project.session(92.9, &on);
    assert_eq!(project.gate(&[]).0, 1, "it was over, and is a change again");
}

/// Where a gate compares with a branch, what that branch has open is accepted by the session that the gate names.
#[test]
fn what_another_branch_has_open_is_accepted() {
    let spec = SPEC.replace("maxRegression: 3%}", "maxRegression: 3%, baseline: {branch: feature}}");
    let mut project = Project::with(&spec);
    let worse: Vec<f64> = QUIET[..6].iter().map(|value| value * 0.9).collect();
    project.with_feature(&[], &[&QUIET[..12], &worse].concat());
    project.git(&["checkout", "-q", "feature"]);
    let (status, line) = project.gate(&[]);
    assert_eq!((status, line["reason"].as_str()), (1, Some("open")), "{line:#}");
    let from = line["open"]["session"].as_str().unwrap();
    let ack = ["ack", "train", "--metric", "speed", "--by", "ada", "--reason", "right", "--from", from];
    let (status, _, error) = project.says(&ack);
    assert_eq!(status, 0, "{error}");
    let (status, answer) = project.json(&["gate"]);
    assert!(status == 0 && !answer["notes"].to_string().contains("accepts nothing"), "{answer:#}");
}

#[test]
fn other_branches_never_enter_the_baseline() {
    let mut project = Project::with(SPEC);
    let [main, feature] = project.with_feature(&QUIET, &[80.0, 80.5, 79.5, 80.2, 79.9, 80.1]);
    let on = |commit: &str| Special { commit: Some(commit.to_owned()), ..Special::default() };
    project.session(100.0, &on(&main));
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (0, "unchanged"), "{line:#}");
    assert_eq!(line["baseline"]["sessions"].as_array().unwrap().len(), 20);
    assert_eq!(line["notes"], json!(["6 earlier sessions are not from commits of the baseline"]));
    // The branch itself is judged against main.
    let (status, line) = project.gate(&["--candidate", &feature]);
    assert_eq!((status, verdict(&line)), (1, "regressed"), "{line:#}");
    // What ran with files that differ is of no commit.
    project.sessions(&[80.0], &Special { dirty: Some(true), ..on(&main) });
    project.session(100.0, &on(&main));
    assert_eq!(project.gate(&[]).1["baseline"]["sessions"].as_array().unwrap().len(), 21);
}

#[test]
fn a_result_of_a_cluster_is_found_by_the_tree_that_asked_for_it() {
    let mut project = Project::with(SPEC);
    assert_eq!(project.says(&["compile"]).0, 0);
    let main = project.commit("main");
    project.sessions(&QUIET, &Special::default());
    let (_, line) = project.gate(&[]);
    assert_eq!(line["baseline"]["sessions"][0]["commit"], main, "{line:#}");
    // Another run digest is in no tree of main.
    let mut other = project.run(50.0, 1, &Special::default());
    other.source.run_digest = format!("sha256:{}", "f".repeat(64));
    other.run.session = "elsewhere".to_owned();
    other.run.id = "f".repeat(32);
    other.run.started_at = "2026-02-01T00:30:00Z".to_owned();
    project.put(other);
    let (_, line) = project.gate(&[]);
    assert_eq!(line["notes"], json!(["1 earlier session is not from commits of the baseline"]), "{line:#}");
}

#[test]
fn what_is_not_of_the_default_branch_cannot_be_accepted() {
    let mut project = Project::with(SPEC);
    let main = project.commit("main");
    let on = |commit: &str| Special { commit: Some(commit.to_owned()), ..Special::default() };
    project.sessions(&QUIET, &on(&main));
    project.git(&["checkout", "-q", "-b", "feature"]);
    let feature = project.commit("feature");
    let first = project.session(90.0, &on(&feature));
    let newest = project.session(90.0, &on(&feature));
    let ack = |from: &str| {
        project.says(&["ack", "train", "--metric", "speed", "--by", "ada", "--reason", "right", "--from", from])
    };
    let (status, _, error) = ack(&first);
    assert!(status == 2, "{error}");
    assert_line(
        &error,
        str! {"error: no session since `session-021` is from the default branch, and only its sessions are a baseline, so accepting it would change nothing; name one of its sessions, which `kubebench history train` lists, or the commit or time of a later one"},
    );
    let (status, _, error) = ack(&newest);
    assert!(status == 0, "a pull request accepts what it brings: {error}");
    assert_line(
        &error,
        str! {"`session-022` is not from the default branch, so this accepts that session alone; to accept later ones on the default branch, pass the commit that makes the change, or a time, to --from (a squash or a rebase creates another commit)"},
    );
    assert_eq!(project.gate(&[]).0, 0);
}

#[test]
fn what_a_branch_adds_to_an_open_change_is_reported() {
    let mut project = Project::with(SPEC);
    let open: Vec<f64> = [93.0, 93.2, 92.8, 93.1, 92.9, 93.0, 93.3, 92.9].to_vec();
    let [main, feature] = project.with_feature(&[&QUIET[..], &open].concat(), &[80.0, 80.2]);
    let (status, line) = project.gate(&["--candidate", &feature, "--markdown", "gate.md"]);
    assert_eq!((status, line["reason"].as_str().unwrap()), (1, "open"), "{line:#}");
    let change = &line["open"];
    assert_eq!((change["sessions"].as_u64(), change["commit"].as_str()), (Some(8), Some(&*main)), "{line:#}");
    assert!((change["change"].as_f64().unwrap() + 0.07).abs() < 0.005, "{line:#}");
    assert!((change["further"]["change"].as_f64().unwrap() + 0.14).abs() < 0.005, "{line:#}");
    let further = "; this candidate is a further −13.9 % [";
    let says = [
        line["message"].as_str().unwrap().to_owned(),
        project.whole(&["--candidate", &feature]).1,
        std::fs::read_to_string(project.folder.path().join("gate.md")).unwrap(),
    ];
    for text in says {
        assert!(text.replace('\\', "").contains(further), "{text}");
    }
    // A branch that leaves it as it is adds nothing.
    let mut project = Project::with(SPEC);
    let [_, feature] = project.with_feature(&[&QUIET[..], &open].concat(), &[93.1, 92.9]);
    let (_, line) = project.gate(&["--candidate", &feature]);
    assert_eq!((line["reason"].as_str().unwrap(), line["open"].get("further")), ("open", None), "{line:#}");
}

/// A branch that ran on other hardware, or in another unit, replaces neither on the default branch.
#[test]
fn a_session_of_a_branch_hides_nothing_of_the_default_branch() {
    let dropped: Vec<f64> = QUIET.into_iter().chain([92.0, 92.3, 91.8, 92.1, 91.9, 92.2, 92.0]).collect();
    for (cpu, unit) in [(Some("other"), None), (None, Some("tokens/s"))] {
        let mut project = Project::with(SPEC);
        project.with_feature(&dropped, &[]);
        let feature = project.git(&["rev-parse", "feature"]).trim().to_owned();
        let special = Special {
            commit: Some(feature),
            cpu: cpu.map(str::to_owned),
            unit: unit.map(str::to_owned),
            ..Special::default()
        };
        project.session(92.0, &special);
        project.git(&["checkout", "-q", "feature"]);
        let (status, answer) = project.json(&["gate"]);
        assert_eq!(status, 1, "{answer:#}");
        let lines = answer["lines"].as_array().unwrap();
        assert!(lines.iter().any(|line| line["open"]["sessions"] == 7), "{answer:#}");
        let (_, said, _) = project.says(&["report", "--format", "markdown"]);
        assert!(said.contains("**Worse:** train"), "{said}");
    }
}

/// Nor does a session of a branch, or a failed one of any, that has no value of what is open.
#[test]
fn a_session_without_a_value_ends_no_change() {
    let dropped: Vec<f64> = QUIET.into_iter().chain([92.0, 92.3, 91.8, 92.1, 91.9, 92.2, 92.0]).collect();
    let fails = |made: &mut BenchmarkResult| {
        made.run.status = Status::Failed;
        made.run.reasons = vec![StatusReason { code: ReasonCode::ExitCode, message: "exited with 1".to_owned() }];
    };
    let is_renamed = |made: &mut BenchmarkResult| "velocity".clone_into(&mut made.metrics[0].name);
    let is_labelled = |made: &mut BenchmarkResult| {
        made.metrics[0].labels.insert("phase".to_owned(), "x".to_owned());
    };
    let of: [(usize, &dyn Fn(&mut BenchmarkResult)); 4] =
        [(0, &fails), (1, &fails), (1, &is_renamed), (1, &is_labelled)];
    for (at, (branch, change)) in of.into_iter().enumerate() {
        let mut project = Project::with(SPEC);
        let commits = project.with_feature(&dropped, &[]);
        project.git(&["checkout", "-q", ["main", "feature"][branch]]);
        project.session_as(92.0, &Special { commit: Some(commits[branch].clone()), ..Special::default() }, change);
        let (status, answer) = project.json(&["gate", "--on-missing", "pass"]);
        let lines = answer["lines"].as_array().unwrap();
        assert!(status == 1 && lines.iter().any(|line| line["open"]["sessions"] == 7), "{at}: {answer:#}");
        assert!(lines.len() == 2 || at == 3 && lines.len() == 3, "{at}: {answer:#}");
        let (_, said, _) = project.says(&["report", "--format", "markdown"]);
        assert!(said.contains("**Worse:** train"), "{at}: {said}");
    }
}

/// What the default branch itself gave up is not brought back by a branch.
#[test]
fn a_session_of_a_branch_brings_nothing_back() {
    let dropped: Vec<f64> = QUIET.into_iter().chain([92.0, 92.3, 91.8, 92.1, 91.9, 92.2, 92.0]).collect();
    let mut project = Project::with(SPEC);
    let [main, feature] = project.with_feature(&dropped, &[]);
    let on = |commit: &str| Special {
        commit: Some(commit.to_owned()),
        unit: Some("tokens/s".to_owned()),
        ..Special::default()
    };
    project.sessions(&QUIET, &on(&main));
    let before = project.json(&["gate"]);
    project.git(&["checkout", "-q", "feature"]);
    project.session(100.0, &on(&feature));
    let after = project.json(&["gate"]);
    for (status, answer) in [before, after] {
        assert_eq!((status, answer["lines"].as_array().unwrap().len()), (0, 1), "{answer:#}");
        assert_line(
            texts(&answer["notes"]),
            str! {"not evaluated: `speed` of train (default) got worse on 1 × synthetic, target default in session session-021 of 2026-02-01, not resolved or acknowledged; the metric has another unit since then (tokens/s)"},
        );
    }
}

/// Where the default branch never ran a case, a branch replaces what it ran on itself.
#[test]
fn hardware_and_units_of_a_branch_alone_are_replaced() {
    for (cpu, unit) in [(Some("other"), None), (None, Some("tokens/s"))] {
        let mut project = Project::with(SPEC);
        let [_, feature] = project.with_feature(&[], &QUIET);
        project.git(&["checkout", "-q", "feature"]);
        let on = Special { commit: Some(feature), ..Special::default() };
        project.session(0.0, &Special { status: Some(Status::Failed), ..on.clone() });
        let elsewhere = Special { cpu: cpu.map(str::to_owned), unit: unit.map(str::to_owned), ..on };
        project.sessions(&QUIET[..12], &elsewhere);
        let (_, answer) = project.json(&["gate"]);
        let lines = answer["lines"].as_array().unwrap();
        assert!(lines.len() == 1 && lines[0]["verdict"] == "new", "{answer:#}");
        let (_, said, _) = project.says(&["report", "--format", "markdown"]);
        assert!(said.contains("1 series"), "{said}");
    }
}

/// Without a generated tree it is unknown which results of a cluster are of a release: none is compared with it.
#[test]
fn a_release_without_a_tree_has_no_results_of_a_cluster() {
    let mut project = Project::with(&SPEC.replace("maxRegression: 3%}", "maxRegression: 3%, baseline: {tag: v1}}"));
    project.commit("release");
    project.git(&["tag", "v1"]);
    for value in QUIET.iter().chain(&[92.0]) {
        project.session_as(*value, &Special::default(), |made| {
            "kubernetes".clone_into(&mut made.environment.cluster.engine);
        });
    }
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (0, "inconclusive"), "{line:#}");
    assert_line(
        texts(&line["notes"]),
        str! {"results from a cluster do not name their commit, and no commit of tag:v1 has the generated tree that they ran from, so they are not in the baseline"},
    );
    // What cannot be distinguished is of the default branch, however that is named.
    project.folder.write("specs/train.yaml", SPEC);
    assert_eq!(project.gate(&[]).0, 1);
    assert_eq!(project.gate(&["--baseline", "branch:main"]).0, 1);
    project.git(&["branch", "-m", "main", "trunk"]);
    assert_eq!(project.gate(&["--baseline", "branch:trunk"]).0, 1, "it is the default one if there is none");
    let (status, line) = project.gate(&["--baseline", "tag:v1"]);
    assert_eq!((status, verdict(&line)), (0, "inconclusive"), "{line:#}");
    assert_line(
        texts(&line["notes"]),
        str! {"results from a cluster do not name their commit, and no commit of tag:v1 has the generated tree that they ran from, so they are not in the baseline"},
    );
}

/// The first result that names a commit, in a project that became a repository: what ran before it is of no branch.
#[test]
fn sessions_from_before_the_repository_are_no_baseline() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET[..7], &Special::default());
    assert_eq!(project.gate(&[]).1["baseline"]["sessions"].as_array().unwrap().len(), 6);
    let first = Special { commit: Some(project.commit("first")), ..Special::default() };
    project.session(100.0, &first);
    let (_, line) = project.gate(&[]);
    assert!(line["message"].as_str().unwrap().contains("with 5, those of the threshold do"), "{line:#}");
    assert_line(
        texts(&line["notes"]),
        str! {"7 sessions name no commit, so it is unknown whether they are from branch:main, and they are not in the baseline; run in a checkout of branch:main, so that sessions name their commit"},
    );
    // It is as the note says.
    project.sessions(&QUIET[8..13], &first);
    let (_, line) = project.gate(&[]);
    assert_eq!((verdict(&line), line["baseline"]["sessions"].as_array().unwrap().len()), ("unchanged", 5), "{line:#}");
}

/// The newest session of a branch is judged by itself; that there are more of its commit is said.
#[test]
fn more_sessions_of_the_newest_ones_commit_are_named() {
    let mut project = Project::with(SPEC);
    let [_, feature] = project.with_feature(&QUIET, &[92.0, 92.3, 91.8]);
    project.git(&["checkout", "-q", "feature"]);
    let (_, line) = project.gate(&[]);
    let said =
        format!("the baseline includes 2 sessions of the candidate's own commit: `--candidate {}`", &feature[..10]);
    assert!(line["notes"].to_string().contains(&said), "{line:#}");
    let (status, line) = project.gate(&["--candidate", &feature[..10]]);
    assert_eq!((status, line["candidate"]["sessions"].as_array().unwrap().len()), (1, 3), "{line:#}");
    // Also where the branch was deleted since.
    let lost = "c0ffee0123".repeat(4);
    project.sessions(&[92.0, 92.1], &Special { commit: Some(lost.clone()), ..Special::default() });
    let (status, line) = project.gate(&["--candidate", &lost[..10]]);
    assert_eq!((status, line["candidate"]["sessions"].as_array().unwrap().len()), (1, 2), "{line:#}");
    let (status, _, error) = project.says(&["gate", "--candidate", &lost[..6]]);
    assert!(status == 2, "{error}");
    assert_line(
        &error,
        str! {"error: `c0ffee` is neither a session nor a folder: `c0ffee` is neither a folder nor a commit here"},
    );
}

/// What ran with files that differ is of no commit, so that no other session is of the same one.
#[test]
fn a_tree_that_differs_is_of_no_commit() {
    let mut project = Project::with(SPEC);
    let [main, _] = project.with_feature(&QUIET, &[]);
    project.sessions(&[92.0, 92.2, 91.8], &Special { commit: Some(main), dirty: Some(true), ..Special::default() });
    let (status, line) = project.gate(&[]);
    assert_eq!(
        (status, &line["notes"]),
        (1, &json!(["2 earlier sessions are not from commits of the baseline"])),
        "{line:#}"
    );
}
