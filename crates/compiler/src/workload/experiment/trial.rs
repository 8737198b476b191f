//! The trial of a search: a workload of another kind, and what Katib must know of it.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

use super::super::status::text_at;
use super::super::{KINDS, Lowering};
use super::form::Experiment;
use crate::model::{Role, TemplateStep, Workload};
use kubebench_syntax::diag::{Diagnostic, code, did_you_mean};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Node, Value};

/// How a reference to a parameter begins in a trial.
const OPEN: &str = "${trialParameters.";
/// Behind the name of a search, that of a trial has eight letters.
const TRIAL_NAME: &str = "-00000000";
/// The label of a pod's role.
const ROLE: &str = "kubebench.dev/role";
/// Roles whose pod decides, before all others.
const FIRST: [&str; 3] = ["launcher", "chief", "master"];

/// What each trial runs.
pub(super) struct Trial {
    /// As it would run alone.
    pub(super) workload: Workload,
    kind: &'static str,
    container: &'static str,
}

/// Lowers the workload under `trial` as its own kind does.
pub(super) fn lower(cx: &mut Lowering<'_>) -> Option<Trial> {
    let entry = cx.entry.value.get("trial")?.entries().first()?;
    let kind = KINDS.iter().find(|kind| kind.key == entry.key)?;
    if let Some(patch) = entry.value.entry("patch") {
        cx.report(
            Diagnostic::at(&code::KB0317, patch.key_span, "a trial cannot have a `patch` over its whole object")
                .note("the object of a trial is nested in the object of the search")
                .help("write it in `pod` or `container` of a role, or use the whole Experiment with `manifest`"),
        );
        return None;
    }
    let mut inner = Lowering {
        key: kind.key,
        entry,
        target: cx.target,
        timeout: cx.timeout,
        documents: None,
        diagnostics: &mut *cx.diagnostics,
    };
    let workload = (kind.lower)(&mut inner)?;
    if workload.takes_pods_of_cluster() {
        let at = entry.value.get("runtimeRef").map_or(entry.key_span, |reference| reference.span);
        cx.report(
            Diagnostic::at(&code::KB0317, at, "a trial cannot take its pods from a runtime of the cluster")
                .note("the pods would get neither the labels of the run, by which they are found, nor its limits")
                .help(
                    "write `runtime: {torch: {}}` (or `mpi`, `jax`, `xgboost`), or use the whole Experiment with \
                     `manifest`",
                ),
        );
        return None;
    }
    Some(Trial { workload, kind: kind.key, container: kind.container })
}

/// Returns the parameters that the trial uses; reports those that the search does not have, and those of the search that no trial
/// uses.
pub(super) fn parameters(cx: &mut Lowering<'_>, form: &Experiment) -> BTreeSet<String> {
    let Some(trial) = cx.entry.value.get("trial") else { return BTreeSet::new() };
    let mut found = Vec::new();
    search(trial, &mut found);
    let known: Vec<&str> = form.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    for (name, span) in found.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
        let fault = Diagnostic::at(&code::KB0357, *span, format!("the search has no parameter `{name}`"))
            .note("Katib refuses an Experiment with a parameter that it cannot fill in");
        cx.report(match did_you_mean(name, known.iter().copied()) {
            Some(close) => fault.help(format!("did you mean `{OPEN}{close}}}`?")),
            None => fault
                .note(format!("its parameters: {}", known.join(", ")))
                .help("write one of them, or add it to `parameters`"),
        });
    }
    let used: BTreeSet<String> = found.into_iter().map(|(name, _)| name).collect();
    let nodes = cx.entry.value.items_of("parameters");
    for node in nodes {
        let Some((name, at)) = node.get("name").and_then(|name| Some((name.as_text()?, name.span))) else { continue };
        if !used.contains(name) {
            let fault = Diagnostic::at(&code::KB0406, at, format!("no trial uses the parameter `{name}`"))
                .note("all trials would do the same under different names");
            cx.report(fault.help(format!("write `{OPEN}{name}}}` where the value belongs, or delete it")));
        }
    }
    used
}

