//! Volumes, and what mounts them.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::refused;
use super::traced::Traced;
use crate::model::Workload;
use kubebench_syntax::diag::{Diagnostics, what_there_is};

/// Volumes that the operator adds to the pods of a kind.
const OF_OPERATORS: &[(&str, &[&str])] = &[("mpiJob", &["ssh-auth", "mpi-job-config", "mpi-job-kubectl"])];
/// What the API server asks of a volume's source.
const REQUIRED: &[(&str, &str)] = &[
    ("persistentVolumeClaim", "claimName"),
    ("secret", "secretName"),
    ("configMap", "name"),
    ("hostPath", "path"),
    ("nfs", "server"),
    ("nfs", "path"),
    ("csi", "driver"),
];

/// Reports volumes that Kubernetes refuses, and returns the names of all that can be mounted.
pub(super) fn check<'a>(pod: &Traced<'a>, workload: &Workload, diagnostics: &mut Diagnostics) -> BTreeSet<&'a str> {
    let volumes = pod.elements("volumes", "name");
    for volume in &volumes {
        check_volume(volume, diagnostics);
    }
    let of_operator = OF_OPERATORS.iter().filter(|(kind, _)| *kind == workload.key).flat_map(|(_, names)| *names);
    volumes.iter().filter_map(|volume| volume.text("name")).chain(of_operator.copied()).collect()
}

fn check_volume(volume: &Traced<'_>, diagnostics: &mut Diagnostics) {
    let Some(name) = volume.text("name") else {
        let fault = refused(volume.span(), "the volume has no `name`");
        return diagnostics.push(fault.help("write `name`, by which containers mount it"));
    };
    let sources = volume.value.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    let sources: Vec<&str> = sources.filter(|key| *key != "name").collect();
    if let [first, .., last] = sources.as_slice() {
        let message = format!("the volume `{name}` has two sources, `{first}` and `{last}`");
        diagnostics.push(refused(volume.span(), message).help("keep one; a second volume needs another name"));
    }
    for (source, field) in REQUIRED {
        let part = volume.field(source);
        if !part.is_absent() && part.text(field).is_none() {
            let message = format!("the `{source}` of the volume `{name}` has no `{field}`");
            diagnostics.push(refused(part.span(), message).help(format!("write `{source}: {{{field}: …}}`")));
        }
    }
}

/// Reports what `container` mounts and cannot.
pub(super) fn check_mounts(container: &Traced<'_>, volumes: &BTreeSet<&str>, diagnostics: &mut Diagnostics) {
    for (list, key) in [("volumeMounts", "mountPath"), ("volumeDevices", "devicePath")] {
        for mount in container.elements(list, key) {
            let missing = [key, "name"].into_iter().find(|field| mount.text(field).is_none());
            if let Some(field) = missing {
                let fault = refused(mount.span(), format!("the element of `{list}` has no `{field}`"));
                let help = if field == key { "the path in the container" } else { "the name of the volume" };
                diagnostics.push(fault.help(format!("write `{field}`, {help}")));
                continue;
            }
            let Some(name) = mount.text("name").filter(|name| !volumes.contains(name)) else { continue };
            let at = mount.value.get(key).and_then(Json::as_str).unwrap_or_default();
            let span = mount.field("name").span();
            let fault = refused(span, format!("there is no volume `{name}` for the mount at `{at}`"));
            let lead = "add it under `volumes` of the role's `pod`; the volumes are";
            diagnostics.push(fault.help(if volumes.is_empty() {
                "add it under `volumes` of the role's `pod`".to_owned()
            } else {
                what_there_is(name, volumes.iter().copied(), lead)
            }));
        }
    }
}
