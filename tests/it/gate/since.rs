//! `gate --since` and `compile --check --since`: what the base demands holds of a change, whatever the change says.

mod results;

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
        &["specs/train.yaml:11:20: the gate of `speed` no longer has `maxRegression`; at the base 3%"],
    );
    assert_held(
        "  gates: [{metric: speed, maxRegression: 3%}]\n",
        "",
        &["specs/train.yaml:8:3: `train` no longer has a gate for `speed`"],
    );
    assert_held(
        "{metric: speed, maxRegression: 3%}",
        "{metric: loss, maxRegression: 3%}",
        &["specs/train.yaml:11:3: `train` no longer has a gate for `speed`"],
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
        &["specs/train.yaml:9:14: `better` of `speed` is lower; at the base higher"],
    );
    assert_held(
        "unit: images/s",
        "unit: kimages/s",
        &["specs/train.yaml:9:14: `unit` of `speed` is kimages/s; at the base images/s"],
    );
    assert_held(
        "'speed (",
        "'fastest (",
        &["specs/train.yaml:9:14: `speed` is measured differently from the base: from"],
    );
    assert_held(
        "primary: true,",
        "primary: true, reduce: max, window: {skipFirst: 5},",
        &["specs/train.yaml:9:14: `speed` is measured differently from the base: reduce, window"],
    );
    let renamed = SPEC.replace("name: speed", "name: pace").replace("metric: speed", "metric: pace");
    let from = &SPEC[SPEC.find("    - {name: speed").unwrap()..];
    assert_held(
        from,
        &renamed[renamed.find("    - {name: pace").unwrap()..],
        &["specs/train.yaml:8:3: `train` no longer has the metric `speed`, for which the base has a gate"],
    );
}

