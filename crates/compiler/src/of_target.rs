//! What a target may do, and lets all its benchmarks do: the permissions that are in the project file.

use crate::guard::{Bounds, Owners};
use crate::lower::Project;
use crate::model::Target;
use crate::permission::{permission, shown, split, text};
use crate::suppressed::shown as shown_suppressions;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::yaml::{Entry, Node, Value};

/// The prefix of the namespaces of Kubernetes itself.
const SYSTEM: &str = "kube-";

/// What of a target has a code of its own, or reaches no pod: prices, versions of APIs, values that specs look up.
const OF_OWN: [&str; 10] = [
    "apis",
    "formerly",
    "imageMirrors",
    "lints",
    "networkPolicy",
    "pods",
    "prices",
    "steps",
    "tokenAudiences",
    "values",
];
/// Those whose code depends on what they say.
const BY_VALUE: [&str; 3] = ["podSecurity", "priorityClass", "prometheus"];

/// Something of a target that all its benchmarks have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfTarget {
    /// The target; none for a setting of the whole project.
    pub target: Option<String>,
    pub finding: Diagnostic,
}

/// Returns what the project file allows the benchmarks of its targets.
pub(crate) fn of_targets(root: &Node, project: &Project) -> Vec<OfTarget> {
    let spec = root.get("spec");
    let of_project = |finding| OfTarget { target: None, finding };
    let mut all: Vec<OfTarget> = spec.into_iter().flat_map(of_steps).map(of_project).collect();
    let kinds = spec.map(|spec| spec.items_of("allowKinds")).unwrap_or_default();
    let kind =
        |node: &Node| permission(&code::KB0385, node.span, text(node), |kind| format!("manifests may create a {kind}"));
    all.extend(kinds.iter().map(kind).map(of_project));
    let nodes = spec.and_then(|spec| spec.get("targets"));
    for target in &project.targets {
        let Some(node) = nodes.and_then(|nodes| nodes.get(&target.name)) else { continue };
        let mut found = Vec::new();
        if let Some(level) = node.get("podSecurity").filter(|level| level.as_text() == Some("privileged")) {
            let said = |level: &str| format!("the namespace of `{}` enforces the level {level}", target.name);
            found.push(permission(&code::KB0388, level.span, text(level), said));
        }
        if let Some(class) = node.get("priorityClass") {
            let said = |class: &str| format!("all pods ask for {class}");
            found.push(permission(&code::KB0389, class.span, format!("priorityClass {}", text(class)), said));
        }
        for audience in node.items_of("tokenAudiences") {
            let said = |audience: &str| format!("pods may ask for tokens for `{audience}`");
            found.push(permission(&code::KB0382, audience.span, text(audience), said));
        }
        for Entry { key, key_span, value } in node.entries_of("imageMirrors") {
            let mirror = format!("{key} from {}", text(value));
            let said = |mirror: &str| format!("images are pulled from a mirror: {mirror}");
            found.push(permission(&code::KB0384, *key_span, mirror, said));
        }
        if let Some(namespace) = node.get("namespace").filter(|_| target.namespace.starts_with(SYSTEM)) {
            let said = |_: &str| {
                format!("objects of `{}` go into `{}`, a namespace of Kubernetes itself", target.name, target.namespace)
            };
            found.push(permission(&code::KB0389, namespace.span, format!("namespace {}", target.namespace), said));
        }
        if let Some(url) = node.get("prometheus").and_then(|prometheus| prometheus.get("url")) {
            let said = |url: &str| format!("the steps query {url}");
            found.push(permission(&code::KB0387, url.span, format!("Prometheus at {}", text(url)), said));
        }
        let is_system = target.namespace.starts_with(SYSTEM);
        let is_other = |entry: &&Entry| {
            let key = entry.key.as_str();
            !(OF_OWN.contains(&key) || BY_VALUE.contains(&key) || is_system && key == "namespace")
        };
        let of_all = (String::new(), "everything on it");
        for entry in node.entries().iter().filter(is_other) {
            found.extend(said_of(&of_all, entry));
        }
        for (block, pods) in [("pods ", "all pods"), ("steps ", "the pods of the steps")] {
            let of = (block.to_owned(), pods);
            found.extend(node.entries_of(block.trim_end()).iter().flat_map(|entry| said_of(&of, entry)));
        }
        found.extend(asked_by(target, project));
        found.extend(node.get("networkPolicy").into_iter().flat_map(openings));
        found.extend(shown_suppressions(&target.suppressions));
        all.extend(found.into_iter().map(|finding| OfTarget { target: Some(target.name.clone()), finding }));
    }
    all
}

