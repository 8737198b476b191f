//! What a benchmark may do that a plain one may not: findings of level `info`, which whoever reviews a change wants to know of.
//!
//! Those whose codes are of that level themselves are kept apart, for `plan`: a lint level makes them findings like any other.

use std::collections::BTreeSet;

use crate::guard::Bounds;
use crate::lower::Project;
use crate::model::{Api, Target};
use kubebench_format::plan::v1::What;
use kubebench_syntax::diag::{Code, Diagnostic, Diagnostics, Severity, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Entry, Node, Value};

/// What permissions are, and the codes of their findings.
const KINDS: [(What, &[&Code]); 12] = [
    (What::Account, &[&code::KB0381]),
    (What::Gate, &[&code::KB0463]),
    (What::Image, &[&code::KB0384]),
    (What::Kind, &[&code::KB0385]),
    (What::Network, &[&code::KB0387]),
    (What::Placement, &[&code::KB0389, &code::KB0392, &code::KB0394]),
    (What::PodSecurity, &[&code::KB0388, &code::KB0419]),
    (What::Rule, &[&code::KB0386]),
    (What::Secret, &[&code::KB0380]),
    (What::Token, &[&code::KB0373, &code::KB0382]),
    (What::Unseen, &[&code::KB0329, &code::KB0376, &code::KB0391, &code::KB0440]),
    (What::Volume, &[&code::KB0383]),
];

/// What the namespaces of Kubernetes itself begin with.
const SYSTEM: &str = "kube-";

/// What of a target has a code of its own, or reaches no pod: prices, versions of APIs, values that specs look up.
const OF_OWN: [&str; 8] =
    ["apis", "imageMirrors", "networkPolicy", "pods", "prices", "steps", "tokenAudiences", "values"];
/// Those whose code depends on what they say.
const BY_VALUE: [&str; 3] = ["podSecurity", "priorityClass", "prometheus"];

/// Something of a target that all its benchmarks have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfTarget {
    /// The target; nothing where the whole project has it.
    pub target: Option<String>,
    /// What it is.
    pub finding: Diagnostic,
}

/// Returns what a permission is.
pub fn what(finding: &Diagnostic) -> What {
    let mut kinds = KINDS.iter().filter(|(_, codes)| codes.contains(&finding.code));
    kinds.next().map_or(What::Unseen, |(what, _)| *what)
}

/// Returns what is permitted, such as the name of a Secret.
pub fn value(finding: &Diagnostic) -> &str {
    finding.value.as_deref().unwrap_or(&finding.message)
}

/// Returns what tells permissions of one benchmark apart, wherever they are asked for.
pub fn key(finding: &Diagnostic) -> (What, &str) {
    (what(finding), value(finding))
}

/// Takes the permissions out of findings; those that are findings of `compile` as well stay there too.
pub(crate) fn split(found: &mut Diagnostics) -> Vec<Diagnostic> {
    let all = std::mem::take(found);
    let is_known = |finding: &&Diagnostic| KINDS.iter().any(|(_, codes)| codes.contains(&finding.code));
    let is_there = |finding: &&Diagnostic| finding.severity != Severity::Error && is_known(finding);
    let permissions = all.as_slice().iter().filter(is_there).cloned().collect();
    found.extend(all.into_iter().filter(|finding| !is_of_plan(finding)));
    permissions
}

/// Returns those permissions that `level`, the one that the project gives a finding, makes findings like any other.
pub(crate) fn raised<'p>(
    permissions: impl Iterator<Item = &'p Diagnostic>,
    level: impl Fn(&Diagnostic) -> Option<Severity>,
) -> impl Iterator<Item = Diagnostic> {
    let is_raised =
        move |finding: &&Diagnostic| is_of_plan(finding) && level(finding).is_some_and(|level| level != Severity::Info);
    permissions.filter(is_raised).cloned()
}

/// Returns whether `plan` alone shows a finding, unless a lint level says otherwise.
fn is_of_plan(finding: &Diagnostic) -> bool {
    finding.code.severity == Severity::Info
}