/// Collects the names of parameters below `node`, with their places.
fn search(node: &Node, found: &mut Vec<(String, Span)>) {
    match &node.value {
        Value::String(text) => {
            let mut rest = text.as_str();
            while let Some((_, after)) = rest.split_once(OPEN) {
                let Some((name, behind)) = after.split_once('}') else { break };
                found.push((name.to_owned(), node.span));
                rest = behind;
            }
        }
        Value::Seq(items) => items.iter().for_each(|item| search(item, found)),
        Value::Map(entries) => entries.iter().for_each(|entry| search(&entry.value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl Trial {
    /// Returns the `trialTemplate`, with these parameters.
    pub(super) fn template(&self, parameters: Json) -> Json {
        let (success, failure) = self.conditions();
        let is_true = |word: &str| format!(r#"status.conditions.#(type=="{word}")#|#(status=="True")#"#);
        let mut template = Map::new();
        template.insert("primaryContainerName".to_owned(), self.container.into());
        template.insert("primaryPodLabels".to_owned(), self.primary_pod());
        template.insert("successCondition".to_owned(), is_true(success).into());
        template.insert("failureCondition".to_owned(), is_true(failure).into());
        // What trials leave is read before the search is deleted, and everything with it.
        template.insert("retain".to_owned(), true.into());
        template.insert("trialParameters".to_owned(), parameters);
        let api = &self.workload.api;
        template.insert(
            "trialSpec".to_owned(),
            json!({ "apiVersion": api.api_version, "kind": api.kind, "spec": self.workload.spec }),
        );
        Json::Object(template)
    }

    /// Returns the conditions by which a trial's job has succeeded and failed.
    fn conditions(&self) -> (&'static str, &'static str) {
        match self.kind {
            "job" | "trainJob" => ("Complete", "Failed"),
            "jobSet" => ("Completed", "Failed"),
            _ => ("Succeeded", "Failed"),
        }
    }

    /// Returns the labels of the pod whose output Katib reads: one of each trial.
    fn primary_pod(&self) -> Json {
        let roles = &self.workload.roles;
        let decides = FIRST.iter().find_map(|name| roles.iter().find(|role| role.name == *name));
        let target = self.workload.spec.get("successPolicy").map(|policy| text_at(policy, "/targetReplicatedJobs/0"));
        let target = target.and_then(|name| roles.iter().find(|role| role.name == name));
        let worker = || roles.iter().find(|role| role.name == "worker");
        let Some(primary) = decides.or(target).or_else(worker).or(roles.first()) else { return json!({}) };
        let mut labels = Map::from_iter([(ROLE.to_owned(), Json::from(primary.name.as_str()))]);
        // If there are several such pods, it is the first.
        let numbered = match self.kind {
            _ if primary.replicas == 1 && primary.completions == 1 => None,
            "job" if self.workload.spec.get("completionMode").is_some_and(|mode| mode == "Indexed") => {
                Some("batch.kubernetes.io/job-completion-index")
            }
            "job" => None,
            "jobSet" => Some("jobset.sigs.k8s.io/job-index"),
            "trainJob" => Some("batch.kubernetes.io/job-completion-index"),
            _ => Some("training.kubeflow.org/replica-index"),
        };
        if let Some(label) = numbered {
            labels.insert(label.to_owned(), "0".into());
        }
        if self.kind == "jobSet" {
            labels.insert("batch.kubernetes.io/job-completion-index".to_owned(), "0".into());
        }
        Json::Object(labels)
    }

    /// Returns the roles of all trials that run at once.
    pub(super) fn roles(&self, at_once: u32) -> Vec<Role> {
        let mut roles = self.workload.roles.clone();
        for role in &mut roles {
            role.max_replicas = role.max_replicas.saturating_mul(at_once);
            role.longest_name.suffix.insert_str(0, TRIAL_NAME);
            if role.template_at.object == 0 {
                let before = ["trialTemplate", "trialSpec", "spec"].map(TemplateStep::field);
                role.template_at.steps.splice(0..0, before);
            }
        }
        roles
    }
}
