//! What GitOps controllers and Argo do to objects that are not careful: one test a hazard, over a project with every kind.

mod pods;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::project::{
    Emitted, Folder, assert_yes, compile_sound, mixed, mixed_created, mixed_files, mixed_objects, objects, rendered,
    walk,
};

/// The fields that a Workflow may have besides `workflowTemplateRef` where the controller says `templateReferencing: Strict`.
const ALLOWED_UNDER_STRICT: &[&str] = &[
    "activeDeadlineSeconds",
    "archiveLogs",
    "arguments",
    "artifactGC",
    "entrypoint",
    "metrics",
    "podGC",
    "priority",
    "shutdown",
    "suspend",
    "ttlStrategy",
    "volumeClaimGC",
    "workflowMetadata",
    "workflowTemplateRef",
];

/// Built-in kinds and the apiVersion that git holds them in.
const APPLIED: &[(&str, &str)] = &[
    ("argoproj.io/v1alpha1", "CronWorkflow"),
    ("argoproj.io/v1alpha1", "Workflow"),
    ("argoproj.io/v1alpha1", "WorkflowTemplate"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("v1", "ConfigMap"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "ServiceAccount"),
];

#[test]
fn git_holds_only_what_a_controller_may_apply_again() {
    let kinds: BTreeSet<(String, String)> =
        of_git().iter().map(|emitted| (text(emitted, "/apiVersion"), text(emitted, "/kind"))).collect();
    let expected: BTreeSet<(String, String)> =
        APPLIED.iter().map(|(version, kind)| ((*version).to_owned(), (*kind).to_owned())).collect();
    assert_eq!(kinds, expected, "a job of Kubeflow or a Namespace in git would be owned by two");
}

#[test]
fn nothing_has_a_time_to_live() {
    for emitted in everything() {
        no_key(&emitted, &["ttlStrategy", "timeToLiveSeconds"]);
        // That of a RayJob says when its cluster is deleted, which Kueue demands; the job itself stays.
        if text(&emitted, "/kind") != "RayJob" {
            no_key(&emitted, &["ttlSecondsAfterFinished"]);
        }
    }
}

#[test]
fn nothing_has_a_generated_name() {
    for emitted in everything() {
        no_key(&emitted, &["generateName"]);
    }
    for emitted in of_git() {
        assert!(!text(&emitted, "/metadata/name").is_empty(), "{}", emitted.path);
    }
}

#[test]
fn names_and_namespaces_are_unique_in_a_cluster() {
    let mut seen = BTreeMap::new();
    for emitted in of_git() {
        let target = emitted.path.split('/').next().unwrap().to_owned();
        let key =
            (target, text(&emitted, "/kind"), text(&emitted, "/metadata/namespace"), text(&emitted, "/metadata/name"));
        assert!(!key.2.is_empty(), "{} names no namespace", emitted.path);
        if let Some(other) = seen.insert(key, emitted.path.clone()) {
            panic!("{} and {other} are one object", emitted.path);
        }
    }
}

#[test]
fn nothing_is_a_hook() {
    for emitted in of_git() {
        for name in annotations(&emitted).keys() {
            assert!(!name.contains("hook"), "{} has {name}", emitted.path);
        }
    }
}

/// Argo CD and Flux would apply a Workflow before its template, and Argo ends such a Workflow forever. Argo CD goes by
/// the wave, the second Kustomization of `deploy/flux` by the label.
#[test]
fn what_benchmarks_share_comes_before_them() {
    let (mut shared, mut own) = (0, 0);
    for emitted in of_git() {
        let wave = annotations(&emitted).get("argocd.argoproj.io/sync-wave").cloned();
        let benchmark = emitted.object["metadata"]["labels"].get("kubebench.dev/benchmark").and_then(Value::as_str);
        let folder = emitted.path.split('/').nth(1).unwrap();
        if folder == "pipeline" {
            assert_eq!((wave, benchmark), (Some(json!("-1")), None), "{}", emitted.path);
            shared += 1;
        } else {
            assert_eq!((wave, benchmark), (None, Some(folder)), "{}", emitted.path);
            own += 1;
        }
    }
    assert!(shared > 10 && own > 40, "{shared} {own}");
}

/// An API server drops an empty list where it has no meaning of its own; applying it again is a change each time.
#[test]
fn no_list_is_empty() {
    for Emitted { path, object } in of_git() {
        walk(&object, "", &mut |pointer, value| {
            assert!(value.as_array().is_none_or(|items| !items.is_empty()), "{path}: {pointer}");
        });
    }
}

#[test]
fn an_edited_spec_makes_a_new_workflow_and_config() {
    let files = mixed_files();
    let edited: Vec<(&str, String)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.replace("fio, --output-format=json", "fio, --output-format=json+")))
        .collect();
    let edited = compile_sound(&edited.iter().map(|(path, text)| (*path, text.as_str())).collect::<Vec<_>>());
    let names = |emitted: Vec<Emitted>, file: &str| -> BTreeSet<String> {
        let of_fio = emitted.into_iter().filter(|emitted| emitted.path == format!("old/fio/{file}"));
        of_fio.map(|emitted| text(&emitted, "/metadata/name")).collect()
    };
    for (file, changes) in
        [("workflow.yaml", true), ("config.yaml", true), ("rules.yaml", false), ("results.yaml", false)]
    {
        let (before, after) = (names(of_git(), file), names(objects(&edited), file));
        assert_eq!(before.len(), 1);
        assert_eq!(before != after, changes, "{file}: {before:?} {after:?}");
    }
}

