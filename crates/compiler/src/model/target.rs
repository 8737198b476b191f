//! A target: a cluster and namespace, and what holds there.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::pods::{Pods, StepPods};
use super::suppressions::Suppressions;
use kubebench_attestation::{Counted, Key};
use kubebench_contract::{PodMetadata, Prices, users};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::ImageRef;
use kubebench_syntax::yaml::Node;

/// A cluster and namespace, and what holds there.
#[derive(Clone, Debug)]
pub struct Target {
    /// The name, which is also the folder under the output directory.
    pub name: String,
    /// Where the name is written; none for the target of a project without a file.
    pub span: Span,
    /// A name for the cluster.
    pub cluster: String,
    pub namespace: String,
    /// Earlier names, whose results count as its own.
    pub formerly: Vec<String>,
    /// The StorageClass of claims that name none.
    pub storage_class: Option<String>,
    /// The queue that jobs are submitted to.
    pub queue: Queue,
    /// The MPIJob API that the cluster serves.
    pub mpi_job: MpiJobApi,
    /// The minor version of Kubeflow Trainer that the cluster serves.
    pub trainer: TrainerApi,
    /// Labels that nodes must have.
    pub node_selector: BTreeMap<String, String>,
    /// Tolerations, as in a pod spec.
    pub tolerations: Vec<Json>,
    pub priority_class: Option<String>,
    /// How many of its Workflows run at once.
    pub concurrency: Concurrency,
    /// What holds for all pods.
    pub pods: Pods,
    /// What applies to the pods of the steps in addition to that.
    pub steps: StepPods,
    /// The address of Prometheus.
    pub prometheus: Option<String>,
    /// Prices an hour.
    pub prices: Option<Prices>,
    /// Registries to pull from instead, by prefix.
    pub image_mirrors: BTreeMap<String, String>,
    pub network_policy: NetworkPolicy,
    /// The Pod Security level that the namespace enforces.
    pub pod_security: PodSecurity,
    /// For whom tokens of a pod's account may be.
    pub token_audiences: BTreeSet<String>,
    /// The user's own values.
    pub values: Vec<(String, Node)>,
    /// The lints that its benchmarks do without.
    pub suppressions: Suppressions,
}

/// How many Workflows run at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concurrency {
    /// The number; none where any number may.
    pub limit: Option<u32>,
    /// The lock of a group of targets whose Workflows are counted together; none where the target has its own.
    pub lock: Option<Lock>,
}

/// A lock that targets share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// The name of the group.
    pub name: String,
    /// The namespace in which Argo keeps it.
    pub namespace: String,
}

/// The queue that jobs are submitted to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Queue {
    /// None: jobs start as the scheduler can place them.
    None,
    /// A Kueue LocalQueue.
    Kueue {
        name: String,
        /// What Kueue integrates in that cluster, as its configuration calls it, where the project says so.
        frameworks: Option<Vec<String>>,
    },
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

/// The minor version of Kubeflow Trainer that a cluster serves, whose API changes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrainerApi {
    /// v2.0
    V2_0,
    /// v2.1
    V2_1,
    /// v2.2
    V2_2,
    /// v2.3
    V2_3,
}

impl TrainerApi {
    /// Returns its name in a project file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::V2_0 => "v2.0",
            Self::V2_1 => "v2.1",
            Self::V2_2 => "v2.2",
            Self::V2_3 => "v2.3",
        }
    }

    /// Returns which fields a TrainJob has, as [`Type::Spec`](crate::api::Type::Spec) names releases.
    pub(crate) fn release(self) -> &'static str {
        match self {
            Self::V2_0 => " 2.0",
            Self::V2_1 => " 2.1",
            Self::V2_2 | Self::V2_3 => "",
        }
    }

    /// Returns the field of a TrainJob that says something over the pods of its runtime.
    pub(crate) fn field(self) -> &'static str {
        match self {
            Self::V2_0 => "podSpecOverrides",
            Self::V2_1 => "podTemplateOverrides",
            Self::V2_2 | Self::V2_3 => "runtimePatches",
        }
    }

    /// Returns what that field takes of a pod's spec and of its containers.
    pub(crate) fn of_pod(self) -> (&'static [&'static str], &'static [&'static str]) {
        let (pod, container) = match self {
            Self::V2_0 => (7, 3),
            Self::V2_1 => (9, 3),
            Self::V2_2 => (10, 4),
            Self::V2_3 => (11, 4),
        };
        (
            OF_POD.get(..pod).expected("fields of the newest version"),
            OF_CONTAINER.get(..container).expected("fields of the newest version"),
        )
    }
}

/// In the order in which Trainer's versions took them up.
const OF_POD: &[&str] = &[
    "containers",
    "initContainers",
    "nodeSelector",
    "schedulingGates",
    "serviceAccountName",
    "tolerations",
    "volumes",
    "affinity",
    "imagePullSecrets",
    "securityContext",
    "terminationGracePeriodSeconds",
];
const OF_CONTAINER: &[&str] = &["env", "name", "volumeMounts", "securityContext"];

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

/// The NetworkPolicy of a target.
#[derive(Clone, Debug)]
pub enum NetworkPolicy {
    /// None is emitted.
    Off,
    /// Nothing but DNS, the pods of the benchmarks among each other, what steps need, and further rules.
    On(Box<Openings>),
}

