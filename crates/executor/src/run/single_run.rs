//! One run: folders, processes, what they left, and the result.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::evidence::RunEvidence;
use super::wait::Waited;
use super::{LocalRun, assemble, replica_log, wait};
use crate::collect::{self, KeptOf};
use crate::local::{self, Folders, Given, Plan};
use kubebench_compiler::model::{Case, Role};
use kubebench_contract::{RulesFile, Run};
use kubebench_extract::measure::{Log, Measured, measure};
use kubebench_extract::rules::RuleScan;
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{Status, StatusReason};
use kubebench_format::result::{BenchmarkResult, redact};
use kubebench_host::experiment::{self, RunOutputs};
use kubebench_host::fault::{InternalFault, caught};
use kubebench_host::machine;
use kubebench_syntax::unit;

/// What became of the processes of a run, and when that was.
struct Played {
    started: (String, f64),
    finished: (String, f64),
    took: Duration,
    load_before: Option<f64>,
    waited: Waited,
}

impl Played {
    fn broken_off((started, clock): ((String, f64), Instant), fault: &InternalFault) -> Self {
        let mut waited = Waited::of_nothing(Status::Failed);
        waited.break_off(fault);
        Self { started, finished: machine::now(), took: clock.elapsed(), load_before: None, waited }
    }
}

