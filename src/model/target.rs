//! A target: a cluster and namespace, and what holds there.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::text::Span;
use crate::yaml::Node;

/// A cluster and namespace, and what holds there.
#[derive(Clone, Debug)]
pub struct Target {
    /// The name, which is also the folder under the output directory.
    pub name: String,
    /// Where the name stands; nowhere for the target of a project without a file.
    pub span: Span,
    /// A name for the cluster.
    pub cluster: String,
    /// The namespace.
    pub namespace: String,
    /// The StorageClass of claims that name none.
    pub storage_class: Option<String>,
    /// The queue that jobs are submitted to.
    pub queue: Queue,
    /// The MPIJob API that the cluster serves.
    pub mpi_job: MpiJobApi,
    /// Labels that nodes must have.
    pub node_selector: BTreeMap<String, String>,
    /// Tolerations, as in a pod spec.
    pub tolerations: Vec<Json>,
    /// The PriorityClass.
    pub priority_class: Option<String>,
    /// The address of Prometheus.
    pub prometheus: Option<String>,
    /// Prices an hour.
    pub prices: Option<Prices>,
    /// Registries to pull from instead, by prefix.
    pub image_mirrors: BTreeMap<String, String>,
    /// The network policy.
    pub network_policy: NetworkPolicy,
    /// The Pod Security level that the namespace enforces.
    pub pod_security: PodSecurity,
    /// The user's own values.
    pub values: Vec<(String, Node)>,
}

/// The queue that jobs are submitted to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Queue {
    /// None: jobs start as the scheduler can place them.
    None,
    /// A Kueue LocalQueue.
    Kueue(String),
    /// A Volcano queue.
    Volcano(String),
}

/// The MPIJob API that a cluster serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MpiJobApi {
    /// `kubeflow.org/v1`.
    V1,
    /// `kubeflow.org/v2beta1`.
    V2beta1,
}

/// The Pod Security level that a namespace enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PodSecurity {
    /// Nothing is refused.
    Privileged,
    /// Known privilege escalations are refused.
    Baseline,
    /// Pods follow today's hardening practice.
    Restricted,
}

/// Prices an hour.
#[derive(Clone, Debug, PartialEq)]
pub struct Prices {
    /// The ISO 4217 code.
    pub currency: String,
    /// By resource name; memory by the GiB.
    pub hourly: BTreeMap<String, f64>,
}

/// The NetworkPolicy of a target.
#[derive(Clone, Debug)]
pub enum NetworkPolicy {
    /// None is emitted.
    Off,
    /// Default deny with DNS, the pods of the benchmarks among each other, and these rules.
    On {
        /// Further egress rules.
        egress: Vec<Json>,
        /// Further ingress rules.
        ingress: Vec<Json>,
    },
}

/// What a project says for all its benchmarks.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The path of the project file, `kubebench.yaml`.
    pub path: String,
    /// Folders that hold specs.
    pub spec_dirs: Vec<String>,
    /// The folder that manifests are written to.
    pub output: String,
    /// The image of the workflow's steps.
    pub image: String,
    /// How results reach git.
    pub results: ResultsSettings,
}

/// How results reach git.
#[derive(Clone, Debug)]
pub struct ResultsSettings {
    /// The folder of result files.
    pub directory: String,
    /// `branch`, `inbox` or `local`.
    pub mode: &'static str,
    /// The repository, unless it is the one that Argo CD or Flux reads.
    pub remote: Option<String>,
    /// The branch.
    pub branch: String,
    /// The prefix of refs in mode `inbox`.
    pub inbox: String,
    /// The Secret with the git credential.
    pub credential: String,
}
