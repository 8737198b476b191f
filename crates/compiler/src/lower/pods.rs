//! A target's settings for its pods: read from the project file, and overridden by those of a spec.

use std::collections::BTreeMap;

use serde_json::json;

use crate::api;
use crate::model::pods::{Pods, StepPods};
use crate::model::{Target, Workload};
use crate::workload::{env_of, refuse_reserved};
use kubebench_contract::{PodMetadata, labels};
use kubebench_format::spec::v1::container::{LabelValue, Resources};
use kubebench_format::spec::v1::pods as wire;
use kubebench_format::spec::v1::scalar::{Quantity, Text};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Entry, Node, Value};

/// Fields of the pod spec, and what each is called there.
const FIELDS: [(&str, &str); 9] = [
    ("affinity", "affinity"),
    ("dnsConfig", "dnsConfig"),
    ("hostAliases", "hostAliases"),
    ("imagePullSecrets", "imagePullSecrets"),
    ("priorityClass", "priorityClassName"),
    ("runtimeClass", "runtimeClassName"),
    ("schedulerName", "schedulerName"),
    ("securityContext", "securityContext"),
    ("topologySpreadConstraints", "topologySpreadConstraints"),
];
/// The fields of a security context that a cluster may choose.
const BY_CLUSTER: [&str; 3] = ["fsGroup", "runAsGroup", "runAsUser"];
/// What leaves a field to the cluster, instead of a name or number.
const NONE: &str = "none";

/// Returns what `node`, the block `pods` of a target, says.
pub(super) fn pods(wire: wire::Pods, node: Option<&Node>, diagnostics: &mut Diagnostics) -> Pods {
    let mut pods = read(wire, node, diagnostics);
    if let Some(Node { value: Value::Map(fields), .. }) = &mut pods.spec {
        fields.retain(|field| !matches!(&field.value.value, Value::Map(below) if below.is_empty()));
        fields.retain(|field| !matches!(&field.value.value, Value::Seq(items) if items.is_empty()));
    }
    pods.spec = pods.spec.filter(|spec| !spec.entries().is_empty());
    pods
}

fn read(wire: wire::Pods, node: Option<&Node>, diagnostics: &mut Diagnostics) -> Pods {
    let wire::Pods { labels, annotations, env, .. } = wire;
    let of_env = |name: &str| node.and_then(|node| node.get("env")).and_then(|env| env.entry(name));
    let span_of = |name: &str| of_env(name).map_or(Span::default(), |entry| entry.value.span);
    let key_span = |name: &str| of_env(name).map_or(Span::default(), |entry| entry.key_span);
    refuse_reserved(env.keys().map(|name| (name.as_str(), key_span(name))), diagnostics);
    if let Some(node) = node {
        report_placeholders(node, diagnostics);
    }
    let spec = node.and_then(spec_of);
    if let Some(spec) = &spec {
        api::read_patch(spec, api::POD_SPEC, "the pod spec", diagnostics);
    }
    Pods {
        metadata: PodMetadata {
            labels: labels.into_iter().map(|(key, LabelValue(value))| (key, value)).collect(),
            annotations: annotations.into_iter().map(|(key, Text(value))| (key, value)).collect(),
        },
        env: env_of(env, span_of),
        spec,
        written: node.cloned(),
    }
}

/// Returns what `node`, the block `steps` of a target, says: an empty field there takes away what all pods have.
pub(super) fn steps(wire: wire::StepPods, node: Option<&Node>, diagnostics: &mut Diagnostics) -> StepPods {
    let wire::StepPods(mut of_pods) = wire;
    let Resources { requests, limits } = of_pods.resources.take().unwrap_or_default();
    let amounts =
        |amounts: BTreeMap<String, _>| amounts.into_iter().map(|(name, Quantity(amount))| (name, amount)).collect();
    StepPods { pods: read(of_pods, node, diagnostics), requests: amounts(requests), limits: amounts(limits) }
}

/// Returns the part of a block that is a patch over a pod spec, with the names that fields have there.
fn spec_of(node: &Node) -> Option<Node> {
    let entries: Vec<Entry> = node
        .entries()
        .iter()
        .filter_map(|entry| {
            let (_, name) = FIELDS.iter().find(|(field, _)| *field == entry.key)?;
            let mut value = entry.value.clone();
            leave_to_cluster(&mut value);
            match (*name, &mut value.value) {
                ("securityContext", Value::Map(fields)) => {
                    let fields = fields.iter_mut().filter(|field| BY_CLUSTER.contains(&field.key.as_str()));
                    fields.for_each(|field| leave_to_cluster(&mut field.value));
                }
                ("topologySpreadConstraints", Value::Seq(constraints)) => constraints.iter_mut().for_each(spread_runs),
                _ => {}
            }
            Some(Entry { key: (*name).to_owned(), key_span: entry.key_span, value })
        })
        .collect();
    (!entries.is_empty()).then_some(Node { span: node.span, value: Value::Map(entries) })
}

/// Reports texts that Argo would fill in, whose template of the steps has all of this.
fn report_placeholders(node: &Node, diagnostics: &mut Diagnostics) {
    if let Some(text) = node.as_text().filter(|text| text.contains("{{")) {
        let fault = Diagnostic::at(&code::KB0337, node.span, format!("`{text}` contains a template placeholder"))
            .note("the pods of the steps get it too, and Argo replaces what is between `{{` and `}}` there");
        diagnostics.push(fault.help("write the value itself"));
    }
    node.items().iter().for_each(|item| report_placeholders(item, diagnostics));
    for Entry { key, key_span, value } in node.entries() {
        let key = Node { span: *key_span, value: Value::String(key.clone()) };
        report_placeholders(&key, diagnostics);
        report_placeholders(value, diagnostics);
    }
}

/// Makes a constraint without a selector count the pods of the run: to Kubernetes it would count none, and have no effect.
fn spread_runs(constraint: &mut Node) {
    if constraint.get("labelSelector").is_some() || constraint.get("topologyKey").is_none() {
        return;
    }
    let ours = Node::from(&json!({
        "labelSelector": { "matchExpressions": [{ "key": labels::RUN, "operator": "Exists" }] },
        "matchLabelKeys": [labels::RUN],
    }));
    let missing: Vec<Entry> =
        ours.entries().iter().filter(|field| constraint.entry(&field.key).is_none()).cloned().collect();
    if let Value::Map(fields) = &mut constraint.value {
        fields.extend(missing);
    }
}

/// Makes `none` what it means in a patch: that nothing is said.
fn leave_to_cluster(value: &mut Node) {
    if value.as_text() == Some(NONE) {
        value.value = Value::Null;
    }
}

/// Puts what `target` says of pods under what the roles of `workload` say.
pub(super) fn put_under(workload: &mut Workload, target: &Target) {
    let Some(spec) = &target.pods.spec else { return };
    let described: Vec<bool> = workload.roles.iter().map(|role| workload.describes(role)).collect();
    for (role, _) in workload.roles.iter_mut().zip(described).filter(|(_, is_described)| *is_described) {
        role.pod_patches.insert(0, spec.clone());
    }
}
