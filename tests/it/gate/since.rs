//! `gate --since` and `compile --check --since`: what the base demands holds of a change, whatever the change says.

use serde_json::Value as Json;

use super::{Project, QUIET, SPEC, Special, verdict};

const PROJECT: &str = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec:\n  lints: {KB0402: error, KB0401: 'off', KB0403: 'off'}\n  results: {mode: local}\n";

/// Twenty committed sessions of `main`, and a branch whose commit is returned.
fn project_of(spec: &str) -> (Project, String) {
    let mut project = Project::with(spec);
    project.folder.write(".gitignore", ".cache\n");
    project.folder.write("kubebench.yaml", PROJECT.replace("KB0402: error", "KB0402: warning"));
    project.folder.write("specs/train.yaml", spec);
    let main = project.commit("main");
    project.sessions(&QUIET, &on(&main));
    project.commit("results");
    project.git(&["checkout", "-q", "-b", "feature"]);
    let feature = project.commit("feature");
    (project, feature)
}

fn project() -> (Project, String) {
    project_of(SPEC)
}

fn on(commit: &str) -> Special {
    Special { commit: Some(commit.to_owned()), ..Special::default() }
}

/// Evaluates the change; returns the status and the answer.
fn since(project: &Project, arguments: &[&str]) -> (i32, Json) {
    project.json(&[&["gate", "--since", "main"], arguments].concat())
}

fn weakened(answer: &Json) -> Vec<String> {
    let all = answer["weakened"].as_array().into_iter().flatten();
    all.map(|one| format!("{}: {}", one["place"].as_str().unwrap(), one["message"].as_str().unwrap())).collect()
}

fn verdicts(answer: &Json) -> Vec<&str> {
    answer["lines"].as_array().unwrap().iter().map(verdict).collect()
}

/// Puts a session that got worse by 20 % on a branch that replaces a text of its spec; the gate of the base sees it, and the change is
/// listed.
#[track_caller]
fn assert_held(from: &str, to: &str, said: &[&str]) {
    let (mut project, feature) = project();
    assert!(SPEC.contains(from), "{from}");
    project.folder.write("specs/train.yaml", SPEC.replace(from, to));
    project.session(80.0, &on(&feature));
    project.commit("edited");
    let (status, answer) = since(&project, &["--only-new"]);
    assert_eq!(weakened(&answer), said, "{answer:#}");
    assert!(status == 1 && verdicts(&answer).contains(&"regressed"), "{answer:#}");
    // That it is merged makes it the base.
    project.git(&["branch", "-q", "-f", "main", "HEAD"]);
    let (_, answer) = since(&project, &[]);
    assert_eq!(weakened(&answer), Vec::<String>::new(), "{answer:#}");
}

#[test]
fn a_gate_of_the_base_holds_whatever_the_change_makes_of_it() {
    assert_held(
        "maxRegression: 3%",
        "maxRegression: 90%",
        &["specs/train.yaml:11:20: `maxRegression` of `speed` is 90%; at the base 3%"],
    );
    assert_held(
        "maxRegression: 3%",
        "min: 1",
        &["specs/train.yaml:11:20: the gate of `speed` has no `maxRegression` any more; at the base 3%"],
    );
    assert_held(
        "  gates: [{metric: speed, maxRegression: 3%}]\n",
        "",
        &["specs/train.yaml:3:18: `train` has no gate of `speed` any more"],
    );
    assert_held(
        "{metric: speed, maxRegression: 3%}",
        "{metric: loss, maxRegression: 3%}",
        &["specs/train.yaml:3:18: `train` has no gate of `speed` any more"],
    );
    assert_held(
        "maxRegression: 3%",
        "maxRegression: 3%, confirm: required",
        &["specs/train.yaml:11:20: the gate of `speed` waits for a second session (`confirm: required`)"],
    );
    assert_held(
        "maxRegression: 3%",
        "maxRegression: 3%, baseline: {value: 70}",
        &["specs/train.yaml:11:20: the gate of `speed` compares with 70; at the base with the default branch"],
    );
    assert_held(
        "maxRegression: 3%",
        "maxRegression: 3%, baseline: {branch: feature}",
        &[
            "specs/train.yaml:11:20: the gate of `speed` compares with the branch `feature`; at the base with the default branch",
        ],
    );
}

