//! What `doctor` asks a cluster, each question once.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::clean;
use kubebench_cluster::{Action, Cluster, Fault};
use kubebench_executor::doctor::{Fact, Facts, Right, Who};

/// The cluster, each question asked once.
pub struct ClusterFacts<'a> {
    cluster: &'a Cluster,
    answers: RefCell<BTreeMap<String, Fact>>,
    rights: RefCell<BTreeMap<String, Option<bool>>>,
    /// Why nothing can be asked any more.
    fault: RefCell<Option<Fault>>,
}

impl<'a> ClusterFacts<'a> {
    /// Asks nothing yet.
    pub fn of(cluster: &'a Cluster) -> Self {
        Self { cluster, answers: RefCell::default(), rights: RefCell::default(), fault: RefCell::default() }
    }

    /// Returns why nothing can be asked any more, if that is so.
    pub fn into_fault(self) -> Option<Fault> {
        self.fault.into_inner()
    }

    fn ask(&self, path: &str) -> Fact {
        if self.fault.borrow().is_some() {
            return Fact::Absent;
        }
        match self.cluster.read(path) {
            Ok(Some(found)) => Fact::There(without_values(found)),
            Ok(None) => Fact::Absent,
            Err(Fault::Refused(refusal)) => Fact::Forbidden(clean(&refusal.message)),
            Err(fault) => {
                *self.fault.borrow_mut() = Some(fault);
                Fact::Absent
            }
        }
    }

    fn ask_right(&self, who: Who<'_>, right: &Right, namespace: &str) -> Option<bool> {
        let Right { group, resource, verb } = right;
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        match who {
            Who::Me => self.cluster.may(Action { namespace: Some(namespace), verb, group, resource, subresource }).ok(),
            Who::Account(account) => {
                let review = json!({
                    "apiVersion": "authorization.k8s.io/v1",
                    "kind": "LocalSubjectAccessReview",
                    "metadata": { "namespace": namespace },
                    "spec": {
                        "groups": ["system:serviceaccounts", format!("system:serviceaccounts:{namespace}"), "system:authenticated"],
                        "resourceAttributes": {
                            "group": group, "namespace": namespace, "resource": resource, "subresource": subresource, "verb": verb,
                        },
                        "user": format!("system:serviceaccount:{namespace}:{account}"),
                    },
                });
                let path = format!("/apis/authorization.k8s.io/v1/namespaces/{namespace}/localsubjectaccessreviews");
                let answer = self.cluster.post(&path, &review).ok()?;
                answer.pointer("/status/allowed").and_then(Json::as_bool)
            }
        }
    }
}

impl Facts for ClusterFacts<'_> {
    fn read(&self, path: &str) -> Fact {
        if let Some(known) = self.answers.borrow().get(path) {
            return known.clone();
        }
        let fact = self.ask(path);
        self.answers.borrow_mut().insert(path.to_owned(), fact.clone());
        fact
    }

    fn allows(&self, who: Who<'_>, right: &Right, namespace: &str) -> Option<bool> {
        let key = format!("{who:?} {right:?}");
        if let Some(known) = self.rights.borrow().get(&key) {
            return *known;
        }
        let answer = self.ask_right(who, right, namespace);
        self.rights.borrow_mut().insert(key, answer);
        answer
    }
}

/// Takes the values out of a Secret: only the names of its keys are needed here.
fn without_values(mut object: Json) -> Json {
    if object.get("kind").and_then(Json::as_str) == Some("Secret") {
        for field in ["data", "stringData"] {
            for value in
                object.get_mut(field).and_then(Json::as_object_mut).into_iter().flat_map(serde_json::Map::values_mut)
            {
                *value = Json::Null;
            }
        }
        if let Some(metadata) = object.get_mut("metadata").and_then(Json::as_object_mut) {
            metadata.remove("annotations");
        }
    }
    object
}
