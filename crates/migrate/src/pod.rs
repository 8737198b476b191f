//! Pod templates and containers as roles of a spec.

use super::ledger::{At, Ledger};
use super::spec_builder::Role;
use super::text::{Item, Map};
use kubebench_compiler::api;
use kubebench_format::schema::format;
use kubebench_syntax::diag::Diagnostics;
use kubebench_syntax::yaml::{Entry, Node, Value};

pub(crate) const NEVER_RESTARTS: &str = "`Never`: a pod that restarts within a run would spoil the measurement";

/// Fields that a cluster sets, and that are not written by hand.
pub(super) const OF_CLUSTER: &str = "the cluster sets it";

/// Returns the role that a pod template describes; its main container is called `main`, or is the first.
pub(super) fn role(template: &At<'_>, main: &str, ledger: &mut Ledger) -> Role {
    let mut role = Role::default();
    if let Some(metadata) = template.get("metadata") {
        for (key, at) in metadata.entries() {
            match key {
                "labels" => labels(&at, &mut role.labels, "`labels` of the pods", ledger),
                "annotations" => labels(&at, &mut role.annotations, "`annotations` of the pods", ledger),
                "name" | "generateName" | "namespace" => ledger.dropped(&at, "the operator names the pods"),
                "creationTimestamp" | "uid" | "resourceVersion" | "selfLink" => ledger.dropped(&at, OF_CLUSTER),
                _ => ledger.lost(&at, "pods of a spec have no such metadata"),
            }
        }
    }
    let Some(spec) = template.get("spec") else { return role };
    let containers = spec.items_of("containers");
    let is_main = |at: &&At<'_>| at.get("name").and_then(|name| name.text()) == Some(main);
    let chosen = containers.iter().position(|at| is_main(&at)).unwrap_or_default();
    for (index, at) in containers.iter().enumerate() {
        if index == chosen {
            container(at, main, &mut role, ledger);
        } else if let Some(item) = checked(at, api::CONTAINER, ledger) {
            ledger.kept(at, "another container, under `pod`");
            if let Some(list) = role.pod.list("containers") {
                list.push(item);
            }
        }
    }
    for (key, at) in spec.entries().into_iter().filter(|(key, at)| *key != "containers" && at.node.value != Value::Null)
    {
        pod_field(key, &at, &mut role, ledger);
    }
    role
}

fn pod_field(key: &str, at: &At<'_>, role: &mut Role, ledger: &mut Ledger) {
    match (key, at.text()) {
        ("restartPolicy", Some("Never")) => ledger.kept(at, "pods never restart"),
        ("restartPolicy", _) => {
            ledger.changed(at, NEVER_RESTARTS);
        }
        ("serviceAccount" | "serviceAccountName", Some("default")) => {
            ledger.dropped(at, "pods use this account by default");
        }
        ("serviceAccount", Some(name)) => {
            ledger.changed(at, "`pod.serviceAccountName`, the current name of the field");
            role.pod.put("serviceAccountName", name);
        }
        ("automountServiceAccountToken", _) => {
            ledger.dropped(
                at,
                "pods of a benchmark get no token for the Kubernetes API, unless their operator needs \
                 it",
            );
        }
        ("activeDeadlineSeconds", _) => ledger.dropped(at, "`timeout` of the spec limits a run"),
        ("resources", _) => {
            ledger.lost(at, "resources of a whole pod have no place in a spec; write `resources` of the role");
        }
        _ => put_checked(key, at, api::POD_SPEC, "pod", &mut role.pod, ledger),
    }
}

