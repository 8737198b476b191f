//! A target's settings for all pods on it.

use std::collections::BTreeMap;

use super::workload::Env;
use kubebench_contract::PodMetadata;
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::Quantity;
use kubebench_syntax::yaml::Node;

/// What holds for pods.
#[derive(Clone, Debug, Default)]
pub struct Pods {
    /// Labels and annotations, which are outside the run digest.
    pub metadata: PodMetadata,
    /// Environment variables of the main container.
    pub env: BTreeMap<String, (Env, Span)>,
    /// What it says of the pod spec, as a strategic merge patch.
    pub spec: Option<Node>,
    /// All of it as it was written.
    pub written: Option<Node>,
}

/// What applies to the pods of the steps in addition to what applies to all pods.
#[derive(Clone, Debug, Default)]
pub struct StepPods {
    /// The fields that differ for them.
    pub pods: Pods,
    /// What the scheduler sets aside for a step, where that is another than usual.
    pub requests: BTreeMap<String, Quantity>,
    /// What a step may use at most, also by resource.
    pub limits: BTreeMap<String, Quantity>,
}
