//! KB0394: what a target says of all pods, and pods of a benchmark do not have.
//!
//! The final pods are checked, whatever removed something: a patch, a directive, a kind that does not support a setting.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::run_object::RunObject;
use super::workload::CaseObjects;
use super::{pod, template, user_manifest};
use crate::model::{Benchmark, Target, Workload};
use crate::permission::permission;
use crate::workload::{kind_of, pod_sets};
use kubebench_syntax::diag::{Diagnostic, Place, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::Node;

/// One thing that a target says of its pods.
struct Wanted {
    /// The field of the pod.
    field: String,
    /// Which of its entries, where it has names for them.
    key: Option<String>,
    /// The expected value.
    value: Json,
    /// Where the target says it.
    at: Span,
}

/// Pods as an object describes them.
struct Seen<'o> {
    role: String,
    spec: &'o Json,
    env: &'o [Json],
    metadata: &'o Json,
}

/// Returns what of the target the pods of `benchmark` do not have.
pub(super) fn undone(benchmark: &Benchmark, cases: &[CaseObjects], prepare: Option<&RunObject>) -> Vec<Diagnostic> {
    let wanted = wanted(&benchmark.target);
    if wanted.is_empty() {
        return Vec::new();
    }
    let of_cases = benchmark.cases.iter().zip(cases).flat_map(|(case, made)| {
        // Pods that the cluster describes are in no object of ours.
        let objects = made.objects.iter().skip(usize::from(case.workload.takes_pods_of_cluster()));
        objects.chain(made.server.iter().flat_map(|server| &server.objects)).chain(&made.postprocess)
    });
    let (mut roles, mut without) = (BTreeSet::new(), BTreeMap::<usize, BTreeSet<String>>::new());
    for seen in of_cases.chain(prepare).flat_map(seen) {
        for (index, _) in wanted.iter().enumerate().filter(|(_, wanted)| !seen.has(wanted)) {
            without.entry(index).or_default().insert(seen.role.clone());
        }
        roles.insert(seen.role);
    }
    let report = |(index, of): (usize, BTreeSet<String>)| {
        let wanted = wanted.get(index)?;
        let of = if of == roles { String::new() } else { format!(" ({})", Vec::from_iter(of).join(", ")) };
        let said = wanted.shown();
        let finding = permission(&code::KB0394, place(benchmark, wanted), format!("without {said}{of}"), |_| {
            format!("pods{of} lack a setting of the target: {said}")
        });
        Some(finding.related(Place::Span(wanted.at), "the setting of the target"))
    };
    without.into_iter().filter_map(report).collect()
}

/// Returns all that `target` says, each entry and item separately.
fn wanted(target: &Target) -> Vec<Wanted> {
    let mut all = Vec::new();
    let mut add = |field: &str, said: Json, at: Span| {
        let mut push = |key, value| all.push(Wanted { field: field.to_owned(), key, value, at });
        match said {
            Json::Null => {}
            Json::Object(entries) => {
                entries
                    .into_iter()
                    .filter(|(_, value)| !value.is_null())
                    .for_each(|(key, value)| push(Some(key), value));
            }
            Json::Array(items) => items.into_iter().for_each(|item| push(None, item)),
            scalar => push(None, scalar),
        }
    };
    let of_pods = target.pods.spec.as_ref().map(Node::entries).unwrap_or_default();
    add("nodeSelector", json!(target.node_selector), target.span);
    add("tolerations", json!(target.tolerations), target.span);
    if !of_pods.iter().any(|entry| entry.key == "priorityClassName") {
        add("priorityClassName", json!(target.priority_class), target.span);
    }
    for entry in of_pods {
        add(&entry.key, entry.value.to_json(), entry.key_span);
    }
    let written = |field: &str| target.pods.written.as_ref().and_then(|written| written.entry(field));
    let at = |field: &str| written(field).map_or(target.span, |entry| entry.key_span);
    add("labels", json!(target.pods.metadata.labels), at("labels"));
    add("annotations", json!(target.pods.metadata.annotations), at("annotations"));
    for (name, (value, span)) in &target.pods.env {
        add("env", json!({ name: pod::variable(name, value) }), *span);
    }
    all
}

