//! What the API server asks of values beyond their types, for the types that decide where pods run and whom they reach.

use super::Reader;
use kubebench_syntax::diag::did_you_mean;
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::{LabelKey, LabelValue, UnitError, network};
use kubebench_syntax::yaml::{Entry, Node, Value};

/// Reports what the API server refuses in a value of the type `name`.
pub(super) fn check(reader: &mut Reader<'_>, name: &str, node: &Node) {
    match name {
        "ObjectMeta" => labels(reader, node, "labels"),
        "ServiceSpec" => {
            one_of(reader, node, "type", &["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"]);
            one_of(reader, node, "sessionAffinity", &["None", "ClientIP"]);
            one_of(reader, node, "externalTrafficPolicy", &["Cluster", "Local"]);
            one_of(reader, node, "internalTrafficPolicy", &["Cluster", "Local"]);
        }
        "ServicePort" => {
            one_of(reader, node, "protocol", &["TCP", "UDP", "SCTP"]);
            port_number(reader, node, "port", 1);
            port_number(reader, node, "targetPort", 1);
        }
        "DeploymentSpec" => {
            at_least(reader, node, "replicas", 0);
            if let Some(pod) = node.get("template").and_then(|template| template.get("spec")) {
                one_of(reader, pod, "restartPolicy", &["Always"]);
            }
        }
        "DeploymentStrategy" => one_of(reader, node, "type", &["Recreate", "RollingUpdate"]),
        "Toleration" => toleration(reader, node),
        "NetworkPolicyPort" => port(reader, node),
        "NetworkPolicyPeer" => peer(reader, node),
        "IPBlock" => ip_block(reader, node),
        "LabelSelector" => labels(reader, node, "matchLabels"),
        "LabelSelectorRequirement" => {
            requirement(reader, node, &["In", "NotIn", "Exists", "DoesNotExist"]);
            label_key(reader, node, "key");
        }
        _ => {}
    }
}

/// Returns the text of `field`; to the API server, an empty text is absent.
pub(super) fn text<'n>(node: &'n Node, field: &str) -> Option<(&'n Node, &'n str)> {
    let value = node.get(field)?;
    value.as_text().filter(|text| !text.is_empty()).map(|text| (value, text))
}

/// Returns the whole number of `field`.
pub(super) fn number<'n>(node: &'n Node, field: &str) -> Option<(&'n Node, i64)> {
    let value = node.get(field)?;
    whole_number(value).map(|number| (value, number))
}

pub(super) fn whole_number(value: &Node) -> Option<i64> {
    if let Value::Number(text) = &value.value { text.parse().ok() } else { None }
}

/// Reports a number in `field` that is less than `least`.
pub(super) fn at_least(reader: &mut Reader<'_>, node: &Node, field: &str, least: i64) {
    within(reader, node, field, least, i64::MAX);
}

/// Reports a number in `field` that is not from `least` to `most`.
pub(super) fn within(reader: &mut Reader<'_>, node: &Node, field: &str, least: i64, most: i64) {
    if let Some(value) = node.get(field) {
        value_within(reader, value, &format!("`{field}`"), least, most);
    }
}

/// Reports a number at `place` that is not from `least` to `most`.
pub(super) fn value_within(reader: &mut Reader<'_>, value: &Node, place: &str, least: i64, most: i64) {
    let Some(found) = whole_number(value).filter(|found| !(least..=most).contains(found)) else { return };
    let range = match (least, most) {
        (least, i64::MAX) => format!("of at least {least}"),
        (i64::MIN, most) => format!("of at most {most}"),
        (least, most) => format!("from {least} to {most}"),
    };
    reader.refused(value, format!("{place} is {found}"), format!("write a number {range}"));
}

/// Reports a number in `field` that is not a port from `least` on.
pub(super) fn port_number(reader: &mut Reader<'_>, node: &Node, field: &str, least: i64) {
    if let Some((value, port)) = number(node, field).filter(|(_, port)| !(least..=65_535).contains(port)) {
        reader.refused(value, format!("`{port}` is not a port"), "write a number from 1 to 65535");
    }
}

