//! What a step knows from the variables of its pod.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use kubebench_host::machine;

/// What begins every variable of ours.
const PREFIX: &str = "KUBEBENCH_";

/// The variables that the WorkflowTemplate gives every step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<String, String>,
}

impl Environment {
    /// Reads the variables of this process.
    pub fn of_process() -> Self {
        Self::of(machine::variables(|name| name.starts_with(PREFIX)))
    }

    /// Takes `variables` for those of a process.
    pub(super) fn of(variables: BTreeMap<String, String>) -> Self {
        Self { variables }
    }

    /// Returns the benchmark's name.
    ///
    /// # Errors
    /// When it is not set; the same applies to all others.
    pub(crate) fn benchmark(&self) -> Result<&str> {
        self.text("BENCHMARK")
    }

    /// Returns the name of the Workflow.
    ///
    /// # Errors
    /// When it is not set.
    pub(crate) fn workflow(&self) -> Result<&str> {
        self.text("WORKFLOW")
    }

    /// Returns the uid of the Workflow, which owns all that the step creates.
    ///
    /// # Errors
    /// When it is not set.
    pub(crate) fn workflow_uid(&self) -> Result<&str> {
        self.text("WORKFLOW_UID")
    }

    /// Returns when the API server took the Workflow.
    ///
    /// # Errors
    /// When it is not set.
    pub(crate) fn workflow_created(&self) -> Result<&str> {
        self.text("WORKFLOW_CREATED")
    }

    /// Returns the namespace of the pod, and of all objects.
    ///
    /// # Errors
    /// When it is not set.
    pub(crate) fn namespace(&self) -> Result<&str> {
        self.text("NAMESPACE")
    }

    /// Returns true when each session has jobs of its own: those of a CronWorkflow.
    ///
    /// # Errors
    /// When it is not set.
    pub(crate) fn is_scheduled(&self) -> Result<bool> {
        match self.text("SESSION")? {
            "scheduled" => Ok(true),
            "once" => Ok(false),
            other => bail!("{PREFIX}SESSION is `{other}`, expected `once` or `scheduled`"),
        }
    }

    /// Returns the folder of the run list and of the manifests; empty when git pruned them.
    ///
    /// # Errors
    /// When it is not set.
    pub(crate) fn config(&self) -> Result<&Path> {
        self.text("CONFIG_DIR").map(Path::new)
    }

    /// Returns the folder of the rules.
    ///
    /// # Errors
    /// When it is not set.
    pub(crate) fn rules(&self) -> Result<&Path> {
        self.text("RULES_DIR").map(Path::new)
    }

    /// Returns the folder of the target's settings.
    ///
    /// # Errors
    /// When it is not set.
    pub(crate) fn settings(&self) -> Result<&Path> {
        self.text("SETTINGS_DIR").map(Path::new)
    }

    /// Returns the folder that has one folder a run, on the volume.
    ///
    /// # Errors
    /// When it is not set.
    pub(crate) fn experiments(&self) -> Result<&Path> {
        self.text("EXP_ROOT").map(Path::new)
    }

    /// Returns the folder of the credential, which is mounted in record alone.
    pub(crate) fn credential(&self) -> Option<PathBuf> {
        self.text("CREDENTIAL_DIR").ok().map(PathBuf::from)
    }

    /// Returns the folder of the key that signs, where results are signed; it is mounted in record alone.
    pub(crate) fn signing(&self) -> Option<PathBuf> {
        self.text("SIGNING_DIR").ok().map(PathBuf::from)
    }

    /// Returns the file of the certificate authorities, where the project names some; it is mounted in the steps that ask servers.
    pub(crate) fn authorities(&self) -> Option<PathBuf> {
        self.text("CA_FILE").ok().map(PathBuf::from)
    }

    /// Returns the name of the suite that runs the benchmark, unless it runs by itself.
    pub(crate) fn suite(&self) -> Option<&str> {
        self.text("SUITE").ok()
    }

    /// Returns the folder of the list of the suite's benchmarks.
    ///
    /// # Errors
    /// When it is not set.
    pub(crate) fn suite_list(&self) -> Result<&Path> {
        self.text("SUITE_DIR").map(Path::new)
    }

    /// Returns the file that takes the runs which are to be made, where Argo asks for them.
    pub(crate) fn runs_path(&self) -> Option<&Path> {
        self.text("RUNS_PATH").ok().map(Path::new)
    }

    fn text(&self, name: &str) -> Result<&str> {
        match self.variables.get(&format!("{PREFIX}{name}")) {
            Some(text) if !text.is_empty() => Ok(text),
            _ => bail!(
                "{PREFIX}{name} is not set; the WorkflowTemplate `kubebench` of this version sets it: run `kubebench \
                 compile`, commit the tree and have it applied"
            ),
        }
    }
}