#[test]
fn nothing_asks_for_replace_or_force() {
    for emitted in of_git() {
        for (name, value) in annotations(&emitted) {
            let asks = value.as_str().unwrap_or_default();
            assert!(!asks.contains("Replace=") && !asks.contains("Force="), "{}: {name}: {asks}", emitted.path);
            assert_ne!(name, "kustomize.toolkit.fluxcd.io/force", "{}", emitted.path);
        }
    }
}

/// The annotation of a client-side apply holds at most 256 KiB.
#[test]
fn a_large_object_is_applied_on_the_server() {
    let spec = |cases: usize| {
        let values: Vec<String> = (0..cases).map(|case| format!("c{case}")).collect();
        format!(
            "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: large}}\nspec:\n  matrix: {{axes: {{a: [{}]}}}}\n  workload: {{job: {{image: registry.example/a:1, args: [\"${{{{ matrix.a }}}}\"], env: {{LONG: {}}}}}}}\n",
            values.join(", "),
            "x".repeat(1000)
        )
    };
    for (cases, expected) in [(10, false), (120, true)] {
        let compilation = compile_sound(&[("specs/a.yaml", &spec(cases))]);
        let config =
            objects(&compilation).into_iter().find(|emitted| emitted.path.ends_with("large/config.yaml")).unwrap();
        let large = config.object.to_string().len() > 200 * 1024;
        let options = annotations(&config).get("argocd.argoproj.io/sync-options").cloned().unwrap_or_default();
        assert_eq!((large, options == "ServerSideApply=true"), (expected, expected), "{cases} cases: {options}");
    }
}

#[test]
fn the_claim_is_never_pruned_and_keeps_its_name() {
    let claims: Vec<Emitted> = of_kind("PersistentVolumeClaim");
    assert!(claims.len() > 10);
    for claim in claims {
        let annotations = annotations(&claim);
        let says = |name: &str| annotations.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        assert_eq!(says("argocd.argoproj.io/sync-options"), "Prune=false,Delete=false", "{}", claim.path);
        assert_eq!(says("argocd.argoproj.io/compare-options"), "IgnoreExtraneous", "{}", claim.path);
        assert_eq!(says("kustomize.toolkit.fluxcd.io/prune"), "disabled", "{}", claim.path);
        assert_eq!(says("helm.sh/resource-policy"), "keep", "{}", claim.path);
        let benchmark = claim.path.split('/').nth(1).unwrap();
        assert_eq!(text(&claim, "/metadata/name"), format!("{benchmark}-results"));
    }
}