/// Returns the pods that an object describes: each role's, and those of a Workflow, which says once what all of them have.
fn seen(RunObject { object, .. }: &RunObject) -> impl Iterator<Item = Seen<'_>> {
    let container = kind_of(object).map_or("", |kind| kind.container);
    // Pods that a runtime of another object describes have no place in this one.
    let described = pod_sets(object).into_iter().filter(|set| !set.template.is_empty());
    let of_roles = described.filter_map(move |set| {
        let main = template::main_of(object, &set.template, &set.form, container);
        let env = main.and_then(|main| object.pointer(&format!("{main}/env"))?.as_array());
        let env = env.map(Vec::as_slice).unwrap_or_default();
        Some((set.role.clone(), object.pointer(&set.pod())?, env, set.form.metadata(&set.template)))
    });
    let of_workflows = user_manifest::workflows(object).into_iter().filter_map(|at| {
        let spec = object.pointer(&at).filter(|spec| spec.get("templates").is_some())?;
        Some(("workflow".to_owned(), spec, &[][..], format!("{at}/podMetadata")))
    });
    of_roles.chain(of_workflows).map(|(role, spec, env, metadata)| {
        let metadata = object.pointer(&metadata).unwrap_or(&Json::Null);
        Seen { role, spec, env, metadata }
    })
}

impl Seen<'_> {
    fn has(&self, Wanted { field, key, value, .. }: &Wanted) -> bool {
        let of = |fields: &Json| {
            fields.get(field).map(|found| key.as_ref().map_or(Some(found), |key| found.get(key)).cloned())
        };
        match field.as_str() {
            "env" => self.env.iter().any(|variable| holds(variable, value)),
            "labels" | "annotations" => match of(self.metadata).flatten() {
                Some(found) => holds(&found, value),
                // A step adds what is missing, where there is metadata.
                None => self.metadata.is_object(),
            },
            _ => of(self.spec).flatten().is_some_and(|found| {
                holds(&found, value)
                    || found.as_array().is_some_and(|items| items.iter().any(|item| holds(item, value)))
            }),
        }
    }
}

impl Wanted {
    /// Returns it as it appears in a row.
    fn shown(&self) -> String {
        let value = if self.field == "env" { self.value.get("value").unwrap_or(&self.value) } else { &self.value };
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let key = self.key.as_ref().map(|key| format!(" {key}")).unwrap_or_default();
        format!("{}{key} {text}", self.field)
    }
}

/// Returns whether all of `wanted` is in `found`.
fn holds(found: &Json, wanted: &Json) -> bool {
    match (found, wanted) {
        (_, Json::Null) => true,
        (Json::Object(found), Json::Object(wanted)) => {
            wanted.iter().all(|(key, value)| value.is_null() || found.get(key).is_some_and(|found| holds(found, value)))
        }
        (Json::Array(found), Json::Array(wanted)) => {
            wanted.iter().all(|value| found.iter().any(|found| holds(found, value)))
        }
        _ => found == wanted,
    }
}

/// Returns where the spec says something else; its workload where it says nothing.
fn place(benchmark: &Benchmark, wanted: &Wanted) -> Span {
    let of_target = benchmark.target.pods.spec.as_ref().map(|spec| spec.span);
    let workloads = || benchmark.cases.iter().map(|case| &case.workload);
    let names = wanted.key.iter().chain(std::iter::once(&wanted.field));
    let in_roles = workloads().flat_map(Workload::pods).find_map(|role| {
        let own = role.pod_patches.iter().filter(|patch| Some(patch.span) != of_target);
        let patches: Vec<&Node> = own.chain(&role.container_patches).collect();
        let of_env = wanted.key.as_ref().filter(|_| wanted.field == "env").and_then(|name| role.env.get(name));
        let in_patches = || names.clone().find_map(|name| patches.iter().find_map(|patch| find(patch, name)));
        of_env.map(|(_, span)| *span).or_else(in_patches)
    });
    let in_objects = || {
        workloads()
            .filter_map(|workload| workload.patch.as_ref())
            .find_map(|patch| names.clone().find_map(|name| find(patch, name)))
    };
    in_roles
        .or_else(in_objects)
        .or_else(|| workloads().next().map(|workload| workload.span))
        .unwrap_or(benchmark.name_span)
}

/// Returns where `name` is in a patch: as a field, or as the name of an item.
fn find(patch: &Node, name: &str) -> Option<Span> {
    let in_entries = || patch.entries().iter().find_map(|entry| find(&entry.value, name));
    let is_name = |item: &&Node| item.get("name").and_then(Node::as_text) == Some(name);
    let in_items = || {
        let items = patch.items();
        items.iter().find(is_name).map(|item| item.span).or_else(|| items.iter().find_map(|item| find(item, name)))
    };
    patch.entry(name).map(|entry| entry.key_span).or_else(in_entries).or_else(in_items)
}