/// Reports a `field` that is not one of `words`.
pub(super) fn one_of(reader: &mut Reader<'_>, node: &Node, field: &str, words: &[&str]) {
    if let Some((value, text)) = text(node, field).filter(|(_, text)| !words.contains(text)) {
        unknown_word(reader, value, text, &format!("`{field}`"), words);
    }
}

/// Reports that `text` at `place` is not one of `words`.
pub(super) fn unknown_word(reader: &mut Reader<'_>, value: &Node, text: &str, place: &str, words: &[&str]) {
    let fault = reader.refusal(value.span, format!("`{text}` is not a value of {place}"));
    let list = || words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    reader.diagnostics.push(match did_you_mean(text, words.iter().copied()) {
        Some(close) => fault.did_you_mean(value.span, close),
        None => fault.help(format!("write one of {}", list())),
    });
}

/// Reports what is no label in the mapping `field`. Labels select objects, so the API server takes no other keys and values than
/// those that a selector can name.
fn labels(reader: &mut Reader<'_>, node: &Node, field: &str) {
    for entry in node.entries_of(field) {
        if let Some((span, error)) = label_fault(entry) {
            let help = error.help.unwrap_or_else(|| "write at most 63 of a-z, A-Z, 0-9, `-`, `_` and `.`".to_owned());
            reader.refused_at(span, error.message, help);
        }
    }
}

/// Reports a `field` that is not the key of a label.
pub(super) fn label_key(reader: &mut Reader<'_>, node: &Node, field: &str) {
    if let Some((value, key)) = text(node, field)
        && let Err(error) = LabelKey::parse(key)
    {
        reader.refused(value, error.message, error.help.unwrap_or_else(|| "write the key of a label".to_owned()));
    }
}

/// Returns what is wrong with a label, and where; a directive of a patch is not a label.
pub(super) fn label_fault(entry: &Entry) -> Option<(Span, UnitError)> {
    if entry.key.starts_with('$') || entry.value.value == Value::Null {
        return None;
    }
    let of_value = || Some((entry.value.span, LabelValue::parse(entry.value.as_text()?).err()?));
    LabelKey::parse(&entry.key).err().map(|error| (entry.key_span, error)).or_else(of_value)
}

fn toleration(reader: &mut Reader<'_>, node: &Node) {
    one_of(reader, node, "operator", &["Exists", "Equal", "Gt", "Lt"]);
    one_of(reader, node, "effect", &["NoSchedule", "PreferNoSchedule", "NoExecute"]);
    let is_exists = match text(node, "operator") {
        None | Some((_, "Equal")) => false,
        Some((_, "Exists")) => true,
        Some(_) => return,
    };
    match text(node, "key") {
        None if !is_exists => {
            let help = "write the `key` of the taint; only `operator: Exists` may omit it, to tolerate every taint";
            reader.refused(node, "the toleration has no `key`", help);
        }
        None => {}
        Some((value, key)) => {
            if let Err(error) = LabelKey::parse(key) {
                let help = error.help.unwrap_or_else(|| "write the key as `kubectl describe node` shows it".to_owned());
                reader.refused(value, format!("`{key}` is not a valid taint key"), help);
            }
        }
    }
    if let Some((value, word)) = text(node, "value") {
        if is_exists {
            let help = "delete `value`, or write `operator: Equal`";
            reader.refused(
                value,
                "`value` cannot be combined with `operator: Exists`, which matches every value",
                help,
            );
        } else if let Err(error) = LabelValue::parse(word) {
            let help = error.help.unwrap_or_else(|| "write the value as `kubectl describe node` shows it".to_owned());
            reader.refused(value, format!("`{word}` is not a valid taint value"), help);
        }
    }
    if let (Some(seconds), None | Some("NoSchedule" | "PreferNoSchedule")) =
        (node.get("tolerationSeconds"), text(node, "effect").map(|(_, effect)| effect))
    {
        let help = "write `effect: NoExecute`, or delete `tolerationSeconds`";
        reader.refused(seconds, "`tolerationSeconds` counts only with `effect: NoExecute`", help);
    }
}

