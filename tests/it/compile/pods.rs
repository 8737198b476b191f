//! What a target says of all pods: it reaches those of every kind and of the steps, and what administrators alone read starts
//! nothing again.

use kubebench_compiler::compile::Compilation;
use serde_json::{Value, json};

use crate::support::project::{Emitted, codes, compile, errors, mixed_files, objects, pod_specs, rendered};

/// The project in `tests/data/mixed` with another project file.
fn mixed_with(edit: impl Fn(&str) -> String) -> Compilation {
    let mut files = mixed_files();
    for (path, text) in files.iter_mut().filter(|(path, _)| path == "kubebench.yaml") {
        let edited = edit(text);
        assert_ne!(edited, *text, "{path}");
        *text = edited;
    }
    compile(&files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>())
}

/// The pods of runs on `gpu-eu` that Kubebench describes: those with its variables.
fn described() -> Vec<(String, Value, Value)> {
    let mut found = Vec::new();
    let compilation = mixed_with(|text| format!("{text}\n"));
    assert_eq!(errors(&compilation), [""; 0]);
    for Emitted { path, object } in rendered(&compilation) {
        if !path.starts_with("render gpu-eu/") {
            continue;
        }
        for (at, spec) in pod_specs(&object) {
            let is_ours = |container: &Value| {
                let variables = container["env"].as_array().into_iter().flatten();
                variables.into_iter().any(|variable| variable["name"] == "HTTPS_PROXY")
            };
            let metadata = at.strip_suffix("/spec").and_then(|at| object.pointer(&format!("{at}/metadata")));
            if spec["containers"].as_array().unwrap().iter().any(is_ours) {
                found.push((format!("{path}{at}"), spec.clone(), metadata.cloned().unwrap_or_default()));
            }
        }
    }
    found
}

#[test]
fn pods_of_every_kind_have_what_the_target_says() {
    let found = described();
    assert!(found.len() > 30, "{}", found.len());
    for (place, spec, metadata) in &found {
        assert_eq!(spec["runtimeClassName"], "nvidia", "{place}");
        assert_eq!(spec["imagePullSecrets"], json!([{"name": "registry"}]), "{place}");
        assert_eq!(spec["hostAliases"][0]["ip"], "10.0.0.7", "{place}");
        assert_eq!(spec["dnsConfig"]["options"][0]["name"], "ndots", "{place}");
        assert_eq!(spec["securityContext"].get("fsGroup"), None, "{place}");
        assert_eq!(spec["securityContext"]["supplementalGroups"], json!([2000]), "{place}");
        assert_eq!(spec["topologySpreadConstraints"][0]["topologyKey"], "topology.kubernetes.io/zone", "{place}");
        assert!(spec.pointer("/affinity/nodeAffinity").is_some(), "{place}");
        if metadata.is_object() {
            assert_eq!(metadata["labels"]["cost-center"], "ml", "{place}");
            assert_eq!(metadata["labels"]["sidecar.istio.io/inject"], "false", "{place}");
            assert_eq!(metadata["annotations"]["karpenter.sh/do-not-disrupt"], "true", "{place}");
            assert_eq!(metadata["annotations"]["example.com/contact"], "ml ${TEAM} $(id) <b>", "{place}");
        }
    }
}

/// Also those of objects that come with the measured one: a proxy in them would be measured with it.
#[test]
fn pods_of_all_objects_of_a_manifest_carry_what_the_target_says() {
    let template = |pod: &str| {
        format!(
            "template: {{{pod}spec: {{restartPolicy: Never, automountServiceAccountToken: false, containers: [{{name: main, image: '{IMAGE}', \
             resources: {{limits: {{cpu: 1, memory: 1Gi}}}}}}]}}}}"
        )
    };
    let (job, labeled) =
        (template(""), template("metadata: {labels: {app: cache, sidecar.istio.io/inject: 'true'}}, "));
    let manifest = format!(
        "{{main: Job/main, object: {{apiVersion: v1, kind: List, items: [\
         {{apiVersion: batch/v1, kind: Job, metadata: {{name: main}}, spec: {{{job}}}}}, \
         {{apiVersion: batch/v1, kind: Job, metadata: {{name: other}}, spec: {{{job}}}}}, \
         {{apiVersion: apps/v1, kind: Deployment, metadata: {{name: cache}}, spec: {{selector: {{matchLabels: {{app: cache}}}}, {}}}}}]}}}}",
        labeled.replace("restartPolicy: Never, ", "")
    );
    let (before, after) = SPEC.split_once("    job:").unwrap();
    let metrics = after.split_once('\n').unwrap().1;
    let project = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {targets: {t: {pods: {labels: {team: ml}}}}}\n";
    let spec = format!("{before}    manifest: {manifest}\n{metrics}");
    let compilation = compile(&[("kubebench.yaml", project), ("specs/a.yaml", &spec)]);
    assert_eq!(errors(&compilation), [""; 0]);
    assert_eq!(compilation.benchmarks[0].permissions.iter().filter(|it| it.code.id == "KB0394").count(), 0);
    let metadata: Vec<Value> =
        rendered(&compilation).iter().map(|it| it.object["spec"]["template"]["metadata"].clone()).collect();
    assert_eq!(metadata.len(), 3);
    for metadata in &metadata {
        assert_eq!(metadata["labels"]["team"], "ml", "{metadata}");
        assert_eq!(metadata["annotations"]["karpenter.sh/do-not-disrupt"], "true", "{metadata}");
        let own = if metadata["labels"]["app"] == "cache" { "true" } else { "false" };
        assert_eq!(metadata["labels"]["sidecar.istio.io/inject"], own, "{metadata}");
    }
}