#[test]
fn the_claim_is_in_the_wave_of_its_consumer() {
    let wave = |emitted: &Emitted| annotations(emitted).get("argocd.argoproj.io/sync-wave").cloned();
    for workflow in thin_workflows() {
        let claim = parameter(&workflow, "claim");
        let path = workflow.path.replace("workflow.yaml", "results.yaml");
        let found = of_git().into_iter().find(|emitted| emitted.path == path).unwrap();
        assert_eq!(text(&found, "/metadata/name"), claim);
        assert_eq!(wave(&found), wave(&workflow), "{path}");
    }
}

/// Kubernetes refuses to shrink a claim or to give it another class or mode, and Flux with `force` deletes it instead.
#[test]
fn a_claim_is_never_changed_in_a_way_that_kubernetes_refuses() {
    let (path, text) = mixed_files().into_iter().find(|(path, _)| path == "specs/fio.yaml").unwrap();
    for (from, to, refused) in [
        ("size: 20Gi", "size: 10Gi", true),
        ("storageClass: fast", "storageClass: slow", true),
        ("[ReadWriteMany]", "[ReadWriteOnce]", true),
        ("size: 20Gi", "size: 21Gi", false),
        ("size: 20Gi", "size: 20480Mi", false),
    ] {
        let folder = Folder::with(mixed_files());
        assert_yes(&folder.run(&["compile"]));
        let before = folder.tree("generated");
        assert!(text.contains(from));
        folder.write(&path, text.replace(from, to));
        let output = folder.run(&["compile", "--output-format", "concise"]);
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said.contains("KB0418"), refused, "{to}: {said}");
        assert_eq!(output.status.code(), Some(i32::from(refused)), "{to}: {said}");
        assert!(!refused || folder.tree("generated") == before, "{to}: something was written");
    }
}

/// A controller that owns the queue suspends and starts the job; the label must not be on what git owns.
#[test]
fn the_queue_is_named_by_the_job() {
    for emitted in of_git() {
        assert!(!emitted.object["metadata"].to_string().contains("queue-name"), "{}", emitted.path);
    }
    for emitted in
        jobs().into_iter().filter(|emitted| !emitted.path.contains(".postprocess") && !emitted.path.contains("prepare"))
    {
        let kind = text(&emitted, "/kind");
        // Kueue holds the jobs of trials, and the pods of a Workflow.
        let at = match kind.as_str() {
            "Experiment" => "/spec/trialTemplate/trialSpec/metadata/labels",
            "WorkflowTemplate" => "/spec/podMetadata/labels",
            _ => "/metadata/labels",
        };
        let labels = emitted.object.pointer(at).unwrap_or(&Value::Null);
        let is_beside = matches!(kind.as_str(), "Service" | "TrainingRuntime" | "Workflow");
        let kueue = emitted.path.starts_with("gpu-eu/") && !is_beside;
        assert_eq!(labels.get("kueue.x-k8s.io/queue-name"), kueue.then_some(&json!("ml")), "{} {kind}", emitted.path);
        // The pods of a TrainJob are described in its runtime, and those of a Model are a server's that others share.
        let is_without = matches!(kind.as_str(), "Service" | "TrainJob" | "Model" | "Workflow" | "WorkflowTemplate");
        let volcano = emitted.path.starts_with("old/") && !is_without;
        let said = emitted.object.to_string();
        let queue = said.contains("\"queue\":\"ml\"") || said.contains("\"scheduling.volcano.sh/queue-name\":\"ml\"");
        assert_eq!(queue, volcano, "{} {kind}", emitted.path);
    }
}

#[test]
fn nothing_is_suspended() {
    for emitted in everything() {
        no_key(&emitted, &["suspend"]);
    }
}

#[test]
fn operators_never_change_what_git_owns() {
    for emitted in of_git() {
        let group = text(&emitted, "/apiVersion");
        assert!(!group.contains("kubeflow.org") && !group.starts_with("batch/"), "{}", emitted.path);
    }
}

#[test]
fn every_target_keeps_an_object_when_the_benchmarks_go() {
    for target in ["gpu-eu", "old"] {
        let kept = of_git().into_iter().filter(|emitted| emitted.path.starts_with(&format!("{target}/pipeline/")));
        assert!(kept.count() >= 10);
    }
}