#[test]
fn a_gated_metric_is_measured_as_at_the_base() {
    assert_held(
        "better: higher",
        "better: lower",
        &["specs/train.yaml:9:14: `speed` is not measured as at the base: better"],
    );
    assert_held(
        "unit: images/s",
        "unit: kimages/s",
        &["specs/train.yaml:9:14: `speed` is not measured as at the base: unit"],
    );
    assert_held("'speed (", "'fastest (", &["specs/train.yaml:9:14: `speed` is not measured as at the base: from"]);
    assert_held(
        "primary: true,",
        "primary: true, reduce: max, window: {skipFirst: 5},",
        &["specs/train.yaml:9:14: `speed` is not measured as at the base: reduce, window"],
    );
    let renamed = SPEC.replace("name: speed", "name: pace").replace("metric: speed", "metric: pace");
    let from = &SPEC[SPEC.find("    - {name: speed").unwrap()..];
    assert_held(
        from,
        &renamed[renamed.find("    - {name: pace").unwrap()..],
        &[
            "specs/train.yaml:3:18: nothing is called `speed` any more, of which the base has a gate",
            "specs/train.yaml:3:18: `train` has no gate of `speed` any more",
        ],
    );
}

#[test]
fn a_benchmark_that_is_gone_keeps_its_gates() {
    assert_held(
        "name: train,",
        "name: training,",
        &["specs/train.yaml: no benchmark is called `train` on `default` any more, of which the base has gates: speed"],
    );
    let (mut project, feature) = project();
    let command = "command: [train, '${{ matrix.batch }}']";
    let edited =
        SPEC.replace("command: [train]", command).replace("  repeats", "  matrix: {axes: {batch: [8]}}\n  repeats");
    project.folder.write("specs/train.yaml", &edited);
    project.session(80.0, &on(&feature));
    let (status, answer) = since(&project, &["--only-new"]);
    let gone = "specs/train.yaml:3:18: `train` has no such cases any more, of which the base has gates: default";
    assert_eq!((status, weakened(&answer)), (1, vec![gone.to_owned()]), "{answer:#}");
    assert!(verdicts(&answer).contains(&"regressed"), "{answer:#}");
}

#[test]
fn the_project_file_disarms_nothing() {
    let of = |from: &str, to: &str| {
        let (mut project, feature) = project();
        project.folder.write("kubebench.yaml", PROJECT.replace("KB0402: error", "KB0402: warning").replace(from, to));
        std::fs::create_dir_all(project.folder.path().join("other")).unwrap();
        project.folder.write("other/.keep", "");
        project.session(80.0, &on(&feature));
        project.commit("edited");
        let (status, answer) = since(&project, &["--only-new"]);
        assert!(answer["lines"].is_array(), "{answer:#}");
        assert!(status == 1 && verdicts(&answer).contains(&"regressed"), "{answer:#}");
        weakened(&answer)
    };
    let judged_from = of("  results:", "  judgeFrom: '2027-01-01'\n  results:");
    assert_eq!(judged_from, ["kubebench.yaml:6:3: `judgeFrom` is `2027-01-01`; at the base nothing"]);
    let across = of("  results:", "  compareAcross: [cpu]\n  results:");
    assert_eq!(across, ["kubebench.yaml:6:3: `compareAcross` is [cpu]; at the base []"]);
    let directory = of("{mode: local}", "{mode: local, directory: other}");
    assert_eq!(directory, ["kubebench.yaml:6:26: the directory of results is `other`; at the base `results`"]);
    let specs = of("  results:", "  specs: [other]\n  results:");
    assert_eq!(
        specs,
        [
            "kubebench.yaml:6:3: `specs` is no folder of specs any more",
            "specs/train.yaml: no benchmark is called `train` on `default` any more, of which the base has gates: speed",
        ]
    );
}