#[test]
fn a_benchmark_that_is_gone_keeps_its_gates() {
    assert_held(
        "name: train,",
        "name: training,",
        &[
            "specs/train.yaml: the benchmark `train` is gone from the target `default`, and the base has gates for it: speed",
        ],
    );
    let (mut project, feature) = project();
    let command = "command: [train, '${{ matrix.batch }}']";
    let edited =
        SPEC.replace("command: [train]", command).replace("  repeats", "  matrix: {axes: {batch: [8]}}\n  repeats");
    project.folder.write("specs/train.yaml", &edited);
    project.session(80.0, &on(&feature));
    let (status, answer) = since(&project, &["--only-new"]);
    let gone = "specs/train.yaml:5:3: `train` lost cases for which the base has gates: default";
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
            "kubebench.yaml:6:3: `specs` is no longer a folder of specs",
            "specs/train.yaml: the benchmark `train` is gone from the target `default`, and the base has gates for it: speed",
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
    assert!(notes.contains("this change adds 3 results (3 of train)"), "{notes}");
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
    assert!(status == 2 && error.contains("`nowhere` is not a commit in this clone"), "{error}");
    project.git(&["checkout", "-q", "--orphan", "other"]);
    project.commit("other");
    let (status, _, error) = project.says(&["gate", "--since", "main"]);
    assert!(status == 2 && error.contains("have no common commit"), "{error}");
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
    let (status, answer) = since(&project, &["--on-weakened", "fail"]);
    assert_eq!(status, 0, "{answer:#}");
    assert!(
        weakened(&answer)[0].starts_with("specs/train.yaml: what this file requires at the base is unknown"),
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
    assert!(
        status == 1 && out.contains("error[KB0311]: on `default` the runs could use 4 GPU-hours, and the budget is 3"),
        "{out}"
    );
    project
        .folder
        .write("specs/train.yaml", spec.replace("gpuHours: 3", "gpuHours: 4").replace("  budget: {gpuHours: 4}\n", ""));
    assert_eq!(project.says(&["compile"]).0, 0);
    let (_, out, _) = project.says(&check);
    assert!(out.contains("specs/train.yaml:5:3: info[KB0463]: the budget `gpuHours` is gone; at the base 3"), "{out}");
}

#[cfg(unix)]
#[test]
fn a_spec_with_errors_is_not_gone() {
    let (project, _) = project();
    project.folder.write("specs/train.yaml", SPEC.replace("repeats: 3", "repeats: many"));
    let (status, out, _) = project.says(&["compile", "--check", "--since", "main", "--output-format", "concise"]);
    assert!(status == 1 && out.contains("error[KB0203]") && !out.contains("KB0463"), "{out}");
}

#[test]
fn a_project_that_moves_keeps_its_gates() {
    let (project, _) = project();
    std::fs::create_dir_all(project.folder.path().join("moved")).unwrap();
    project.git(&["mv", "kubebench.yaml", "specs", "results", "moved"]);
    project.commit("moved");
    let (_, answer) = project.json(&["gate", "-C", "moved", "--since", "main"]);
    assert_eq!(weakened(&answer), Vec::<String>::new(), "{answer:#}");
    project.folder.write("moved/specs/train.yaml", SPEC.replace("maxRegression: 3%", "maxRegression: 30%"));
    let (_, answer) = project.json(&["gate", "-C", "moved", "--since", "main"]);
    assert_eq!(weakened(&answer).len(), 1, "{answer:#}");
}

#[test]
fn a_project_instead_of_another_is_said() {
    let (project, _) = project();
    project.git(&["rm", "-q", "-r", "kubebench.yaml", "specs", "results"]);
    project.folder.write("other/kubebench.yaml", PROJECT.replace("{name: p}", "{name: another}"));
    project.folder.write("other/specs/train.yaml", SPEC.replace("maxRegression: 3%", "maxRegression: 30%"));
    project.commit("another project");
    let gone = "kubebench.yaml: the project that the base has at the top of the repository is gone, and this one starts without its gates";
    let (_, answer) = project.json(&["gate", "-C", "other", "--since", "main", "--allow-empty"]);
    assert_eq!(weakened(&answer), [gone], "{answer:#}");
}

#[test]
fn honest_spellings_weaken_nothing() {
    let two = SPEC.replace(
        "gates: [{metric: speed, maxRegression: 3%}]",
        "gates: [{metric: speed, maxRegression: 3%}, {metric: speed, min: 50}, {metric: loss, max: 9}]",
    );
    let tool = two.replace("  gates:", "    - {from: {tool: {name: wrk, metrics: [requests_per_second]}}}\n  checks: [{metric: speed, finite: true}, {metric: loss, finite: true}]\n  gates:");
    let (mut project, feature) = project_of(&tool);
    project.session_as(100.0, &on(&feature), |_| {});
    let changes: [(&str, &str); 8] = [
        ("repeats: 3", "repeats: 4"),
        ("metric: speed, maxRegression: 3%}, {metric: speed, min: 50}", "metric: speed, maxRegression: 3%, min: 50}"),
        (
            "{metric: speed, maxRegression: 3%}, {metric: speed, min: 50}",
            "{metric: speed, min: 50}, {metric: speed, maxRegression: 2%}",
        ),
        ("metrics: [requests_per_second]", "metrics: [transfer_per_second, requests_per_second]"),
        ("primary: true,", "primary: true, reduce: last,"),
        ("primary: true,", "primary: true, window: {skipFirst: 0},"),
        ("primary: true,", "primary: true, required: true,"),
        (
            "{metric: speed, finite: true}, {metric: loss, finite: true}",
            "{metric: loss, finite: true}, {metric: speed, finite: true}",
        ),
    ];
    for (from, to) in changes {
        assert!(tool.contains(from), "{from}");
        project.folder.write("specs/train.yaml", tool.replace(from, to));
        let (_, answer) = since(&project, &[]);
        assert_eq!(weakened(&answer), Vec::<String>::new(), "{from} -> {to}: {answer:#}");
    }
    for (from, to, said) in [
        ("{metric: speed, min: 50}", "{metric: speed, min: 5}", "`min` of `speed` is 5; at the base 50"),
        (", {metric: speed, min: 50}", "", "the gate of `speed` no longer has `min`; at the base 50"),
        ("{metric: loss, max: 9}", "{metric: loss, max: 10}", "`max` of `loss` is 10; at the base 9"),
        (
            "[{metric: speed, finite: true}, {metric: loss, finite: true}]",
            "[{metric: loss, finite: true}]",
            "`speed` is measured differently from the base: checks",
        ),
    ] {
        assert!(tool.contains(from), "{from}");
        project.folder.write("specs/train.yaml", tool.replace(from, to));
        let (_, answer) = since(&project, &[]);
        let [line]: [String; 1] = weakened(&answer).try_into().unwrap();
        assert!(line.ends_with(said), "{line}");
    }
}

#[test]
fn what_a_target_says_of_metrics_and_budgets_is_compared() {
    let (project, _) = project();
    project.git(&["checkout", "-q", "main"]);
    let file = PROJECT.replace("KB0402: error", "KB0402: warning")
        + "  targets: {default: {namespace: bench, prometheus: {url: 'http://prom:9090'}, prices: {currency: EUR, cpu: 1}}}\n";
    project.folder.write("kubebench.yaml", &file);
    let spec = SPEC
        .replace("command: [train]", "command: [train], resources: {cpu: 1, memory: 1Gi}")
        .replace("  repeats", "  budget: {cost: 3}\n  repeats");
    project.folder.write("specs/train.yaml", &spec);
    let (status, out, _) = project.says(&["compile", "--output-format", "concise"]);
    assert_eq!(status, 0, "{out}");
    project.commit("targets");
    project.git(&["checkout", "-q", "-b", "change"]);
    let check = |file: &str, spec: &str| {
        project.folder.write("kubebench.yaml", file);
        project.folder.write("specs/train.yaml", spec);
        project.says(&["compile"]);
        let (status, out, _) = project.says(&["compile", "--check", "--since", "main", "--output-format", "concise"]);
        (status, out)
    };
    let (status, out) = check(&file.replace("prom:9090", "other:9090"), &spec);
    assert!(status == 0 && out.contains("info[KB0463]: the Prometheus server of `default` differs"), "{out}");
    let (status, out) = check(&file.replace("cpu: 1", "cpu: 1, memory: 1"), &spec.replace("cost: 3", "cost: 2"));
    assert!(!out.contains("KB0463"), "{status} {out}");
    let cheap = file.replace("cpu: 1", "cpu: 0.01");
    let (status, out) = check(&cheap, &spec);
    assert!(status == 0 && out.contains("info[KB0463]: prices of `default` are lower"), "{out}");
    for many in [
        spec.replace("repeats: 3", "repeats: 30"),
        spec.replace("repeats: 3", "repeats: 30").replace("  budget: {cost: 3}\n", ""),
    ] {
        let (status, out) = check(&cheap, &many);
        assert!(
            status == 1 && out.contains("error[KB0311]: on `default` the runs could cost 30 EUR, and the budget is 3"),
            "{out}"
        );
    }
    let (status, out) = check(&file.replace("  results:", "  output: gen2\n  results:"), &spec);
    assert!(out.contains("info[KB0463]: manifests are in `gen2`; at the base in `generated`"), "{status} {out}");
}
