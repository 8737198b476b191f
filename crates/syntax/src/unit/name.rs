//! Names that Kubernetes and Kubebench accept, each kind of name its own type.

use std::fmt;

use super::{UnitError, quoted};

mod rule;

use rule::{CONFIG_MAP_KEY, DNS_1035, DNS_1123, ENV_NAME, PARAMETER, Rule, SUBDOMAIN_LABEL};

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Reads the name; a refusal proposes a spelling that would be accepted.
            pub fn parse(text: &str) -> Result<Self, UnitError> {
                let check: fn(&str) -> Result<(), UnitError> = $check;
                check(text).map(|()| Self(text.to_owned()))
            }

            /// Returns the name.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

const LABEL_MAX: usize = 63;
const SUBDOMAIN_MAX: usize = 253;

name_type! {
    /// The name of a benchmark and of most Kubeflow jobs: starts with a letter, then letters, digits and dashes.
    Dns1035Label, |text| DNS_1035.check(text, LABEL_MAX)
}

impl Dns1035Label {
    /// Reads a label of at most `max` characters, for names that are later extended.
    pub fn parse_max(text: &str, max: usize) -> Result<Self, UnitError> {
        DNS_1035.check(text, max.min(LABEL_MAX)).map(|()| Self(text.to_owned()))
    }
}

name_type! {
    /// The name of a namespace or a container: letters, digits and dashes.
    Dns1123Label, |text| DNS_1123.check(text, LABEL_MAX)
}

name_type! {
    /// The name of a `ConfigMap`, a secret or a claim: labels separated by dots.
    Dns1123Subdomain, |text| subdomain(text)
}

name_type! {
    /// The key of a label or an annotation: a name, optionally after a domain and `/`.
    LabelKey, |text| qualified(text, "a label key")
}

name_type! {
    /// The value of a label; it may be empty.
    LabelValue, |text| if text.is_empty() { Ok(()) } else { Rule::qualified("a label value").check(text, LABEL_MAX) }
}

name_type! {
    /// The name of an environment variable, in the form that every supported Kubernetes accepts.
    EnvName, |text| ENV_NAME.check(text, usize::MAX).and_then(|()| no_parent_folder(text, "an environment variable's name"))
}

name_type! {
    /// The name of a resource that a container requests: `cpu`, `memory`, `nvidia.com/gpu`.
    ResourceName, |text| resource(text)
}

name_type! {
    /// A key of a `ConfigMap` or a secret, which becomes a file name.
    ConfigMapKey, |text| CONFIG_MAP_KEY.check(text, SUBDOMAIN_MAX).and_then(|()| no_parent_folder(text, "a key of a ConfigMap"))
}

name_type! {
    /// The name of a matrix axis or a parameter, as lookups spell it.
    ParameterName, |text| PARAMETER.check(text, LABEL_MAX)
}

fn subdomain(text: &str) -> Result<(), UnitError> {
    let mut start = 0;
    for label in text.split('.') {
        if let Err(why) = SUBDOMAIN_LABEL.find_fault(label) {
            let place = start + why.range.start..start + why.range.end;
            let meant = correct_subdomain(text).filter(|meant| meant.len() <= SUBDOMAIN_MAX);
            return Err(
                SUBDOMAIN_LABEL.proposing(SUBDOMAIN_LABEL.refusal(text, &why.reason).at(place), meant.as_deref())
            );
        }
        start += label.len() + 1;
    }
    SUBDOMAIN_LABEL.check_length(text, SUBDOMAIN_MAX)
}

fn correct_subdomain(text: &str) -> Option<String> {
    let meant = text.split('.').filter_map(|label| SUBDOMAIN_LABEL.correct(label)).collect::<Vec<_>>().join(".");
    Some(meant).filter(|meant| !meant.is_empty())
}

fn qualified(text: &str, noun: &'static str) -> Result<(), UnitError> {
    let rule = Rule::qualified(noun);
    let Some((prefix, name)) = text.split_once('/') else {
        return rule.check(text, LABEL_MAX);
    };
    let (error, offset) = match (subdomain(prefix), rule.check(name, LABEL_MAX)) {
        (Ok(()), Ok(())) => return Ok(()),
        (Err(error), _) => (UnitError { message: format!("{}: {}", rule.refused(text), error.message), ..error }, 0),
        (Ok(()), Err(error)) => (error, prefix.len() + 1),
    };
    let part = if offset == 0 { 0..prefix.len() } else { 0..name.len() };
    let range = error.range.clone().unwrap_or(part);
    let error = error.at(range.start + offset..range.end + offset);
    let meant = (correct_subdomain(prefix).filter(|prefix| prefix.len() <= SUBDOMAIN_MAX))
        .zip(rule.correct(name).filter(|name| name.len() <= LABEL_MAX))
        .map(|(prefix, name)| format!("{prefix}/{name}"));
    Err(match meant {
        Some(meant) => error.help(format!("write `{meant}`: a domain, `/`, and a name")),
        None => error,
    })
}

fn resource(text: &str) -> Result<(), UnitError> {
    qualified(text, "a resource name")?;
    let Some((prefix, _)) = text.split_once('/') else {
        return plain_resource(text);
    };
    let is_native = text.contains("kubernetes.io/");
    if !is_native && prefix.starts_with("requests.") {
        let rest = text.trim_start_matches("requests.");
        let message = format!("{} is the name of a quota, not of a resource", quoted(text));
        return Err(UnitError::new(message).help(format!("write `{rest}`")).at(0.."requests.".len()));
    }
    if !is_native && prefix.len() + "requests.".len() > SUBDOMAIN_MAX {
        return Err(UnitError::new("the domain of the resource is too long")
            .help("use a shorter domain")
            .at(0..prefix.len()));
    }
    Ok(())
}

fn plain_resource(text: &str) -> Result<(), UnitError> {
    if matches!(text, "cpu" | "memory" | "ephemeral-storage") || text.starts_with("hugepages-") {
        return Ok(());
    }
    let error = UnitError::new(format!("{} is not a resource of a container", quoted(text)));
    Err(match text.to_lowercase().as_str() {
        "cpu" | "cpus" | "cores" => error.help("write `cpu`"),
        "mem" | "ram" | "memory" => error.help("write `memory`"),
        "storage" | "disk" => error.help("write `ephemeral-storage`"),
        "gpu" | "gpus" => error.help("write the vendor's name, such as `nvidia.com/gpu` or `amd.com/gpu`"),
        _ => error
            .help("write `cpu`, `memory`, `ephemeral-storage`, `hugepages-2Mi`, or a device such as `nvidia.com/gpu`"),
    })
}

/// Refuses names that mean a folder: Kubernetes makes files of them.
fn no_parent_folder(text: &str, noun: &str) -> Result<(), UnitError> {
    if text != "." && !text.starts_with("..") {
        return Ok(());
    }
    let rest = text.trim_start_matches('.');
    let error = UnitError::new(format!("{} is not {noun}: it may not be `.` or start with `..`", quoted(text)));
    let error = error.at(0..text.len() - rest.len());
    Err(if rest.is_empty() { error.help("use a name") } else { error.help(format!("write `.{rest}`")) })
}

#[cfg(test)]
mod tests;
