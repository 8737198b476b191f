//! The defects of the archived kubeflow/kubebench that concern compiling, one test each, by its number in the list that
//! was made from reading its code.
//!
//! 1 to 3, 5, 7 and 11 to 13 concern running, results and installing, which come later.

use std::collections::BTreeSet;

use kubebench_compiler::compile::Compilation;
use serde_json::Value;

use crate::support::project::{
    Emitted, codes, compile, compile_sound, mixed_created, mixed_objects, objects, pod_specs, rendered, walk,
};

#[test]
fn defect_04_a_failed_job_is_not_a_success() {
    for template in of_kind("WorkflowTemplate") {
        walk(&template.object, "", &mut |pointer, _| {
            let key = pointer.rsplit('/').next().unwrap();
            assert!(!matches!(key, "successCondition" | "failureCondition" | "resource"), "{pointer}");
        });
        let templates = template.object["spec"]["templates"].as_array().unwrap();
        for main in templates.iter().filter(|main| main.get("steps").is_some() && main["name"] != "finish") {
            let name = main["name"].as_str().unwrap();
            let groups: Vec<&Vec<Value>> =
                main["steps"].as_array().unwrap().iter().map(|group| group.as_array().unwrap()).collect();
            let forgiven: Vec<&Value> =
                groups.iter().copied().flatten().filter(|step| step.get("continueOn").is_some()).collect();
            let last = &groups.last().unwrap()[0];
            // Of a suite, the runs of each benchmark are a template of their own, and so is each benchmark.
            let (expected, loops) = match name {
                "suite" => ("suite-summary", 1),
                "benchmark" => ("summary", 0),
                _ if name.starts_with("runs-") => ("run", 1),
                _ => ("summary", 1),
            };
            assert_eq!(last["name"], expected, "{name}: it fails the Workflow when a run failed");
            assert!(last.get("continueOn").is_none() || expected == "run", "and nothing may forgive it");
            assert_eq!(forgiven.len(), loops, "{name}: only runs are forgiven, and the benchmarks of a suite");
            assert!(forgiven.iter().all(|step| step.get("withParam").is_some()), "{name}");
        }
    }
}

#[test]
fn defect_06_there_is_always_a_timeout() {
    let spec = |timeout: &str| spec(&format!("{timeout}  workload: {{job: {{image: registry.example/a:1}}}}\n"));
    let compilation = compile_sound(&[("specs/a.yaml", &spec(""))]);
    assert_eq!(job(&compilation)["spec"]["activeDeadlineSeconds"], 24 * 3600);
    for timeout in ["''", "0s", "0", "-1h", "null", "soon", "15"] {
        let compilation = compile(&[("specs/a.yaml", &spec(&format!("  timeout: {timeout}\n")))]);
        assert!(compilation.has_errors(), "timeout: {timeout}");
    }
}

#[test]
fn defect_08_a_step_outlives_its_run() {
    for workflow in of_kind("Workflow") {
        let parameters = workflow.object["spec"]["arguments"]["parameters"].as_array().unwrap();
        let value = |name: &str| {
            parameters.iter().find(|parameter| parameter["name"] == name).unwrap()["value"].as_str().unwrap()
        };
        let deadline: u64 = value("run-deadline").parse().unwrap();
        let path = |folder: &str| format!("{}/{folder}/config.yaml", workflow.path.split('/').next().unwrap());
        let of_suite = parameters.iter().find(|parameter| parameter["name"] == "benchmarks");
        let configs: Vec<String> = match of_suite {
            Some(items) => {
                let items: Vec<Value> = serde_json::from_str(items["value"].as_str().unwrap()).unwrap();
                items.iter().map(|item| path(item["benchmark"].as_str().unwrap())).collect()
            }
            None => vec![path(value("benchmark"))],
        };
        for config in configs {
            let config = mixed_objects().into_iter().find(|emitted| emitted.path == config).unwrap();
            let list: Value = serde_json::from_str(config.object["data"]["runs.json"].as_str().unwrap()).unwrap();
            let queue = list["queueTimeoutSeconds"].as_u64().unwrap();
            for case in list["cases"].as_object().unwrap().values() {
                assert!(deadline > queue + case["timeoutSeconds"].as_u64().unwrap(), "{}", workflow.path);
            }
        }
    }
}

