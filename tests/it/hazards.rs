//! What GitOps controllers and Argo do to objects that are not careful: one test a hazard, over a project with every kind.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::project::{Emitted, compile_sound, created, mixed, mixed_files, objects, pod_specs, rendered, walk};

/// The fields that a Workflow may have beside `workflowTemplateRef` where the controller says `templateReferencing: Strict`.
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
        no_key(&emitted, &["ttlSecondsAfterFinished", "ttlStrategy", "timeToLiveSeconds"]);
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
fn nothing_is_a_hook_or_has_a_wave() {
    for emitted in of_git() {
        for name in annotations(&emitted).keys() {
            assert!(!name.contains("hook") && !name.contains("sync-wave"), "{} has {name}", emitted.path);
        }
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
fn the_claim_stands_in_the_wave_of_its_consumer() {
    for emitted in of_git() {
        assert!(!annotations(&emitted).contains_key("argocd.argoproj.io/sync-wave"), "{}", emitted.path);
    }
    for workflow in thin_workflows() {
        let claim = parameter(&workflow, "claim");
        let path = workflow.path.replace("workflow.yaml", "results.yaml");
        let found = of_git().into_iter().find(|emitted| emitted.path == path).unwrap();
        assert_eq!(text(&found, "/metadata/name"), claim);
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
                assert_eq!(kubebench::unit::Quantity::parse(text).unwrap().canonical(), text, "{}", emitted.path);
                checked += 1;
            }
        });
    }
    assert!(checked > 50);
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
        let template = of_kind("WorkflowTemplate").into_iter().find(|found| found.path.starts_with(target)).unwrap();
        let spec = workflow_spec(&workflow);
        assert_eq!(spec["workflowTemplateRef"]["name"], template.object["metadata"]["name"]);
        let names = |list: &Value| -> BTreeSet<String> {
            list.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
        };
        let of_template = &template.object["spec"];
        assert_eq!(names(&spec["arguments"]["parameters"]), names(&of_template["arguments"]["parameters"]));
        let entrypoint = spec["entrypoint"].as_str().unwrap();
        assert!(names(&of_template["templates"]).contains(entrypoint), "{}: {entrypoint}", workflow.path);
        for (parameter, file) in [("config", "config.yaml"), ("rules", "rules.yaml"), ("claim", "results.yaml")] {
            let path = workflow.path.replace("workflow.yaml", file);
            let object = of_git().into_iter().find(|emitted| emitted.path == path).unwrap();
            assert_eq!(self::parameter(&workflow, parameter), text(&object, "/metadata/name"));
        }
    }
}

/// Argo expands `{{…}}` wherever it finds it, again and again; the compiler's own tags are the only ones it may find.
#[test]
fn no_text_of_a_user_reaches_argo() {
    let own = ["{{item}}", "{{inputs.parameters.run}}", "{{workflow.name}}", "{{workflow.uid}}"];
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
    let hostile = objects(mixed()).into_iter().find(|emitted| emitted.path == "gpu-eu/hostile/config.yaml").unwrap();
    assert!(
        hostile.object["data"].to_string().contains("{{workflow.name}}"),
        "the text itself is kept, where it is data"
    );
}

