//! A run on one machine: from a case of the model to processes with the environment that the kind's operator would set.
//!
//! Pure: ports, secrets and folders are handed in. What starts the processes is `kubebench_host::process`.

mod cluster_only;
mod container;
mod jax_job;
mod job;
mod job_set;
mod mpi_job;
mod paddle_job;
mod pytorch_job;
mod refuse;
mod tf_job;
mod train_job;
mod variables;
mod volcano_job;
mod xgboost_job;

use std::collections::BTreeMap;

use kubebench_compiler::manifest;
use kubebench_compiler::model::{Case, Role, Workload, carried};

pub use cluster_only::needs_cluster;
pub use container::{Containers, Engine, is_of_client};
pub use refuse::{Secrets, refusals};

/// One process to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub role: String,
    /// The replica, from 0.
    pub index: u32,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// All of its environment.
    pub env: BTreeMap<String, String>,
    /// Whether the run succeeds only when this one does; it ends when all of these have.
    pub decides: bool,
    /// The container that it is the client of, to be removed when it ends.
    pub container: Option<String>,
}

/// The processes of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// All of them, in the order of roles and replicas.
    pub processes: Vec<Process>,
    /// How many may run at once: the others start as these end.
    pub at_once: usize,
    /// Files to write into the configuration folder first, by name.
    pub config: BTreeMap<String, String>,
}

/// The folders of a run, absolute: as this machine or as its containers know them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// The parent of all runs.
    pub root: String,
    /// The run's name.
    pub id: String,
    /// What the job reads.
    pub data: String,
    /// The folder that contains the files of the workload.
    pub files: String,
}

/// What the machine gives to a run.
pub struct Given<'a> {
    /// What every process gets: `PATH`, `HOME` and what else was asked for.
    pub base: &'a BTreeMap<String, String>,
    /// Values of secrets and ConfigMaps by name and key.
    pub secrets: &'a Secrets,
    /// How containers are started; none where replicas are processes.
    pub containers: Option<&'a Containers>,
    /// The run's folders as replicas know them.
    pub folders: &'a Folders,
    /// The target's namespace, for pods that ask for it.
    pub namespace: &'a str,
    /// Ports that nothing listens on, as many as are asked for.
    pub ports: &'a mut dyn FnMut() -> u16,
}

impl Folders {
    /// Returns the folders of the run `id` below those of a project.
    pub fn new(root: String, id: String, data: String) -> Self {
        let files = format!("{root}/{id}/files");
        Self { root, id, data, files }
    }

    /// Returns the folders of the run `id` as containers know them, here as in a cluster.
    pub(crate) fn in_containers(id: String) -> Self {
        let [root, data, files] = [manifest::EXPERIMENTS, manifest::DATA, carried::FOLDER].map(str::to_owned);
        Self { root, id, data, files }
    }

    /// Returns the run's folder.
    pub(crate) fn experiment(&self) -> String {
        format!("{}/{}", self.root, self.id)
    }

    /// Returns the folder of what was executed.
    pub(crate) fn config(&self) -> String {
        format!("{}/config", self.experiment())
    }

    /// Returns the folder of what the run leaves.
    pub(crate) fn output(&self) -> String {
        format!("{}/output", self.experiment())
    }

    /// Returns the folder of what postprocessing leaves.
    pub(crate) fn result(&self) -> String {
        format!("{}/result", self.experiment())
    }

    /// Returns the variables of the first Kubebench, by which images find their folders.
    pub(crate) fn variables(&self) -> BTreeMap<String, String> {
        [
            ("KUBEBENCH_EXP_ROOT", self.root.clone()),
            ("KUBEBENCH_EXP_ID", self.id.clone()),
            ("KUBEBENCH_EXP_PATH", self.experiment()),
            ("KUBEBENCH_EXP_CONFIG_PATH", self.config()),
            ("KUBEBENCH_EXP_OUTPUT_PATH", self.output()),
            ("KUBEBENCH_EXP_RESULT_PATH", self.result()),
            ("KUBEBENCH_DATA_ROOT", self.data.clone()),
            (carried::VARIABLE, self.files.clone()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }
}

/// Returns the processes of a run of `case`.
pub fn plan(case: &Case, given: &mut Given<'_>) -> Plan {
    let workload = &case.workload;
    let mut plan = match workload.key {
        "pytorchJob" => pytorch_job::plan(workload, given),
        "tfJob" => tf_job::plan(workload, given),
        "mpiJob" => mpi_job::plan(workload, given),
        "xgboostJob" => xgboost_job::plan(workload, given),
        "paddleJob" => paddle_job::plan(workload, given),
        "jaxJob" => jax_job::plan(workload, given),
        "jobSet" => job_set::plan(workload, given),
        "trainJob" => train_job::plan(workload, given),
        "volcanoJob" => volcano_job::plan(workload, given),
        _ => job::plan(workload, given),
    };
    if let Some(containers) = given.containers {
        let contained = |process: Process| match workload.roles.iter().find(|role| role.name == process.role) {
            Some(role) => container::contained(process, role, given.folders, containers),
            None => process,
        };
        plan.processes = plan.processes.into_iter().map(contained).collect();
    }
    plan
}

/// Returns the roles of `case` whose replicas are started: workers of MPI are ranks of the launcher's `mpirun`.
pub(crate) fn started_roles(case: &Case) -> impl Iterator<Item = &Role> {
    let workload = &case.workload;
    let is_mpi = workload.key == "mpiJob" || train_job::is_mpi(workload);
    workload.roles.iter().filter(move |role| !is_mpi || role.name == "launcher")
}

/// Returns the process of an auxiliary Job of one pod.
pub(crate) fn step(name: &str, role: &Role, given: &mut Given<'_>) -> Plan {
    let mut process = process(role, 0, &BTreeMap::new(), given);
    name.clone_into(&mut process.role);
    if let Some(containers) = given.containers {
        process = container::contained(process, role, given.folders, containers);
    }
    Plan { processes: vec![process], at_once: 1, config: BTreeMap::new() }
}

/// Returns replica `index` of `role`, with what the operator sets in addition to the spec's own variables.
fn process(role: &Role, index: u32, operator: &BTreeMap<String, String>, given: &Given<'_>) -> Process {
    let mut env = given.base.clone();
    env.extend(given.folders.variables());
    env.extend(operator.clone());
    env.extend(variables::of(role, index, given, &env));
    let words = role.command.iter().chain(&role.args);
    let argv = words.map(|word| variables::word(word, role, &env, given.folders)).collect();
    Process { role: role.name.clone(), index, argv, env, decides: true, container: None }
}

/// Returns all replicas of all roles, in order; `operator` gives what the operator sets for one.
fn processes(
    workload: &Workload,
    given: &Given<'_>,
    operator: impl Fn(&Role, u32) -> BTreeMap<String, String>,
) -> Vec<Process> {
    let replicas = workload.roles.iter().flat_map(|role| (0..role.replicas).map(move |index| (role, index)));
    replicas.map(|(role, index)| process(role, index, &operator(role, index), given)).collect()
}

/// Makes variables of names and values.
fn set<const N: usize>(variables: [(&str, String); N]) -> BTreeMap<String, String> {
    variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests;