/// What a network policy allows; each is a rule of the API.
#[derive(Clone, Debug, Default)]
pub struct Openings {
    /// Further egress rules.
    pub egress: Vec<Json>,
    /// Further ingress rules.
    pub ingress: Vec<Json>,
    /// To what resolves names.
    pub dns: Option<Json>,
    /// From steps to the API server.
    pub api_server: Option<Json>,
    /// From steps to the host of the results.
    pub git: Option<Json>,
    /// From steps to Prometheus.
    pub prometheus: Option<Json>,
    /// The namespaces of KubeRay's operator.
    pub kuberay: Vec<String>,
    /// The namespaces of Katib.
    pub katib: Vec<String>,
}

/// What a project says for all its benchmarks.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The path of the project file, `kubebench.yaml`.
    pub path: String,
    /// The name of the project; nothing without a project file.
    pub name: Option<String>,
    /// Folders that hold specs.
    pub spec_dirs: Vec<String>,
    /// The folder that manifests are written to.
    pub output: String,
    /// The kinds that manifests may contain in addition to those that every project allows, as `GROUP/KIND`.
    pub allow_kinds: BTreeSet<String>,
    /// The image of the workflow's steps.
    pub image: String,
    /// How results reach git.
    pub results: ResultsSettings,
    /// Where the site of the results is, without a slash at the end.
    pub report_url: Option<String>,
    /// Facts that do not keep results apart, by name.
    pub compare_across: BTreeSet<String>,
    /// The day, time or revision from which on regressions count.
    pub judge_from: Option<String>,
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
    pub branch: String,
    /// The prefix of refs in mode `inbox`.
    pub inbox: String,
    /// The Secret with the git credential.
    pub credential: String,
    /// `acceptNew` if an SSH server with an unknown key is trusted.
    pub ssh_host_keys: Option<&'static str>,
    /// The authorities by which the steps know servers, where these are not the public ones.
    pub ca: Option<CertificateAuthorities>,
    /// The Secret with the key that signs, where results are signed.
    pub signing: Option<String>,
    /// The keys that signatures are checked by.
    pub keys: Vec<Key>,
    /// Which results count.
    pub counted: Counted,
}

/// Certificates of authorities, in an object of the target's namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateAuthorities {
    /// The object.
    pub holder: Holder,
    pub key: String,
}

/// What holds them, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    ConfigMap(String),
    Secret(String),
}

impl std::fmt::Display for CertificateAuthorities {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (kind, name) = match &self.holder {
            Holder::ConfigMap(name) => ("ConfigMap", name),
            Holder::Secret(name) => ("Secret", name),
        };
        write!(f, "{} of the {kind} {name}", self.key)
    }
}

impl ResultsSettings {
    /// Iterates over the Secrets that the recorder alone reads, and what each is for.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = (&str, &'static str)> {
        let credential =
            "it holds the credential that records results: everyone who reads it can write to the repository";
        let signing =
            "it holds the key that signs results: everyone who reads it can sign results that were never measured";
        let signing = self.signing.iter().map(move |name| (name.as_str(), signing));
        std::iter::once((self.credential.as_str(), credential)).chain(signing)
    }
}

impl Target {
    /// Returns the PriorityClass of its pods.
    pub(crate) fn priority(&self) -> Option<String> {
        let said = self.pods.spec.as_ref().and_then(|spec| spec.get("priorityClassName"));
        said.map_or_else(|| self.priority_class.clone(), |class| class.as_text().map(str::to_owned))
    }

    /// Returns the user of its steps; none where the cluster chooses it.
    pub(crate) fn user_of_steps(&self) -> Option<u64> {
        user_of([&self.steps.pods, &self.pods], users::STEPS)
    }

    /// Returns the user of its jobs where a spec names none; none where the cluster chooses it.
    fn user_of_jobs(&self) -> Option<u64> {
        user_of([&self.pods], users::JOBS)
    }

    /// Returns whether its jobs run as the user of its steps where a spec names no other.
    pub(crate) fn has_one_user(&self) -> bool {
        self.user_of_steps() == self.user_of_jobs()
    }

    /// Returns the metadata of the pods of its runs for programs other than Kubebench.
    pub fn carried_by_runs(&self) -> PodMetadata {
        PodMetadata::of_runs().over(&self.pods.metadata)
    }

    /// Returns `image` with the longest prefix that has a mirror replaced; prefixes end at a `/`.
    pub(crate) fn mirrored(&self, image: &ImageRef) -> String {
        let image = image.to_string();
        let rest_after =
            |prefix: &str| image.strip_prefix(prefix.trim_end_matches('/')).filter(|rest| rest.starts_with('/'));
        let prefixes = self.image_mirrors.iter();
        let longest = prefixes.filter_map(|(prefix, mirror)| Some((prefix.len(), mirror, rest_after(prefix)?))).max();
        longest.map_or_else(|| image.clone(), |(_, mirror, rest)| format!("{}{rest}", mirror.trim_end_matches('/')))
    }
}

/// Returns the user that the first security context of `layers` makes of the `usual` one; none where the cluster or the image chooses it.
fn user_of<'p>(layers: impl IntoIterator<Item = &'p Pods>, usual: u32) -> Option<u64> {
    let said = |pods: &'p Pods| pods.spec.as_ref()?.get("securityContext");
    let context = layers.into_iter().find_map(said);
    match context.and_then(|context| context.get("runAsUser")) {
        Some(user) => user.to_json().as_u64(),
        None if context.is_some_and(|context| context.get("$patch").is_some()) => None,
        None => Some(usual.into()),
    }
}