/// The kubelet expands `$(NAME)`: the job must hold what makes the user's text come out of it.
#[test]
fn the_kubelet_gives_back_what_the_user_wrote() {
    let job = created(mixed()).into_iter().find(|emitted| emitted.path.starts_with("old/hostile/")).unwrap();
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
fn the_config_is_immutable_and_the_rules_are_not() {
    let mut seen = 0;
    for map in of_kind("ConfigMap") {
        let immutable = map.object.get("immutable").is_some_and(|value| value == true);
        assert_eq!(immutable, map.path.ends_with("/config.yaml"), "{}", map.path);
        seen += usize::from(immutable);
    }
    assert!(seen > 10);
}

#[test]
fn no_executor_account_and_no_hidden_token() {
    for template in of_kind("WorkflowTemplate") {
        no_key(&template, &["executor", "automountServiceAccountToken"]);
    }
}

#[test]
fn every_step_has_an_account_that_may_report_its_result() {
    for target in ["gpu-eu", "old"] {
        let of_target = || of_git().into_iter().filter(|emitted| emitted.path.starts_with(target));
        let template = of_target().find(|emitted| text(emitted, "/kind") == "WorkflowTemplate").unwrap();
        let mut accounts: BTreeSet<String> = BTreeSet::new();
        walk(&template.object, "", &mut |pointer, value| {
            if pointer.ends_with("/serviceAccountName") {
                accounts.insert(value.as_str().unwrap().to_owned());
            }
        });
        assert_eq!(accounts.len(), 3);
        for account in accounts {
            let rules: Vec<Value> = of_target()
                .filter(|emitted| text(emitted, "/kind") == "RoleBinding")
                .filter(|binding| {
                    binding.object["subjects"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .any(|subject| subject["name"] == account.as_str())
                })
                .flat_map(|binding| {
                    let role = text(&binding, "/roleRef/name");
                    let role = of_target()
                        .find(|emitted| text(emitted, "/kind") == "Role" && text(emitted, "/metadata/name") == role);
                    role.unwrap().object["rules"].as_array().unwrap().clone()
                })
                .collect();
            let results = json!({"apiGroups": ["argoproj.io"], "resources": ["workflowtaskresults"], "verbs": ["create", "patch"]});
            assert!(rules.contains(&results), "{account}: {rules:?}");
            if account.ends_with("recorder") || account.ends_with("workflow") {
                assert_eq!(rules, [results], "{account} has no other verb");
            }
            assert!(
                !rules.iter().any(|rule| rule.to_string().contains('*') || rule.to_string().contains("secrets")),
                "{rules:?}"
            );
        }
    }
}

/// MPIJob v1's launcher reaches its workers by `kubectl exec`, for which it needs a token; nobody else has one.
#[test]
fn training_pods_mount_no_token() {
    let mut with_token = BTreeSet::new();
    for emitted in jobs() {
        for (pointer, pod) in pod_specs(&emitted.object) {
            assert!(pod.get("serviceAccountName").is_none(), "{} {pointer}", emitted.path);
            if pod.get("automountServiceAccountToken") != Some(&json!(false)) {
                with_token.insert(format!("{} {} {pointer}", text(&emitted, "/apiVersion"), text(&emitted, "/kind")));
            }
        }
    }
    let launcher = "kubeflow.org/v1 MPIJob /spec/mpiReplicaSpecs/Launcher/template/spec";
    assert_eq!(with_token.into_iter().collect::<Vec<_>>(), [launcher]);
}

#[test]
fn every_pod_passes_restricted() {
    let mut judged = 0;
    for emitted in jobs() {
        for (pointer, pod) in pod_specs(&emitted.object) {
            assert_eq!(restricted(pod), Vec::<String>::new(), "{} {pointer}", emitted.path);
            judged += 1;
        }
    }
    for template in of_kind("WorkflowTemplate") {
        let spec = &template.object["spec"];
        for step in spec["templates"].as_array().unwrap().iter().filter(|step| step.get("container").is_some()) {
            let pod = json!({"securityContext": spec["securityContext"], "volumes": spec["volumes"], "containers": [step["container"]]});
            assert_eq!(restricted(&pod), Vec::<String>::new(), "{} {}", template.path, step["name"]);
            assert_eq!(step["container"]["securityContext"]["readOnlyRootFilesystem"], true);
            judged += 1;
        }
    }
    assert!(judged > 50);
    let privileged = json!({"hostNetwork": true, "containers": [{"securityContext": {"privileged": true}}], "volumes": [{"hostPath": {}}]});
    assert!(restricted(&privileged).len() >= 6, "the judge can say no");
}

#[test]
fn pods_reach_only_what_is_declared() {
    for target in ["gpu-eu", "old"] {
        let policies: Vec<Emitted> =
            of_kind("NetworkPolicy").into_iter().filter(|policy| policy.path.starts_with(target)).collect();
        let selects = |labels: &Value| {
            policies.iter().any(|policy| {
                assert_eq!(policy.object["spec"]["policyTypes"], json!(["Egress", "Ingress"]));
                let expressions = policy.object["spec"]["podSelector"]["matchExpressions"].as_array().unwrap();
                expressions
                    .iter()
                    .all(|each| each["operator"] == "Exists" && labels.get(each["key"].as_str().unwrap()).is_some())
            })
        };
        for emitted in jobs().into_iter().filter(|emitted| emitted.path.starts_with(target)) {
            walk(&emitted.object, "", &mut |pointer, value| {
                if value.get("spec").is_some_and(|spec| spec.get("containers").is_some()) {
                    assert!(selects(&value["metadata"]["labels"]), "{} {pointer}", emitted.path);
                }
            });
        }
        let template = of_kind("WorkflowTemplate").into_iter().find(|found| found.path.starts_with(target)).unwrap();
        for step in template.object["spec"]["templates"].as_array().unwrap() {
            assert!(step.get("container").is_none() || selects(&step["metadata"]["labels"]), "{}", step["name"]);
        }
        for policy in &policies {
            for rule in policy.object["spec"]["egress"].as_array().unwrap() {
                assert!(
                    rule.get("to").is_some() || rule.get("ports").is_some(),
                    "{} opens everything: {rule}",
                    policy.path
                );
            }
        }
    }
    let declared = json!({"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]});
    let workloads = |target: &str| {
        let policies = of_kind("NetworkPolicy").into_iter();
        policies
            .filter(|policy| policy.path == format!("{target}/pipeline/network-policy-workloads.yaml"))
            .next()
            .unwrap()
    };
    assert!(workloads("gpu-eu").object["spec"]["egress"].as_array().unwrap().contains(&declared));
    assert!(!workloads("old").object["spec"]["egress"].as_array().unwrap().contains(&declared));
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

#[test]
fn jobs_end_by_themselves_and_leave_their_logs() {
    for emitted in rendered(mixed()) {
        let spec = &emitted.object["spec"];
        match text(&emitted, "/kind").as_str() {
            "Service" => {}
            "Job" => {
                assert!(spec["activeDeadlineSeconds"].as_u64().unwrap() > 0, "{}", emitted.path);
                assert_eq!(spec["backoffLimit"], 0, "{}", emitted.path);
                assert_eq!(spec["template"]["spec"]["restartPolicy"], "Never", "{}", emitted.path);
            }
            _ => {
                let policy = &spec["runPolicy"];
                assert!(policy["activeDeadlineSeconds"].as_u64().unwrap() > 0, "{}", emitted.path);
                assert_eq!(
                    (&policy["backoffLimit"], &policy["cleanPodPolicy"]),
                    (&json!(0), &json!("None")),
                    "{}",
                    emitted.path
                );
                walk(spec, "", &mut |pointer, value| {
                    if pointer.ends_with("/restartPolicy") {
                        assert_eq!(value, "Never", "{} {pointer}", emitted.path);
                    }
                });
            }
        }
    }
}

/// What `restricted` of Kubernetes' Pod Security Standards refuses in a pod spec.
fn restricted(pod: &Value) -> Vec<String> {
    const VOLUMES: [&str; 8] =
        ["configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"];
    let mut faults = Vec::new();
    for field in ["hostNetwork", "hostPID", "hostIPC"] {
        if pod.get(field).is_some_and(|value| value != false) {
            faults.push(field.to_owned());
        }
    }
    for volume in pod["volumes"].as_array().into_iter().flatten() {
        let kinds = volume.as_object().unwrap().keys().filter(|key| *key != "name");
        faults.extend(kinds.filter(|kind| !VOLUMES.contains(&kind.as_str())).map(|kind| format!("volume {kind}")));
    }
    let of_pod = &pod["securityContext"];
    let containers =
        ["containers", "initContainers"].iter().flat_map(|list| pod[*list].as_array().into_iter().flatten());
    for container in containers {
        let own = &container["securityContext"];
        let either = |field: &str| if own[field].is_null() { &of_pod[field] } else { &own[field] };
        let mut demand = |holds: bool, what: &str| {
            if !holds {
                faults.push(format!("{} {what}", container["name"]));
            }
        };
        demand(own["privileged"] != true, "is privileged");
        demand(own["allowPrivilegeEscalation"] == false, "may escalate");
        demand(
            own["capabilities"]["drop"].as_array().is_some_and(|drop| drop.contains(&json!("ALL"))),
            "keeps capabilities",
        );
        let adds = own["capabilities"]["add"].as_array().cloned().unwrap_or_default();
        demand(adds.iter().all(|capability| capability == "NET_BIND_SERVICE"), "adds capabilities");
        demand(either("runAsNonRoot") == true, "may run as root");
        demand(either("runAsUser") != 0, "runs as root");
        demand(
            matches!(either("seccompProfile")["type"].as_str(), Some("RuntimeDefault" | "Localhost")),
            "has no seccomp profile",
        );
        demand(
            container["ports"].as_array().is_none_or(|ports| ports.iter().all(|port| port.get("hostPort").is_none())),
            "has a host port",
        );
        demand(own["procMount"].is_null() || own["procMount"] == "Default", "unmasks /proc");
    }
    faults
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
    objects(mixed())
}

fn jobs() -> Vec<Emitted> {
    created(mixed())
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