#[test]
fn what_is_stricter_holds_at_once() {
    let (mut project, feature) = project();
    project.folder.write("specs/train.yaml", SPEC.replace("maxRegression: 3%", "maxRegression: 1%, min: 10"));
    project.session(98.0, &on(&feature));
    project.commit("edited");
    let (_, answer) = since(&project, &[]);
    assert_eq!(weakened(&answer), Vec::<String>::new());
    assert_eq!(answer["lines"][0]["threshold"], 0.01, "{answer:#}");
    project.folder.write("specs/train.yaml", SPEC.replace("maxRegression: 3%", "maxRegression: 3%, min: 99"));
    let (status, answer) = since(&project, &[]);
    assert_eq!((status, verdicts(&answer)), (1, vec!["regressed"]), "{answer:#}");
}

#[test]
fn honest_changes_pass_and_weaken_nothing() {
    let (mut project, feature) = project();
    let new = SPEC.replace("name: train", "name: sort").replace("train:1", "sort:1");
    project.folder.write("specs/sort.yaml", &new);
    project.folder.write("specs/train.yaml", SPEC.replace("train:1", "train:2").replace("repeats: 3", "repeats: 5"));
    project.session(100.0, &on(&feature));
    project.commit("edited");
    let (status, answer) = since(&project, &["--on-weakened", "fail", "--only-new", "--on-missing", "fail"]);
    assert_eq!((status, weakened(&answer)), (0, Vec::new()), "{answer:#}");
    let notes = answer["notes"].to_string();
    assert!(notes.contains("3 results are brought by this change (3 of train)"), "{notes}");
    // A benchmark may go.
    std::fs::remove_file(project.folder.path().join("specs/train.yaml")).unwrap();
    let (status, answer) = since(&project, &["--only-new"]);
    assert_eq!((status, weakened(&answer).len()), (0, 1), "{answer:#}");
    let (status, answer) = since(&project, &["--only-new", "--on-weakened", "fail"]);
    assert_eq!((status, answer["weakened"][0]["fails"].as_bool()), (1, Some(true)), "{answer:#}");
}

#[test]
fn a_branch_that_is_behind_does_what_it_does_alone() {
    let (mut project, feature) = project();
    project.session(100.0, &on(&feature));
    project.commit("measured");
    project.git(&["checkout", "-q", "main"]);
    project.folder.write("specs/train.yaml", SPEC.replace("maxRegression: 3%", "maxRegression: 0.5%"));
    project.folder.write("acks/later.yaml", "apiVersion: kubebench.dev/v1\nkind: Ack\nspec: {benchmark: train, case: '*', metric: speed, from: 2026-02-01, by: a, reason: b}\n");
    let later = project.commit("stricter");
    project.session(101.0, &on(&later));
    project.commit("more results");
    project.git(&["checkout", "-q", "feature"]);
    let (status, answer) = since(&project, &["--on-weakened", "fail"]);
    assert_eq!((status, weakened(&answer)), (0, Vec::new()), "{answer:#}");
    // The same where a CI system merges first.
    project.git(&["merge", "-q", "--no-edit", "main"]);
    let (_, answer) = since(&project, &[]);
    assert_eq!(weakened(&answer), Vec::<String>::new(), "{answer:#}");
}