#[test]
fn steps_have_what_all_pods_have_but_for_what_the_target_says_of_them() {
    let compilation = mixed_with(|text| format!("{text}\n"));
    let templates: Vec<Emitted> =
        objects(&compilation).into_iter().filter(|emitted| emitted.object["kind"] == "WorkflowTemplate").collect();
    let template = &templates.iter().find(|emitted| emitted.path.starts_with("gpu-eu/")).unwrap().object["spec"];
    assert_eq!(template.get("affinity"), None);
    assert_eq!(template["imagePullSecrets"], json!([{"name": "registry"}]));
    assert_eq!(template["podPriorityClassName"], "steps");
    assert_eq!(template["podMetadata"]["labels"]["cost-center"], "ml");
    let context = &template["securityContext"];
    // That of the steps takes the place of that of all pods.
    assert_eq!((context.get("runAsUser"), context.get("runAsGroup")), (None, None));
    assert_eq!((&context["fsGroup"], context.get("supplementalGroups")), (&json!(65532), None));
    assert_eq!(context["runAsNonRoot"], true);
    let patch: Value = serde_json::from_str(template["podSpecPatch"].as_str().unwrap()).unwrap();
    assert_eq!(patch.get("runtimeClassName"), None);
    assert_eq!(patch["topologySpreadConstraints"][0]["maxSkew"], 1);
    assert_eq!(patch["containers"][0]["name"], "wait");
    let steps = template["templates"].as_array().unwrap().iter().filter_map(|template| template.get("container"));
    for container in steps {
        let resources =
            json!({"limits": {"cpu": "200m", "memory": "2Gi"}, "requests": {"cpu": "200m", "memory": "128Mi"}});
        assert_eq!(container["resources"], resources);
        let variable = |name: &str| container["env"].as_array().unwrap().iter().find(|it| it["name"] == name).cloned();
        assert_eq!(variable("NO_PROXY").unwrap()["value"], ".svc,10.0.0.0/8");
        assert_eq!(variable("HTTPS_PROXY").unwrap()["value"], "http://proxy.example:3128");
        assert_eq!(variable("CACHE_TOKEN").unwrap()["valueFrom"]["secretKeyRef"]["name"], "cache");
    }
}

/// Where a target says nothing, proxies are kept out of all pods, and autoscalers off those of runs.
#[test]
fn proxies_and_autoscalers_leave_pods_alone() {
    let compilation = mixed_with(|text| format!("{text}\n"));
    let settings = |folder: &str| {
        let path = format!("{folder}/pipeline/settings.yaml");
        let found = objects(&compilation).into_iter().find(|emitted| emitted.path == path).unwrap();
        let text = found.object["data"]["settings.json"].as_str().unwrap().to_owned();
        serde_json::from_str::<Value>(&text).unwrap()["pods"].clone()
    };
    let usual = json!({
        "annotations": {
            "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
            "karpenter.sh/do-not-disrupt": "true",
            "linkerd.io/inject": "disabled",
        },
        "labels": {"sidecar.istio.io/inject": "false"},
    });
    assert_eq!(settings("old"), usual);
    assert_ne!(settings("gpu-eu"), usual);
}

