//! What a format has no place for, counted.

use std::collections::BTreeMap;

use kubebench_format::result::BenchmarkResult;

/// How much of what was left out or changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Omissions {
    counts: BTreeMap<&'static str, u64>,
}

impl Omissions {
    /// Counts `count` of `what`, a plural.
    pub(crate) fn add(&mut self, what: &'static str, count: usize) {
        if count > 0 {
            *self.counts.entry(what).or_default() += count as u64;
        }
    }

    /// Counts what rows of metrics say nothing of.
    pub(super) fn beside_rows(&mut self, result: &BenchmarkResult) {
        self.add("exits of processes", result.run.exits.len());
        self.add("checks", result.validity.checks.len());
        self.add("artifacts", result.artifacts.len());
        self.add("monitored quantities", result.monitoring.len());
        self.add("nodes of workflows", result.workflow.as_ref().map_or(0, |workflow| workflow.nodes.len()));
        self.add("trials of experiments", result.experiment.as_ref().map_or(0, |experiment| experiment.trials.len()));
        self.add("reports of tools", result.native.len());
    }

    /// Counts samples.
    pub(super) fn samples(&mut self, result: &BenchmarkResult) {
        self.add("samples", result.metrics.iter().map(|metric| metric.samples.len()).sum());
    }

    /// Returns it in words, the most first; nothing where nothing was left out.
    pub fn words(&self) -> Option<String> {
        let mut counts: Vec<(&str, u64)> = self.counts.iter().map(|(what, count)| (*what, *count)).collect();
        counts.sort_by_key(|(what, count)| (std::cmp::Reverse(*count), *what));
        let words: Vec<String> = counts.into_iter().map(|(what, count)| format!("{what}: {count}")).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}
