//! What a run held of a cluster.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is kept of a number of hours: finer than a second of one accelerator is nothing.
const DIGITS: f64 = 1e6;
/// Seconds of an hour.
const HOUR: f64 = 3600.0;

/// The resources of a cluster that a run occupied, by the pods that were seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Usage {
    /// Its pods that had a node, without those that others replaced.
    pub pods: u32,
    /// The machines that these were on.
    pub nodes: u32,
    /// The accelerators of these pods together, by resource name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub accelerators: BTreeMap<String, u64>,
    /// What the scheduler had reserved for these pods, by resource: cores, GiB of memory, devices.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, f64>,
    /// The same times hours, of all pods that had a node; left out where a time is not known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resource_hours: BTreeMap<String, f64>,
    /// Accelerators times hours, of all pods that had a node: from the scheduling of each to the end of its main container. Left out
    /// where one of these is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_hours: Option<f64>,
    /// Joules that the GPUs used during the run, if DCGM's exporter reports them to the target's Prometheus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_joules: Option<f64>,
}

/// Returns what is kept of an amount, of hours or of what they cost.
pub fn rounded(amount: f64) -> f64 {
    (amount * DIGITS).round() / DIGITS
}

impl Usage {
    /// Says for how long all of it was held, where that ends now.
    pub fn hold(&mut self, seconds: f64) {
        let held: u64 = self.accelerators.values().sum();
        self.gpu_hours = Some(rounded(held as f64 * seconds / HOUR));
        let hours = |(name, amount): (&String, &f64)| (name.clone(), rounded(amount * seconds / HOUR));
        self.resource_hours = self.resources.iter().map(hours).collect();
    }

    /// Adds what was held beside it, all for so long.
    pub fn add(&mut self, other: &Self, seconds: f64) {
        let is_known = !self.resource_hours.is_empty() || self.resources.is_empty();
        for (name, amount) in &other.resources {
            *self.resources.entry(name.clone()).or_default() += amount;
            if is_known {
                let sum = self.resource_hours.entry(name.clone()).or_default();
                *sum = rounded(*sum + amount * seconds / HOUR);
            }
        }
        for (name, amount) in &other.accelerators {
            *self.accelerators.entry(name.clone()).or_default() += amount;
        }
        let held: u64 = other.accelerators.values().sum();
        self.pods = self.pods.saturating_add(other.pods);
        self.gpu_hours = self.gpu_hours.map(|sum| rounded(sum + held as f64 * seconds / HOUR));
    }

    /// Leaves out all that needs a time, where one is not known.
    pub fn forget_hours(&mut self) {
        self.resource_hours.clear();
        self.gpu_hours = self.gpu_hours.filter(|_| self.accelerators.is_empty());
    }
}
