//! What a run held of a cluster.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a run held of a cluster, by the pods that were seen.
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
    /// What the scheduler had set aside for these pods, by resource: cores, GiB of memory, devices.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, f64>,
    /// The same times hours, of all pods that had a node; left out where a time is not known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resource_hours: BTreeMap<String, f64>,
    /// Accelerators times hours, of all pods that had a node: from the scheduling of each to the end of its main container. Left out
    /// where one of these is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_hours: Option<f64>,
    /// Joules that the GPUs took over the run, where DCGM's exporter tells the target's Prometheus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_joules: Option<f64>,
}

impl Usage {
    /// Leaves out all that needs a time, where one is not known.
    pub fn forget_hours(&mut self) {
        self.resource_hours.clear();
        self.gpu_hours = self.gpu_hours.filter(|_| self.accelerators.is_empty());
    }
}
