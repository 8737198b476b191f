//! `deploy/flux`: source-controller and kustomize-controller.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::eventually;
use super::{Watched, result, uids};

const SOURCE: &str = "gitrepository/benchmarks";
const SHARED: &str = "kustomization.kustomize.toolkit.fluxcd.io/benchmarks-cpu-pipeline";
const BENCHMARKS: &str = "kustomization.kustomize.toolkit.fluxcd.io/benchmarks-cpu";

#[test]
fn flux_runs_what_is_pushed_and_nothing_twice() {
    let component = ("flux", "kustomizations.kustomize.toolkit.fluxcd.io");
    let benchmarks = [("alpha", "1"), ("zeta", "1")];
    let Some(watched) = Watched::new("flux_runs_what_is_pushed_and_nothing_twice", component, &benchmarks) else {
        return;
    };
    let pushed = Timestamp::now();
    let namespace = watched.namespace();
    let changes = [
        ("namespace: flux-system", format!("namespace: {namespace}")),
        ("namespace: benchmarks", format!("namespace: {namespace}")),
        ("interval: 1m", "interval: 3s".into()),
    ];
    let deployed = watched.write_deployed("deploy/flux", &changes.each_ref().map(|(from, to)| (*from, to.as_str())));
    watched.cluster().say(["apply", "-f", &deployed]);

    // The first sync of all: the template is there before the Workflows.
    watched.begin(&["alpha", "zeta"]);
    eventually("a Kustomization is ready while a Workflow waits for another one", || {
        let object = watched.cluster().json(["-n", namespace, "get", BENCHMARKS, "-o", "json"]);
        let mut conditions = object["status"]["conditions"].as_array()?.iter();
        let is_ready = conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True");
        (is_ready && watched.is_one_waiting()).then_some(())
    });
    let begun = uids(&watched);
    for round in 1..=5 {
        reconcile(&watched, round);
    }
    for benchmark in ["alpha", "zeta"] {
        watched.ends(benchmark, "Succeeded", pushed);
        assert_eq!(watched.results(benchmark), [result(1, 1, "succeeded")]);
    }
    nothing_is_applied_by_both(&watched);

    // What is not executed may change; and time may pass.
    let before = watched.workflows();
    assert_eq!(uids(&watched), begun);
    watched.edit("alpha", "as it was", "as it is");
    applied(&watched, &watched.push());
    let rules = watched.cluster().json(["-n", namespace, "get", "configmap", "alpha-rules", "-o", "json"]);
    assert!(rules["data"]["spec.yaml"].as_str().unwrap().contains("as it is"), "{rules:#}");
    for round in 6..=10 {
        reconcile(&watched, round);
    }
    assert_eq!(watched.workflows(), before);

    // One runs again, which its results remember, and one goes.
    let old = watched.labeled("kubebench.dev/benchmark=alpha");
    watched.edit("alpha", "run: 1", "run: 2");
    watched.remove("zeta");
    // A failed run is Flux's to see where somebody names the Workflow.
    watched.cycle.project.folder.write("specs/broken.yaml", super::spec("broken", "9"));
    let pushed = Timestamp::now();
    applied(&watched, &watched.push());
    watched.ends("alpha", "Succeeded", pushed);
    assert_eq!(watched.results("alpha"), [result(1, 1, "succeeded"), result(1, 1, "succeeded")]);
    watched.ends("broken", "Failed", pushed);
    assert_eq!(watched.results("broken"), [result(9, 1, "failed")]);

    let of_git = |benchmark: &str| -> Vec<String> {
        let all =
            watched.labeled(&format!("kubebench.dev/benchmark={benchmark},app.kubernetes.io/managed-by=kubebench"));
        all.into_iter().filter(|object| !object.starts_with("pod/")).collect()
    };
    let run = &watched.cycle.workflows(super::TARGET)["alpha"];
    let (config, _) = run.rsplit_once('-').unwrap();
    assert!(!old.contains(&format!("workflow.argoproj.io/{run}")) && !old.contains(&format!("configmap/{config}")));
    let expected = [
        format!("configmap/{config}"),
        "configmap/alpha-rules".to_owned(),
        "persistentvolumeclaim/alpha-results".to_owned(),
        format!("workflow.argoproj.io/{run}"),
    ];
    assert_eq!(of_git("alpha"), expected);
    eventually("all of a removed benchmark but its claim goes", || {
        let left = watched.labeled("kubebench.dev/benchmark=zeta");
        left.into_iter().eq(["persistentvolumeclaim/zeta-results".to_owned()]).then_some(())
    });
    assert_eq!(watched.results("zeta"), [result(1, 1, "succeeded")]);

    health_is_that_of_the_runs(&watched);
    what_was_merged_gives_no_rights(&watched);
}

