//! A notebook as a benchmark: what papermill is given, and what travels.

use serde_json::{Value, json};

use crate::support::judges::validate;
use crate::support::project::{compile, compile_sound, created, errors, objects};

const NOTEBOOK: &str = "{\"cells\": [], \"metadata\": {}, \"nbformat\": 4, \"nbformat_minor\": 5}\n";

fn spec(fields: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {{name: cells}}
spec:
  timeout: 1h
  matrix: {{axes: {{size: [1, 2]}}}}
  results: {{claim: {{accessModes: [ReadWriteMany]}}}}
  workload:
    notebook:
      image: registry.example/jupyter@sha256:d7ab393d3a3e0a75d6a914d3cbe61866d3a1ca1a19e38311835094b3e11a58ef
      file: notebooks/x.ipynb
      resources: {{cpu: 1, memory: 1Gi}}
{fields}
  metrics: [{{name: seconds, unit: s, better: lower, primary: true, from: {{duration: run}}}}]
"
    )
}

fn files(spec: &str) -> [(&str, &str); 2] {
    [("specs/cells.yaml", spec), ("notebooks/x.ipynb", NOTEBOOK)]
}

#[test]
fn papermill_gets_the_values_of_the_case_with_their_types() {
    let fields = "      kernel: $(HOME)
      args: [--execution-timeout, '600', $(USER)]
      env: {A: $(HOME)}
      parameters: {size: '${{ matrix.size }}', name: \"it's $(HOME) $$x\", flag: true, list: [1, a], none: '-'}";
    let compilation = compile_sound(&files(&spec(fields)));
    let jobs: Vec<Value> = created(&compilation)
        .into_iter()
        .map(|emitted| emitted.object)
        .filter(|object| object["kind"] == "Job")
        .collect();
    assert_eq!(jobs.len(), 2);
    for (job, size) in jobs.iter().zip([1, 2]) {
        let container = &job["spec"]["template"]["spec"]["containers"][0];
        let words: Vec<&str> =
            container["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        let [begin @ .., kernel_flag, kernel, yaml_flag, values, timeout, seconds, user, from, to] = words.as_slice()
        else {
            panic!("{words:?}")
        };
        assert_eq!(*begin, ["papermill", "--log-output", "--no-progress-bar"]);
        assert_eq!((*kernel_flag, *kernel), ("--kernel", "$$(HOME)"), "Kubernetes would expand it");
        assert_eq!((*timeout, *seconds, *user), ("--execution-timeout", "600", "$$(USER)"));
        assert_eq!(*yaml_flag, "--parameters_yaml");
        let values: Value = serde_json::from_str(&values.replace("$$(", "$(").replace("$$$x", "$$x")).unwrap();
        assert_eq!(
            values,
            json!({"size": size, "name": "it's $(HOME) $$x", "flag": true, "list": [1, "a"], "none": "-"})
        );
        assert_eq!((*from, *to), ("/kubebench/files/x.ipynb", "$(KUBEBENCH_EXP_OUTPUT_PATH)/x.ipynb"));
        let variables = container["env"].as_array().unwrap();
        assert!(variables.contains(&json!({"name": "A", "value": "$$(HOME)"})), "{variables:?}");
        let mounts = container["volumeMounts"].to_string();
        assert!(mounts.contains("/kubebench/experiments") && mounts.contains("/kubebench/files"), "{mounts}");
        let mut named = job.clone();
        named["metadata"]["name"] = json!("cells");
        assert_eq!(validate(&named), Vec::<String>::new());
    }
    let carried =
        objects(&compilation).into_iter().find(|emitted| emitted.path.ends_with("/files.yaml")).unwrap().object;
    assert_eq!(carried["data"], json!({"x.ipynb": NOTEBOOK}));
}

#[test]
fn a_changed_notebook_runs_again() {
    let digest = |text: &str| {
        let spec = spec("");
        let compilation = compile_sound(&[("specs/cells.yaml", &spec), ("notebooks/x.ipynb", text)]);
        compilation.benchmarks[0].identity.digest.to_string()
    };
    assert_eq!(digest(NOTEBOOK), digest(NOTEBOOK));
    assert_ne!(digest(NOTEBOOK), digest(&NOTEBOOK.replace('5', "4")));
}

#[test]
fn faults_of_a_notebook_are_reported() {
    let command = spec("      command: [python]");
    let told = errors(&compile(&files(&command)));
    assert!(told[0].starts_with("KB0201 specs/cells.yaml: `command` is not a field of"), "{told:?}");
    let absent = spec("");
    assert_eq!(
        errors(&compile(&[("specs/cells.yaml", &absent)])),
        ["KB0340 specs/cells.yaml: there is no file `notebooks/x.ipynb`"]
    );
    let without = spec("").replace("      file: notebooks/x.ipynb\n", "");
    assert!(errors(&compile(&files(&without)))[0].starts_with("KB0202"));
}