/// Adds the main container to its role.
pub(super) fn container(at: &At<'_>, main: &str, role: &mut Role, ledger: &mut Ledger) {
    fields(at, &["image", "command", "args", "env", "resources"], role, ledger);
    for (key, at) in at.entries().into_iter().filter(|(_, at)| at.node.value != Value::Null) {
        match key {
            "image" | "command" | "args" | "env" | "resources" => {}
            "name" if at.text() == Some(main) => ledger.kept(&at, "the main container always has this name"),
            "name" => ledger.changed(
                &at,
                format!("the container is called `{main}`, the name by which operators and Kubebench find it"),
            ),
            _ => put_checked(key, &at, api::CONTAINER, "container", &mut role.container, ledger),
        }
    }
}

/// Reads the fields of a container that are fields of a role.
pub(super) fn fields(at: &At<'_>, wanted: &[&str], role: &mut Role, ledger: &mut Ledger) {
    for (key, at) in wanted.iter().filter_map(|key| Some((*key, at.get(key)?))) {
        match key {
            "image" => image(&at, role, ledger),
            "command" => role.command = words(&at, "command", &mut role.expands, ledger),
            "args" => role.args = words(&at, "args", &mut role.expands, ledger),
            "env" => {
                for variable in at.items() {
                    env(&variable, role, ledger);
                }
            }
            _ => resources(&at, &mut role.resources, ledger),
        }
    }
}

/// Reads the image of a role.
pub(super) fn image(at: &At<'_>, role: &mut Role, ledger: &mut Ledger) {
    match at.text().filter(|text| is_a("image", text)) {
        Some(text) => {
            ledger.kept(at, "`image`");
            role.image = Some(text.to_owned());
        }
        None => ledger.lost(at, "this is not an image reference"),
    }
}

/// Returns the words of a list.
fn words(at: &At<'_>, field: &str, expands: &mut bool, ledger: &mut Ledger) -> Vec<Item> {
    let items = at.items();
    let words: Option<Vec<&str>> = items.iter().map(At::text).collect();
    let Some(words) = words.filter(|_| matches!(at.node.value, Value::Seq(_))) else {
        ledger.lost(at, format!("`{field}` must be a list of texts"));
        return Vec::new();
    };
    if words.iter().any(|word| word.contains("$(")) {
        *expands = true;
        ledger.changed(at, format!("`{field}`, with `expandVariables: true`, without which `$(NAME)` is not expanded"));
    } else {
        ledger.kept(at, format!("`{field}`"));
    }
    words.into_iter().map(Item::from).collect()
}

fn env(at: &At<'_>, role: &mut Role, ledger: &mut Ledger) {
    let Some(name) = at.get("name").and_then(|name| name.text()).filter(|name| is_a("env-name", name)) else {
        return ledger.lost(at, "a variable needs a name that shells accept");
    };
    if role.env.get(name).is_some() {
        return ledger.dropped(at, "Kubernetes uses the last variable of this name, and a spec has only one");
    }
    let Some(from) = at.get("valueFrom") else {
        let value = at.get("value").and_then(|value| value.text()).unwrap_or_default();
        role.expands |= value.contains("$(");
        role.env.put(name, value);
        return ledger.kept(at, format!("`env.{name}`"));
    };
    let mut reference = [("secretKeyRef", "secret"), ("configMapKeyRef", "configMap")].into_iter();
    let reference = reference.find_map(|(old, new)| Some((from.get(old)?, new)));
    let source = match (&reference, from.get("fieldRef").and_then(|at| at.get("fieldPath"))) {
        (Some((at, new)), _) => {
            let text = |key: &str| at.get(key).and_then(|value| value.text()).unwrap_or_default();
            let key = Map::default().with("name", text("name")).with("key", text("key"));
            Some(Map::default().with(new, Item::Flow(key)))
        }
        (None, Some(path)) => {
            path.text().filter(|path| is_a("pod-field", path)).map(|path| Map::default().with("field", path))
        }
        (None, None) => None,
    };
    let Some(source) = source else {
        return ledger
            .lost(at, format!("`env` of a spec has no such source; let the program find `{name}` in another way"));
    };
    if let Some(optional) = reference.and_then(|(at, _)| at.get("optional")) {
        ledger.dropped(&optional, "a run without the variable would measure something else, so it does not start");
    }
    role.env.put(name, Item::Flow(source));
    ledger.kept(at, format!("`env.{name}`"));
}