#[test]
fn flux_substitutes_nothing() {
    for emitted in of_git() {
        let annotations = annotations(&emitted);
        assert_eq!(
            annotations.get("kustomize.toolkit.fluxcd.io/substitute"),
            Some(&json!("disabled")),
            "{}",
            emitted.path
        );
    }
}

#[test]
fn argo_cd_tracks_without_our_labels() {
    for emitted in everything() {
        walk(&emitted.object, "", &mut |pointer, _| {
            assert!(!pointer.ends_with("/app.kubernetes.io~1instance"), "{} {pointer}", emitted.path);
            assert!(!pointer.contains("argocd.argoproj.io~1tracking-id"), "{} {pointer}", emitted.path);
        });
    }
}

#[test]
fn quantities_are_as_the_server_stores_them() {
    let mut checked = 0;
    for emitted in everything() {
        walk(&emitted.object, "", &mut |pointer, value| {
            let kind = pointer.rsplit('/').nth(1).unwrap_or_default();
            if matches!(kind, "requests" | "limits") {
                let text = value.as_str().unwrap_or_else(|| panic!("{} {pointer}: {value} is no string", emitted.path));
                assert_eq!(
                    kubebench_syntax::unit::Quantity::parse(text).unwrap().canonical(),
                    text,
                    "{}",
                    emitted.path
                );
                checked += 1;
            }
        });
    }
    assert!(checked > 50);
}

#[test]
fn a_step_ends_although_its_config_is_gone() {
    for emitted in of_kind("WorkflowTemplate") {
        let shared = emitted.object["spec"]["volumes"].as_array().expect("volumes");
        let templates = emitted.object["spec"]["templates"].as_array().expect("templates");
        let pods: Vec<&Value> = templates.iter().filter(|template| template.get("container").is_some()).collect();
        let is_of_suites = emitted.path.ends_with("/suite-template.yaml");
        assert_eq!(pods.len(), if is_of_suites { 6 } else { 5 });
        for pod in pods {
            assert!(pod.get("activeDeadlineSeconds").is_some(), "{}", pod["name"]);
            let own = pod["volumes"].as_array().into_iter().flatten();
            let volumes: Vec<&Value> = own.chain(shared).collect();
            for mount in pod["container"]["volumeMounts"].as_array().expect("mounts") {
                let volume = volumes.iter().find(|volume| volume["name"] == mount["name"]).expect("the volume");
                let may_go = ["config", "rules", "suite"].iter().any(|name| mount["name"] == *name);
                assert!(!may_go || volume["configMap"]["optional"] == true, "{}: {}", pod["name"], mount["name"]);
            }
        }
    }
}

#[test]
fn pod_gc_is_explicit() {
    for template in of_kind("WorkflowTemplate") {
        assert!(template.object["spec"]["podGC"]["strategy"].is_string(), "{}", template.path);
    }
}

#[test]
fn workflows_are_thin() {
    for workflow in thin_workflows() {
        let fields: Vec<&String> = workflow_spec(&workflow).as_object().unwrap().keys().collect();
        for field in &fields {
            assert!(ALLOWED_UNDER_STRICT.contains(&field.as_str()), "{} has {field}", workflow.path);
        }
        assert_eq!(fields, ["arguments", "entrypoint", "workflowTemplateRef"], "{}", workflow.path);
    }
}

/// A Workflow gives what the template asks for and starts where the template begins.
#[test]
fn workflows_fit_their_template() {
    for workflow in thin_workflows() {
        let target = workflow.path.split('/').next().unwrap();
        let spec = workflow_spec(&workflow);
        let is_meant = |found: &Emitted| {
            found.path.starts_with(target) && found.object["metadata"]["name"] == spec["workflowTemplateRef"]["name"]
        };
        let template = of_kind("WorkflowTemplate").into_iter().find(is_meant).unwrap();
        let names = |list: &Value| -> BTreeSet<String> {
            list.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
        };
        let of_template = &template.object["spec"];
        assert_eq!(names(&spec["arguments"]["parameters"]), names(&of_template["arguments"]["parameters"]));
        let entrypoint = spec["entrypoint"].as_str().unwrap();
        assert!(names(&of_template["templates"]).contains(entrypoint), "{}: {entrypoint}", workflow.path);
        let is_suite = workflow.object["metadata"]["labels"].get("kubebench.dev/suite").is_some();
        assert_eq!(is_suite, template.path.ends_with("/suite-template.yaml"));
        let own = [("config", "config.yaml"), ("rules", "rules.yaml"), ("claim", "results.yaml")];
        let of_suite = [("suite-config", "suite.yaml"), ("claim", "results.yaml")];
        for (parameter, file) in if is_suite { &of_suite[..] } else { &own[..] } {
            let path = workflow.path.replace("workflow.yaml", file);
            let object = of_git().into_iter().find(|emitted| emitted.path == path).unwrap();
            assert_eq!(self::parameter(&workflow, parameter), text(&object, "/metadata/name"));
        }
    }
}

