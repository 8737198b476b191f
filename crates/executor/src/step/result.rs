//! From what a run left on the volume to its result file.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};

use super::attempt::{Attempt, LogOf, Outcome};
use super::cost::cost;
use super::evidence::RunEvidence;
use super::inputs::{self, RulesText};
use super::logs::Logs;
use super::server::Loaded;
use super::session::ClusterStep;
use super::volume_state::RESULT;
use super::{snapshot, word};
use crate::collect::{self, Hurry, KeptOf, Parts, Span, log_incomplete};
use crate::observe::neighbor;
use kubebench_contract::RulesFile;
use kubebench_extract::measure::{Log, Measured, measure};
use kubebench_extract::rules::{RuleScan, Rules};
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{Cluster, Environment, Metadata, Provenance, Reason, Recorder, StatusReason, Usage};
use kubebench_format::result::{self, BenchmarkResult, fingerprint, redact, spelled};
use kubebench_host::experiment::{self, RunFolder, RunOutputs};
use kubebench_host::fault::caught;
use kubebench_host::terminal;
use kubebench_syntax::digest::Digest;

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What is gathered during a run.
pub(super) struct Gathered {
    pub(super) logs: Logs,
    /// The rules by which the logs are read as they come.
    rules: Rules,
    scans: Vec<(String, RuleScan)>,
}

impl Gathered {
    /// Makes ready for the logs of `attempt`.
    pub(super) fn new(session: &ClusterStep, attempt: &Attempt, text: &RulesText) -> Result<Self> {
        let (rules, limit) = match &text.rules {
            Some(text) => {
                let (file, rules) = read_rules(text)?;
                (rules, file.log_limit_bytes)
            }
            None => (Rules::none(), None),
        };
        let output = attempt.folder(&session.experiments).join("output");
        let logs = Logs::new(session, output, &rules, limit.unwrap_or(collect::LOG_LIMIT));
        Ok(Self { logs, rules, scans: Vec::new() })
    }

    /// Says that nothing is gathered.
    pub(super) fn of_nothing() -> Self {
        Self { logs: Logs::of_nothing(), rules: Rules::none(), scans: Vec::new() }
    }

    /// Ends the logs, with so much patience for those that have not ended.
    pub(super) fn end_logs(&mut self, patience: Duration) -> Vec<LogOf> {
        let mut ended = Vec::new();
        for (log, scan) in self.logs.end(patience) {
            self.scans.extend(scan.map(|scan| (log.name.clone(), scan)));
            ended.push(log);
        }
        ended
    }
}

/// What was read from what a run left.
struct Read {
    rules: Rules,
    measured: Measured,
    usage: Option<Usage>,
}

/// Reads the text of `rules.json`: as it is, and ready for use.
fn read_rules(text: &str) -> Result<(RulesFile, Rules)> {
    let file = RulesFile::read(text).map_err(|fault| anyhow!("{fault}"))?;
    let rules = Rules::of(&file, Digest::of(text)).map_err(|reason| anyhow!("{}: {reason}", RulesFile::FILE))?;
    Ok((file, rules))
}