#[test]
fn results_of_the_base_stay_as_they_are() {
    let (mut project, feature) = project();
    project.session(100.0, &on(&feature));
    project.commit("measured");
    let results = project.git(&["ls-files", "results"]);
    let first = results.lines().next().unwrap().to_owned();
    let place = project.folder.path().join(&first);
    let bytes = std::fs::read(&place).unwrap();
    std::fs::remove_file(&place).unwrap();
    let (status, out, _) = project.says(&["gate", "--since", "main"]);
    assert!(
        status == 1 && out.replace("\n       ", " ").contains("1 result of train that the base has is gone"),
        "{out}"
    );
    project.commit("removed");
    let (status, out, _) = project.says(&["gate", "--since", "main", "--output-format", "concise"]);
    assert!(status == 1 && out.contains(&format!("{first}: error[KB0464]: 1 result")), "{out}");
    // Sealed again with another value.
    let mut result = kubebench_format::result::read(&bytes).unwrap().result;
    result.metrics[0].value = Some(1000.0);
    std::fs::write(&place, kubebench_format::result::seal(result).bytes).unwrap();
    project.commit("sealed again");
    let (status, answer) = since(&project, &[]);
    assert_eq!((status, answer["outcome"].as_str()), (1, Some("failed")), "{answer:#}");
    assert!(weakened(&answer)[0].contains("1 result of train that the base has is changed"), "{answer:#}");
    std::fs::remove_dir_all(project.folder.path().join("results")).unwrap();
    let (status, answer) = since(&project, &["--on-missing", "pass"]);
    assert!(status == 1 && weakened(&answer)[0].contains("60 results of train"), "{answer:#}");
}

#[test]
fn results_that_a_change_brings_are_no_baseline() {
    let (mut project, feature) = project();
    let main = project.git(&["rev-list", "--reverse", "main"]).lines().next().unwrap().to_owned();
    project.session(80.0, &on(&feature));
    project.sessions(&[80.1, 79.9, 80.0, 80.2, 79.8, 80.0, 80.1, 79.9, 80.0, 80.0], &on(&main));
    project.commit("measured");
    let (status, answer) = since(&project, &["--only-new"]);
    let line = &answer["lines"][0];
    assert_eq!((status, verdict(line)), (1, "regressed"), "{answer:#}");
    assert_eq!(line["baseline"]["sessions"].as_array().unwrap().len(), 20, "{answer:#}");
    assert!(answer["notes"].to_string().contains("33 results are brought by this change"), "{answer:#}");
}

#[test]
fn results_that_a_change_brings_close_nothing() {
    let mut project = project().0;
    project.git(&["checkout", "-q", "main"]);
    let slower = project.commit("slower");
    project.sessions(&[80.0, 80.3, 79.8, 80.1], &on(&slower));
    project.commit("measured on main");
    project.git(&["checkout", "-q", "-b", "forged"]);
    let main = project.git(&["rev-parse", "main"]).trim().to_owned();
    project.sessions(&QUIET[..12], &on(&main));
    project.commit("forged");
    let (status, _) = project.json(&["gate"]);
    assert_eq!(status, 0, "without a base they are sessions of main");
    let (status, answer) = since(&project, &[]);
    assert_eq!(status, 1, "{answer:#}");
    assert!(!answer["lines"][0]["open"].is_null(), "{answer:#}");
}

#[test]
fn a_result_that_claims_an_earlier_run_does_not_replace_it() {
    let (mut project, feature) = project();
    project.session(80.0, &on(&feature));
    let first = project.git(&["ls-files", "results"]).lines().next().unwrap().to_owned();
    let bytes = std::fs::read(project.folder.path().join(&first)).unwrap();
    let mut twin = kubebench_format::result::read(&bytes).unwrap().result;
    twin.run.started_at = "2026-03-01T00:00:00Z".to_owned();
    twin.run.finished_at = "2026-03-01T00:00:30Z".to_owned();
    let place = project.put(twin);
    project.commit("a twin");
    let (status, answer) = since(&project, &[]);
    assert_eq!((status, answer["outcome"].as_str()), (2, Some("noAnswer")), "{answer:#}");
    let left_out = answer["leftOut"].as_array().unwrap();
    assert_eq!(left_out.len(), 1, "{answer:#}");
    assert!(place.ends_with(left_out[0]["path"].as_str().unwrap()), "{answer:#}");
    let (status, answer) = since(&project, &["--skip-bad"]);
    assert_eq!((status, verdicts(&answer)), (1, vec!["regressed"]), "{answer:#}");
    assert_eq!(answer["lines"][0]["baseline"]["sessions"].as_array().unwrap().len(), 20, "{answer:#}");
}