/// Argo expands `{{…}}` wherever it finds it, again and again; the compiler's own tags are the only ones it may find.
#[test]
fn no_text_of_a_user_reaches_argo() {
    let own = [
        "{{inputs.parameters.benchmark}}",
        "{{inputs.parameters.benchmark}}-rules",
        "{{inputs.parameters.config}}",
        "{{inputs.parameters.lanes}} == 1",
        "{{inputs.parameters.lanes}} == 2",
        "{{inputs.parameters.run}}",
        "{{inputs.parameters.runs}}",
        "{{item.benchmark}}",
        "{{item.config}}",
        "{{item.lanes}}",
        "{{item}}",
        "{{steps.prepare.outputs.parameters.runs}}",
        "{{workflow.creationTimestamp}}",
        "{{workflow.name}}",
        "{{workflow.uid}}",
    ];
    let mut tags = 0;
    for emitted in of_git().into_iter().filter(|emitted| text(emitted, "/apiVersion").starts_with("argoproj.io")) {
        let is_template = text(&emitted, "/kind") == "WorkflowTemplate";
        walk(&emitted.object, "", &mut |pointer, value| {
            let Some(text) = value.as_str() else { return };
            let is_own =
                own.contains(&text) || text.starts_with("{{workflow.parameters.") && text.matches("{{").count() == 1;
            assert!(!text.contains("{{") || is_template && is_own, "{} {pointer}: {text}", emitted.path);
            tags += usize::from(is_own);
        });
    }
    assert!(tags > 10);
    let hostile = mixed_objects().into_iter().find(|emitted| emitted.path == "gpu-eu/hostile/config.yaml").unwrap();
    assert!(
        hostile.object["data"].to_string().contains("{{workflow.name}}"),
        "the text itself is kept, where it is data"
    );
}

/// The kubelet expands `$(NAME)`: the job must hold what makes the user's text come out of it.
#[test]
fn the_kubelet_gives_back_what_the_user_wrote() {
    let job = mixed_created().into_iter().find(|emitted| emitted.path.starts_with("old/hostile/")).unwrap();
    let container = &job.object["spec"]["template"]["spec"]["containers"][0];
    let script = container["command"][2].as_str().unwrap();
    assert_eq!(expanded(script), "echo \"$(NOPE)\" '{{inputs.parameters.run}}' $$(x) ${Y}; cat <<< \"$0\"\n");
    let words: Vec<String> =
        container["args"].as_array().unwrap().iter().map(|word| expanded(word.as_str().unwrap())).collect();
    assert_eq!(words[1..], ["{{workflow.name}}", "yes", "0777", "1:30", "a,b", "{\"json\": [1, \"two\"]}"]);
    let values: BTreeMap<&str, &Value> = container["env"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (entry["name"].as_str().unwrap(), &entry["value"]))
        .collect();
    let expected = [("A", "{{=1+1}}"), ("B", "no"), ("C", "1e3"), ("D", "unclosed {{ brace"), ("E", "é ☃ 🚀")];
    for (name, value) in expected {
        assert_eq!(values[name], value);
    }
}

