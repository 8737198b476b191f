//! Whole objects that their authors wrote for the API server.

use k8s_openapi::api::apps::v1::StatefulSetSpec;
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaimSpec, ServiceSpec};
use k8s_openapi::api::networking::v1::{IngressSpec, NetworkPolicySpec};

use super::{METADATA, Meaning, Node, POD_SPEC, Reader, TEXT, Type, fields, typed};
use kubebench_syntax::diag::Diagnostics;

/// What is read of every object; a `status` is not the author's.
const OF_ALL: [(&str, Type); 4] =
    [("apiVersion", TEXT), ("kind", TEXT), ("metadata", METADATA), ("status", Type::Known(|_, _| {}))];

/// Reports what in `object`, which is of this kind, does not match the API, and returns true. For an unknown kind, only the
/// metadata is read. `release` is that of the kind's controller, as in [`Type::Spec`].
pub(crate) fn check_object(
    object: &Node,
    (api_version, kind): (&str, &str),
    release: &str,
    diagnostics: &mut Diagnostics,
) -> bool {
    let name = format!("this {kind}");
    let mut reader = Reader::new(&name, Meaning::Object, &[], diagnostics);
    let is_known = read(&mut reader, object, (api_version, kind), release);
    if !is_known {
        object.get("metadata").into_iter().for_each(|metadata| reader.read(metadata, METADATA));
    }
    is_known
}

/// Reads an object that is part of another one.
pub(super) fn nested<'a>(reader: &mut Reader<'a>, object: &'a Node) {
    let text = |field: &str| object.get(field).and_then(Node::as_text);
    if let (Some(api_version), Some(kind)) = (text("apiVersion"), text("kind")) {
        read(reader, object, (api_version, kind), "");
    }
}

/// Reads an object, and returns whether its kind is known.
fn read<'a>(reader: &mut Reader<'a>, object: &'a Node, (api_version, kind): (&str, &str), release: &str) -> bool {
    if (api_version, kind) == ("v1", "ConfigMap") {
        typed::read::<ConfigMap>(reader, object);
        return true;
    }
    let spec = built_in(api_version, kind).or_else(|| fields::find(&format!("{api_version} {kind}{release}")));
    if let Some(spec) = spec {
        reader.object(object, &[OF_ALL.as_slice(), &[("spec", spec)]].concat());
    }
    spec.is_some()
}

/// Returns the `spec` of a built-in kind of Kubernetes that is created in addition to the workload.
fn built_in(api_version: &str, kind: &str) -> Option<Type> {
    Some(match (api_version, kind) {
        ("apps/v1", "StatefulSet") => Type::Known(typed::read::<StatefulSetSpec>),
        ("networking.k8s.io/v1", "Ingress") => Type::Known(typed::read::<IngressSpec>),
        ("networking.k8s.io/v1", "NetworkPolicy") => Type::Known(typed::read::<NetworkPolicySpec>),
        ("v1", "PersistentVolumeClaim") => Type::Known(typed::read::<PersistentVolumeClaimSpec>),
        ("v1", "Pod") => POD_SPEC,
        ("v1", "Service") => Type::Known(typed::read::<ServiceSpec>),
        _ => return None,
    })
}
