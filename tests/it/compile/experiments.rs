//! The workload `experiment`: the Experiment that a search becomes, and what is wrong with one.

use kubebench_compiler::compile::Compilation;
use kubebench_compiler::model::estimate;
use kubebench_testing::snapshot::str;
use serde_json::{Value, json};

use crate::support::judges::validate;
use crate::support::project::{assert_error, codes, compile, compile_sound, created, errors, located_errors, objects};

const IMAGE: &str = "registry.example/train@sha256:0caad04c6b091e442a7197d216e749afd84e0779829f0a070d021bdb23171bbb";
const SEARCH: &str = "objective: {type: maximize, objectiveMetricName: accuracy}
      algorithm: {algorithmName: random}
      parameters: [{name: lr, parameterType: double, feasibleSpace: {min: '0.01', max: '0.05'}}]
      maxTrialCount: 6";

fn spec(search: &str, trial: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {{name: search}}
spec:
  timeout: 2h
  workload:
    experiment:
      {search}
      trial: {{{trial}}}
  metrics: [{{name: accuracy, unit: \"1\", better: higher, primary: true, from: {{trials: {{metric: accuracy}}}}}}]
"
    )
}

fn job(fields: &str) -> String {
    format!(
        "job: {{image: '{IMAGE}', command: [train, --lr, '${{trialParameters.lr}}'], resources: {{cpu: 1, memory: 1Gi, nvidia.com/gpu: 2}}{fields}}}"
    )
}

fn experiment(compilation: &Compilation) -> Value {
    created(compilation)
        .into_iter()
        .map(|emitted| emitted.object)
        .find(|object| object["kind"] == "Experiment")
        .unwrap()
}

#[test]
fn a_search_is_an_experiment_whose_trials_are_the_job_as_it_would_run_alone() {
    let search = spec(SEARCH, &job(""));
    let compilation = compile_sound(&[("specs/search.yaml", &search)]);
    let mut found = experiment(&compilation);
    let template = found["spec"]["trialTemplate"].as_object().unwrap().clone();
    found["spec"].as_object_mut().unwrap().remove("trialTemplate");
    assert_eq!(
        found["spec"],
        json!({
            "objective": {"type": "maximize", "objectiveMetricName": "accuracy"},
            "algorithm": {"algorithmName": "random"},
            "parameters": [{"name": "lr", "parameterType": "double", "feasibleSpace": {"min": "0.01", "max": "0.05"}}],
            "maxTrialCount": 6, "parallelTrialCount": 3, "resumePolicy": "Never",
        })
    );
    assert_eq!(template["retain"], true);
    assert_eq!(template["primaryContainerName"], "main");
    assert_eq!(template["primaryPodLabels"], json!({"kubebench.dev/role": "job"}));
    assert_eq!(template["successCondition"], r#"status.conditions.#(type=="Complete")#|#(status=="True")#"#);
    assert_eq!(template["failureCondition"], r#"status.conditions.#(type=="Failed")#|#(status=="True")#"#);
    assert_eq!(template["trialParameters"], json!([{"name": "lr", "reference": "lr"}]));
    let alone = search.lines().take_while(|line| !line.contains("experiment:")).collect::<Vec<_>>().join("\n");
    let alone = format!("{alone}\n    {}\n", job(""));
    let alone = compile_sound(&[("specs/search.yaml", &alone)]);
    let alone = created(&alone).remove(0).object;
    assert_eq!(template["trialSpec"]["spec"], alone["spec"]);
    assert_eq!(
        (&template["trialSpec"]["apiVersion"], &template["trialSpec"]["kind"]),
        (&json!("batch/v1"), &json!("Job"))
    );
    found["metadata"]["name"] = json!("x");
    assert_eq!(validate(&found), [""; 0]);
}

#[test]
fn the_labels_of_a_run_reach_the_pods_of_its_trials() {
    let compilation = compile_sound(&[("specs/search.yaml", &spec(SEARCH, &job("")))]);
    let emitted =
        objects(&compilation).into_iter().find(|emitted| emitted.path.ends_with("search/config.yaml")).unwrap();
    let runs: Value = serde_json::from_str(emitted.object["data"]["runs.json"].as_str().unwrap()).unwrap();
    let case = runs["cases"].as_object().unwrap().values().next().unwrap();
    assert_eq!(
        case["objects"],
        json!([{"kind": "Experiment", "nameAt": ["/metadata/name"],
            "labelsAt": ["/metadata/labels", "/spec/trialTemplate/trialSpec/spec/template/metadata/labels"]}])
    );
}

/// Katib reads one pod of each trial.
#[test]
fn each_kind_says_whose_output_is_read_and_when_a_trial_has_ended() {
    let role =
        format!("image: '{IMAGE}', command: [train, '${{trialParameters.lr}}'], resources: {{cpu: 1, memory: 1Gi}}");
    for (trial, container, labels, success) in [
        (
            format!(
                "jobSet: {{{role}, replicatedJobs: [{{name: a}}, {{name: b, replicas: 2}}], successPolicy: {{operator: All, targetReplicatedJobs: [b]}}}}"
            ),
            "main",
            json!({"kubebench.dev/role": "b", "jobset.sigs.k8s.io/job-index": "0", "batch.kubernetes.io/job-completion-index": "0"}),
            "Completed",
        ),
        (
            format!("tfJob: {{{role}, ps: {{}}, worker: {{replicas: 2}}}}"),
            "tensorflow",
            json!({"kubebench.dev/role": "worker", "training.kubeflow.org/replica-index": "0"}),
            "Succeeded",
        ),
        (
            format!("pytorchJob: {{{role}, master: {{}}, worker: {{replicas: 2}}}}"),
            "pytorch",
            json!({"kubebench.dev/role": "master"}),
            "Succeeded",
        ),
        (
            format!("xgboostJob: {{{role}, master: {{}}, worker: {{}}}}"),
            "xgboost",
            json!({"kubebench.dev/role": "master"}),
            "Succeeded",
        ),
        (
            format!("paddleJob: {{{role}, worker: {{replicas: 2}}}}"),
            "paddle",
            json!({"kubebench.dev/role": "worker", "training.kubeflow.org/replica-index": "0"}),
            "Succeeded",
        ),
        (
            format!("jaxJob: {{{role}, worker: {{replicas: 2}}}}"),
            "jax",
            json!({"kubebench.dev/role": "worker", "training.kubeflow.org/replica-index": "0"}),
            "Succeeded",
        ),
        (
            format!("trainJob: {{{role}, runtime: {{torch: {{}}}}, trainer: {{numNodes: 2}}}}"),
            "node",
            json!({"kubebench.dev/role": "node", "batch.kubernetes.io/job-completion-index": "0"}),
            "Complete",
        ),
        (
            format!("job: {{{role}, completionMode: Indexed, parallelism: 2}}"),
            "main",
            json!({"kubebench.dev/role": "job", "batch.kubernetes.io/job-completion-index": "0"}),
            "Complete",
        ),
    ] {
        let compilation = compile_sound(&[("specs/search.yaml", &spec(SEARCH, &trial))]);
        let mut found = experiment(&compilation);
        let template = &found["spec"]["trialTemplate"];
        assert_eq!(template["primaryContainerName"], container, "{trial}");
        assert_eq!(template["primaryPodLabels"], labels, "{trial}");
        assert!(template["successCondition"].as_str().unwrap().contains(&format!("\"{success}\"")), "{trial}");
        assert_eq!(template["trialParameters"], json!([{"name": "lr", "reference": "lr"}]), "{trial}");
        let mut inner = template["trialSpec"].clone();
        inner["metadata"] = json!({"name": "x"});
        if let Some(reference) = inner["spec"].get_mut("runtimeRef") {
            reference["name"] = json!("x");
        }
        assert_eq!(validate(&inner), [""; 0], "{trial}");
        found["metadata"]["name"] = json!("x");
        assert_eq!(validate(&found), [""; 0], "{trial}");
    }
}

/// What a plan says at most: as many trials as run at once, for as long as the search may take.
#[test]
fn the_estimate_counts_the_trials_that_run_at_once() {
    for (search, gpus) in [(SEARCH.to_owned(), 6.0), (format!("{SEARCH}\n      parallelTrialCount: 2"), 4.0)] {
        let compilation = compile_sound(&[("specs/search.yaml", &spec(&search, &job("")))]);
        let benchmark = &compilation.benchmarks[0].benchmark;
        let runs = f64::from(benchmark.repeats + benchmark.warmups);
        let estimate = estimate::estimate(benchmark);
        assert!((estimate.gpu_hours - runs * 2.0 * gpus).abs() < 1e-9, "{}", estimate.gpu_hours);
    }
}

#[test]
fn what_a_search_needs_of_the_cluster_is_there_only_with_one() {
    let of = |compilation: &Compilation, name: &str| {
        let all = objects(compilation).into_iter();
        all.filter(|emitted| emitted.path.ends_with(name)).map(|emitted| emitted.object.to_string()).collect::<String>()
    };
    let search = compile_sound(&[("specs/search.yaml", &spec(SEARCH, &job("")))]);
    let plain = spec(SEARCH, &job("")).replace("trials: {metric: accuracy}", "duration: run");
    let plain = plain.lines().take_while(|line| !line.contains("experiment:")).collect::<Vec<_>>().join("\n");
    let alone = compile_sound(&[("specs/a.yaml", &format!("{plain}\n    {}\n", job("")))]);
    for (name, word) in [("role-runner.yaml", "trials"), ("network-policy-workloads.yaml", "db-manager")] {
        assert!(of(&search, name).contains(word), "{name}");
        assert!(!of(&alone, name).contains(word), "{name}");
    }
}

#[test]
fn faults_are_reported_where_they_are() {
    let parameter = |text: &str| {
        SEARCH.replace("{name: lr, parameterType: double, feasibleSpace: {min: '0.01', max: '0.05'}}", text)
    };
    let trial = job("");
    for (search, trial, expected) in [
        (
            SEARCH.to_owned(),
            trial.replace("trialParameters.lr", "trialParameters.rate"),
            ("KB0357 specs/search.yaml", str! {"the search has no parameter `rate`"}),
        ),
        (
            SEARCH.to_owned(),
            job(", patch: {spec: {}}"),
            ("KB0317 specs/search.yaml", str! {"a trial cannot have a `patch` over its whole object"}),
        ),
        (
            SEARCH.to_owned(),
            format!(
                "trainJob: {{image: '{IMAGE}', command: [a, '${{trialParameters.lr}}'], runtimeRef: {{name: torch}}}}"
            ),
            ("KB0317 specs/search.yaml", str! {"a trial cannot take its pods from a runtime of the cluster"}),
        ),
        (SEARCH.to_owned(), "rayJob: {}".to_owned(), ("KB0201", str! {"`rayJob` is not a field of `trial`"})),
        (
            format!("{SEARCH}\n      parallelTrialCount: 7"),
            trial.clone(),
            ("KB0206 specs/search.yaml", str! {"`parallelTrialCount` 7 is more than `maxTrialCount` 6"}),
        ),
        (
            format!("{SEARCH}\n      maxFailedTrialCount: 7"),
            trial.clone(),
            ("KB0206 specs/search.yaml", str! {"`maxFailedTrialCount` 7 is more than `maxTrialCount` 6"}),
        ),
        (
            SEARCH.replace("      maxTrialCount: 6", ""),
            trial.clone(),
            ("KB0202", str! {"`experiment` needs the field `maxTrialCount`"}),
        ),
        (
            SEARCH.replace("random", "grid"),
            trial.clone(),
            (
                "KB0202 specs/search.yaml",
                str! {"`grid` tries all values of `lr`, but a range without `step` has infinitely many"},
            ),
        ),
        (
            SEARCH.replace("random", "darts"),
            trial.clone(),
            ("KB0204 specs/search.yaml", str! {"`darts` searches for a network architecture, not for parameters"}),
        ),
        (
            SEARCH.replace("random", "hyperband"),
            trial.clone(),
            ("KB0202 specs/search.yaml", str! {"`hyperband` needs the settings r_l and resource_name"}),
        ),
        (
            SEARCH.replace("'0.05'", "'0.01'"),
            trial.clone(),
            (
                "KB0206 specs/search.yaml",
                str! {"the range of `lr` has no values: its `min` 0.01 is not less than its `max` 0.01"},
            ),
        ),
        (
            SEARCH.replace("'0.05'", "x"),
            trial.clone(),
            ("KB0205 specs/search.yaml", str! {"`x` is not a number, but `lr` is double"}),
        ),
        (
            SEARCH.replace("double", "int"),
            trial.clone(),
            ("KB0205 specs/search.yaml", str! {"`0.01` is not a whole number, but `lr` is int"}),
        ),
        (
            SEARCH.replace(", max: '0.05'", ""),
            trial.clone(),
            ("KB0202 specs/search.yaml", str! {"the range of `lr` has no max"}),
        ),
        (
            SEARCH.replace("max: '0.05'", "max: 0.05, step: 0"),
            trial.clone(),
            ("KB0206 specs/search.yaml", str! {"the `step` of `lr` is not above 0"}),
        ),
        (
            SEARCH.replace("double", "categorical"),
            trial.clone(),
            ("KB0202 specs/search.yaml", str! {"`lr` is categorical and has no values"}),
        ),
        (
            parameter("{name: lr, parameterType: discrete, feasibleSpace: {list: [1, a]}}"),
            trial.clone(),
            ("KB0205 specs/search.yaml", str! {"`a` is not a number, but `lr` is discrete"}),
        ),
        (
            parameter("{name: lr, parameterType: int, feasibleSpace: {min: 1, max: 2, list: [1]}}"),
            trial.clone(),
            ("KB0317 specs/search.yaml", str! {"`list` belongs to `discrete` and `categorical`, but `lr` is int"}),
        ),
        (
            parameter(
                "{name: lr, parameterType: int, feasibleSpace: {min: 1, max: 2}}, {name: lr, parameterType: int, feasibleSpace: {min: 1, max: 2}}",
            ),
            trial.clone(),
            ("KB0317 specs/search.yaml", str! {"two parameters are called `lr`"}),
        ),
        (
            SEARCH.replace("accuracy", "accuracies"),
            trial.clone(),
            ("KB0358 specs/search.yaml", str! {"the Experiment does not collect `accuracy`"}),
        ),
    ] {
        let found = located_errors(&compile(&[("specs/search.yaml", &spec(&search, &trial))]));
        assert_error(&found, expected);
    }
}

#[test]
fn a_parameter_that_no_trial_uses_is_reported() {
    let trial = job("").replace("${trialParameters.lr}", "'0.1'").replace("''0.1''", "'0.1'");
    let compilation = compile(&[("specs/search.yaml", &spec(SEARCH, &trial))]);
    assert_eq!(errors(&compilation), [""; 0]);
    assert!(codes(&compilation).contains(&"KB0406"), "{:?}", codes(&compilation));
}

/// What Katib's own algorithms for networks need has no simple form.
#[test]
fn an_experiment_as_it_is_needs_no_conditions_and_its_pods_have_the_labels() {
    let spec = format!(
        "apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {{name: nas}}
spec:
  timeout: 2h
  workload:
    manifest:
      object:
        apiVersion: kubeflow.org/v1beta1
        kind: Experiment
        metadata: {{name: darts}}
        spec:
          objective: {{type: maximize, objectiveMetricName: Best-Genotype}}
          algorithm: {{algorithmName: darts}}
          nasConfig: {{graphConfig: {{numLayers: 1}}}}
          trialTemplate:
            primaryContainerName: training-container
            trialSpec:
              apiVersion: batch/v1
              kind: Job
              spec:
                template:
                  spec:
                    restartPolicy: Never
                    containers: [{{name: training-container, image: '{IMAGE}', command: [train], resources: {{limits: {{cpu: 1, memory: 1Gi}}}}}}]
  metrics: [{{name: best, unit: \"1\", better: higher, primary: true, from: {{trials: {{metric: Best-Genotype}}}}}}]
"
    );
    let compilation = compile_sound(&[("specs/nas.yaml", &spec)]);
    let found = experiment(&compilation);
    assert_eq!(found["spec"]["nasConfig"], json!({"graphConfig": {"numLayers": 1}}));
    let pod = &found["spec"]["trialTemplate"]["trialSpec"]["spec"]["template"]["metadata"]["labels"];
    assert_eq!((&pod["kubebench.dev/role"], &pod["kubebench.dev/benchmark"]), (&json!("job"), &json!("nas")));
}