#[test]
fn an_acknowledgement_accepts_nothing_in_the_change_that_brings_it() {
    let (mut project, feature) = project();
    let session = project.session(80.0, &on(&feature));
    project.commit("measured");
    let ack = [
        "ack",
        "train",
        "--metric",
        "speed",
        "--from",
        &session,
        "--by",
        "ada",
        "--reason",
        "needed",
        "--max-change",
        "any",
    ];
    let (status, _, error) = project.says(&ack);
    assert_eq!(status, 0, "{error}");
    project.commit("accepted");
    assert_eq!(project.json(&["gate"]).0, 0);
    let (status, answer) = since(&project, &[]);
    assert_eq!((status, verdicts(&answer)), (1, vec!["regressed"]), "{answer:#}");
    let said = weakened(&answer);
    assert!(said[0].starts_with("acks/train-") && said[0].ends_with("accepts nothing until it is merged"), "{said:?}");
    // It is merged before what it accepts.
    let file = said[0].split(':').next().unwrap();
    let text = std::fs::read_to_string(project.folder.path().join(file)).unwrap();
    project.git(&["checkout", "-q", "main"]);
    project.folder.write(file, &text);
    project.git(&["add", "acks"]);
    project.git(&["commit", "-q", "-m", "accepted"]);
    project.git(&["checkout", "-q", "feature"]);
    project.git(&["merge", "-q", "--no-edit", "main"]);
    let (status, answer) = since(&project, &[]);
    assert_eq!((status, weakened(&answer)), (0, Vec::new()), "{answer:#}");
    // One that is rewritten accepts what it accepted.
    project.folder.write(file, text.replace("session-", "session-0"));
    let (status, answer) = since(&project, &[]);
    assert_eq!((status, weakened(&answer).len()), (0, 1), "{answer:#}");
}

#[test]
fn lints_of_the_base_hold() {
    let (project, _) = project();
    project.git(&["checkout", "-q", "main"]);
    project.folder.write("kubebench.yaml", PROJECT);
    assert_eq!(project.says(&["compile"]).0, 0);
    project.commit("compiled");
    project.git(&["checkout", "-q", "-b", "change"]);
    project.folder.write("kubebench.yaml", PROJECT.replace("KB0402: error", "KB0402: 'off'"));
    project.folder.write("specs/train.yaml", SPEC.replace("train:1", "train:latest"));
    assert_eq!(project.says(&["compile"]).0, 0);
    project.commit("latest");
    assert_eq!(project.says(&["compile", "--check"]).0, 0);
    let check = ["compile", "--check", "--since", "main", "--output-format", "concise"];
    let (status, out, _) = project.says(&check);
    assert!(status == 1 && out.contains("error[KB0402]"), "{out}");
    assert!(out.contains("kubebench.yaml:5:11: info[KB0463]: KB0402 is off; at the base an error"), "{out}");
    // What weakens nothing but the words: it is listed, and passes.
    project.folder.write("specs/train.yaml", SPEC);
    assert_eq!(project.says(&["compile"]).0, 0);
    let (status, out, error) = project.says(&[&check[..], &["--deny-warnings"]].concat());
    assert!(status == 0 && out.contains("info[KB0463]"), "{status}{out}{error}");
    let (status, out, _) = project.says(&[&check[..], &["--on-weakened", "fail"]].concat());
    assert!(status == 1 && out.contains("error[KB0463]"), "{out}");
}

#[test]
fn a_project_that_begins_weakens_nothing() {
    let (project, _) = project();
    project.git(&["checkout", "-q", "--orphan", "empty"]);
    project.git(&["rm", "-rq", "--cached", "."]);
    project.git(&["commit", "-q", "--allow-empty", "-m", "empty"]);
    project.git(&["branch", "-q", "-f", "main", "HEAD"]);
    project.git(&["checkout", "-q", "-b", "first"]);
    project.commit("the project");
    let (status, answer) = since(&project, &["--on-weakened", "fail"]);
    assert_eq!((status, weakened(&answer)), (0, Vec::new()), "{answer:#}");
}

