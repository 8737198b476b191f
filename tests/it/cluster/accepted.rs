//! Every object is taken by the API server, its defaults, its schemas and the operators' webhooks, without a warning.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::namespaces::Project;
use super::{Cluster, PATIENCE, WAYS, cluster, definitions};
use crate::support::judges::skip;
use crate::support::project::{assert_yes, repository};

/// A cluster has `MPIJob` in one of two versions, by the operator that it runs; the other one is not judged.
const EITHER: [&str; 2] = ["kubeflow.org/v1 MPIJob", "kubeflow.org/v2beta1 MPIJob"];

#[test]
fn every_object_of_the_tree_is_taken() {
    let Some(cluster) = cluster("every_object_of_the_tree_is_taken") else { return };
    for project in [Project::own(cluster), Project::mixed(cluster), Project::catalogue(cluster)] {
        let objects = project.objects();
        assert!(objects.len() > 40, "{}", objects.len());
        for way in WAYS {
            let arguments = ["apply", "--dry-run=server", "--warnings-as-errors", "-o", "name", "-R"];
            let taken = cluster
                .say(arguments.into_iter().chain(way.iter().copied()).chain(["-f", &project.place("generated")]));
            assert_eq!(taken.lines().count(), objects.len(), "{way:?}: {taken}");
        }
    }
}

/// Jobs are made by the steps; here by what `render` prints, which is the same but for names.
#[test]
fn every_job_is_taken() {
    const NAME: &str = "every_job_is_taken";
    let Some(cluster) = cluster(NAME) else { return };
    for project in [Project::own(cluster), Project::mixed(cluster), Project::catalogue(cluster)] {
        let printed = project.folder.run(&["render"]);
        assert_yes(&printed);
        let printed: Vec<Value> = serde_yaml::from_multiple(std::str::from_utf8(&printed.stdout).unwrap()).unwrap();
        let absent = absent(cluster, &printed);
        define(cluster, &absent);
        let absent = self::absent(cluster, &printed);
        let mpi = EITHER.iter().filter(|kind| absent.contains(**kind)).count();
        assert!(mpi < 2, "the cluster has no MPIJob; `tests/cluster/README.md` says what a cluster must have");
        let (left_out, judged): (Vec<_>, Vec<_>) =
            printed.into_iter().partition(|object| absent.contains(kind(object).as_str()));
        for object in &left_out {
            skip(NAME, &format!("a definition of {}", kind(object)), "the cluster does not serve it");
        }
        assert!(judged.len() > 10, "{}", judged.len());
        runtimes(cluster, &project, &judged);
        let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": judged});
        project.folder.write("jobs.json", list.to_string());
        let taken = cluster.say([
            "apply",
            "--dry-run=server",
            "--warnings-as-errors",
            "-o",
            "name",
            "-f",
            &project.place("jobs.json"),
        ]);
        assert_eq!(taken.lines().count(), judged.len(), "{taken}");
    }
}

/// A judge that takes everything would pass the tests above.
#[test]
fn what_is_wrong_is_refused() {
    let Some(cluster) = cluster("what_is_wrong_is_refused") else { return };
    let project = Project::mixed(cluster);
    let namespace = &project.namespaces["old"];
    let webhook = repository().join("tests/cluster/data/rejected.yaml");
    let refused = cluster.kubectl(["apply", "--dry-run=server", "-n", namespace, "-f", webhook.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("validator.tfjob.training-operator.kubeflow.org"), "{said}");
    let mut claim =
        project.objects().into_iter().find(|emitted| emitted.path.ends_with("old/fio/results.yaml")).unwrap();
    claim.object["spec"]["acessModes"] = serde_json::json!(["ReadWriteOnce"]);
    project.folder.write("claim.json", claim.object.to_string());
    for way in WAYS {
        let arguments = ["apply", "--dry-run=server", "-f", &project.place("claim.json")];
        let refused = cluster.kubectl(arguments.into_iter().chain(way.iter().copied()));
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains("acessModes"), "{said}");
    }
}

fn kind(object: &Value) -> String {
    format!("{} {}", object["apiVersion"].as_str().unwrap(), object["kind"].as_str().unwrap())
}

/// Trainer judges a TrainJob by its runtime, which steps create before it: here they are there for as long as the namespace is.
fn runtimes(cluster: &Cluster, project: &Project, objects: &[Value]) {
    let of = |wanted: &str| -> Vec<&Value> { objects.iter().filter(|object| object["kind"] == wanted).collect() };
    let write = |objects: &[&Value]| {
        project
            .folder
            .write("part.json", serde_json::json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string());
        project.place("part.json")
    };
    let (runtimes, jobs) = (of("TrainingRuntime"), of("TrainJob"));
    if runtimes.is_empty() {
        return;
    }
    cluster.say(["apply", "-f", &write(&runtimes)]);
    let jobs = write(&jobs);
    let until = Instant::now() + PATIENCE;
    // The webhook sees what was created before it a little later.
    while !cluster.kubectl(["apply", "--dry-run=server", "-f", &jobs]).status.success() && Instant::now() < until {
        thread::sleep(Duration::from_millis(500));
    }
}

/// The custom kinds of `objects` that the cluster does not serve.
fn absent(cluster: &Cluster, objects: &[Value]) -> BTreeSet<String> {
    let served = served(cluster);
    let is_custom = |kind: &String| kind.split('/').next().is_some_and(|group| group.contains('.'));
    objects.iter().map(kind).filter(|kind| is_custom(kind) && !served.contains(kind)).collect()
}

/// Lets the API server validate kinds whose controller does not run, by their published definitions.
fn define(cluster: &Cluster, kinds: &BTreeSet<String>) {
    // Two operators define one kind: what runs here decides which.
    for name in kinds.iter().filter(|name| !EITHER.contains(&name.as_str())) {
        let (api_version, kind) = name.split_once(' ').unwrap();
        definitions::as_published(cluster, api_version, kind);
    }
}

/// The custom kinds that the cluster serves.
fn served(cluster: &Cluster) -> BTreeSet<String> {
    let definitions = cluster.json(["get", "customresourcedefinitions", "-o", "json"]);
    let mut served = BTreeSet::new();
    for definition in definitions["items"].as_array().unwrap() {
        let spec = &definition["spec"];
        let (group, kind) = (spec["group"].as_str().unwrap(), spec["names"]["kind"].as_str().unwrap());
        for version in spec["versions"].as_array().unwrap().iter().filter(|version| version["served"] == true) {
            served.insert(format!("{group}/{} {kind}", version["name"].as_str().unwrap()));
        }
    }
    served
}