/// Returns what the steps of the pipeline run, and the Secret that records results.
fn of_steps(spec: &Node) -> Vec<Diagnostic> {
    let image = spec.get("image").filter(|image| !text(image).contains("@sha256:"));
    let said = |image: &str| format!("the steps of the pipeline run `{image}`, which has no digest");
    let image = image.map(|node| permission(&code::KB0384, node.span, text(node), said));
    let of_results = |name: &str| spec.get("results").and_then(|results| results.get(name));
    let said = |name: &str| format!("the recorder reads the Secret `{name}`");
    let credential = of_results("credential").map(|node| permission(&code::KB0380, node.span, text(node), said));
    let said = |name: &str| format!("the recorder signs with the key of the Secret `{name}`");
    let signing = of_results("signing").and_then(|signing| signing.get("secret"));
    let signing = signing.map(|node| permission(&code::KB0380, node.span, text(node), said));
    let said = |remote: &str| format!("the recorder sends results and its credential to {remote}");
    let remote = of_results("remote").map(|node| permission(&code::KB0387, node.span, text(node), said));
    let refs = ["branch", "inbox"].into_iter().filter_map(|field| {
        let said = |value: &str| format!("the recorder writes to the {value}");
        of_results(field).map(|node| permission(&code::KB0387, node.span, format!("{field} {}", text(node)), said))
    });
    let said = |_: &str| "the recorder accepts any SSH server without checking its host key".to_owned();
    let keys = of_results("sshHostKeys").filter(|keys| text(keys) == "acceptNew");
    let keys = keys.map(|keys| permission(&code::KB0387, keys.span, "unknown SSH host keys".to_owned(), said));
    let said = |ca: &str| format!("the steps trust certificate authorities other than the public ones: {ca}");
    let ca = of_results("ca").map(|ca| permission(&code::KB0387, ca.span, format!("ca {}", ca.to_json()), said));
    image.into_iter().chain(credential).chain(signing).chain(remote).chain(refs).chain(keys).chain(ca).collect()
}

/// Returns what a target says in a field, each entry and item separately; `of` is the prefix, and what it applies to.
fn said_of(of: &(String, &str), Entry { key, key_span, value }: &Entry) -> Vec<Diagnostic> {
    let (before, all) = of;
    let row = |span, said: String| {
        permission(&code::KB0392, span, said, |_| format!("`{key}` of the target applies to {all}"))
    };
    let entries = value
        .entries()
        .iter()
        .map(|entry| row(entry.key_span, format!("{before}{key} {} {}", entry.key, shown(&entry.value))));
    let items = value.items().iter().map(|item| row(item.span, format!("{before}{key} {}", shown(item))));
    let mut rows: Vec<Diagnostic> = entries.chain(items).collect();
    if rows.is_empty() {
        rows.push(row(*key_span, format!("{before}{key} {}", shown(value))));
    }
    rows
}

/// Returns what the pods of a target ask for by what it says of them, as pods of a benchmark do.
fn asked_by(target: &Target, project: &Project) -> Vec<Diagnostic> {
    let settings = &project.settings;
    let bounds = Bounds {
        benchmark: "",
        target: &target.name,
        user_of_steps: None,
        pod_security: target.pod_security,
        results: &settings.results,
        kinds: &settings.allow_kinds,
        audiences: &target.token_audiences,
        owners: &Owners::default(),
        objects: &[],
    };
    let mut found = Diagnostics::default();
    for node in [&target.pods.written, &target.steps.pods.written].into_iter().flatten() {
        bounds.check_as("pod", node, &mut found);
    }
    split(&mut found)
}

/// Returns what a network policy allows in and out in addition to DNS and the benchmarks themselves.
fn openings(policy: &Node) -> Vec<Diagnostic> {
    let opening =
        |span, value| permission(&code::KB0387, span, value, |value| format!("the network policy has {value}"));
    let mut found = Vec::new();
    if let Some(off) = policy.get("enabled").filter(|enabled| enabled.value == Value::Bool(false)) {
        found.push(permission(&code::KB0387, off.span, "none".to_owned(), |_| "there is no network policy".to_owned()));
    }
    for direction in ["egress", "ingress"] {
        found.extend(
            policy.items_of(direction).iter().map(|rule| opening(rule.span, format!("{direction} {}", rule.to_json()))),
        );
    }
    // Without them steps reach all addresses, so that taking one away is what opens the policy.
    for field in ["dns", "apiServer", "git", "prometheus"] {
        found.extend(policy.get(field).map(|rule| opening(rule.span, format!("{field} {}", rule.to_json()))));
    }
    for Entry { key, value, .. } in policy.entries_of("operatorNamespaces") {
        let of = |name: &Node| opening(name.span, format!("operators of {key} in the namespace {}", text(name)));
        found.extend(value.items().iter().map(of));
    }
    found
}