/// Reads resources: limits alone are requests too, as in Kubernetes.
pub(super) fn resources(at: &At<'_>, resources: &mut Map, ledger: &mut Ledger) {
    let mut parts = Vec::new();
    for (key, part) in at.entries() {
        if !matches!(key, "limits" | "requests") {
            if part.node.value != Value::Null {
                ledger.lost(&part, "`resources` of a spec has no such field");
            }
            continue;
        }
        let mut amounts = Map::default();
        for (name, amount) in part.entries() {
            let text = amount.scalar().filter(|text| is_a("quantity", text) && is_a("resource-name", name));
            match text {
                Some(text) => {
                    ledger.kept(&amount, format!("`resources`, {key}"));
                    amounts.put(
                        name,
                        if matches!(amount.node.value, Value::Number(_)) {
                            Item::Plain(text)
                        } else {
                            Item::Text(text)
                        },
                    );
                }
                None => ledger.lost(&amount, "this is not an amount of a resource"),
            }
        }
        parts.push((key, amounts));
    }
    parts.retain(|(_, amounts)| !amounts.is_empty());
    match parts.as_slice() {
        [("limits", amounts)] => resources.put_fields(amounts),
        [(_, a), (_, b)] if a == b => resources.put_fields(a),
        parts => {
            for (key, amounts) in parts {
                resources.put(key, Item::Flow(amounts.clone()));
            }
        }
    }
}

/// Reads labels or annotations.
pub(super) fn labels(at: &At<'_>, map: &mut Map, what: &str, ledger: &mut Ledger) {
    for (key, value) in at.entries() {
        match value.scalar().filter(|_| is_a("label-key", key)) {
            Some(text) => {
                map.put(key, text);
                ledger.kept(&value, what);
            }
            None => ledger.lost(&value, "this is not a label or annotation"),
        }
    }
}

/// Adds a field that a patch can set, if it exists in Kubernetes.
fn put_checked(key: &str, at: &At<'_>, wanted: api::Type, patch: &str, map: &mut Map, ledger: &mut Ledger) {
    if let Some(item) = checked_field(key, at, wanted, ledger) {
        map.put(key, item);
        ledger.kept(at, format!("`{patch}.{key}`"));
    }
}

/// Returns the value of a field, if Kubernetes would accept it there.
pub(super) fn checked_field(key: &str, at: &At<'_>, wanted: api::Type, ledger: &mut Ledger) -> Option<Item> {
    let entry = Entry { key: key.to_owned(), key_span: at.node.span, value: at.node.clone() };
    let node = Node { span: at.node.span, value: Value::Map(vec![entry]) };
    is_taken(&node, at, wanted, ledger).then(|| at.node.into())
}

fn is_taken(node: &Node, at: &At<'_>, wanted: api::Type, ledger: &mut Ledger) -> bool {
    let mut found = Diagnostics::default();
    drop(api::read_patch(node, wanted, "pod", &mut found));
    if let Some(fault) = found.as_slice().first() {
        ledger.lost(at, format!("Kubernetes does not accept it: {}", fault.message));
    }
    found.as_slice().is_empty()
}

/// Returns a container or volume unchanged, if Kubernetes would accept it.
pub(super) fn checked(at: &At<'_>, wanted: api::Type, ledger: &mut Ledger) -> Option<Item> {
    is_taken(at.node, at, wanted, ledger).then(|| at.node.into())
}

/// Returns whether a text is in a format of the schema.
pub(super) fn is_a(name: &str, text: &str) -> bool {
    format::find(name).is_none_or(|format| (format.check)(text).is_ok())
}

/// Returns the whole number at this place.
pub(super) fn count(at: &At<'_>) -> Option<u32> {
    at.text().and_then(|text| text.trim().parse().ok())
}
