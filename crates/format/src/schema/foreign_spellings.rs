//! Spellings from elsewhere — Kubernetes, GitHub's matrix, a decimal comma — and ours for each.

use super::violation::Violation;
use kubebench_syntax::yaml::{Entry, Node};

/// The longest text that is worth repeating in an answer.
const MAX_REPEATED: usize = 60;

/// Says how the unknown field `key` is written here, if it is known from elsewhere.
pub(super) fn field(violation: &Violation<'_>, key: &str) -> Option<String> {
    let entry = violation.node.entry(key)?;
    let known = violation.properties();
    if key == "value" && known.contains(&"configMap") && entry.value.as_text().is_some() {
        return Some(format!("write `{}: {}`", bare(violation), written(violation, &entry.value)?));
    }
    if known.contains(&"configMap") && known.contains(&"secret") {
        let source = if key == "valueFrom" { entry.value.entries().first()? } else { entry };
        return Some(format!("write `{}: {}`", bare(violation), env_source(source)?));
    }
    if known == ["labels", "name"] && key == "namespace" {
        return Some(
            "delete it: the target says the namespace, `targets: {NAME: {namespace: …}}` in kubebench.yaml".to_owned(),
        );
    }
    if known == ["labels", "name"] && key == "annotations" {
        return Some(
            "delete it; pods get `annotations` of the workload, and `labels` are what reports select by".to_owned(),
        );
    }
    if known.contains(&"axes") && !entry.value.items().is_empty() {
        let values = written(violation, &entry.value).unwrap_or("[…]");
        return Some(format!("write `matrix: {{axes: {{{key}: {values}}}}}`"));
    }
    if matches!(key, "threshold" | "tolerance" | "maxChange") && known.contains(&"maxRegression") {
        return Some(format!("write `maxRegression: {}`", written(violation, &entry.value).unwrap_or("5%")));
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
    None
}

/// Says where the field `key` of a pod or a container belongs: habits from Kubernetes are not typos.
pub(super) fn of_pod(violation: &Violation<'_>, key: &str) -> Option<String> {
    let entry = violation.node.entry(key)?;
    let known = violation.properties();
    let is_of_container = OF_CONTAINERS.contains(&key)
        || key == "securityContext" && OF_CONTAINERS_ALONE.iter().any(|field| entry.value.get(field).is_some());
    let block = if is_of_container { "container" } else { "pod" };
    if is_of_container || OF_PODS.contains(&key) {
        let value = written(violation, &entry.value).unwrap_or("…");
        if known.contains(&block) {
            return Some(format!("write `{block}: {{{key}: {value}}}`"));
        }
        if known.contains(&"workload") {
            return Some(format!("write `{block}: {{{key}: {value}}}` below `workload`, where `image` is"));
        }
    }
    if !known.contains(&"pod") {
        return None;
    }
    let help = match key {
        "restartPolicy" | "backoffLimit" => {
            "delete it: a run whose pods restart is no measurement, so none is restarted"
        }
        "activeDeadlineSeconds" => "write `timeout` in `spec` of the benchmark",
        "containers" => {
            let role = violation.name();
            return Some(format!("write `image:` in {role}, and further containers as `pod: {{containers: […]}}`"));
        }
        "template" => "write the fields of the pod here: `image`, `command`, `resources`, and `pod: {…}` for others",
        _ => return None,
    };
    Some(help.to_owned())
}

/// Returns the option of `options` that means what `word` means elsewhere.
pub(super) fn word<'o>(word: &str, options: &[&'o str]) -> Option<&'o str> {
    const SAME: [(&str, &str); 7] = [
        ("avg", "mean"),
        ("average", "mean"),
        ("maximum", "max"),
        ("minimum", "min"),
        ("up", "higher"),
        ("down", "lower"),
        ("total", "sum"),
    ];
    let (_, ours) = SAME.iter().find(|(theirs, _)| theirs.eq_ignore_ascii_case(word))?;
    options.iter().copied().find(|option| option == ours)
}

/// Fields of a pod's `spec` that a patch may set.
const OF_PODS: &[&str] = &[
    "affinity",
    "dnsConfig",
    "dnsPolicy",
    "enableServiceLinks",
    "hostAliases",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "imagePullSecrets",
    "initContainers",
    "nodeName",
    "nodeSelector",
    "preemptionPolicy",
    "priorityClassName",
    "runtimeClassName",
    "schedulerName",
    "securityContext",
    "serviceAccountName",
    "shareProcessNamespace",
    "terminationGracePeriodSeconds",
    "tolerations",
    "topologySpreadConstraints",
    "volumes",
];

/// Fields of the `securityContext` of a container that the one of a pod does not have.
const OF_CONTAINERS_ALONE: &[&str] =
    &["allowPrivilegeEscalation", "capabilities", "privileged", "procMount", "readOnlyRootFilesystem"];

/// Fields of a container that a patch may set.
const OF_CONTAINERS: &[&str] = &[
    "envFrom",
    "imagePullPolicy",
    "lifecycle",
    "livenessProbe",
    "ports",
    "readinessProbe",
    "startupProbe",
    "stdin",
    "terminationMessagePath",
    "tty",
    "volumeDevices",
    "volumeMounts",
    "workingDir",
];

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
