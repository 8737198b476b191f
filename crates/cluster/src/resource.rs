//! Kinds of objects, and where they are on the API server.

use kube::api::{ApiResource, GroupVersionKind};
use serde_json::Value as Json;

use super::fault::Fault;
use kubebench_syntax::unit::plural;

/// One kind of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The API group, empty for the core.
    pub group: String,
    /// The version of the group.
    pub version: String,
    /// `TFJob`
    pub kind: String,
    /// `tfjobs`
    pub plural: String,
}

impl Resource {
    /// Names a kind.
    pub fn new(group: &str, version: &str, kind: &str, plural: &str) -> Self {
        Self { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned(), plural: plural.to_owned() }
    }

    /// The kind of an object, by its `apiVersion` and `kind`; `None` where it lacks one.
    pub fn of(object: &Json) -> Option<Self> {
        let text = |key| object.get(key).and_then(Json::as_str).filter(|text| !text.is_empty());
        let (group, version) = match text("apiVersion")?.split_once('/') {
            Some((group, version)) => (group, version),
            None => ("", text("apiVersion")?),
        };
        let kind = text("kind")?;
        Some(Self::new(group, version, kind, &plural(kind)))
    }

    /// Pods.
    pub fn pods() -> Self {
        Self::new("", "v1", "Pod", "pods")
    }

    /// Events of the core group, which hold those of `events.k8s.io` too.
    pub fn events() -> Self {
        Self::new("", "v1", "Event", "events")
    }

    /// Services.
    pub fn services() -> Self {
        Self::new("", "v1", "Service", "services")
    }

    /// Jobs of Kubernetes itself.
    pub fn jobs() -> Self {
        Self::new("batch", "v1", "Job", "jobs")
    }

    /// Workflows of Argo.
    pub fn workflows() -> Self {
        Self::new("argoproj.io", "v1alpha1", "Workflow", "workflows")
    }

    /// Trials of Katib.
    pub fn trials() -> Self {
        Self::new("kubeflow.org", "v1beta1", "Trial", "trials")
    }

    /// Workloads of Kueue, in a version of its API.
    pub fn workloads(version: &str) -> Self {
        Self::new("kueue.x-k8s.io", version, "Workload", "workloads")
    }

    /// What objects of this kind say in `apiVersion`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// The path of the objects of this kind in a namespace.
    pub(super) fn path(&self, namespace: &str) -> Result<String, Fault> {
        let root = if self.group.is_empty() { "/api".to_owned() } else { format!("/apis/{}", segment(&self.group)?) };
        let (version, plural) = (segment(&self.version)?, segment(&self.plural)?);
        Ok(format!("{root}/{version}/namespaces/{}/{plural}", segment(namespace)?))
    }

    /// The path of one object.
    pub(super) fn object_path(&self, namespace: &str, name: &str) -> Result<String, Fault> {
        Ok(format!("{}/{}", self.path(namespace)?, segment(name)?))
    }

    /// An object as a list or a watch gives it, with what lists leave out and without what only controllers need.
    pub(super) fn complete(&self, mut object: Json) -> Json {
        if let Some(map) = object.as_object_mut() {
            map.entry("apiVersion").or_insert_with(|| self.api_version().into());
            map.entry("kind").or_insert_with(|| self.kind.clone().into());
            if let Some(metadata) = map.get_mut("metadata").and_then(Json::as_object_mut) {
                metadata.remove("managedFields");
            }
        }
        object
    }

    pub(super) fn as_kube(&self) -> ApiResource {
        let kind = GroupVersionKind::gvk(&self.group, &self.version, &self.kind);
        ApiResource::from_gvk_with_plural(&kind, &self.plural)
    }
}

/// A name as a part of a path; whatever could lead to another path is refused.
pub(super) fn segment(name: &str) -> Result<&str, Fault> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b':');
    if !name.is_empty() && name.bytes().all(is_plain) && name != "." && name != ".." {
        Ok(name)
    } else {
        Err(Fault::invalid(format!("`{}` is not a valid object name", name.escape_debug())))
    }
}
