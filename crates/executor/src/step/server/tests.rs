use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::super::attempt::Created;
use super::super::tests::session;
use super::kept::Kept;
use kubebench_testing::server::{Act, Server, object, status};

/// A cluster with objects of the Workflow `w`, each of the server whose name precedes it, and of which `stuck` stays.
fn cluster(there: &[(&str, &str)], stuck: &'static str) -> (Server, Arc<Mutex<BTreeSet<String>>>) {
    let all: BTreeSet<String> = there.iter().map(|(server, place)| format!("{server} {place}")).collect();
    let left = Arc::new(Mutex::new(all));
    let known = Arc::clone(&left);
    let server = Server::new(move |request, _| -> Vec<Act> {
        let (method, target) = request.split_once(' ').unwrap();
        let path = target.split('?').next().unwrap();
        let mut left = known.lock().unwrap();
        let found = left.iter().find(|one| path.ends_with(one.split_once(' ').unwrap().1)).cloned();
        let Some(found) = found else { return status(404, "NotFound", "not found") };
        let (run, place) = found.split_once(' ').unwrap();
        if method == "DELETE" {
            if place == stuck {
                return status(403, "Forbidden", "a webhook denied the request");
            }
            left.remove(&found);
        }
        let (version, kind) = match place.split('/').nth(1).unwrap() {
            "services" => ("v1", "Service"),
            "deployments" => ("apps/v1", "Deployment"),
            _ => ("v1", "ConfigMap"),
        };
        object(
            &json!({"apiVersion": version, "kind": kind, "metadata": {"name": place.rsplit('/').next(), "uid": "u", "labels": {"kubebench.dev/run": run},
            "ownerReferences": [{"kind": "Workflow", "name": "x", "uid": "w"}]}}),
        )
    });
    (server, left)
}

fn object_of(api_version: &str, kind: &str, name: &str) -> Created {
    Created::of(&json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}}))
}

/// Also what a step that was killed has created and did not say.
#[test]
fn all_that_is_of_a_server_goes_but_what_is_of_another() {
    let names = ["matmul-00000001", "other-00000002", "matmul-00000003", "matmul-00000004"];
    let [first, second, needed, foreign] = names;
    let place = |kind: &str, name: &str| format!("/{kind}/{name}");
    let mut there: Vec<(&str, String)> = names
        .into_iter()
        .flat_map(|name| [(name, place("services", name)), (name, place("deployments", name))])
        .collect();
    // A user's own of a name that a manifest keeps.
    there.push(("", place("configmaps", "shared")));
    let there: Vec<(&str, &str)> = there.iter().map(|(server, place)| (*server, place.as_str())).collect();
    let (server, left) = cluster(&there, "/services/matmul-00000001");
    let volume = tempfile::tempdir().unwrap();
    let mut session = session(crate::step::tests::cluster(&server), volume.path());
    for name in names {
        let objects = vec![
            object_of("v1", "ConfigMap", "shared"),
            object_of("v1", "Service", name),
            object_of("apps/v1", "Deployment", name),
        ];
        let workflow = if name == foreign { "another" } else { "w" };
        session.keep_server(name, &Kept::begin(workflow, objects)).unwrap();
    }
    assert_eq!(session.stop_other_servers(Some(needed)), 1, "one of {first} stays");
    let still: Vec<String> = left.lock().unwrap().iter().cloned().collect();
    let expected = [
        " /configmaps/shared",
        "matmul-00000001 /services/matmul-00000001",
        "matmul-00000003 /deployments/matmul-00000003",
        "matmul-00000003 /services/matmul-00000003",
        "matmul-00000004 /deployments/matmul-00000004",
        "matmul-00000004 /services/matmul-00000004",
    ];
    assert_eq!(still, expected);
    assert!(session.kept(first).is_some(), "it is tried again");
    assert!(session.kept(second).is_none());
    assert!(session.kept(needed).is_some());
    assert_eq!(session.stop_other_servers(None), 1);
    assert_eq!(left.lock().unwrap().iter().filter(|one| one.starts_with(needed)).count(), 0);
}