impl ClusterStep {
    /// Makes the result of an attempt whose outcome is known, and puts it on the volume.
    pub(super) fn conclude(&mut self, attempt: &Attempt, gathered: Gathered) -> Result<BenchmarkResult> {
        let Some(outcome) = &attempt.outcome else { bail!("`{}` has not ended", attempt.job) };
        let folder = attempt.folder(&self.experiments);
        // The rules may have changed since; those that are there when the run ends count, or those that it began with.
        let now = inputs::rules(&self.environment)?;
        if now.rules.is_some() {
            // The last step knows by them that a step has made the result.
            let run = attempt.open(&self.experiments)?;
            self.write(|| snapshot::keep_rules(&run, &now))
                .unwrap_or_else(|error| self.tell(&format!("note: {error:#}")));
        }
        let text = now.rules.or_else(|| snapshot::rules(&folder).rules);
        let text = text.context("there are no rules for this run: neither the ConfigMap nor the snapshot has them")?;
        let about = RulesFile::read(&text).map_err(|fault| anyhow!("{fault}"))?;
        let left = RunOutputs::of_run(&folder);
        let logs = outcome.logs.clone().unwrap_or_default();
        let mut ended = outcome.ended.clone();
        let read = caught(|| self.read(attempt, outcome, gathered, &left, &text));
        let Read { rules, measured, usage } = match ended.unless_broken_off(read) {
            Some(read) => read?,
            None => Read { rules: Rules::none(), measured: Measured::default(), usage: outcome.usage.clone() },
        };
        let kept: Vec<KeptOf> =
            logs.iter().map(|log| KeptOf { name: log.name.clone(), dropped: log.dropped }).collect();
        let listed = caught(|| collect::artifacts(&left, &kept, &rules, self));
        let (artifacts, absent) = ended.unless_broken_off(listed).unwrap_or_default();
        let faults = logs.iter().filter_map(|log| log.fault.as_ref().map(|fault| log_incomplete(&log.name, fault)));
        ended.reasons.extend(faults.chain(absent));
        let cluster = Cluster {
            name: self.settings.cluster.clone(),
            engine: "kubernetes".to_owned(),
            version: outcome.cluster_version.clone(),
        };
        let (neighbors, neighbors_left_out) = neighbor::listed(&attempt.neighbors);
        let mut result = collect::assemble(Parts {
            id: attempt.id.clone(),
            session: attempt.workflow.uid.clone(),
            run: &attempt.run,
            attempt: attempt.number,
            reason: if attempt.workflow.is_scheduled { Reason::Schedule } else { Reason::Change },
            metadata: Metadata {
                benchmark: attempt.benchmark.clone(),
                case: attempt.run.case.clone(),
                case_name: attempt.case_name.clone(),
                params: spelled(&attempt.values, &attempt.case_name),
                labels: about.labels.clone(),
                target: self.settings.target.clone(),
            },
            source: Provenance {
                workload_digest: attempt.workload_digest.clone(),
                spec_path: about.source.path,
                spec_digest: about.source.digest,
                run_digest: attempt.run_digest.clone(),
                run: attempt.spec_run,
                commit: None,
                dirty: None,
                content: None,
                rules_digest: Digest::of(&text).to_string(),
                extraction: Some(kubebench_extract::VERSION),
                reparsed: None,
            },
            environment: Environment {
                fingerprint: fingerprint::fingerprint(&cluster, &outcome.nodes).to_string(),
                fingerprint_keys: fingerprint::KEYS.map(str::to_owned).to_vec(),
                cluster,
                nodes: outcome.nodes.clone(),
                images: outcome.images.clone(),
                software: BTreeMap::new(),
                neighbors,
                neighbors_left_out,
            },
            server: attempt.loaded.as_ref().map(Loaded::in_result),
            inputs: attempt.inputs.clone(),
            span: Span {
                started: attempt.began.text.clone(),
                finished: outcome.finished.text.clone(),
                took: Duration::from_secs_f64(outcome.took_seconds),
            },
            ended,
            measured,
            monitoring: Vec::new(),
            cost: self
                .settings
                .prices
                .as_ref()
                .zip(usage.as_ref())
                .and_then(|(prices, usage)| cost(prices, usage, &self.settings.target)),
            usage,
            composition: outcome.composition.clone(),
            artifacts,
            recorder: Recorder { version: VERSION.to_owned(), method: "cluster".to_owned() },
        });
        redact(&mut result, &self.redactor);
        self.store(&attempt.job, result)
    }

    /// Reads what the run left by the rules of `text`.
    fn read(
        &self,
        attempt: &Attempt,
        outcome: &Outcome,
        gathered: Gathered,
        left: &RunOutputs,
        text: &str,
    ) -> Result<Read> {
        let (_, rules) = read_rules(text)?;
        let evidence = self.evidence(attempt, outcome, left);
        let logs = read_logs(&rules, gathered, outcome.logs.as_deref().unwrap_or_default(), left)?;
        let measured = measure(&rules, &logs, outcome.ended.restarts, &evidence);
        let usage = outcome.usage.clone().map(|usage| self.with_energy(usage, &evidence));
        Ok(Read { rules, measured, usage })
    }

