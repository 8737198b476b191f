//! The fields of the kinds that Kubebench creates, as `fields.json` has them.
//!
//! There, a type is
//! - the name of one that this program knows: `"string"`, `"PodSpec"`
//! - `"int32 1..65535"`, a whole number from the first to the last; either may be absent
//! - `"= All | Any"`, one of these words
//! - `"[T]"` or `[T]`, a list; `"{T}"`, a mapping from names
//! - `{"field": T}`, a mapping with these fields
//! - `{"$role": T}`, a mapping whose keys are the roles of the workload
//! - `[{"$role": "name", …}]`, a list of roles, distinguished by that field
//! - `{"$beside": "PodSpec", …}`, the fields of that type and these
//! - `{"$deprecated": T}`, what existing objects may still have, and no patch
//! - `"any"`, `"[any]"` or `"{any}"`, what only its controller validates; `"object"`, an object of another kind
//!
//! `tests/it/compile/fields.rs` writes the file from the CRDs.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use k8s_openapi::api::apps::v1::DeploymentSpec;
use k8s_openapi::api::autoscaling::v2::MetricSpec;
use k8s_openapi::api::batch::v1::JobTemplateSpec;
use k8s_openapi::api::core::v1::{
    Affinity, EnvFromSource, EnvVar, EnvVarSource, Lifecycle, PersistentVolumeClaim, PersistentVolumeClaimSpec,
    PodDNSConfig, PodSecurityContext, PodTemplateSpec, ResourceRequirements, SecretKeySelector, SecurityContext,
    Service, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde_json::Value as Json;

use super::{
    CONTAINER, EGRESS_RULE, INGRESS_RULE, JOB_SPEC, METADATA, POD_SPEC, QUANTITIES, Quantity, TEXT, TOLERATION, Type,
    VOLUME, object, typed,
};
use kubebench_syntax::invariant::{Invariant as _, broken};

static SPECS: LazyLock<BTreeMap<String, Type>> = LazyLock::new(|| {
    let written: BTreeMap<String, Json> =
        serde_json::from_str(include_str!("fields.json")).expected("a mapping of kinds in `fields.json`");
    written.into_iter().map(|(kind, spec)| (kind, read(spec))).collect()
});

/// Returns the `spec` of a kind.
pub(super) fn spec(kind: &str) -> Type {
    find(kind).expected("the fields of every kind that takes patches")
}

/// Returns the `spec` of a kind, if it is known.
pub(super) fn find(kind: &str) -> Option<Type> {
    SPECS.get(kind).copied()
}

fn read(written: Json) -> Type {
    match written {
        Json::String(name) => named(&name),
        Json::Array(mut elements) => {
            let mut element = elements.pop().expected("the type of a list's elements");
            match element.as_object_mut().and_then(|fields| fields.remove("$role")) {
                Some(Json::String(key)) => Type::RoleList(key.leak(), kept(read(element))),
                _ => Type::List(kept(read(element))),
            }
        }
        Json::Object(mut fields) => {
            if let Some(role) = fields.remove("$role") {
                return Type::Roles(kept(read(role)));
            }
            if let Some(of) = fields.remove("$deprecated") {
                return Type::Deprecated(kept(read(of)));
            }
            let beside = fields.remove("$beside");
            let fields = fields.into_iter().map(|(name, written)| (&*name.leak(), read(written)));
            let fields = fields.collect::<Vec<(&str, Type)>>().leak();
            match beside {
                Some(others) => Type::Beside(fields, kept(read(others))),
                None => Type::Object(fields),
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => broken("a type in `fields.json`"),
    }
}

/// Keeps a type for as long as the program runs: they are read once.
fn kept(of: Type) -> &'static Type {
    Box::leak(Box::new(of))
}

pub(super) fn named(name: &str) -> Type {
    if let Some(element) = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return Type::List(kept(named(element)));
    }
    if let Some(words) = name.strip_prefix("= ") {
        let words = words.split(" | ").map(|word| &*word.to_owned().leak());
        return Type::Words(words.collect::<Vec<&str>>().leak());
    }
    if let Some((of, (least, most))) = name.split_once(' ').and_then(|(of, range)| Some((of, range.split_once("..")?)))
    {
        let bound = |written: &str, none: i64| match written {
            "" => none,
            written => written.parse().expected("a number in a range of `fields.json`"),
        };
        return Type::Within(kept(named(of)), bound(least, i64::MIN), bound(most, i64::MAX));
    }
    match name {
        "any" => Type::Known(|_, _| {}),
        "{any}" => Type::Known(|reader, node| _ = reader.is_mapping(node)),
        "object" => Type::Known(object::nested),
        "boolean" => Type::Known(typed::read::<bool>),
        "int32" => Type::Known(typed::read::<i32>),
        "int64" => Type::Known(typed::read::<i64>),
        "number" => Type::Known(typed::read::<f64>),
        "quantity" => Type::Known(typed::read::<Quantity>),
        "string" => TEXT,
        "{quantity}" => QUANTITIES,
        "{string}" => Type::Known(typed::read::<BTreeMap<String, String>>),
        "{[string]}" => Type::Known(typed::read::<BTreeMap<String, Vec<String>>>),
        "{SecretKeySelector}" => Type::Known(typed::read::<BTreeMap<String, SecretKeySelector>>),
        "Affinity" => Type::Known(typed::read::<Affinity>),
        "Container" => CONTAINER,
        "DeploymentSpec" => Type::Known(typed::read::<DeploymentSpec>),
        "EnvFromSource" => Type::Known(typed::read::<EnvFromSource>),
        "EnvVar" => Type::Known(typed::read::<EnvVar>),
        "EnvVarSource" => Type::Known(typed::read::<EnvVarSource>),
        "IntOrString" => Type::Known(typed::read::<IntOrString>),
        "JobSpec" => JOB_SPEC,
        "JobTemplateSpec" => Type::Known(typed::read::<JobTemplateSpec>),
        "Lifecycle" => Type::Known(typed::read::<Lifecycle>),
        "MetricSpec" => Type::Known(typed::read::<MetricSpec>),
        "NetworkPolicyEgressRule" => EGRESS_RULE,
        "NetworkPolicyIngressRule" => INGRESS_RULE,
        "ObjectMeta" => METADATA,
        "PersistentVolumeClaim" => Type::Known(typed::read::<PersistentVolumeClaim>),
        "PersistentVolumeClaimSpec" => Type::Known(typed::read::<PersistentVolumeClaimSpec>),
        "PodDNSConfig" => Type::Known(typed::read::<PodDNSConfig>),
        "PodSecurityContext" => Type::Known(typed::read::<PodSecurityContext>),
        "PodSpec" => POD_SPEC,
        "PodTemplateSpec" => Type::Known(typed::read::<PodTemplateSpec>),
        "ResourceRequirements" => Type::Known(typed::read::<ResourceRequirements>),
        "SecurityContext" => Type::Known(typed::read::<SecurityContext>),
        "Service" => Type::Known(typed::read::<Service>),
        "Toleration" => TOLERATION,
        "Volume" => VOLUME,
        "VolumeMount" => Type::Known(typed::read::<VolumeMount>),
        _ => broken(&format!("a type in `fields.json`, not `{name}`")),
    }
}
