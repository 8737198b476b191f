//! KB0380 to KB0389: what of the cluster a benchmark reaches that a plain one does not.
//!
//! Fields are known by their names alone, so that those of kinds that Kubebench does not know are seen too.

use super::owned::claim_of;
use super::pod_security::VOLUMES;
use super::{Field, is_of_program};
use crate::permission::permission;
use kubebench_contract::labels::PREFIX;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::ImageRef;
use kubebench_syntax::yaml::{Entry, Node, Value};

/// Types of volumes that hold nothing but what a manifest says, or nothing at all, and what names a claim, which has a rule of its own.
const OWN_VOLUMES: [&str; 6] = ["configMap", "downwardAPI", "emptyDir", "persistentVolumeClaim", "projected", "secret"];
/// Fields that say where and before whom pods run, under which runtime, and by which profile of the node.
const PLACEMENT: [&str; 9] = [
    "localhostProfile",
    "nodeName",
    "podPriorityClassName",
    "priority",
    "priorityClass",
    "priorityClassName",
    "queue",
    "runtimeClassName",
    "schedulerName",
];
/// Fields and annotations by which pods reach another network, or names lead elsewhere.
const NETWORKS: [&str; 5] =
    ["dnsConfig", "dnsPolicy", "hostAliases", "k8s.v1.cni.cncf.io/networks", "v1.multus-cni.io/default-network"];
/// The label of nodes that says which one it is.
const NODE: &str = "kubernetes.io/hostname";
/// What says near which pods a pod is to be.
const TERMS: [&str; 2] = ["podAffinityTerm", "requiredDuringSchedulingIgnoredDuringExecution"];
/// Whose labels and annotations say what an object is, and nothing more.
const DESCRIBING: [&str; 3] = ["app.kubernetes.io/", "helm.sh/", PREFIX];

/// Says what a field asks for.
pub(super) fn check(field: Field<'_>, diagnostics: &mut Diagnostics) {
    let Field { entry: Entry { key, key_span, value }, of, .. } = field;
    // The image of a script is not part of its text.
    if key == "image" && !VOLUMES.contains(&of) && (of == "script" || !is_of_program(of)) {
        diagnostics.extend(image(value));
    }
    if field.is_of_program() || value.value == Value::Null {
        return;
    }
    let lower = key.to_ascii_lowercase();
    // What has the name has said more of its use.
    let is_said = key == "secretName" && of.to_ascii_lowercase().contains("secret");
    if lower == "authenticationref" || lower.contains("secret") && !lower.ends_with("type") && !is_said {
        diagnostics.extend(secrets(key, value, *key_span));
    } else if lower.contains("serviceaccount") && !lower.contains("token") {
        diagnostics.extend(named(value).map(|(name, span)| account(name, span)));
    } else if let Some(claim) = value.as_text().and_then(|text| claim_of(key, text)) {
        diagnostics.push(volume(field.with_mode(format!("claim {claim}")), value.span));
    }
    match (of, key.as_str()) {
        (_, "serviceAccountToken") => {
            let audience = value.get("audience").and_then(|audience| Some((audience.as_text()?, audience.span)));
            diagnostics.extend(audience.map(|(audience, span)| token(audience, span)));
        }
        (_, "volumeName") => {
            diagnostics.extend(value.as_text().map(|name| volume(format!("volume {name}"), value.span)));
        }
        ("labels" | "annotations", name)
            if name.contains('/')
                && !NETWORKS.contains(&name)
                && !DESCRIBING.iter().any(|own| name.starts_with(own)) =>
        {
            let message = |_: &str| format!("another program may act on `{name}`");
            let value = format!("{name} {}", written(value)).trim_end().to_owned();
            diagnostics.push(permission(&code::KB0391, *key_span, value, message));
        }
        (_, "tolerations") if !value.items().is_empty() => {
            diagnostics.push(placement(format!("tolerations {}", scalars(value)), *key_span));
        }
        (term, "namespaces" | "namespaceSelector") if TERMS.contains(&term) => {
            let said = format!("affinity over {key} {}", scalars(value));
            diagnostics.push(placement(said.trim_end().to_owned(), *key_span));
        }
        ("storage", "key") => diagnostics.extend(secrets(key, value, *key_span)),
        (_, "volumeClaimTemplates" | "volumeClaimPolicies") if !value.items().is_empty() => {
            diagnostics.push(volume("its own claims".to_owned(), *key_span));
        }
        (_, name) if PLACEMENT.contains(&name) => {
            diagnostics.extend(value.as_text().map(|said| placement(format!("{name} {said}"), *key_span)));
        }
        (_, name) if NETWORKS.contains(&name) => {
            let message = |network: &str| format!("pods change their network settings: {network}");
            diagnostics.push(permission(&code::KB0387, *key_span, format!("{name} {}", written(value)), message));
        }
        _ => {}
    }
    let is_volume = VOLUMES.contains(&key.as_str()) || of == "volumes" && !OWN_VOLUMES.contains(&key.as_str());
    if is_volume && matches!(value.value, Value::Map(_)) {
        let said = format!("{key} {}", scalars(value)).trim_end().to_owned();
        diagnostics.push(volume(field.with_mode(said), *key_span));
    }
    diagnostics.extend(location(value));
}

/// Says that an object of this kind is created.
pub(super) fn kind(shown: &str, span: Span) -> Diagnostic {
    permission(&code::KB0385, span, shown.to_owned(), |kind| format!("the manifest creates a {kind}"))
}

/// Says that a field that chooses among nodes names one.
pub(super) fn of_nodes(entry: &Entry, diagnostics: &mut Diagnostics) {
    let Entry { key, key_span, value } = entry;
    if names_node(value) {
        diagnostics.push(placement(format!("{key} {}", scalars(value)), *key_span));
    }
}

