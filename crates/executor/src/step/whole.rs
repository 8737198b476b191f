//! One attempt from its begin to its result, also where a bug of this program ends its part in it: what was measured by then is
//! kept, and the next run continues.

use anyhow::Result;

use super::attempt::{Attempt, Outcome};
use super::auxiliary_job::After;
use super::inputs::{self, Inputs};
use super::result::Gathered;
use super::run::outcome_without_job;
use super::server::{NoServer, Wanted};
use super::session::ClusterStep;
use super::snapshot;
use kubebench_contract::Created as Objects;
use kubebench_format::result::BenchmarkResult;
use kubebench_format::result::v1::Status;
use kubebench_host::fault::{InternalFault, caught};

impl ClusterStep {
    /// Takes one attempt to its result; none when another pod is to resume it.
    pub(super) fn attempt(&mut self, inputs: &Inputs, attempt: &mut Attempt) -> Result<Option<BenchmarkResult>> {
        caught(|| self.whole(inputs, attempt)).unwrap_or_else(|fault| {
            self.break_off(attempt, &fault);
            self.conclude(attempt, Gathered::of_nothing()).map(Some)
        })
    }

    fn whole(&mut self, inputs: &Inputs, attempt: &mut Attempt) -> Result<Option<BenchmarkResult>> {
        let objects = inputs.config.objects(&attempt.run.id, attempt.number, &self.naming());
        let mut objects = self.equip(objects.map_err(|fault| anyhow::anyhow!("{fault}"))?);
        let wanted = self.wanted(inputs, attempt)?;
        let server = wanted.as_ref().map(|wanted| &wanted.objects);
        for objects in [Some(&objects), server].into_iter().flatten() {
            self.know_secrets(&objects.workload);
        }
        let rules = inputs::rules(&self.environment)?;
        snapshot::keep(&attempt.open(&self.experiments)?, &objects, server, &rules)?;
        let mut gathered = Gathered::new(self, attempt, &rules)?;
        if attempt.outcome.is_none() {
            match caught(|| self.outcome_of(inputs, wanted.as_ref(), attempt, &mut objects, &mut gathered)) {
                Ok(outcome) => {
                    let Some(outcome) = outcome? else { return Ok(None) };
                    attempt.outcome = Some(outcome);
                    self.keep(attempt);
                }
                Err(fault) => self.break_off(attempt, &fault),
            }
        } else if attempt.outcome.as_ref().is_some_and(|outcome| outcome.logs.is_none()) {
            self.continue_with_server(attempt, &mut gathered);
        }
        match caught(|| self.wind_up(inputs, attempt, &objects, &mut gathered)) {
            Ok(after) => {
                if after? == After::Left {
                    return Ok(None);
                }
            }
            Err(fault) => self.break_off(attempt, &fault),
        }
        let result = self.conclude(attempt, gathered)?;
        Ok(Some(result))
    }

    /// Follows the run to its end; none when another pod is to resume it.
    fn outcome_of(
        &mut self,
        inputs: &Inputs,
        wanted: Option<&Wanted<'_>>,
        attempt: &mut Attempt,
        objects: &mut Objects,
        gathered: &mut Gathered,
    ) -> Result<Option<Outcome>> {
        Ok(match self.serve(inputs, wanted, attempt, gathered)? {
            Ok(()) => self.take_run(inputs, attempt, objects, gathered)?,
            Err(NoServer::Ends(outcome)) => Some(*outcome),
            Err(NoServer::NoJob(no_job)) => self.without_job(attempt, no_job),
            Err(NoServer::Left) => None,
        })
    }

    /// Deletes what was made for a run that has ended, once its logs are read, and does what comes after it.
    fn wind_up(
        &mut self,
        inputs: &Inputs,
        attempt: &mut Attempt,
        objects: &Objects,
        gathered: &mut Gathered,
    ) -> Result<After> {
        self.catch_up(&gathered.logs);
        if let Some(created) = attempt.created.clone() {
            self.remove(&created).unwrap_or_else(|fault| self.note_left(&attempt.job, &fault));
            self.remove_before(objects, &attempt.job);
        }
        self.end_logs(attempt, gathered);
        self.stop_server_after(inputs, attempt)?;
        self.postprocess(inputs, attempt)
    }

    /// Says of an attempt that a bug of this program ended its part in it.
    pub(super) fn break_off(&mut self, attempt: &mut Attempt, fault: &InternalFault) {
        let outcome = attempt.outcome.take();
        let mut outcome = outcome.unwrap_or_else(|| outcome_without_job(attempt, Status::Failed, Vec::new()));
        outcome.ended.break_off(fault);
        attempt.outcome = Some(outcome);
        self.keep(attempt);
    }
}

#[cfg(test)]
mod tests;