#[test]
fn what_administrators_read_starts_nothing_again() {
    let digests = |compilation: &Compilation| -> Vec<String> {
        assert_eq!(errors(compilation), [""; 0]);
        compilation.benchmarks.iter().map(|compiled| compiled.identity.digest.to_string()).collect()
    };
    let base = digests(&mixed_with(|text| format!("{text}\n")));
    for (before, now) in [
        ("{cost-center: ml,", "{cost-center: platform,"),
        ("example.com/contact:", "example.com/team:"),
        ("priorityClass: steps", "priorityClass: others"),
        ("NO_PROXY:", "no_proxy:"),
        ("{cpu: 200m, limits: {memory: 2Gi}}", "{cpu: 300m}"),
    ] {
        assert_eq!(digests(&mixed_with(|text| text.replacen(before, now, 1))), base, "{before}");
    }
    for (before, now) in [
        ("values: [bench]", "values: [other]"),
        ("runtimeClass: nvidia", "runtimeClass: kata"),
        ("HTTPS_PROXY:", "HTTP_PROXY:"),
    ] {
        let changed = digests(&mixed_with(|text| text.replacen(before, now, 1)));
        assert!(base.iter().zip(&changed).any(|(one, other)| one != other), "{before}");
    }
}

const IMAGE: &str = "r.example/a@sha256:d7ab393d3a3e0a75d6a914d3cbe61866d3a1ca1a19e38311835094b3e11a58ef";
const SPEC: &str = "\
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: a}
spec:
  timeout: 1h
  workload:
    job: {image: 'r.example/a@sha256:d7ab393d3a3e0a75d6a914d3cbe61866d3a1ca1a19e38311835094b3e11a58ef', resources: {cpu: 1, memory: 1Gi}, POD}
  metrics: [{name: s, unit: s, better: lower, primary: true, from: {duration: run}}]
";

fn compiled(target: &str, pod: &str) -> Compilation {
    let project = format!(
        "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {{targets: {{t: {{{target}}}}}}}\n"
    );
    compile(&[("kubebench.yaml", &project), ("specs/a.yaml", &SPEC.replace("POD", pod))])
}

#[test]
fn what_a_spec_says_wins_where_kubernetes_merges() {
    let target = "pods: {env: {A: one, B: two}, schedulerName: first, imagePullSecrets: [{name: x}], securityContext: {runAsUser: 1000}}";
    let compilation = compiled(
        target,
        "env: {B: own}, pod: {schedulerName: second, imagePullSecrets: [{name: z}], securityContext: {runAsGroup: 7}}",
    );
    assert_eq!(errors(&compilation), [""; 0]);
    let job = rendered(&compilation).remove(0).object;
    let spec = &job["spec"]["template"]["spec"];
    assert_eq!(spec["schedulerName"], "second");
    assert_eq!(spec["imagePullSecrets"], json!([{"name": "x"}, {"name": "z"}]));
    assert_eq!(
        (&spec["securityContext"]["runAsUser"], &spec["securityContext"]["runAsGroup"]),
        (&1000.into(), &7.into())
    );
    let env = spec["containers"][0]["env"].as_array().unwrap();
    let value =
        |name: &str| env.iter().filter(|it| it["name"] == name).map(|it| it["value"].clone()).collect::<Vec<_>>();
    assert_eq!((value("A"), value("B")), (vec!["one".into()], vec!["own".into()]));
}

#[test]
fn a_list_of_both_is_an_error_that_names_both_places() {
    let affinity = |value: &str| {
        format!(
            "affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: {value}}}]}}}}"
        )
    };
    let target = format!("pods: {{{}}}", affinity("a"));
    let both = compiled(&target, &format!("pod: {{{}}}", affinity("b")));
    let found: Vec<_> = both.diagnostics.iter().filter(|finding| finding.code.id == "KB0378").collect();
    assert_eq!(found.len(), 1, "{:#?}", errors(&both));
    assert_eq!(found[0].path(&both.sources), "specs/a.yaml");
    assert_eq!(found[0].related.len(), 1);
    let agreed = compiled(&target, &format!("pod: {{{}}}", affinity("a")));
    assert_eq!(errors(&agreed), [""; 0]);
    let replaced =
        format!("pod: {{{}}}", affinity("b").replace("podAntiAffinity: {", "podAntiAffinity: {$patch: replace, "));
    assert_eq!(errors(&compiled(&target, &replaced)), [""; 0]);
    let through_object = format!("patch: {{spec: {{template: {{spec: {{{}}}}}}}}}", affinity("b"));
    assert!(codes(&compiled(&target, &through_object)).contains(&"KB0378"));
}