#[test]
fn config_and_files_are_immutable_and_the_rules_are_not() {
    let mut seen = 0;
    for map in of_kind("ConfigMap") {
        let immutable = map.object.get("immutable").is_some_and(|value| value == true);
        let is_named_by_digest =
            ["/config.yaml", "/files.yaml", "/suite.yaml"].iter().any(|file| map.path.ends_with(file));
        assert_eq!(immutable, is_named_by_digest, "{}", map.path);
        seen += usize::from(immutable);
    }
    assert!(seen > 10);
}

#[test]
fn names_keep_within_their_limits() {
    for emitted in of_git() {
        let limit = match text(&emitted, "/kind").as_str() {
            "CronWorkflow" => 52,
            "ConfigMap" | "PersistentVolumeClaim" => 253,
            _ => 63,
        };
        let name = text(&emitted, "/metadata/name");
        assert!(name.len() <= limit, "{}: {name}", emitted.path);
    }
    for emitted in everything() {
        walk(&emitted.object, "", &mut |pointer, value| {
            if pointer.ends_with("/labels") {
                for (label, value) in value.as_object().unwrap() {
                    let value = value.as_str().unwrap_or_else(|| panic!("{} {pointer}: {label}", emitted.path));
                    assert!(value.len() <= 63, "{} {pointer}: {label}: {value}", emitted.path);
                }
            }
        });
    }
    // The longest benchmark name there is, with the widest jobs that operators name pods for.
    let name = "a".repeat(31);
    let spec = |workload: &str| {
        format!(
            "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: {name}}}\nspec:\n  run: 999999\n  matrix: {{axes: {{a: [{}]}}}}\n  workload: {workload}\n",
            "x".repeat(200)
        )
    };
    for workload in [
        "{job: {image: registry.example/a:1, parallelism: 1000, completionMode: Indexed}}",
        "{tfJob: {image: registry.example/a:1, worker: {replicas: 1000}, evaluator: {}}}",
    ] {
        let compilation = compile_sound(&[("specs/a.yaml", &spec(workload))]);
        for emitted in rendered(&compilation) {
            assert!(text(&emitted, "/metadata/name").len() <= 40, "{}", emitted.object["metadata"]);
        }
        for emitted in objects(&compilation) {
            assert!(text(&emitted, "/metadata/name").len() <= 63, "{}", emitted.object["metadata"]);
        }
    }
}

/// What the kubelet makes of `$(NAME)` where no variable has the name, and of `$$`.
fn expanded(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if rest.starts_with('(') && rest.contains(')') {
            panic!("`${}` would be expanded", &rest[..=rest.find(')').unwrap()]);
        } else {
            out.push('$');
        }
    }
    out + rest
}

fn of_git() -> Vec<Emitted> {
    mixed_objects()
}

fn jobs() -> Vec<Emitted> {
    mixed_created()
}

fn everything() -> Vec<Emitted> {
    [of_git(), jobs(), rendered(mixed())].into_iter().flatten().collect()
}

fn of_kind(kind: &str) -> Vec<Emitted> {
    of_git().into_iter().filter(|emitted| emitted.object["kind"] == kind).collect()
}

fn thin_workflows() -> Vec<Emitted> {
    let workflows: Vec<Emitted> = of_kind("Workflow").into_iter().chain(of_kind("CronWorkflow")).collect();
    assert!(workflows.len() > 10);
    workflows
}

fn workflow_spec(workflow: &Emitted) -> &Value {
    workflow.object["spec"].get("workflowSpec").unwrap_or(&workflow.object["spec"])
}

fn parameter(workflow: &Emitted, name: &str) -> String {
    let parameters = workflow_spec(workflow)["arguments"]["parameters"].as_array().unwrap();
    parameters.iter().find(|parameter| parameter["name"] == name).unwrap()["value"].as_str().unwrap().to_owned()
}

fn text(emitted: &Emitted, pointer: &str) -> String {
    emitted.object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn annotations(emitted: &Emitted) -> serde_json::Map<String, Value> {
    emitted.object["metadata"]["annotations"].as_object().cloned().unwrap_or_default()
}

fn no_key(emitted: &Emitted, keys: &[&str]) {
    walk(&emitted.object, "", &mut |pointer, _| {
        let key = pointer.rsplit('/').next().unwrap_or_default();
        assert!(!keys.contains(&key), "{} {pointer}", emitted.path);
    });
}
