//! Words of the doctor that would be wrong: right where something fails, or a fault where nothing does.

use kubebench_testing::snapshot::{assert_findings, assert_text, str};
use serde_json::{Value as Json, json};

use super::{Canned, Fact, PROJECT, SPEC, complaints, examined, examined_as, found};

#[test]
fn a_quota_refuses_the_containers_that_argo_adds_to_the_pods_of_steps() {
    let config = "/api/v1/namespaces/system/configmaps/workflow-controller-configmap";
    let quota = json!({"items": [{"metadata": {"name": "q"}, "spec": {"hard": {"requests.cpu": "1000"}}}]});
    let mut canned = Canned::sound();
    canned.put("/api/v1/namespaces/bench/resourcequotas", quota);
    assert_findings(
        &found(&canned),
        &[(
            "error quota",
            str! {"`q` limits requests.cpu, but the containers that Argo adds to the pods of steps set no cpu requests: the API server refuses such pods"},
        )],
    );
    canned.forbid(config, "no");
    assert_findings(
        &found(&canned),
        &[
            (
                "note Argo's settings",
                str! {"unknown: you may not read the ConfigMap `workflow-controller-configmap` in `system`"},
            ),
            (
                "note quota",
                str! {"unknown: `q` limits requests.cpu, but the containers that Argo adds to the pods of steps may set no cpu requests: the API server refuses such pods"},
            ),
        ],
    );
    let executor = "resources:\n  requests: {cpu: 10m, memory: 32Mi}\n";
    canned.put(config, json!({"data": {"executor": executor}}));
    assert_eq!(found(&canned), []);
    canned.put(config, json!({"data": {}}));
    let range = json!({"items": [{"metadata": {"name": "r"}, "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "10m"}}]}}]});
    canned.put("/api/v1/namespaces/bench/limitranges", range);
    assert_eq!(found(&canned), []);
}

#[test]
fn jobs_next_to_the_runs_are_not_counted_together() {
    let beside = "  matrix: {axes: {size: [1, 2, 3]}}\n  parallelism: 2\n  prepare: {image: \"registry.example/train:1\", command: [x], resources: {cpu: 30}}\n  \
                  postprocess: {image: \"registry.example/train:1\", command: [x], resources: {cpu: 10}}\n";
    let spec = format!("{SPEC}{beside}")
        .replace("resources: {cpu: 4,", "env: {SIZE: \"${{ matrix.size }}\"}\n      resources: {cpu: 4,");
    let spec = spec.replace("      env: {HF_TOKEN: {secret: {name: hf, key: token}}}\n", "");
    let range = json!({"items": [{"metadata": {"name": "r"}, "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "10m"}}]}}]});
    let said = |cpu: &str| {
        let mut canned = Canned::sound();
        canned.put("/api/v1/namespaces/bench/limitranges", range.clone());
        let quota = json!({"items": [{"metadata": {"name": "q"}, "spec": {"hard": {"requests.cpu": cpu}}}]});
        canned.put("/api/v1/namespaces/bench/resourcequotas", quota);
        complaints(&examined_as(PROJECT, &spec, &canned))
            .into_iter()
            .filter(|(check, _)| check.ends_with(" quota"))
            .collect::<Vec<_>>()
    };
    // Two runs at once of four pods of four processors, and their steps.
    assert_eq!(said("33"), []);
    assert_findings(
        &said("32"),
        &[("error quota", str! {"`q` allows requests.cpu 32, and `train` (size=3) needs 32.2"})],
    );
}

#[test]
fn a_limit_range_has_a_least_too() {
    let ranged = |kind: &str, bounds: Json| {
        let mut limit = bounds;
        limit["type"] = kind.into();
        let mut canned = Canned::sound();
        canned.put(
            "/api/v1/namespaces/bench/limitranges",
            json!({"items": [{"metadata": {"name": "r"}, "spec": {"limits": [limit]}}]}),
        );
        found(&canned)
    };
    for (kind, bounds, words) in [
        (
            "Container",
            json!({"min": {"cpu": "8"}}),
            vec![(
                "error LimitRange",
                str! {"`r` requires cpu of at least 8 per container, but master of train has 4 (and 6 more)"},
            )],
        ),
        (
            "Pod",
            json!({"min": {"memory": "16Gi"}}),
            vec![(
                "error LimitRange",
                str! {"`r` requires memory of at least 16 GiB per pod, but master of train has 8 GiB (and 6 more)"},
            )],
        ),
        (
            "Container",
            json!({"max": {"memory": "4Gi"}}),
            vec![(
                "error LimitRange",
                str! {"`r` requires memory of at most 4 GiB per container, but master of train has 8 GiB (and 1 more)"},
            )],
        ),
    ] {
        assert_findings(&ranged(kind, bounds), &words);
    }
    assert_eq!(ranged("Container", json!({"min": {"cpu": "1m"}, "max": {"memory": "1Ti"}})), []);
}

#[test]
fn people_need_the_jobs_of_the_kinds_that_run_here() {
    let mut canned = Canned::sound();
    canned.lacking = Some(vec!["list pytorchjobs".to_owned(), "watch cronworkflows".to_owned()]);
    assert_findings(
        &found(&canned),
        &[(
            "warning your rights",
            str! {"you may not `watch cronworkflows.argoproj.io`, `list pytorchjobs.kubeflow.org`"},
        )],
    );
    canned.lacking = None;
    assert_findings(
        &found(&canned),
        &[("note your rights", str! {"unknown: the API server does not say what you may read"})],
    );
}

#[test]
fn unknown_versions_are_not_guessed() {
    let mut canned = Canned::sound();
    canned.put("/version", json!({"gitVersion": "v1.x"}));
    assert_findings(
        &found(&canned),
        &[("note API server", str! {"unknown: the API server reports the version `v1.x`"})],
    );

    let controller = |image: &str| {
        let found = json!({
            "metadata": {"name": "workflow-controller", "namespace": "system"},
            "spec": {"template": {"spec": {"serviceAccountName": "argo", "containers": [{"image": image}]}}},
            "status": {"availableReplicas": 1},
        });
        let mut operator = found.clone();
        operator["metadata"]["name"] = "training-operator".into();
        let mut canned = Canned::sound();
        canned.put("/apis/apps/v1/deployments", json!({"items": [found, operator]}));
        canned
    };
    let digest = "sha256:0caad04c6b091e442a7197d216e749afd84e0779829f0a070d021bdb23171bbb";
    let old = controller(&format!("registry.example:5000/argo:v3.5.2@{digest}"));
    assert_findings(
        &found(&old),
        &[("error controller", str! {"`workflow-controller` in `system` is v3.5.2, older than v3.6"})],
    );
    for image in [format!("registry.example:5000/argo@{digest}"), "registry.example:5000/argo".to_owned()] {
        let findings = examined(&controller(&image));
        let seen = &findings.iter().find(|finding| finding.check == "controller").unwrap().seen;
        assert_text(seen, str! {"`workflow-controller` in `system` runs"});
    }
    // One of two is enough, whichever is listed first.
    let mut two = controller("x:v1");
    let Some(Fact::There(list)) = two.objects.get_mut("/apis/apps/v1/deployments") else { panic!() };
    let mut idle = list["items"][1].clone();
    idle["status"]["availableReplicas"] = 0.into();
    list["items"].as_array_mut().unwrap().insert(0, idle);
    assert_eq!(found(&two), []);
}

#[test]
fn what_a_controller_does_not_limit_is_no_limit() {
    let mut canned = Canned::sound();
    let settings = json!({"data": {"parallelism": "0", "namespaceParallelism": "4"}});
    canned.put("/api/v1/namespaces/system/configmaps/workflow-controller-configmap", settings);
    assert_findings(
        &found(&canned),
        &[(
            "note Argo's settings",
            str! {"`workflow-controller-configmap` in `system` lets 4 Workflows run at once in a namespace"},
        )],
    );
}

#[test]
fn a_node_that_is_not_ready_has_no_taint_to_tolerate() {
    let mut canned = Canned::sound();
    let taints = json!([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]);
    canned.put(
        "/api/v1/nodes",
        json!({"items": [{"metadata": {"name": "n"}, "spec": {"taints": taints}, "status": {
            "allocatable": {"cpu": "96", "memory": "1Ti", "nvidia.com/gpu": "32"},
            "conditions": [{"type": "Ready", "status": "False"}],
        }}]}),
    );
    assert_findings(
        &found(&canned),
        &[
            (
                "warning nodes",
                str! {"`master of train`, `worker of train`, `step prepare`, `step run` and 3 more: no node that it may run on is ready and schedulable"},
            ),
            (
                "note images",
                str! {"not in the image list of any node: `registry.example/kubebench@sha256:0caad04c6b091e442a7197d216e749afd84e0779829f0a070d021bdb23171bbb`, `registry.example/train:1`"},
            ),
        ],
    );
}

#[test]
fn volumes_of_several_sources_are_looked_at() {
    let patched = SPEC.replace(
        "      master: {}",
        "      pod: {volumes: [{name: all, projected: {sources: [{secret: {name: certs, items: [{key: ca, path: ca}]}}, {configMap: {name: hosts, optional: true}}]}}]}\n      master: {}",
    );
    let said = |canned: &Canned| complaints(&examined_as(PROJECT, &patched, canned));
    let mut canned = Canned::sound();
    assert_findings(
        &said(&canned),
        &[("error references", str! {"there is no Secret `certs`, which master of train needs"})],
    );
    canned.put("/api/v1/namespaces/bench/secrets/certs", json!({"data": {"other": null}}));
    assert_findings(
        &said(&canned),
        &[("error references", str! {"the Secret `certs` has no key `ca`, which master of train reads"})],
    );
}