#[test]
fn defect_09_results_are_on_a_volume_that_stays() {
    for template in of_kind("WorkflowTemplate") {
        let volumes = template.object["spec"]["volumes"].as_array().unwrap();
        let experiments = volumes.iter().find(|volume| volume["name"] == "experiments").unwrap();
        assert!(experiments.get("persistentVolumeClaim").is_some() && experiments.get("emptyDir").is_none());
        assert!(template.object["spec"].get("volumeClaimTemplates").is_none(), "Argo deletes those");
    }
    for workflow in of_kind("Workflow").into_iter().chain(of_kind("CronWorkflow")) {
        let claim = workflow.path.replace("workflow.yaml", "results.yaml");
        assert!(mixed_objects().iter().any(|emitted| emitted.path == claim), "{}", workflow.path);
    }
}

#[test]
fn defect_10_every_mount_has_its_volume() {
    let mount = |line: &str| {
        let spec = spec(&format!(
            "{line}  workload: {{job: {{image: registry.example/a:1, resources: {{nvidia.com/gpu: 1}}}}}}\n"
        ));
        job(&compile_sound(&[("specs/a.yaml", &spec)]))["spec"]["template"]["spec"].to_string()
    };
    assert!(!mount("  results: {mountInJob: false}\n").contains("experiments\",\"name"), "no mount unless asked for");
    assert!(mount("  results: {mountInJob: true}\n").contains("kubebench-results"));
    let mut mounts = 0;
    for emitted in mixed_created() {
        for (pointer, pod) in pod_specs(&emitted.object) {
            let names = |list: &Value| -> BTreeSet<String> {
                list.as_array().into_iter().flatten().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
            };
            let volumes = names(&pod["volumes"]);
            let mounted: BTreeSet<String> = pod["containers"]
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|container| names(&container["volumeMounts"]))
                .collect();
            assert_eq!(mounted, volumes, "{} {pointer}", emitted.path);
            mounts += mounted.len();
        }
    }
    assert!(mounts > 10);
}

/// The ancestor read several fields and did nothing with them, and emitted steps with an empty image for those missing.
#[test]
fn defect_14_what_is_accepted_has_an_effect() {
    let base = "  workload: {job: {image: registry.example/a:1}}\n";
    let plain = compile_sound(&[("specs/a.yaml", &spec(base))]);
    let tree = |compilation: &Compilation| -> Vec<(String, String)> {
        compilation.tree.iter().map(|(path, file)| (path.to_owned(), file.body().to_owned())).collect()
    };
    for line in [
        "prepare: {image: registry.example/p:1}",
        "postprocess: {image: registry.example/p:1}",
        "run: 2",
        "repeats: 2",
        "warmups: 1",
        "parallelism: 2",
        "timeout: 1h",
        "queueTimeout: 1h",
        "description: x",
        "schedule: {cron: 0 3 * * 1}",
        "checks: [{restarts: 0}]",
        "inputs: {seed: 1}",
        "results: {mountInJob: true}",
        "results: {claim: {size: 1Gi}}",
        "results: {claim: {storageClass: fast}}",
        "results: {claim: {accessModes: [ReadWriteMany]}}",
        "metrics: [{name: a, from: {duration: run}}]",
        "matrix: {axes: {a: [1, 2]}}",
        "parameters: {a: 1}",
    ] {
        let compilation = compile_sound(&[("specs/a.yaml", &spec(&format!("  {line}\n{base}")))]);
        assert_ne!(tree(&compilation), tree(&plain), "`{line}` has no effect");
    }
    for emitted in mixed_objects().into_iter().chain(mixed_created()) {
        walk(&emitted.object, "", &mut |pointer, value| {
            assert!(
                !pointer.ends_with("/image") || value.as_str().is_some_and(|image| !image.is_empty()),
                "{}",
                emitted.path
            );
        });
    }
    let namespaces: BTreeSet<String> = mixed_objects()
        .iter()
        .map(|emitted| emitted.object["metadata"]["namespace"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(namespaces.into_iter().collect::<Vec<_>>(), ["bench", "ml-benchmarks"]);
}

#[test]
fn defect_15_what_makes_no_sense_is_said() {
    for (body, code) in [
        ("  workload: {}\n", "KB0207"),
        ("  workload: {job: {}}\n", "KB0202"),
        ("  workload: {job: {image: a:1}, tfJob: {image: a:1}}\n", "KB0207"),
        ("  workload: {pytorchJob: {image: a:1}}\n", "KB0317"),
        ("  targets: [nowhere]\n  workload: {job: {image: a:1}}\n", "KB0307"),
        (
            "  metrics: [{name: a, from: {duration: run}}, {name: a, from: {duration: queue}}]\n  workload: {job: {image: a:1}}\n",
            "KB0312",
        ),
        ("  matrix: {axes: {a: [1, 2]}, exclude: [{a: 3}]}\n  workload: {job: {image: a:1}}\n", "KB0306"),
        ("  workload: {job: {image: a:1, args: [\"${{ matrix.b }}\"]}}\n", "KB0301"),
    ] {
        let compilation = compile(&[("specs/a.yaml", &spec(body))]);
        assert!(compilation.has_errors() && codes(&compilation).contains(&code), "{body}: {:?}", codes(&compilation));
    }
    let suite = "apiVersion: kubebench.dev/v1\nkind: Suite\nmetadata: {name: s}\nspec: {benchmarks: [gone]}\n";
    assert!(codes(&compile(&[("specs/s.yaml", suite)])).contains(&"KB0321"));
}

#[test]
fn defect_16_every_label_fits() {
    let name = "a".repeat(31);
    let axis = "x".repeat(60);
    let spec = format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: {name}}}\nspec:\n  repeats: 3\n  matrix: {{axes: {{{axis}: [{axis}, {axis}b]}}}}\n  workload: {{job: {{image: registry.example/a:1}}}}\n"
    );
    let compilation = compile_sound(&[("specs/a.yaml", &spec)]);
    for emitted in objects(&compilation).into_iter().chain(rendered(&compilation)) {
        walk(&emitted.object, "", &mut |pointer, value| {
            if pointer.ends_with("/labels") {
                for value in value.as_object().unwrap().values() {
                    let value = value.as_str().unwrap();
                    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
                    assert!(value.len() <= 63 && edge(value.chars().next()) && edge(value.chars().last()), "{value}");
                }
            }
        });
    }
}