fn names_node(node: &Node) -> bool {
    let is_name = |entry: &Entry| {
        entry.key == NODE || entry.key == "matchFields" || entry.key == "key" && entry.value.as_text() == Some(NODE)
    };
    node.entries().iter().any(|entry| is_name(entry) || names_node(&entry.value)) || node.items().iter().any(names_node)
}

/// Returns whether pods only read `volume`, as it or each of its mounts in `root` says.
pub(super) fn is_only_read(volume: &Node, root: &Node) -> bool {
    let is_said = |node: &Node| node.get("readOnly").is_some_and(|said| said.value == Value::Bool(true));
    let mut mounts = Vec::new();
    if let Some(name) = volume.get("name").and_then(Node::as_text) {
        collect_mounts(root, name, &mut mounts);
    }
    volume.get("persistentVolumeClaim").is_some_and(is_said) || !mounts.is_empty() && mounts.into_iter().all(is_said)
}

fn collect_mounts<'n>(node: &'n Node, volume: &str, mounts: &mut Vec<&'n Node>) {
    let is_of = |mount: &&Node| mount.get("name").and_then(Node::as_text) == Some(volume);
    mounts.extend(node.items_of("volumeMounts").iter().filter(is_of));
    node.entries().iter().for_each(|entry| collect_mounts(&entry.value, volume, mounts));
    node.items().iter().for_each(|item| collect_mounts(item, volume, mounts));
}

/// Returns the Secrets that the field `key` names: by itself, in an object, or in a list or an object of either. What for is part of it.
fn secrets(key: &str, value: &Node, span: Span) -> Vec<Diagnostic> {
    let within = value.items().iter().chain(value.entries().iter().map(|entry| &entry.value));
    let all: Vec<&Node> = match named(value) {
        Some(_) => vec![value],
        None => within.filter(|node| named(node).is_some()).collect(),
    };
    if all.is_empty() && matches!(value.value, Value::Map(_)) {
        return vec![asks_for_secret("?", key, span)];
    }
    let of = |node: &Node| {
        let (name, span) = named(node)?;
        let is_use = |entry: &&Entry| entry.value.span != span;
        let rest = Value::Map(node.entries().iter().filter(is_use).cloned().collect());
        let used = format!("{key} {}", scalars(&Node { span: node.span, value: rest }));
        Some(asks_for_secret(name, used.trim_end(), span))
    };
    all.into_iter().filter_map(of).collect()
}

fn asks_for_secret(name: &str, used: &str, span: Span) -> Diagnostic {
    permission(&code::KB0380, span, format!("{name} as {used}"), |_| format!("reads the Secret `{name}` as {used}"))
}

/// Returns the name that a field says, and where.
fn named(value: &Node) -> Option<(&str, Span)> {
    let node = ["secretName", "name"].iter().find_map(|field| value.get(field)).unwrap_or(value);
    node.as_text().filter(|name| !name.is_empty()).map(|name| (name, node.span))
}

fn account(name: &str, span: Span) -> Diagnostic {
    permission(&code::KB0381, span, name.to_owned(), |name| format!("pods run as the service account `{name}`"))
}

fn token(audience: &str, span: Span) -> Diagnostic {
    permission(&code::KB0382, span, audience.to_owned(), |audience| format!("pods have a token for `{audience}`"))
}

/// Returns an image that can be another one tomorrow, or that is decided only when it runs.
fn image(value: &Node) -> Option<Diagnostic> {
    let said = value.as_text().filter(|said| !said.is_empty())?;
    match ImageRef::parse(said) {
        Ok(image) if image.digest().is_some() => None,
        Ok(image) => Some(without_digest(image.to_string(), value.span)),
        Err(_) => Some(without_digest(said.to_owned(), value.span)),
    }
}

fn without_digest(image: String, span: Span) -> Diagnostic {
    permission(&code::KB0384, span, image, |image| format!("runs `{image}`, which has no digest"))
}

/// Returns the image from which a model is read.
fn location(value: &Node) -> Option<Diagnostic> {
    let said = value.as_text()?;
    let is_open = said.starts_with("oci://") && !said.contains("@sha256:");
    is_open.then(|| without_digest(said.to_owned(), value.span))
}

fn placement(value: String, span: Span) -> Diagnostic {
    permission(&code::KB0389, span, value, |asked| format!("pods ask for {asked}"))
}

fn volume(value: String, span: Span) -> Diagnostic {
    permission(&code::KB0383, span, value, |volume| format!("mounts a volume from elsewhere: {volume}"))
}

impl Field<'_> {
    /// Adds to what a volume is that pods only read it.
    fn with_mode(&self, volume: String) -> String {
        if self.is_only_read { format!("{volume} read-only") } else { volume }
    }
}

/// Returns a text, or all that a value says in its fields.
fn written(value: &Node) -> String {
    value.as_text().map_or_else(|| scalars(value), str::to_owned)
}

/// Returns all that a value says in its fields, in their order.
fn scalars(value: &Node) -> String {
    let mut all = Vec::new();
    let mut open: Vec<(&str, &Node)> = vec![("", value)];
    while let Some((name, node)) = open.pop() {
        match node.as_text() {
            Some(text) if name.is_empty() => all.push(text.to_owned()),
            Some(text) => all.push(format!("{name}={text}")),
            None if node.value == Value::Bool(true) => all.push(name.to_owned()),
            None => {
                open.extend(node.entries().iter().rev().map(|entry| (entry.key.as_str(), &entry.value)));
                open.extend(node.items().iter().rev().map(|item| (name, item)));
            }
        }
    }
    all.join(" ")
}