/// Returns the right to create and delete objects that a workload gives the pipeline, but for the Jobs that it always has.
pub(crate) fn rule(api: &Api, span: Span) -> Option<Diagnostic> {
    let (group, plural) = api.resource();
    if matches!((group, plural), ("batch", "jobs") | ("", "services")) {
        return None;
    }
    let value = if group.is_empty() { plural.to_owned() } else { format!("{group}/{plural}") };
    Some(permission(&code::KB0386, span, value, |value| format!("the pipeline may create and delete `{value}`")))
}

/// Returns what the project file allows the benchmarks of its targets.
pub(crate) fn of_targets(root: &Node, project: &Project) -> Vec<OfTarget> {
    let spec = root.get("spec");
    let of_project = |finding| OfTarget { target: None, finding };
    let mut all: Vec<OfTarget> = spec.into_iter().flat_map(of_steps).map(of_project).collect();
    let kinds = spec.map(|spec| spec.items_of("allowKinds")).unwrap_or_default();
    let kind =
        |node: &Node| permission(&code::KB0385, node.span, text(node), |kind| format!("manifests may bring a {kind}"));
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
            let said = |mirror: &str| format!("images are pulled from elsewhere: {mirror}");
            found.push(permission(&code::KB0384, *key_span, mirror, said));
        }
        if let Some(namespace) = node.get("namespace").filter(|_| target.namespace.starts_with(SYSTEM)) {
            let said =
                |_: &str| format!("objects of `{}` go into `{}`, Kubernetes' own", target.name, target.namespace);
            found.push(permission(&code::KB0389, namespace.span, format!("namespace {}", target.namespace), said));
        }
        if let Some(url) = node.get("prometheus").and_then(|prometheus| prometheus.get("url")) {
            let said = |url: &str| format!("the steps ask the {url}");
            found.push(permission(&code::KB0387, url.span, format!("Prometheus at {}", text(url)), said));
        }
        let is_system = target.namespace.starts_with(SYSTEM);
        let is_other = |entry: &&Entry| {
            let key = entry.key.as_str();
            !OF_OWN.contains(&key) && !BY_VALUE.contains(&key) && !(is_system && key == "namespace")
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
    let said = |remote: &str| format!("the recorder sends results, and its credential, to {remote}");
    let remote = of_results("remote").map(|node| permission(&code::KB0387, node.span, text(node), said));
    let refs = ["branch", "inbox"].into_iter().filter_map(|field| {
        let said = |value: &str| format!("the recorder writes to the {value}");
        of_results(field).map(|node| permission(&code::KB0387, node.span, format!("{field} {}", text(node)), said))
    });
    let said = |_: &str| "the recorder takes any server of SSH that answers for the right one".to_owned();
    let keys = of_results("sshHostKeys").filter(|keys| text(keys) == "acceptNew");
    let keys = keys.map(|keys| permission(&code::KB0387, keys.span, "unknown SSH host keys".to_owned(), said));
    let said = |ca: &str| format!("the steps take servers for the right ones by other than public authorities: {ca}");
    let ca = of_results("ca").map(|ca| permission(&code::KB0387, ca.span, format!("ca {}", ca.to_json()), said));
    image.into_iter().chain(credential).chain(signing).chain(remote).chain(refs).chain(keys).chain(ca).collect()
}

/// Returns what a target says in a field, each entry and item by itself; `of` is what comes before, and what it applies to.
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
        owners: &BTreeSet::new(),
        objects: &[],
    };
    let mut found = Diagnostics::default();
    for node in [&target.pods.written, &target.steps.pods.written].into_iter().flatten() {
        bounds.check_as("pod", node, &mut found);
    }
    split(&mut found)
}

/// Returns what a network policy lets in and out beside DNS and the benchmarks themselves.
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

/// Returns a permission of a value, and how a sentence has it.
pub(crate) fn permission(
    code: &'static Code,
    span: Span,
    value: String,
    said: impl FnOnce(&str) -> String,
) -> Diagnostic {
    let message = said(&value);
    Diagnostic::at(code, span, message).value(value)
}

/// Returns a text as it is, anything else as JSON.
fn shown(node: &Node) -> String {
    node.as_text().map_or_else(|| node.to_json().to_string(), str::to_owned)
}

fn text(node: &Node) -> String {
    node.as_text().unwrap_or_default().to_owned()
}
