//! Built-in kinds and object metadata, judged by the types generated from Kubernetes' own description: what those
//! types do not carry through is a field that the server does not know.

use std::any::type_name;

use k8s_openapi::api::admissionregistration::v1::{ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::{CronJob, Job};
use k8s_openapi::api::core::v1::{ConfigMap, LimitRange, Namespace, PersistentVolumeClaim, Pod, ResourceQuota};
use k8s_openapi::api::core::v1::{Secret, Service, ServiceAccount};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The faults of a built-in kind, `None` for any other.
pub(crate) fn faults(api_version: &str, kind: &str, object: &Value) -> Option<Vec<String>> {
    let judge: fn(&Value) -> Vec<String> = match (api_version, kind) {
        ("v1", "ConfigMap") => lost::<ConfigMap>,
        ("v1", "LimitRange") => lost::<LimitRange>,
        ("v1", "Namespace") => lost::<Namespace>,
        ("v1", "PersistentVolumeClaim") => lost::<PersistentVolumeClaim>,
        ("v1", "Pod") => lost::<Pod>,
        ("v1", "ResourceQuota") => lost::<ResourceQuota>,
        ("v1", "Secret") => lost::<Secret>,
        ("v1", "Service") => lost::<Service>,
        ("v1", "ServiceAccount") => lost::<ServiceAccount>,
        ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy") => lost::<ValidatingAdmissionPolicy>,
        ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding") => {
            lost::<ValidatingAdmissionPolicyBinding>
        }
        ("apps/v1", "Deployment") => lost::<Deployment>,
        ("batch/v1", "CronJob") => lost::<CronJob>,
        ("batch/v1", "Job") => lost::<Job>,
        ("networking.k8s.io/v1", "NetworkPolicy") => lost::<NetworkPolicy>,
        ("rbac.authorization.k8s.io/v1", "ClusterRole") => lost::<ClusterRole>,
        ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding") => lost::<ClusterRoleBinding>,
        ("rbac.authorization.k8s.io/v1", "Role") => lost::<Role>,
        ("rbac.authorization.k8s.io/v1", "RoleBinding") => lost::<RoleBinding>,
        _ => return None,
    };
    let mut faults = judge(object);
    faults.extend(nameless(object));
    Some(faults)
}

/// The faults of the metadata of an object whose own schema says no more than that it is an object.
pub(crate) fn metadata_faults(object: &Value) -> Vec<String> {
    let metadata = object.get("metadata").unwrap_or(&Value::Null);
    let mut faults = lost::<ObjectMeta>(metadata);
    faults.extend(nameless(object));
    faults
}

fn nameless(object: &Value) -> Option<String> {
    let name = object.pointer("/metadata/name").or_else(|| object.pointer("/metadata/generateName"));
    (!name.is_some_and(Value::is_string)).then(|| "/metadata: neither `name` nor `generateName`".to_owned())
}

/// What reading as `T` and writing again does not give back.
fn lost<T: DeserializeOwned + Serialize>(given: &Value) -> Vec<String> {
    let kept = match T::deserialize(given).map(serde_json::to_value) {
        Ok(Ok(kept)) => kept,
        Ok(Err(error)) | Err(error) => return vec![format!("not a {}: {error}", type_name::<T>())],
    };
    let mut faults = Vec::new();
    compare(given, &kept, "", &mut faults);
    faults
}

fn compare(given: &Value, kept: &Value, path: &str, faults: &mut Vec<String>) {
    match (given, kept) {
        (Value::Object(given), Value::Object(kept)) => {
            for (key, value) in given {
                let path = format!("{path}/{key}");
                match kept.get(key) {
                    Some(kept) => compare(value, kept, &path, faults),
                    None => faults.push(format!("{path}: no such field, or an empty value")),
                }
            }
        }
        (Value::Array(given), Value::Array(kept)) if given.len() == kept.len() => {
            for (index, (value, kept)) in given.iter().zip(kept).enumerate() {
                compare(value, kept, &format!("{path}/{index}"), faults);
            }
        }
        _ if given == kept => {}
        // A quantity may be given as a number.
        (Value::Number(given), Value::String(kept)) if given.to_string() == *kept => {}
        _ => faults.push(format!("{path}: `{given}` becomes `{kept}`")),
    }
}
