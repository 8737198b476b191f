//! The environment variables of a role, with values instead of references, and words that refer to them.

use std::collections::BTreeMap;

use super::{Folders, Given};
use kubebench_compiler::model::carried::FOLDER;
use kubebench_compiler::model::{Env, Role};

/// Returns the variables that the spec gives a role; `env` is what is set already.
///
/// References that have no value here are left out: [`refusals`](super::refusals) has refused them.
pub(super) fn of(
    role: &Role,
    index: u32,
    given: &Given<'_>,
    env: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut variables = BTreeMap::new();
    for (name, (value, _)) in &role.env {
        let value = match value {
            Env::Text(text) => Some(text.clone()),
            Env::Secret { name, key } => given.secrets.secret(name, key),
            Env::ConfigMap { name, key } => given.secrets.config_map(name, key),
            Env::Field(path) if COMPLETION_INDEX.contains(&path.as_str()) => env.get("JOB_COMPLETION_INDEX").cloned(),
            Env::Field(path) => field(path, role, index, given),
        };
        if let Some(value) = value {
            variables.insert(name.clone(), value);
        }
    }
    let known: BTreeMap<String, String> =
        env.iter().chain(&variables).map(|(name, value)| (name.clone(), value.clone())).collect();
    for (name, value) in &mut variables {
        if matches!(role.env.get(name), Some((Env::Text(_), _))) {
            *value = word(value, role, &known, given.folders);
        }
    }
    variables
}

/// Where pods of an indexed Job find their number.
const COMPLETION_INDEX: [&str; 2] = [
    "metadata.annotations['batch.kubernetes.io/job-completion-index']",
    "metadata.labels['batch.kubernetes.io/job-completion-index']",
];
/// The fields of a pod that mean something on one machine.
const FIELDS: [&str; 9] = [
    COMPLETION_INDEX[0],
    COMPLETION_INDEX[1],
    "metadata.name",
    "metadata.namespace",
    "spec.nodeName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

fn field(path: &str, role: &Role, index: u32, given: &Given<'_>) -> Option<String> {
    match path {
        "metadata.name" => Some(format!("{}-{}-{index}", given.folders.id, role.name)),
        "metadata.namespace" => Some(given.namespace.to_owned()),
        "spec.nodeName" => Some("localhost".to_owned()),
        _ => is_known_field(path).then(|| "127.0.0.1".to_owned()),
    }
}

/// Returns true for a field of the pod that has a value here.
pub(super) fn is_known_field(path: &str) -> bool {
    FIELDS.contains(&path)
}

/// Returns a word of a command, an argument or a value as the process sees it: with paths of carried files as they are
/// here, and with `$(NAME)` replaced where the spec leaves that to Kubernetes.
pub(super) fn word(text: &str, role: &Role, env: &BTreeMap<String, String>, folders: &Folders) -> String {
    let expanded = if role.expand_variables { expand(text, env) } else { text.to_owned() };
    let is_whole = |rest: &str| rest.is_empty() || rest.starts_with('/');
    let mut made = String::new();
    let mut rest = expanded.as_str();
    while let Some((before, after)) = rest.split_once(FOLDER) {
        made.push_str(before);
        made.push_str(if is_whole(after) { &folders.files } else { FOLDER });
        rest = after;
    }
    made + rest
}

/// Replaces `$(NAME)` as Kubernetes does: unknown names stay, `$$` is `$`.
fn expand(text: &str, env: &BTreeMap<String, String>) -> String {
    let mut made = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        made.push_str(before);
        rest = after;
        if let Some(after) = rest.strip_prefix('$') {
            made.push('$');
            rest = after;
            continue;
        }
        let reference = rest.strip_prefix('(').and_then(|inside| inside.split_once(')'));
        match reference.and_then(|(name, after)| Some((env.get(name)?, after))) {
            Some((value, after)) => {
                made.push_str(value);
                rest = after;
            }
            None => made.push('$'),
        }
    }
    made + rest
}
