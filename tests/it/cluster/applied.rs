//! What is in the cluster already may be applied again at any time, and nothing of it changes: what Argo CD and Flux do all
//! day long.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::namespaces::Project;
use super::{Cluster, WAYS, cluster};
use crate::support::project::{Emitted, assert_yes};

/// What would start pods of images that no registry has.
const RUN: [&str; 2] = ["Workflow", "CronWorkflow"];

#[test]
fn a_second_apply_changes_nothing() {
    let Some(cluster) = cluster("a_second_apply_changes_nothing") else { return };
    for way in WAYS {
        let project = Project::mixed(cluster);
        let objects = project.objects();
        let (running, resting): (Vec<_>, Vec<_>) =
            objects.iter().partition(|emitted| RUN.contains(&emitted.object["kind"].as_str().unwrap()));
        assert!(running.len() > 5 && resting.len() > 20);
        let resting = project.files(resting);
        apply(cluster, way, &resting);
        bind(cluster, &project);
        let before = state(cluster, &resting);
        same(cluster, way, &resting);
        apply(cluster, way, &resting);
        unchanged(cluster, way, &resting, &before);
        // With the template and the claims there.
        let dry = ["--dry-run=server"].into_iter().chain(way.iter().copied()).collect::<Vec<_>>();
        apply(cluster, &dry, &project.files(running));
    }
}

/// The hazard of GitOps that costs most: a finished benchmark that starts again.
#[test]
fn a_finished_workflow_stays_as_it_is() {
    let Some(cluster) = cluster("a_finished_workflow_stays_as_it_is") else { return };
    for way in WAYS {
        let project = Project::mixed(cluster);
        let objects = project.objects();
        let workflows: Vec<&Emitted> = objects.iter().filter(|emitted| emitted.object["kind"] == "Workflow").collect();
        let files = project.files(workflows);
        // There is no template in the namespace, so that each ends at once, without a pod.
        apply(cluster, way, &files);
        let end = ["wait", "--for=jsonpath={.status.phase}=Error", "--timeout=60s"].map(str::to_owned);
        cluster.say(end.iter().chain(&files));
        let before = state(cluster, &files);
        same(cluster, way, &files);
        apply(cluster, way, &files);
        apply(cluster, way, &files);
        unchanged(cluster, way, &files, &before);
    }
}

fn apply(cluster: &Cluster, way: &[&str], files: &[String]) {
    let applied = ["apply", "--warnings-as-errors"].iter().chain(way).map(|word| (*word).to_owned());
    cluster.say(applied.chain(files.iter().cloned()));
}

/// `kubectl diff` ends with 0 and shows nothing.
fn same(cluster: &Cluster, way: &[&str], files: &[String]) {
    let diff = ["diff"].iter().chain(way).map(|word| (*word).to_owned());
    let shown = cluster.kubectl(diff.chain(files.iter().cloned()));
    assert_yes(&shown);
    assert_eq!(String::from_utf8_lossy(&shown.stdout), "");
}

/// No object was written since.
fn unchanged(cluster: &Cluster, way: &[&str], files: &[String], before: &BTreeMap<String, String>) {
    let after = state(cluster, files);
    let written: Vec<_> = after.iter().filter(|(object, version)| before.get(*object) != Some(*version)).collect();
    assert!(written.is_empty(), "{way:?} changed {written:#?}");
}

/// Each object's uid and version, which every write raises.
///
/// Of a claim without a volume its whole text: the API server writes it again at the second server-side apply, with
/// nothing in it changed.
fn state(cluster: &Cluster, files: &[String]) -> BTreeMap<String, String> {
    let list = cluster.json(["get", "-o", "json", "--show-managed-fields"].map(str::to_owned).iter().chain(files));
    let items = list["items"].as_array().unwrap();
    assert_eq!(items.len() * 2, files.len());
    let text = |object: &Value, key: &str| object["metadata"][key].as_str().unwrap().to_owned();
    let state_of = |object: &Value| {
        if object["kind"] == "PersistentVolumeClaim" && object["status"]["phase"] != "Bound" {
            let mut object = object.clone();
            object["metadata"].as_object_mut().unwrap().remove("resourceVersion");
            return object.to_string();
        }
        format!("{} {}", text(object, "uid"), text(object, "resourceVersion"))
    };
    let name_of = |object: &Value| {
        let kind = object["kind"].as_str().unwrap();
        format!("{kind} {}/{}", text(object, "namespace"), text(object, "name"))
    };
    items.iter().map(|object| (name_of(object), state_of(object))).collect()
}

/// Waits for the claims that get a volume without a pod: binding writes into them.
fn bind(cluster: &Cluster, project: &Project) {
    let classes = cluster.json(["get", "storageclasses", "-o", "json"]);
    let immediate: BTreeSet<&str> = classes["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|class| class["volumeBindingMode"] == "Immediate")
        .map(|class| class["metadata"]["name"].as_str().unwrap())
        .collect();
    for namespace in project.namespaces.values() {
        let claims = cluster.json(["get", "persistentvolumeclaims", "-n", namespace, "-o", "json"]);
        for claim in claims["items"].as_array().unwrap() {
            if claim["spec"]["storageClassName"].as_str().is_some_and(|class| immediate.contains(class)) {
                let name = format!("persistentvolumeclaim/{}", claim["metadata"]["name"].as_str().unwrap());
                let bound = "--for=jsonpath={.status.phase}=Bound";
                cluster.say(["wait", bound, "--timeout=60s", "-n", namespace, &name]);
            }
        }
    }
}