fn port(reader: &mut Reader<'_>, node: &Node) {
    one_of(reader, node, "protocol", &["TCP", "UDP", "SCTP"]);
    let start = number(node, "port").map(|(_, start)| start);
    port_number(reader, node, "port", 1);
    port_number(reader, node, "endPort", 1);
    if let Some((value, name)) = text(node, "port").filter(|_| start.is_none())
        && !is_port_name(name)
    {
        let help = match name.parse::<u16>() {
            Ok(number) => format!("write `{number}` without quotes"),
            Err(_) => {
                "write a number, or the name that a container gives its port (at most 15 of a-z, 0-9, `-`)".to_owned()
            }
        };
        reader.refused(value, format!("`{name}` is not a valid port name"), help);
    }
    if let Some((value, end)) = number(node, "endPort")
        && start.is_none_or(|start| end < start)
    {
        reader.refused(
            value,
            "`endPort` needs a number in `port` that is not greater than `endPort`",
            "write the first port of the range as `port`",
        );
    }
}

/// Returns true for what the API server takes as the name of a port.
pub(super) fn is_port_name(name: &str) -> bool {
    name.len() <= 15
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && name.bytes().any(|byte| byte.is_ascii_lowercase())
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

fn peer(reader: &mut Reader<'_>, node: &Node) {
    const SELECTORS: [&str; 2] = ["podSelector", "namespaceSelector"];
    let selector = SELECTORS.into_iter().find(|field| node.get(field).is_some());
    match (node.get("ipBlock"), selector) {
        (None, None) => {
            let help = "write `ipBlock`, `podSelector` or `namespaceSelector`; omit the list to match every peer";
            reader.refused(node, "this peer matches nothing", help);
        }
        (Some(_), Some(selector)) => {
            let help = "write them as two elements of the list";
            reader.refused(node, format!("`ipBlock` cannot be combined with `{selector}`"), help);
        }
        _ => {}
    }
}

fn ip_block(reader: &mut Reader<'_>, node: &Node) {
    const HELP: &str = "write an address and a prefix length, such as `10.0.0.0/8` or `192.0.2.7/32`";
    let Some((value, cidr)) = text(node, "cidr") else {
        return reader.refused(node, "`ipBlock` has no `cidr`", HELP);
    };
    let Some(block) = network(cidr) else {
        return reader.refused(value, format!("`{cidr}` is not a CIDR block"), HELP);
    };
    for value in node.items_of("except") {
        let cidr = value.as_text().unwrap_or_default();
        match network(cidr) {
            None => reader.refused(value, format!("`{cidr}` is not a CIDR block"), HELP),
            Some(part) if part.prefix_len() <= block.prefix_len() || !block.contains(&part) => {
                let help = "write smaller blocks inside `cidr` in `except`";
                reader.refused(value, format!("`{cidr}` is not inside `cidr`"), help);
            }
            Some(_) => {}
        }
    }
}

/// Reports an expression over labels whose `operator` is not one of `operators`, or does not match its `values`.
pub(super) fn requirement(reader: &mut Reader<'_>, node: &Node, operators: &[&str]) {
    one_of(reader, node, "operator", operators);
    let has_values = node.get("values").is_some_and(|values| !values.items().is_empty());
    match text(node, "operator") {
        Some((value, operator @ ("In" | "NotIn"))) if !has_values => {
            reader.refused(value, format!("`operator: {operator}` needs `values`"), "write `values: […]`");
        }
        Some((value, operator @ ("Exists" | "DoesNotExist"))) if has_values => {
            reader.refused(
                value,
                format!("`operator: {operator}` takes no `values`"),
                "delete `values`, or write `In`",
            );
        }
        None => reader.refused(node, "the expression has no `operator`", "write `operator: In` or `Exists`"),
        Some(_) => {}
    }
}
