//! A run on one machine: from a case of the model to processes with the environment that the kind's operator would set.
//!
//! Pure: ports, secrets and folders are handed in. What starts the processes is `edge::process`.

mod job;
mod mpi_job;
mod pytorch_job;
mod refuse;
mod tf_job;
mod variables;

use std::collections::BTreeMap;

use crate::model::{Case, Role, Workload, carried};

pub use refuse::{Secrets, refusals};

/// One process to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// The role.
    pub role: String,
    /// The replica, from 0.
    pub index: u32,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// All of its environment.
    pub env: BTreeMap<String, String>,
    /// Whether the run succeeds only when this one does; it ends when all of these have.
    pub decides: bool,
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

/// The folders of a run, absolute.
#[derive(Clone, Debug)]
pub struct Folders {
    /// The parent of all runs.
    pub root: String,
    /// The run's name.
    pub id: String,
    /// What the job reads.
    pub data: String,
}

/// What the machine gives to a run.
pub struct Given<'a> {
    /// What every process gets: `PATH`, `HOME` and what else was asked for.
    pub base: &'a BTreeMap<String, String>,
    /// Values of secrets and ConfigMaps by name and key.
    pub secrets: &'a Secrets,
    /// The run's folders.
    pub folders: &'a Folders,
    /// The target's namespace, for pods that ask for it.
    pub namespace: &'a str,
    /// Ports that nothing listens on, as many as are asked for.
    pub ports: &'a mut dyn FnMut() -> u16,
}

impl Folders {
    /// Returns the run's folder.
    pub fn experiment(&self) -> String {
        format!("{}/{}", self.root, self.id)
    }

    /// Returns the folder in which files of the workload stand.
    pub fn files(&self) -> String {
        format!("{}/files", self.experiment())
    }

    /// Returns the folder of what was executed.
    pub fn config(&self) -> String {
        format!("{}/config", self.experiment())
    }

    /// Returns the folder of what the run leaves.
    pub fn output(&self) -> String {
        format!("{}/output", self.experiment())
    }

    /// Returns the folder of what postprocessing leaves.
    pub fn result(&self) -> String {
        format!("{}/result", self.experiment())
    }

    /// Returns the variables of the first Kubebench, by which images find their folders.
    pub fn variables(&self) -> BTreeMap<String, String> {
        [
            ("KUBEBENCH_EXP_ROOT", self.root.clone()),
            ("KUBEBENCH_EXP_ID", self.id.clone()),
            ("KUBEBENCH_EXP_PATH", self.experiment()),
            ("KUBEBENCH_EXP_CONFIG_PATH", self.config()),
            ("KUBEBENCH_EXP_OUTPUT_PATH", self.output()),
            ("KUBEBENCH_EXP_RESULT_PATH", self.result()),
            ("KUBEBENCH_DATA_ROOT", self.data.clone()),
            (carried::VARIABLE, self.files()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }
}

/// Returns the processes of a run of `case`.
pub fn plan(case: &Case, given: &mut Given<'_>) -> Plan {
    let workload = &case.workload;
    match workload.key {
        "pytorchJob" => pytorch_job::plan(workload, given),
        "tfJob" => tf_job::plan(workload, given),
        "mpiJob" => mpi_job::plan(workload, given),
        _ => job::plan(workload, given),
    }
}

/// Returns the process of a Job of one pod beside the runs.
pub fn step(name: &str, role: &Role, given: &mut Given<'_>) -> Plan {
    let mut process = process(role, 0, &BTreeMap::new(), given);
    name.clone_into(&mut process.role);
    Plan { processes: vec![process], at_once: 1, config: BTreeMap::new() }
}

/// Returns replica `index` of `role`, with what the operator sets beside the spec's own variables.
fn process(role: &Role, index: u32, operator: &BTreeMap<String, String>, given: &Given<'_>) -> Process {
    let mut env = given.base.clone();
    env.extend(given.folders.variables());
    env.extend(operator.clone());
    env.extend(variables::of(role, index, given, &env));
    let words = role.command.iter().chain(&role.args);
    let argv = words.map(|word| variables::word(word, role, &env, given.folders)).collect();
    Process { role: role.name.clone(), index, argv, env, decides: true }
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
