//! Words of the doctor that would be wrong: right where something fails, or a fault where nothing does.

use serde_json::{Value as Json, json};

use super::{Canned, Fact, PROJECT, SPEC, complaints, examined, examined_as, found};

#[test]
fn a_quota_refuses_the_containers_that_argo_adds_to_the_pods_of_steps() {
    let config = "/api/v1/namespaces/system/configmaps/workflow-controller-configmap";
    let quota = json!({"items": [{"metadata": {"name": "q"}, "spec": {"hard": {"requests.cpu": "1000"}}}]});
    let mut canned = Canned::sound();
    canned.put("/api/v1/namespaces/bench/resourcequotas", quota);
    let words = "error quota: `q` limits requests.cpu, and the containers that Argo adds to the pods of steps say no requests of cpu";
    assert!(found(&canned).starts_with(words), "{}", found(&canned));
    canned.forbid(config, "no");
    assert!(found(&canned).contains("note quota: unknown: `q` limits requests.cpu"), "{}", found(&canned));
    let executor = "resources:\n  requests: {cpu: 10m, memory: 32Mi}\n";
    canned.put(config, json!({"data": {"executor": executor}}));
    assert_eq!(found(&canned), "");
    canned.put(config, json!({"data": {}}));
    let range = json!({"items": [{"metadata": {"name": "r"}, "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "10m"}}]}}]});
    canned.put("/api/v1/namespaces/bench/limitranges", range);
    assert_eq!(found(&canned), "");
}

#[test]
fn jobs_beside_the_runs_are_not_counted_together() {
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
            .filter(|line| line.contains("quota:"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    // Two runs at once of four pods of four processors, and their steps.
    assert_eq!(said("33"), "");
    assert!(said("32").contains("needs 32.2"), "{}", said("32"));
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
        ("Container", json!({"min": {"cpu": "8"}}), "`r` lets a container have cpu 8 at least, and master of train"),
        ("Pod", json!({"min": {"memory": "16Gi"}}), "`r` lets a pod have memory 16 GiB at least, and master of train"),
        (
            "Container",
            json!({"max": {"memory": "4Gi"}}),
            "`r` lets a container have memory 4 GiB at most, and master of train",
        ),
    ] {
        let said = ranged(kind, bounds);
        assert!(said.contains(words), "{words}:\n{said}");
    }
    assert_eq!(ranged("Container", json!({"min": {"cpu": "1m"}, "max": {"memory": "1Ti"}})), "");
}

#[test]
fn people_need_the_jobs_of_the_kinds_that_run_here() {
    let mut canned = Canned::sound();
    canned.lacking = Some(vec!["list pytorchjobs".to_owned(), "watch cronworkflows".to_owned()]);
    assert_eq!(
        found(&canned),
        "warning your rights: you may not `watch cronworkflows.argoproj.io`, `list pytorchjobs.kubeflow.org`"
    );
    canned.lacking = None;
    assert!(found(&canned).starts_with("note your rights: unknown"), "{}", found(&canned));
}

#[test]
fn versions_that_cannot_be_told_are_not_guessed() {
    let mut canned = Canned::sound();
    canned.put("/version", json!({"gitVersion": "v1.x"}));
    assert_eq!(found(&canned), "note API server: unknown: the API server says its version as `v1.x`");

    let controller = |image: &str| {
        let found = json!({
            "metadata": {"name": "workflow-controller", "namespace": "system"},
            "spec": {"template": {"spec": {"containers": [{"image": image}]}}},
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
    assert!(found(&old).contains("is v3.5.2, older than v3.6"), "{}", found(&old));
    for image in [format!("registry.example:5000/argo@{digest}"), "registry.example:5000/argo".to_owned()] {
        let findings = examined(&controller(&image));
        let seen = &findings.iter().find(|finding| finding.check == "controller").unwrap().seen;
        assert_eq!(seen, "`workflow-controller` in `system` runs");
    }
    // One of two is enough, whichever is listed first.
    let mut two = controller("x:v1");
    let Some(Fact::There(list)) = two.objects.get_mut("/apis/apps/v1/deployments") else { panic!() };
    let mut idle = list["items"][1].clone();
    idle["status"]["availableReplicas"] = 0.into();
    list["items"].as_array_mut().unwrap().insert(0, idle);
    assert_eq!(found(&two), "");
}

#[test]
fn what_a_controller_does_not_limit_is_no_limit() {
    let mut canned = Canned::sound();
    let settings = json!({"data": {"parallelism": "0", "namespaceParallelism": "4"}});
    canned.put("/api/v1/namespaces/system/configmaps/workflow-controller-configmap", settings);
    let said = found(&canned);
    assert!(said.contains("lets 4 Workflows run at once in a namespace") && !said.contains("lets 0"), "{said}");
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
    assert!(found(&canned).contains("no node that it may run on is ready and schedulable"), "{}", found(&canned));
}

#[test]
fn volumes_of_several_sources_are_looked_at() {
    let patched = SPEC.replace(
        "      master: {}",
        "      pod: {volumes: [{name: all, projected: {sources: [{secret: {name: certs, items: [{key: ca, path: ca}]}}, {configMap: {name: hosts, optional: true}}]}}]}\n      master: {}",
    );
    let said = |canned: &Canned| complaints(&examined_as(PROJECT, &patched, canned)).join("\n");
    let mut canned = Canned::sound();
    assert_eq!(said(&canned), "error references: there is no Secret `certs`, which master of train needs");
    canned.put("/api/v1/namespaces/bench/secrets/certs", json!({"data": {"other": null}}));
    assert!(said(&canned).contains("the Secret `certs` has no key `ca`"), "{}", said(&canned));
}
