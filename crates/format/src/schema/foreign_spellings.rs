//! Spellings that people bring from elsewhere — Kubernetes, GitHub's matrix, a decimal comma — and ours for each.

use super::violation::Violation;
use kubebench_syntax::yaml::{Entry, Node};

/// The longest text that is worth repeating in an answer.
const MAX_REPEATED: usize = 60;

/// Says how the unknown field `key` is written here, if it is known from elsewhere.
pub(super) fn field(violation: &Violation<'_>, key: &str) -> Option<String> {
    let entry = violation.node.entry(key)?;
    let known = violation.properties();
    if known.contains(&"configMap") && known.contains(&"secret") {
        let source = if key == "valueFrom" { entry.value.entries().first()? } else { entry };
        return Some(format!("write `{}: {}`", bare(violation), env_source(source)?));
    }
    if known.contains(&"axes") && !entry.value.items().is_empty() {
        let values = written(violation, &entry.value).unwrap_or("[…]");
        return Some(format!("write `matrix: {{axes: {{{key}: {values}}}}}`"));
    }
    if key == "files" && known.contains(&"expandVariables") {
        return Some("write `files` next to the roles: it applies to all of them".to_owned());
    }
    if key == "runs" && known.contains(&"repeats") {
        return Some("write `repeats: 3` and `warmups: 1` next to `workload`".to_owned());
    }
    if key == "name" && known.contains(&"benchmark") && known.contains(&"needs") {
        let name = entry.value.as_text().unwrap_or("…");
        return Some(format!("write `benchmark: {name}`: the name of a benchmark of the project"));
    }
    if key == "mode" && known == ["path"] {
        return Some("delete it: everybody may read and execute a carried file".to_owned());
    }
    (key == "replicas" && known.contains(&"completions"))
        .then(|| "write `parallelism`: how many pods the Job runs at once".to_owned())
}

/// Says how a value of the wrong type is written here, if its spelling is known from elsewhere.
pub(super) fn value(violation: &Violation<'_>) -> Option<String> {
    let node = violation.node;
    let keys = violation.schema.get("propertyNames").and_then(|keys| keys.get("format"));
    if keys.is_some_and(|format| format == "env-name") && !node.items().is_empty() {
        let variables: Option<Vec<String>> = node.items().iter().map(|item| variable(violation, item)).collect();
        let variables = variables.map_or_else(|| "NAME: value".to_owned(), |variables| variables.join(", "));
        return Some(format!("write a mapping: `{}: {{{variables}}}`", bare(violation)));
    }
    if keys.is_some_and(|format| format == "file-name") && !node.items().is_empty() {
        return Some(format!(
            "write a mapping of names: `{}: {{bench.sh: {{path: scripts/bench.sh}}}}`",
            bare(violation)
        ));
    }
    let known = violation.properties();
    if known == ["path"] {
        return Some(format!("write `{}: {{path: {}}}`", bare(violation), node.as_text()?));
    }
    if known == ["key", "name"] {
        let name = node.as_text()?;
        return Some(format!("write `{}: {{name: {name}, key: …}}`", bare(violation)));
    }
    None
}

/// Returns the number that `text` spells with a decimal comma, with the point.
pub(super) fn with_point(text: &str) -> Option<String> {
    let (whole, fraction) = text.split_once(',')?;
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (is_digits(whole) && is_digits(fraction)).then(|| format!("{whole}.{fraction}"))
}

/// Returns an element of a Kubernetes `env` as an entry of ours.
fn variable(violation: &Violation<'_>, item: &Node) -> Option<String> {
    let name = item.get("name")?.as_text()?;
    let value = match item.get("valueFrom") {
        Some(from) => env_source(from.entries().first()?)?,
        // A value may be a secret, and long.
        None => item.get("value").map_or(Some("\"\""), |value| written(violation, value))?.to_owned(),
    };
    Some(format!("{name}: {value}"))
}

fn env_source(entry: &Entry) -> Option<String> {
    let text = |field: &str| entry.value.get(field).and_then(Node::as_text);
    let reference = |kind: &str| {
        format!("{{{kind}: {{name: {}, key: {}}}}}", text("name").unwrap_or("…"), text("key").unwrap_or("…"))
    };
    match entry.key.as_str() {
        "secretKeyRef" => Some(reference("secret")),
        "configMapKeyRef" => Some(reference("configMap")),
        "fieldRef" => Some(format!("{{field: {}}}", text("fieldPath")?)),
        _ => None,
    }
}

fn written<'a>(violation: &Violation<'a>, node: &Node) -> Option<&'a str> {
    let text = violation.subject.sources.slice(node.span);
    (text.len() <= MAX_REPEATED && !text.contains('\n')).then_some(text)
}

fn bare(violation: &Violation<'_>) -> String {
    violation.name().replace('`', "")
}