    /// Adds the energy of the GPUs, where it was measured.
    fn with_energy(&self, usage: Usage, evidence: &RunEvidence) -> Usage {
        // A step that is about to be killed has a result to write.
        if self.stop.is_some() {
            return usage;
        }
        let energy_joules = evidence.energy(&usage).unwrap_or_else(|why| {
            self.tell(&format!("note: the energy of the GPUs is unknown: {why}"));
            None
        });
        Usage { energy_joules, ..usage }
    }

    fn evidence(&self, attempt: &Attempt, outcome: &Outcome, left: &RunOutputs) -> RunEvidence {
        RunEvidence {
            left: left.clone(),
            timings: outcome.ended.timings,
            composition: outcome.composition.clone(),
            prometheus: self.settings.prometheus.as_ref().map(|prometheus| prometheus.url.clone()),
            authorities: self.environment.authorities(),
            // What the nodes did while the run was in a queue is not of the run.
            window: (attempt.running_since.as_ref().unwrap_or(&attempt.began).seconds, outcome.finished.seconds),
            namespace: self.namespace.clone(),
            job: attempt.job.clone(),
            server: attempt.loaded.as_ref().map(Loaded::in_result),
            nodes: outcome.nodes.iter().filter_map(|node| node.name.clone()).collect(),
        }
    }

    /// Puts a result on the volume; where that cannot be, into the log of the step.
    fn store(&mut self, job: &str, result: BenchmarkResult) -> Result<BenchmarkResult> {
        let sealed = result::seal(result);
        let experiments = self.experiments.clone();
        let path = experiments.join(job).join(RESULT);
        if let Err(error) = self.write(|| RunFolder::make(&experiments, job)?.put(RESULT, &sealed.bytes)) {
            self.tell(&format!("error: the result is not on the volume, but below: {}: {error}", path.display()));
            terminal::print(&String::from_utf8_lossy(&sealed.bytes))?;
            bail!("the result of `{}` cannot be written: {error}", sealed.result.metadata.case_name);
        }
        let run = &sealed.result.run;
        self.tell(&format!("result: {}, in {}", word(run.status), path.display()));
        run.reasons.iter().for_each(|reason| self.tell(&format!("  {}: {}", reason.code, reason.message)));
        Ok(sealed.result)
    }
}

/// Reads the logs by `rules`, of those that were read by them as they came what came of that.
fn read_logs(rules: &Rules, gathered: Gathered, logs: &[LogOf], left: &RunOutputs) -> Result<Vec<Log>> {
    let Gathered { rules: known, scans, .. } = gathered;
    let mut scans: BTreeMap<String, RuleScan> =
        if known.digest == rules.digest { scans.into_iter().collect() } else { BTreeMap::new() };
    let room = scans.values().next().map(|scan| scan.room().clone()).unwrap_or_default();
    let mut read = Vec::new();
    let mut main: Vec<&LogOf> = logs.iter().filter(|log| log.is_main).collect();
    main.sort_by(|one, other| (&one.role, one.index).cmp(&(&other.role, other.index)));
    for log in main {
        let scan = if let Some(scan) = scans.remove(&log.name) {
            scan
        } else {
            let mut scan = rules.scan(&log.role, log.index, &room);
            if let Ok(path) = left.artifact(&log.name) {
                experiment::read_pieces(&path, |piece| scan.feed(piece))
                    .with_context(|| format!("cannot read {}", path.display()))?;
            }
            scan
        };
        let (role, index, artifact) = (log.role.clone(), log.index, log.name.clone());
        read.push(Log { role, index, artifact, scanned: scan.finish() });
    }
    Ok(read)
}

impl Hurry for ClusterStep {
    fn was_wanted(&mut self) -> bool {
        self.is_to_end()
    }

    fn comes(&mut self) -> bool {
        let was = self.stop.is_some();
        self.is_to_end() && !was
    }

    fn tell(&self, text: &str) {
        Self::tell(self, text);
    }
}

/// Says that a run has no job any more, and that its end is unknown.
pub(super) fn lost(message: &str) -> StatusReason {
    StatusReason { code: ReasonCode::JobLost, message: message.to_owned() }
}
