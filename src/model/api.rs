//! How the API server calls the kind of an object.

use std::borrow::Cow;

use crate::api::Type;

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
    pub const fn known(api_version: &'static str, kind: &'static str, plural: &'static str, spec: Type) -> Self {
        Self { api_version: Cow::Borrowed(api_version), kind: Cow::Borrowed(kind), plural: Cow::Borrowed(plural), spec }
    }

    /// Returns the API of objects that say these of themselves.
    pub fn of(api_version: &str, kind: &str) -> Self {
        Self {
            api_version: Cow::Owned(api_version.to_owned()),
            kind: Cow::Owned(kind.to_owned()),
            plural: Cow::Owned(plural(kind)),
            spec: Type::Object(&[]),
        }
    }

    /// Returns the API group, empty for the core, and the plural, as roles name the resource.
    pub fn resource(&self) -> (&str, &str) {
        (group(&self.api_version), &self.plural)
    }
}

/// Returns the group of an API version: `apps` of `apps/v1`, nothing of `v1`.
pub fn group(api_version: &str) -> &str {
    api_version.rsplit_once('/').map_or("", |(group, _)| group)
}

/// Returns the plural of `kind` by the rules of English, which nearly every resource is called by.
pub fn plural(kind: &str) -> String {
    let kind = kind.to_lowercase();
    match kind.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if kind.ends_with(['s', 'x', 'z']) || kind.ends_with("ch") || kind.ends_with("sh") => format!("{kind}es"),
        _ => format!("{kind}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::plural;

    #[test]
    fn the_plural_of_a_kind_is_that_of_its_resource() {
        let known = [
            ("NetworkPolicy", "networkpolicies"),
            ("Gateway", "gateways"),
            ("Ingress", "ingresses"),
            ("DeviceClass", "deviceclasses"),
            ("TFJob", "tfjobs"),
        ];
        for (kind, wanted) in known {
            assert_eq!(plural(kind), wanted);
        }
    }
}
