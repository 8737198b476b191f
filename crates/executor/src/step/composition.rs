//! What a run was made of, read while its objects are there: with an Experiment go its trials.

use super::observations::Sight;
use super::session::ClusterStep;
use crate::observe::{Progress, composition};
use kubebench_cluster::Resource;
use kubebench_compiler::workload::kind_of;
use kubebench_contract::text_at;
use kubebench_format::result::Composition;
use kubebench_format::result::v1::Experiment;

impl ClusterStep {
    /// Reads the parts of the job in `sight`, whose pods were those of `progress`.
    pub(super) fn composition(&self, sight: &Sight, progress: &Progress) -> Composition {
        let job = sight.job();
        match kind_of(job).map(|kind| &*kind.api.kind) {
            Some("Workflow") => Composition { workflow: Some(composition::workflow(job)), experiment: None },
            Some("Experiment") => Composition { workflow: None, experiment: Some(self.experiment(sight, progress)) },
            _ => Composition::default(),
        }
    }

    fn experiment(&self, sight: &Sight, progress: &Progress) -> Experiment {
        let job = sight.job();
        let selector = format!("katib.kubeflow.org/experiment={}", text_at(job, "/metadata/name"));
        let pods: Vec<_> = progress.replaced.iter().chain(&progress.replicas).collect();
        match self.cluster.list(&Resource::trials(), &self.namespace, &selector) {
            Ok(trials) => composition::experiment(job, &trials, &pods),
            Err(fault) => {
                let reason = format!("the trials could not be read when the run ended: {fault}");
                self.tell(&format!("note: {reason}"));
                Experiment { reason: Some(reason), ..composition::experiment(job, &[], &pods) }
            }
        }
    }
}
