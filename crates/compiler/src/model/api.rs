//! How the API server calls the kind of an object.

use std::borrow::Cow;

use crate::api::Type;
use kubebench_syntax::unit::{group, plural};

/// The Kubernetes API of an object.
#[derive(Clone, Debug)]
pub struct Api {
    /// `kubeflow.org/v1`
    pub api_version: Cow<'static, str>,
    /// `PyTorchJob`
    pub kind: Cow<'static, str>,
    /// `pytorchjobs`
    pub plural: Cow<'static, str>,
    /// What its `spec` holds, for patches; nothing of a kind that this program does not know.
    pub spec: Type,
}

impl Api {
    /// Returns the API of a kind that this program knows.
    pub(crate) const fn known(api_version: &'static str, kind: &'static str, plural: &'static str) -> Self {
        Self {
            api_version: Cow::Borrowed(api_version),
            kind: Cow::Borrowed(kind),
            plural: Cow::Borrowed(plural),
            spec: Type::Spec { api_version, kind, release: "" },
        }
    }

    /// Returns the API of objects that say these of themselves.
    pub(crate) fn of(api_version: &str, kind: &str) -> Self {
        Self {
            api_version: Cow::Owned(api_version.to_owned()),
            kind: Cow::Owned(kind.to_owned()),
            plural: Cow::Owned(plural(kind)),
            spec: Type::Object(&[]),
        }
    }

    /// Returns the API group, empty for the core, and the plural, as roles name the resource.
    pub(crate) fn resource(&self) -> (&str, &str) {
        (group(&self.api_version), &self.plural)
    }
}

/// The groups of APIs whose objects give rights: nothing that a benchmark brings or does is of them.
pub(crate) const GROUPS_OF_RIGHTS: [&str; 5] = [
    "admissionregistration.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "certificates.k8s.io",
    "rbac.authorization.k8s.io",
];
