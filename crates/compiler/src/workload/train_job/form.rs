//! What people write of a TrainJob.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::role::{RoleFields, RoleForm};
use kubebench_format::spec::v1::scalar::{Count, Dns1123Subdomain, Patch, Text, one_key};

/// A TrainJob: nodes that train together, started by a runtime.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("examples" = [{"image": "registry.example/train:1", "runtime": {"torch": {}}, "trainer": {"numNodes": 2, "command": ["torchrun", "train.py"]}}]))]
pub(super) struct TrainJob {
    /// A runtime of the cluster, which is neither in git nor in the run digest.
    #[schemars(extend("examples" = [{"name": "torch-distributed"}]))]
    pub(super) runtime_ref: Option<RuntimeRef>,
    /// The framework of a runtime that Kubebench carries.
    #[schemars(extend("examples" = [{"torch": {}}]))]
    pub(super) runtime: Option<Runtime>,
    /// The pods that train.
    #[schemars(extend("examples" = [{"numNodes": 2, "command": ["torchrun", "train.py"]}]))]
    pub(super) trainer: Option<RoleForm<Trainer>>,
    /// What is fetched before training; for runtimes of the cluster, which bring the programs that fetch.
    #[schemars(extend("examples" = [{"model": {"storageUri": "hf://meta-llama/Llama-3.2-1B-Instruct"}}]))]
    pub(super) initializer: Option<Initializer>,
    /// Strategic merge patch over the whole object, applied last.
    #[schemars(extend("default" = {}, "examples" = [{"metadata": {"annotations": {"example.com/owner": "vision"}}}]))]
    pub(super) patch: Option<Patch>,
}

/// A runtime of the cluster.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RuntimeRef {
    /// Its name.
    #[schemars(extend("examples" = ["torch-distributed"]))]
    pub(super) name: Dns1123Subdomain,
    /// Whether it is cluster-scoped or in the target's namespace.
    #[serde(default)]
    #[schemars(extend("default" = "ClusterTrainingRuntime", "examples" = ["TrainingRuntime"]))]
    pub(super) kind: Option<RuntimeKind>,
}

/// The scope of a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(inline)]
pub(super) enum RuntimeKind {
    /// The whole cluster.
    ClusterTrainingRuntime,
    /// The target's namespace.
    TrainingRuntime,
}

/// The framework of a runtime that Kubebench carries: exactly one.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = one_key)]
pub(super) struct Runtime {
    /// torchrun: every node gets `PET_NNODES`, `PET_NPROC_PER_NODE`, `PET_NODE_RANK`, `PET_MASTER_ADDR` and `PET_MASTER_PORT`.
    #[schemars(extend("examples" = [{}]))]
    torch: Option<Nothing>,
    /// JAX (Trainer v2.2 or later): every node gets `JAX_NUM_PROCESSES`, `JAX_PROCESS_ID` and `JAX_COORDINATOR_ADDRESS`.
    #[schemars(extend("examples" = [{}]))]
    jax: Option<Nothing>,
    /// XGBoost (Trainer v2.2 or later): every node gets `DMLC_TRACKER_URI`, `DMLC_TRACKER_PORT`, `DMLC_TASK_ID` and `DMLC_NUM_WORKER`.
    #[schemars(extend("examples" = [{}]))]
    xgboost: Option<Nothing>,
    /// Open MPI: the trainer's program runs `mpirun` on the first node and reaches the others by SSH.
    #[schemars(extend("examples" = [{"sshAuthMountPath": "/home/mpiuser/.ssh"}]))]
    mpi: Option<Mpi>,
}

/// It has no settings.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(super) struct Nothing {}

/// Open MPI over SSH.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Mpi {
    /// Where the SSH keys are mounted: `.ssh` in the home of the user that the pods run as.
    #[schemars(extend("default" = "/root/.ssh", "examples" = ["/home/mpiuser/.ssh"]))]
    pub(super) ssh_auth_mount_path: Option<Text>,
    /// The nodes other than the first: what differs from the trainer's. Without a `command` they run `/usr/sbin/sshd -De`.
    #[schemars(extend("examples" = [{"command": ["/usr/sbin/sshd", "-De", "-f", "/home/mpiuser/.sshd_config"]}]))]
    node: Option<NodeBlock>,
}

/// Settings of the nodes other than the first.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
struct NodeBlock {
    /// The program and its first arguments.
    #[schemars(extend("default" = ["/usr/sbin/sshd", "-De"], "examples" = [["/usr/sbin/sshd", "-De"]]))]
    command: Option<Vec<Text>>,
    /// Arguments.
    #[schemars(extend("default" = [], "examples" = [["-f", "/home/mpiuser/.sshd_config"]]))]
    args: Option<Vec<Text>>,
    /// Strategic merge patch over the pod spec, after the trainer's.
    #[schemars(extend("default" = {}, "examples" = [{"terminationGracePeriodSeconds": 5}]))]
    pod: Option<Patch>,
    /// Strategic merge patch over the container, after the trainer's.
    #[schemars(extend("default" = {}, "examples" = [{"readinessProbe": {"tcpSocket": {"port": 2222}}}]))]
    container: Option<Patch>,
}

/// The pods that train.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("examples" = [{"numNodes": 2, "command": ["torchrun", "train.py"]}]))]
pub(super) struct Trainer {
    /// How many pods train together.
    #[schemars(extend("default" = 1, "examples" = [2, "${{ matrix.nodes }}"]))]
    pub(super) num_nodes: Option<Count>,
    /// Processes on each of them; by default, the framework derives the number from the resources.
    #[schemars(extend("examples" = [8]))]
    pub(super) num_proc_per_node: Option<Count>,
}

impl RoleFields for Trainer {}

/// What is fetched before training.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Initializer {
    /// The data.
    #[schemars(extend("examples" = [{"storageUri": "hf://tatsu-lab/alpaca"}]))]
    pub(super) dataset: Option<StorageSource>,
    /// The model that training starts from.
    #[schemars(extend("examples" = [{"storageUri": "hf://meta-llama/Llama-3.2-1B-Instruct", "secret": "hf"}]))]
    pub(super) model: Option<StorageSource>,
}

/// Where something is fetched from.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StorageSource {
    /// The address, with its scheme.
    #[schemars(extend("format" = "storage-uri", "examples" = ["hf://tatsu-lab/alpaca"]))]
    pub(super) storage_uri: Text,
    /// The Secret whose keys the program gets as variables, such as `ACCESS_TOKEN`.
    #[serde(default)]
    #[schemars(extend("examples" = ["hf"]))]
    pub(super) secret: Option<Dns1123Subdomain>,
}

/// The framework of a runtime.
pub(super) enum Framework {
    Torch,
    Jax,
    Xgboost,
    Mpi(Mpi),
}

impl Runtime {
    /// Returns the one framework that is named.
    pub(super) fn into_framework(self) -> Option<Framework> {
        match self {
            Self { torch: Some(Nothing {}), .. } => Some(Framework::Torch),
            Self { jax: Some(Nothing {}), .. } => Some(Framework::Jax),
            Self { xgboost: Some(Nothing {}), .. } => Some(Framework::Xgboost),
            Self { mpi: Some(mpi), .. } => Some(Framework::Mpi(mpi)),
            Self { torch: None, jax: None, xgboost: None, mpi: None } => None,
        }
    }
}

impl Framework {
    /// Returns its name in the spec and in the API.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Torch => "torch",
            Self::Jax => "jax",
            Self::Xgboost => "xgboost",
            Self::Mpi(_) => "mpi",
        }
    }
}
