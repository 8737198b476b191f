//! Servers are stopped: after the last run that loads them, before another one is started, and whatever happens at the end.

use anyhow::Result;

use super::super::attempt::{Attempt, Created};
use super::super::inputs::Inputs;
use super::super::session::ClusterStep;
use kubebench_cluster::Fault;
use kubebench_contract::{Run, instance};
use kubebench_host::experiment;

impl ClusterStep {
    /// Takes the server of the run down, unless the next one that is still to be made loads it too.
    pub(in crate::step) fn stop_server_after(&mut self, inputs: &Inputs, attempt: &Attempt) -> Result<()> {
        let server = |run: &Run| inputs.config.list.cases.get(&run.case)?.server.clone();
        let Some(id) = server(&attempt.run) else { return Ok(()) };
        let to_make = self.unsucceeded(inputs)?;
        let later = inputs.config.list.runs.iter().skip_while(|run| run.id != attempt.run.id).skip(1);
        let next = later.into_iter().find(|run| to_make.contains(run));
        // A Workflow that is stopped makes no next run, and one that is terminated cleans nothing up.
        let is_over = self.is_to_end() && !self.is_to_be_succeeded();
        if is_over || next.and_then(server).as_ref() != Some(&id) {
            self.stop_server_or_report(&inputs.config.server_name(&id, self.workflow.session()));
        }
        Ok(())
    }

    /// Takes down the servers of this Workflow but for that called `but`: those of the runs before, of whichever benchmark of a
    /// suite. Returns how many could not be.
    pub(in crate::step) fn stop_other_servers(&mut self, but: Option<&str>) -> usize {
        let folders = match experiment::run_folders(&self.experiments, |name| instance::benchmark_of(name).is_some()) {
            Ok(folders) => folders,
            Err(error) => {
                self.tell(&format!("error: cannot read from the volume which servers are running: {error}"));
                return 1;
            }
        };
        folders.iter().filter(|name| Some(name.as_str()) != but && !self.stop_server_or_report(name)).count()
    }

    /// Takes a server down; where it cannot be now, says so and returns false.
    pub(super) fn stop_server_or_report(&mut self, name: &str) -> bool {
        let down = self.stop_server(name);
        if let Err(error) = &down {
            self.tell(&format!("note: the server `{name}` cannot be deleted now: {error:#}"));
        }
        down.is_ok()
    }

    /// Deletes the objects of the server `name` of this Workflow, and forgets it; nothing where there is none.
    pub(super) fn stop_server(&mut self, name: &str) -> Result<()> {
        let Some(kept) = self.kept(name) else { return Ok(()) };
        // Itself before what it needs.
        for object in kept.objects.iter().rev() {
            let Some(resource) = object.resource() else { continue };
            match self.cluster.get(&resource, &self.namespace, &object.name) {
                Ok(Some(there)) if self.owns(&there, name) => {
                    let Created { kind, name, .. } = object;
                    self.remove(&Created::of(&there))?;
                    self.tell(&format!("deleted {kind} `{name}`"));
                }
                Ok(_) => {}
                // The cluster has no such kind, and so no such object.
                Err(Fault::Refused(refusal)) if refusal.code == 404 => {}
                Err(fault) => return Err(fault.into()),
            }
        }
        self.forget_server(name)
    }
}