#[test]
fn a_base_that_cannot_be_had_is_no_pass() {
    let (project, _) = project();
    let (status, _, error) = project.says(&["gate", "--since", "nowhere"]);
    assert!(status == 2 && error.contains("`nowhere` is not a commit of this repository"), "{error}");
    project.git(&["checkout", "-q", "--orphan", "other"]);
    project.commit("other");
    let (status, _, error) = project.says(&["gate", "--since", "main"]);
    assert!(status == 2 && error.contains("have no commit in common"), "{error}");
    let (status, _, error) = project.says(&["gate", "--on-weakened", "fail"]);
    assert!(status == 2 && error.contains("--since"), "{error}");
}

#[test]
fn a_base_that_does_not_compile_is_said() {
    let (mut project, _) = project();
    project.git(&["checkout", "-q", "main"]);
    project.folder.write("specs/train.yaml", SPEC.replace("repeats: 3", "repeats: many"));
    project.commit("broken");
    project.git(&["checkout", "-q", "-b", "repair"]);
    project.folder.write("specs/train.yaml", SPEC);
    let repair = project.commit("repaired");
    project.session(100.0, &on(&repair));
    let (status, answer) = since(&project, &[]);
    assert_eq!(status, 0, "{answer:#}");
    assert!(
        weakened(&answer)[0].starts_with("specs/train.yaml: what `specs/train.yaml` demands at the base is unknown"),
        "{answer:#}"
    );
}

#[test]
fn budgets_of_the_base_hold() {
    let (project, _) = project();
    project.git(&["checkout", "-q", "main"]);
    let gpus = "command: [train], resources: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}";
    let spec = SPEC.replace("command: [train]", gpus).replace("  repeats", "  budget: {gpuHours: 3}\n  repeats");
    project.folder.write("specs/train.yaml", &spec);
    assert_eq!(project.says(&["compile"]).0, 0);
    project.commit("compiled");
    project.git(&["checkout", "-q", "-b", "change"]);
    let larger = spec.replace("gpuHours: 3", "gpuHours: 30");
    project.folder.write("specs/train.yaml", &larger);
    assert_eq!(project.says(&["compile"]).0, 0);
    let check = ["compile", "--check", "--since", "main", "--output-format", "concise"];
    let (status, out, _) = project.says(&check);
    assert!(
        status == 0 && out.contains("specs/train.yaml:5:22: info[KB0463]: the budget `gpuHours` is 30; at the base 3"),
        "{out}"
    );
    project.folder.write("specs/train.yaml", larger.replace("repeats: 3", "repeats: 4"));
    assert_eq!(project.says(&["compile"]).0, 0);
    assert_eq!(project.says(&["compile", "--check"]).0, 0);
    let (status, out, _) = project.says(&check);
    assert!(status == 1 && out.contains("error[KB0311]: the runs could use 4 GPU-hours, and the budget is 3"), "{out}");
    project
        .folder
        .write("specs/train.yaml", spec.replace("gpuHours: 3", "gpuHours: 4").replace("  budget: {gpuHours: 4}\n", ""));
    assert_eq!(project.says(&["compile"]).0, 0);
    let (_, out, _) = project.says(&check);
    assert!(out.contains("specs/train.yaml:3:18: info[KB0463]: the budget `gpuHours` is gone; at the base 3"), "{out}");
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_a_link_hides_nothing() {
    let (mut project, feature) = project();
    let main = project.git(&["rev-list", "--reverse", "main"]).lines().next().unwrap().to_owned();
    project.git(&["checkout", "-q", "main"]);
    project.git(&["rm", "-rq", "results"]);
    project.commit("no results");
    project.git(&["checkout", "-q", "-b", "linked"]);
    project.sessions(&QUIET, &on(&main));
    project.session(100.0, &on(&feature));
    std::fs::rename(project.folder.path().join("results"), project.folder.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere", project.folder.path().join("results")).unwrap();
    project.commit("linked");
    let (_, answer) = since(&project, &[]);
    assert!(answer["notes"].to_string().contains("63 results are brought by this change"), "{answer:#}");
    assert_eq!(answer["lines"][0]["baseline"]["sessions"].as_array().unwrap().len(), 0, "{answer:#}");
}