#[test]
fn defect_17_quotes_and_commas_are_text() {
    let words = [
        "a,b",
        "\"quoted\"",
        "it's",
        "{\"json\": [1]}",
        "back\\slash",
        "new\nline",
        "a: b # c",
        "",
        " ",
        "- x",
        "%",
        "\u{1F680}",
    ];
    let list: Vec<String> = words.iter().map(|word| Value::from(*word).to_string()).collect();
    let spec = spec(&format!("  workload: {{job: {{image: registry.example/a:1, args: [{}]}}}}\n", list.join(", ")));
    let compilation = compile_sound(&[("specs/a.yaml", &spec)]);
    assert_eq!(job(&compilation)["spec"]["template"]["spec"]["containers"][0]["args"], Value::from(words.to_vec()));
}

#[test]
fn defect_18_manifests_are_no_workflow_parameters() {
    for workflow in of_kind("Workflow").into_iter().chain(of_kind("CronWorkflow")) {
        let text = workflow.object.to_string();
        assert!(text.len() < 8 * 1024, "{}: {} bytes", workflow.path, text.len());
        assert!(!text.contains("apiVersion\\\""), "{} carries a manifest", workflow.path);
    }
    let config = of_kind("ConfigMap").into_iter().filter(|map| map.path.ends_with("/config.yaml"));
    for map in config {
        let cases = map.object["data"].as_object().unwrap().keys().filter(|key| key.ends_with(".yaml")).count();
        assert!(cases > 0, "{}", map.path);
    }
    // What a cluster would refuse is found here.
    let spec = spec("  workload: {job: {image: registry.example/a:1, pod: {tolerations: 3}}}\n");
    assert!(codes(&compile(&[("specs/a.yaml", &spec)])).contains(&"KB0316"));
}

#[test]
fn defect_19_fields_are_kept_or_refused_never_dropped() {
    let pod = "{priority: 1, topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}], dnsConfig: {options: [{name: ndots, value: \"1\"}]}, overhead: {cpu: 1}}";
    let patch = "{metadata: {annotations: {example.com/a: b}}, spec: {podReplacementPolicy: Failed}}";
    let text = spec(&format!("  workload: {{job: {{image: registry.example/a:1, pod: {pod}, patch: {patch}}}}}\n"));
    let job = job(&compile_sound(&[("specs/a.yaml", &text)]));
    let kept = &job["spec"]["template"]["spec"];
    assert_eq!(kept["topologySpreadConstraints"][0]["whenUnsatisfiable"], "DoNotSchedule");
    assert_eq!(kept["dnsConfig"]["options"][0]["value"], "1");
    assert_eq!(kept["priority"], 1);
    assert_eq!(job["metadata"]["annotations"]["example.com/a"], "b");
    assert_eq!(job["spec"]["podReplacementPolicy"], "Failed");
    let unknown = spec("  workload: {job: {image: registry.example/a:1, pod: {tolerationz: []}}}\n");
    assert!(codes(&compile(&[("specs/a.yaml", &unknown)])).contains(&"KB0316"));
}