/// Files that somebody added to what `compile` wrote: Flux applies them as an account that may not give what they give.
fn what_was_merged_gives_no_rights(watched: &Watched) {
    let namespace = watched.namespace();
    let reads = r#"[{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]"#;
    let rbac = "apiVersion: rbac.authorization.k8s.io/v1";
    for (file, text, words) in [
        (
            "cluster.yaml",
            format!(
                "{rbac}\nkind: ClusterRoleBinding\nmetadata: {{name: {namespace}, labels: {{kubebench.dev/benchmark: x}}}}\nroleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}}\nsubjects: [{{kind: ServiceAccount, name: default, namespace: {namespace}}}]\n"
            ),
            "clusterrolebindings.rbac.authorization.k8s.io",
        ),
        (
            "role.yaml",
            format!(
                "{rbac}\nkind: Role\nmetadata: {{name: x, namespace: {namespace}, labels: {{kubebench.dev/benchmark: x}}}}\nrules: {reads}\n"
            ),
            "attempting to grant RBAC permissions not currently held",
        ),
        (
            "secret.yaml",
            format!(
                "apiVersion: v1\nkind: Secret\nmetadata: {{name: x, namespace: {namespace}, labels: {{kubebench.dev/benchmark: x}}}}\n"
            ),
            "cannot patch resource \"secrets\"",
        ),
    ] {
        let path = format!("generated/cpu/alpha/{file}");
        watched.cycle.project.folder.write(&path, text);
        watched.cycle.push();
        let said = || {
            let object = watched.cluster().json(["-n", namespace, "get", BENCHMARKS, "-o", "json"]);
            let conditions = object["status"]["conditions"].as_array().unwrap().clone();
            conditions.into_iter().find(|condition| condition["type"] == "Ready").unwrap()
        };
        eventually(&format!("Flux may not apply {file}"), || {
            let ready = said();
            (ready["status"] == "False" && ready["message"].as_str().is_some_and(|text| text.contains(words)))
                .then_some(())
        });
        std::fs::remove_file(watched.cycle.project.place(&path)).unwrap();
    }
}

/// Each object belongs to one of the two Kustomizations.
fn nothing_is_applied_by_both(watched: &Watched) {
    let entries = |kustomization: &str| -> Vec<String> {
        let object = watched.cluster().json(["-n", watched.namespace(), "get", kustomization, "-o", "json"]);
        let entries = object.pointer("/status/inventory/entries").and_then(Value::as_array).unwrap().iter();
        entries.map(|entry| entry["id"].as_str().unwrap().to_owned()).collect()
    };
    let (shared, of_benchmarks) = (entries(SHARED), entries(BENCHMARKS));
    assert!(shared.iter().all(|entry| !of_benchmarks.contains(entry)), "{shared:?} {of_benchmarks:?}");
    assert_eq!(shared.len() + of_benchmarks.len(), watched.cycle.project.objects().len());
}

/// Waits until both Kustomizations have applied a commit.
fn applied(watched: &Watched, commit: &str) {
    for kustomization in [SHARED, BENCHMARKS] {
        let condition = format!("jsonpath={{.status.lastAppliedRevision}}=main@sha1:{commit}");
        watched.wait(watched.namespace(), kustomization, &condition);
    }
}

fn reconcile(watched: &Watched, round: u32) {
    let request = format!("reconcile.fluxcd.io/requestedAt=round-{round}");
    for object in [SOURCE, SHARED, BENCHMARKS] {
        watched.cluster().say(["-n", watched.namespace(), "annotate", "--overwrite", object, &request]);
        let handled = format!("jsonpath={{.status.lastHandledReconcileAt}}=round-{round}");
        watched.wait(watched.namespace(), object, &handled);
    }
}

/// The health checks of docs/how-to/deploy-with-flux.md, on a Workflow that succeeded and on one that did not.
fn health_is_that_of_the_runs(watched: &Watched) {
    let page =
        std::fs::read_to_string(crate::support::project::repository().join("docs/how-to/deploy-with-flux.md")).unwrap();
    let block = page.split("```yaml\n").find(|block| block.contains("healthCheckExprs:")).unwrap();
    let shown = block.split("```").next().unwrap();
    let shown: Vec<Value> = serde_yaml::from_multiple(shown).unwrap();
    let spec = &shown.iter().find(|object| object["spec"]["healthChecks"].is_array()).unwrap()["spec"];
    for (benchmark, ready) in [("alpha", "True"), ("broken", "False")] {
        let mut checks = spec["healthChecks"].clone();
        checks[0]["name"] = json!(watched.cycle.workflows(super::TARGET)[benchmark]);
        checks[0]["namespace"] = json!(watched.namespace());
        let patch = json!({"spec": {"healthChecks": checks, "healthCheckExprs": spec["healthCheckExprs"]}});
        let patch = patch.to_string();
        watched.cluster().say(["-n", watched.namespace(), "patch", BENCHMARKS, "--type=merge", "-p", &patch]);
        let object = || watched.cluster().json(["-n", watched.namespace(), "get", BENCHMARKS, "-o", "json"]);
        eventually("the Kustomization is as the Workflow", || {
            let object = object();
            let conditions = object["status"]["conditions"].as_array().unwrap();
            let is = conditions.iter().find(|condition| condition["type"] == "Ready").unwrap();
            let is_current = is["observedGeneration"] == object["metadata"]["generation"];
            (is_current && is["status"] == ready).then_some(())
        });
    }
}
