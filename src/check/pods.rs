//! Where the user's patches reach the pods of a role; the rules about pods look there.

use crate::model::{Role, Workload};
use crate::yaml::Node;

/// The patches of one role, in the order in which they apply.
pub(super) struct Patches<'a> {
    /// Over the pod spec.
    pub(super) pod: Vec<&'a Node>,
    /// Over the main container.
    pub(super) main: Vec<&'a Node>,
    /// Over any container, or further containers as a whole; the main one included.
    pub(super) containers: Vec<&'a Node>,
}

/// Returns the patches that reach the pods of `role`, whether they were written for the pod or for the whole object.
pub(super) fn patches<'a>(workload: &'a Workload, role: &'a Role) -> Patches<'a> {
    let of_object = workload.patch.as_ref().and_then(|patch| {
        let template = role.template_at.iter().try_fold(patch.node.get("spec")?, |node, step| node.get(step))?;
        template.get("spec")
    });
    let pod: Vec<&Node> = role.pod_patches.iter().map(|patch| &patch.node).chain(of_object).collect();
    let listed = |list: &'static str| pod.iter().filter_map(move |pod| pod.get(list)).flat_map(Node::items);
    let is_main = |container: &&Node| container.get("name").and_then(Node::as_text) == Some(role.container_name);
    let own = || role.container_patches.iter().map(|patch| &patch.node);
    let main = own().chain(listed("containers").filter(is_main)).collect();
    let containers = own().chain(listed("containers")).chain(listed("initContainers")).collect();
    Patches { pod, main, containers }
}