#[test]
fn defect_20_accounts_and_fields_are_spelled_right() {
    for target in ["gpu-eu", "old"] {
        let of_target: Vec<Emitted> =
            mixed_objects().into_iter().filter(|emitted| emitted.path.starts_with(target)).collect();
        let accounts: BTreeSet<&str> = of_target
            .iter()
            .filter(|emitted| emitted.object["kind"] == "ServiceAccount")
            .map(|emitted| emitted.object["metadata"]["name"].as_str().unwrap())
            .collect();
        let mut used = BTreeSet::new();
        for emitted in of_target.iter().filter(|emitted| emitted.object["kind"] == "WorkflowTemplate") {
            walk(&emitted.object, "", &mut |pointer, value| {
                if pointer.to_lowercase().ends_with("accountname") {
                    assert!(pointer.ends_with("/serviceAccountName"), "{pointer}");
                    used.insert(value.as_str().unwrap());
                }
            });
        }
        assert_eq!(used, accounts, "every account is used, and none is missing");
    }
    for line in ["  wrokload: {}\n", "  workload: {job: {imagee: a:1}}\n", "  workload: {pytorchjob: {}}\n"] {
        let compilation = compile(&[("specs/a.yaml", &spec(line))]);
        let fault = compilation.diagnostics.iter().find(|fault| fault.code.id == "KB0201");
        let help = fault.and_then(|fault| fault.help.clone()).unwrap_or_default();
        assert!(help.contains("did you mean"), "{line}: {help}");
    }
}

#[test]
fn defect_21_nobody_may_more_than_needed() {
    for role in of_kind("Role") {
        let rules = role.object["rules"].to_string();
        assert!(
            !rules.contains("\"*\"") && !rules.contains("secrets") && !rules.contains("exec"),
            "{}: {rules}",
            role.path
        );
    }
    let kinds: BTreeSet<String> =
        mixed_objects().iter().map(|emitted| emitted.object["kind"].as_str().unwrap().to_owned()).collect();
    assert!(!kinds.iter().any(|kind| kind.starts_with("Cluster")), "{kinds:?}");
    for emitted in mixed_objects().into_iter().chain(mixed_created()) {
        walk(&emitted.object, "", &mut |pointer, value| {
            if let (true, Some(image)) = (pointer.ends_with("/image"), value.as_str()) {
                assert!(image.contains("@sha256:"), "{} {pointer}: {image}", emitted.path);
            }
        });
    }
    for (image, code) in [("registry.example/a", "KB0401"), ("registry.example/a:latest", "KB0402")] {
        let spec = spec(&format!("  workload: {{job: {{image: {image}}}}}\n"));
        assert!(codes(&compile(&[("specs/a.yaml", &spec)])).contains(&code), "{image}");
    }
}

/// The ancestor's output held the time and a random number, and what it ran was whatever `master` held that day.
#[test]
fn defect_of_reproducibility_nothing_is_looked_up_or_invented() {
    let specs = [("specs/a.yaml", spec("  workload: {job: {image: registry.example/a:1}}\n"))];
    let specs: Vec<(&str, &str)> = specs.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let tree =
        || -> Vec<String> { compile_sound(&specs).tree.iter().map(|(_, file)| file.body().to_owned()).collect() };
    let first = tree();
    std::thread::sleep(std::time::Duration::from_millis(1100));
    assert_eq!(first, tree(), "a second later");
}

fn spec(body: &str) -> String {
    format!("apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: a}}\nspec:\n{body}")
}

/// The job of the only case.
fn job(compilation: &Compilation) -> Value {
    rendered(compilation).remove(0).object
}

fn of_kind(kind: &str) -> Vec<Emitted> {
    let found: Vec<Emitted> = mixed_objects().into_iter().filter(|emitted| emitted.object["kind"] == kind).collect();
    assert!(!found.is_empty(), "{kind}");
    found
}