#[test]
fn what_a_target_says_is_checked_like_any_pod() {
    for (target, code) in [
        ("pods: {affinity: {nodeAfinity: {}}}", "KB0316"),
        ("pods: {securityContext: {runAsUser: nobody}}", "KB0316"),
        ("pods: {securityContext: {runAsUser: 0}}", "KB0326"),
        ("podSecurity: restricted, pods: {securityContext: {$patch: replace, fsGroup: 1}}", "KB0419"),
        ("podSecurity: restricted, pods: {securityContext: {runAsNonRoot: null}}", "KB0419"),
        ("podSecurity: restricted, steps: {securityContext: {seccompProfile: null}}", "KB0419"),
        ("steps: {affinity: {$patch: bogus}}", "KB0316"),
        ("steps: {resources: {requests: {cpu: 2}, limits: {cpu: 1}}}", "KB0327"),
        ("queue: {volcano: training}, pods: {schedulerName: default-scheduler}", "KB0315"),
        (
            "pods: {topologySpreadConstraints: [{topologyKey: z, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}, \
             {topologyKey: z, maxSkew: 2, whenUnsatisfiable: DoNotSchedule}]}",
            "KB0393",
        ),
        ("concurrency: 10001", "KB0206"),
        ("pods: {hostAliases: [{ip: 10.0.0.700, hostnames: [git.example]}]}", "KB0325"),
        ("pods: {hostAliases: [{ip: 10.0.0.7, hostnames: ['git.example:80']}]}", "KB0325"),
        ("pods: {dnsConfig: {nameservers: [dns.example]}}", "KB0325"),
        ("pods: {dnsConfig: {searches: [Corp Example]}}", "KB0325"),
        ("pods: {imagePullSecrets: [{name: My Registry}]}", "KB0325"),
        ("pods: {topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}]}", "KB0325"),
        (
            "pods: {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: \
             [{topologyKey: z, labelSelector: {matchLabels: {'a b': c}}}]}}}",
            "KB0325",
        ),
        ("pods: {runtimeClass: NVIDIA GPU}", "KB0205"),
        ("pods: {labels: {kubebench.dev/run: a}}", "KB0372"),
        ("pods: {imagePullSecrets: [{name: kubebench-git}]}", "KB0372"),
        ("pods: {env: {TOKEN: {secret: {name: kubebench-git, key: token}}}}", "KB0372"),
        ("pods: {env: {KUBEBENCH_EXP_ID: a}}", "KB0315"),
        ("steps: {env: {KUBEBENCH_BENCHMARK: a}}", "KB0315"),
        ("steps: {env: {A: \"{{workflow.uid}}\"}}", "KB0337"),
        ("pods: {annotations: {a: \"{{=sprig.env('A')}}\"}}", "KB0337"),
        ("steps: {imagePullSecrets: [{name: kubebench-git}]}", "KB0372"),
        ("pods: {topologySpreadConstraints: [{topologykey: a}]}", "KB0316"),
        ("pods: {nodeSelector: {a: b}}", "KB0201"),
        ("podSecurity: restricted, pods: {securityContext: {runAsNonRoot: false}}", "KB0419"),
    ] {
        let found = codes(&compiled(target, "args: []"));
        assert!(found.contains(&code), "{target}: {found:?}");
    }
    for target in [
        "pods: {securityContext: {runAsUser: none, runAsGroup: none, fsGroup: none}}",
        "steps: {env: {A: {secret: {name: proxy, key: url}}, B: 1.10, C: {field: metadata.name}}}",
        "concurrency: 2.0",
        "pods: {}, steps: {}",
        "pods: {dnsConfig: {nameservers: ['2001:db8::1'], searches: [., svc.cluster.local.]}}",
        "steps: {runtimeClass: none, priorityClass: none, schedulerName: none}",
    ] {
        assert_eq!(codes(&compiled(target, "args: []")), [""; 0], "{target}");
    }
}

/// A TrainJob over a runtime of the cluster can say only some fields over its pods: what is left out would be lost silently.
#[test]
fn a_runtime_of_the_cluster_that_cannot_have_it_is_an_error() {
    let spec = SPEC.replace(
        "job: {image: 'r.example/a@sha256:d7ab393d3a3e0a75d6a914d3cbe61866d3a1ca1a19e38311835094b3e11a58ef', resources: {cpu: 1, memory: 1Gi}, POD}",
        "trainJob: {image: 'r.example/a:1', command: [a], resources: {cpu: 1, memory: 1Gi}, runtimeRef: {name: torch-distributed}, trainer: {numNodes: 2}}",
    );
    assert_ne!(spec, SPEC);
    let found = |target: &str| {
        let project = format!(
            "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {{targets: {{t: {{{target}}}}}}}\n"
        );
        codes(&compile(&[("kubebench.yaml", &project), ("specs/a.yaml", &spec)]))
    };
    let is_left_out = |target: &str| found(target).contains(&"KB0318");
    assert!(is_left_out("pods: {runtimeClass: nvidia}"), "{:?}", found("pods: {runtimeClass: nvidia}"));
    assert!(is_left_out("apis: {trainer: v2.0}, pods: {imagePullSecrets: [{name: a}]}"));
    assert!(!is_left_out("pods: {imagePullSecrets: [{name: a}]}"));
}
