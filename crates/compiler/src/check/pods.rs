//! Where the user's patches reach the pods of a role; the rules about pods look there.

use std::collections::BTreeMap;

use crate::model::{Role, Workload};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::yaml::Node;

/// The patches of one role, in the order in which they apply.
pub(super) struct Patches<'a> {
    /// Over the pod spec.
    pub(super) pod: Vec<&'a Node>,
    /// Over the main container.
    pub(super) main: Vec<&'a Node>,
    /// Further containers, which patches bring along.
    pub(super) others: Vec<&'a Node>,
}

impl<'a> Patches<'a> {
    /// Returns the further containers by name: what the patches say of each, in the order in which they apply.
    pub(super) fn added(&self) -> BTreeMap<&'a str, Vec<&'a Node>> {
        let mut added = BTreeMap::<&str, Vec<&Node>>::new();
        for container in &self.others {
            let Some(name) = container.get("name").and_then(Node::as_text) else { continue };
            match container.get("$patch").and_then(Node::as_text) {
                Some("delete") => drop(added.remove(name)),
                _ => added.entry(name).or_default().push(container),
            }
        }
        added
    }
}

/// Returns the patches that reach the pods of `role`, whether they were written for the pod, its container or the object.
pub(super) fn patches<'a>(workload: &'a Workload, role: &'a Role) -> Patches<'a> {
    let pod = workload.patches_of_pod(role);
    let (of_object, of_role) = (pod.get(role.pod_patches.len()..), pod.get(..role.pod_patches.len()));
    let is_main = |container: &&Node| container.get("name").and_then(Node::as_text) == Some(&*role.container_name);
    let main = listed("containers", of_role.expected("the patches of the role, then those of the object"))
        .filter(is_main)
        .chain(&role.container_patches)
        .chain(
            listed("containers", of_object.expected("the patches of the role, then those of the object"))
                .filter(is_main),
        )
        .collect();
    let others =
        listed("containers", &pod).filter(|container| !is_main(container)).chain(listed("initContainers", &pod));
    let others = others.collect();
    Patches { pod, main, others }
}

/// Returns the elements of the list `list` of every patch.
fn listed<'a>(list: &'static str, pods: &[&'a Node]) -> impl Iterator<Item = &'a Node> {
    let items: Vec<&Node> = pods.iter().filter_map(|pod| pod.get(list)).flat_map(Node::items).collect();
    items.into_iter()
}