impl LocalRun<'_> {
    /// Runs `case` once. Whatever happens to its processes is in the result, and so is a bug of this program; an error is of this machine.
    pub(super) fn one(&mut self, run: &Run, case: &Case) -> Result<BenchmarkResult> {
        let id = machine::random_id()?;
        let folders = self.folders(&id)?;
        let begun = (machine::now(), Instant::now());
        let played = match caught(|| self.play(case, &folders)) {
            Ok(played) => played?,
            Err(fault) => Played::broken_off(begun, &fault),
        };
        let Played { started, finished, took, load_before, mut waited } = played;
        let left = RunOutputs { output: folders.output().into(), result: folders.result().into() };
        let measured = caught(|| self.measure(&mut waited, left.clone(), started.1, finished.1));
        let measured = waited.unless_broken_off(measured).unwrap_or_default();
        let logs: Vec<KeptOf> = waited.finished.iter().map(wait::Finished::kept).collect();
        let rules = self.rules.clone();
        let listed = caught(|| collect::artifacts(&left, &logs, &rules, self));
        let (artifacts, absent) = waited.unless_broken_off(listed).unwrap_or_default();
        waited.reasons.extend(absent);
        let replica_logs = replica_log::of_all(&waited, &folders, &self.redactor);
        let (started, finished) = (started.0, finished.0);
        let parts =
            assemble::Parts { id, run, case, started, finished, took, waited, measured, artifacts, load_before };
        let mut result = self.assemble(parts);
        redact(&mut result, &self.redactor);
        // Postprocessing that failed has left its own.
        if self.logs.is_empty() {
            self.logs = replica_log::that_explain(&result.run, replica_logs);
        }
        Ok(result)
    }

    /// Runs the processes of `case`, and what comes after them.
    fn play(&mut self, case: &Case, folders: &Folders) -> Result<Played> {
        self.make(folders)?;
        let plan = self.plan(folders, |given| local::plan(case, given));
        self.write_config(folders, &plan)?;
        let absent = self.bring(local::started_roles(case))?;
        self.has_started = false;
        let load_before = machine::load();
        let kills = machine::out_of_memory_kills();
        let (started, clock) = (machine::now(), Instant::now());
        let mut waited = match absent {
            None => self.wait_for(&plan, folders, Duration::from_secs(case.timeout.seconds()))?,
            Some(_) if self.stop.is_some() => {
                Waited::without_start(Status::Interrupted, ReasonCode::Interrupted, "stopped before it started")
            }
            Some(problem) => Waited::without_start(Status::Failed, ReasonCode::CannotStart, &problem),
        };
        let (finished, took) = (machine::now(), clock.elapsed());
        let is_killed = || kills.zip(machine::out_of_memory_kills()).is_some_and(|(before, now)| now > before);
        if waited.status == Status::Failed && is_killed() {
            let message = "the system killed a process because memory ran out".to_owned();
            waited.reasons.push(StatusReason { code: ReasonCode::OutOfMemory, message });
        }
        if waited.status == Status::Succeeded
            && let Some(job) = &case.postprocess
        {
            let done = caught(|| self.step("postprocess", &job.role, job.timeout, folders));
            let problem = waited.unless_broken_off(done).and_then(|done| {
                done.unwrap_or_else(|error| Some(format!("`postprocess` cannot be started: {error:#}")))
            });
            if let Some(problem) = problem {
                waited.status = if self.stop.is_some() { Status::Interrupted } else { Status::Failed };
                waited.reasons.push(StatusReason { code: ReasonCode::PostprocessFailed, message: problem });
            }
        }
        Ok(Played { started, finished, took, load_before, waited })
    }

    /// Runs an auxiliary Job of one pod; returns why it did not succeed.
    pub(super) fn step(
        &mut self,
        name: &str,
        role: &Role,
        timeout: unit::Duration,
        folders: &Folders,
    ) -> Result<Option<String>> {
        if let Some(problem) = self.bring(std::iter::once(role))? {
            return Ok(Some(format!("`{name}` cannot be started: {problem}")));
        }
        self.make(folders)?;
        let plan = self.plan(folders, |given| local::step(name, role, given));
        let waited = self.wait_for(&plan, folders, Duration::from_secs(timeout.seconds()))?;
        if waited.status != Status::Succeeded {
            self.logs = replica_log::of_all(&waited, folders, &self.redactor);
        }
        Ok(self.problem_of(&waited).map(|problem| format!("`{name}` did not succeed: {problem}")))
    }

    /// Returns why auxiliary processes did not succeed.
    pub(super) fn problem_of(&self, waited: &Waited) -> Option<String> {
        if waited.status == Status::Succeeded {
            return None;
        }
        let reasons: Vec<String> = waited.reasons.iter().map(|reason| reason.message.clone()).collect();
        let last = waited.finished.iter().flat_map(|finished| &finished.last_lines).next_back();
        let last = last.map_or_else(String::new, |line| format!("; its last line: {}", self.redactor.text(line)));
        Some(format!("{}{last}", reasons.join("; ")))
    }

    fn plan(&self, host: &Folders, plan: impl FnOnce(&mut Given<'_>) -> Plan) -> Plan {
        let (folders, containers) = self.request.views(host.clone());
        let mut given = Given {
            base: &self.request.base,
            secrets: &self.request.secrets,
            containers: containers.as_ref(),
            folders: &folders,
            namespace: &self.request.compiled.benchmark.target.namespace,
            ports: &mut machine::free_port,
        };
        plan(&mut given)
    }

    pub(super) fn make(&self, folders: &Folders) -> Result<()> {
        let logs = format!("{}/logs", folders.output());
        for folder in [&folders.config(), &logs, &folders.result(), &folders.files, &folders.data] {
            experiment::make(folder)?;
        }
        for (name, file) in self.request.compiled.benchmark.files.iter() {
            experiment::carry(&Path::new(&folders.files).join(name), &file.bytes)?;
        }
        Ok(())
    }

    fn write_config(&self, folders: &Folders, plan: &Plan) -> Result<()> {
        let rules = (RulesFile::FILE.to_owned(), self.request.rules.to_owned());
        for (name, text) in plan.config.clone().into_iter().chain([rules]) {
            experiment::write(&Path::new(&folders.config()).join(name), &text)?;
        }
        Ok(())
    }

    fn measure(&self, waited: &mut Waited, left: RunOutputs, started: f64, finished: f64) -> Measured {
        let mut logs = Vec::new();
        let mut usages = Vec::new();
        for finished in &mut waited.finished {
            let scan = std::mem::replace(&mut finished.scan, RuleScan::of_nothing());
            if finished.ended.was_started() {
                usages.push(finished.ended.usage);
            }
            logs.push(Log {
                role: finished.process.role.clone(),
                index: finished.process.index,
                artifact: finished.log.clone(),
                scanned: scan.finish(),
            });
        }
        let evidence = RunEvidence {
            left,
            engine: self.request.engine,
            usages,
            peak_rss: waited.samples.rss_bytes.iter().copied().fold(0.0, f64::max),
            startup: waited.began().then_some(waited.startup),
            run: waited.run.filter(|_| waited.began()),
            prometheus: self.request.compiled.benchmark.target.prometheus.clone(),
            window: (started, finished),
        };
        measure(&self.rules, &logs, 0, &evidence)
    }
}
