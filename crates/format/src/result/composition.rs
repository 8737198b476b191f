//! What a run was made of, where the cluster divides it: the nodes of a Workflow, the trials of an Experiment.

use std::collections::BTreeMap;

use kubebench_syntax::invariant::Invariant as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// More nodes or trials are not kept in a result; all of them count in its metrics.
const MOST: usize = 500;
/// How many names a reason lists.
const NAMED: usize = 12;
/// Types of nodes that only hold others: the attempts at a step, the turns of a loop.
const GROUPS: [&str; 4] = ["Retry", "Skipped", "StepGroup", "TaskGroup"];

/// What a run was made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Composition {
    /// The Workflow that was measured.
    pub workflow: Option<Workflow>,
    /// The Experiment that was measured.
    pub experiment: Option<Experiment>,
}

/// A Workflow of Argo that was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Workflow {
    /// Its nodes, in the order in which they started.
    pub nodes: Vec<WorkflowNode>,
    /// How many further nodes are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// Why nodes are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// One node of a Workflow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkflowNode {
    /// Its name as Argo shows it: that of its step or task, with the turn of a loop and the number of a retry in parentheses.
    pub name: String,
    /// Its template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// Argo's word for what it is: `Pod`, `DAG`, `Steps`, `Retry`.
    pub r#type: String,
    /// How it ended: `Succeeded`, `Failed`, `Error`, `Skipped`, `Omitted`.
    pub phase: String,
    /// When it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// Seconds from its start to its end, which Argo writes in whole ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// What Argo says of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// An Experiment of Katib that was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Experiment {
    /// What was searched for.
    pub objective: Objective,
    /// How many trials ended how, by the words of `trials`.
    pub counts: BTreeMap<TrialStatus, u64>,
    /// The trials, in the order in which they were made.
    pub trials: Vec<Trial>,
    /// How many further trials are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// Why trials are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What an Experiment searched for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Objective {
    /// The metric.
    pub metric: String,
    /// `maximize` or `minimize`.
    pub r#type: String,
    /// From which value on the search ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<f64>,
}

/// One trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Trial {
    /// Its name, which is that of its job.
    pub name: String,
    /// How it ended.
    pub status: TrialStatus,
    /// Whether Katib holds it for the best.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub best: bool,
    /// The values that it tried, by parameter.
    pub parameters: BTreeMap<String, String>,
    /// What was observed of it.
    pub metrics: Vec<TrialMetric>,
    /// When it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// Seconds from its start to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// What Katib says of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The logs of its pods, by the names of their artifacts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<String>,
}

/// How a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum TrialStatus {
    /// Its job succeeded, and its metrics were read.
    Succeeded,
    /// Its job failed.
    Failed,
    /// It was ended because others did better.
    EarlyStopped,
    /// It was ended with the Experiment.
    Killed,
    /// Its job succeeded, and the objective was not found in what it printed.
    MetricsUnavailable,
    /// It had not ended when the run did.
    Unfinished,
}

/// What was observed of one metric of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrialMetric {
    /// Its name.
    pub name: String,
    /// The value that Katib compares trials by: the least, the greatest or the last, as the Experiment says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The last value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest: Option<f64>,
    /// The minimum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The maximum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Composition {
    /// Keeps what a result takes, and says how much more there was.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        if let Some(workflow) = &mut self.workflow {
            workflow.cut(MOST);
        }
        if let Some(experiment) = &mut self.experiment {
            experiment.cut(MOST);
        }
        self
    }
}

impl Workflow {
    /// Keeps at most `most` nodes.
    pub(crate) fn cut(&mut self, most: usize) -> u64 {
        let cut = cut(&mut self.nodes, most);
        self.left_out += cut;
        cut
    }

    /// Returns how long the nodes called `name` took, in the order of their starts: of a loop each turn, of what was tried again
    /// each attempt.
    ///
    /// # Errors
    /// Why there are none.
    pub fn seconds(&self, name: &str) -> Result<Vec<f64>, String> {
        if let Some(reason) = &self.reason {
            return Err(reason.clone());
        }
        let is_called = |node: &&WorkflowNode| {
            let rest = node.name.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
        };
        let called: Vec<&WorkflowNode> = self.nodes.iter().filter(is_called).collect();
        let ran = called.iter().filter(|node| !GROUPS.contains(&node.r#type.as_str()));
        let seconds: Vec<f64> = ran.filter_map(|node| node.seconds).collect();
        if !seconds.is_empty() {
            return Ok(seconds);
        }
        if let Some(node) = called.first() {
            let phase = if node.phase.is_empty() { "not ended" } else { &node.phase };
            return Err(format!("the node `{name}` did not run to its end: it is {phase}"));
        }
        let mut names: Vec<&str> = Vec::new();
        for node in self.nodes.iter().filter(|node| !GROUPS.contains(&node.r#type.as_str())) {
            let base = node.name.split('(').next().expected("a first part of every split");
            if !names.contains(&base) {
                names.push(base);
            }
        }
        let more = if names.len() > NAMED { ", …" } else { "" };
        names.truncate(NAMED);
        Err(format!("the Workflow had no node `{name}`; its nodes: {}{more}", names.join(", ")))
    }
}

impl Experiment {
    /// Keeps at most `most` trials, the best among them.
    pub(crate) fn cut(&mut self, most: usize) -> u64 {
        let best = self.trials.iter().position(|trial| trial.best).filter(|at| *at >= most && most > 0);
        if let Some(at) = best {
            let trial = self.trials.remove(at);
            self.trials.insert(most - 1, trial);
        }
        let cut = cut(&mut self.trials, most);
        self.left_out += cut;
        cut
    }

    /// Returns the value of `metric` of the best trial.
    ///
    /// # Errors
    /// Why there is none.
    pub fn best(&self, metric: &str) -> Result<f64, String> {
        if let Some(reason) = &self.reason {
            return Err(reason.clone());
        }
        let Some(best) = self.trials.iter().find(|trial| trial.best) else {
            return Err(format!("no trial was found to be the best: {}", self.counted()));
        };
        best.value(metric).ok_or_else(|| format!("`{metric}` was not observed of the best trial, `{}`", best.name))
    }

    /// Returns the values of `metric` of all trials of which it was observed, in the order of the trials.
    ///
    /// # Errors
    /// Why there are none.
    pub fn all(&self, metric: &str) -> Result<Vec<f64>, String> {
        if let Some(reason) = &self.reason {
            return Err(reason.clone());
        }
        let values: Vec<f64> = self.trials.iter().filter_map(|trial| trial.value(metric)).collect();
        if values.is_empty() {
            return Err(format!("`{metric}` was observed of no trial: {}", self.counted()));
        }
        Ok(values)
    }

    /// Says how many trials ended how.
    fn counted(&self) -> String {
        if self.counts.is_empty() {
            return "there were no trials".to_owned();
        }
        let counted = self.counts.iter().map(|(status, count)| format!("{count} {}", status.name()));
        counted.collect::<Vec<_>>().join(", ")
    }
}

impl Trial {
    fn value(&self, metric: &str) -> Option<f64> {
        self.metrics.iter().find(|observed| observed.name == metric)?.value
    }
}

impl TrialStatus {
    /// Returns its word in results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::EarlyStopped => "earlyStopped",
            Self::Killed => "killed",
            Self::MetricsUnavailable => "metricsUnavailable",
            Self::Unfinished => "unfinished",
        }
    }
}

fn cut<T>(list: &mut Vec<T>, most: usize) -> u64 {
    let more = list.len().saturating_sub(most);
    list.truncate(most);
    more as u64
}

#[cfg(test)]
mod tests;
