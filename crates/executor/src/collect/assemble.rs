//! Puts the result of a run together.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use kubebench_contract::Run;
use kubebench_extract::measure::Measured;
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{
    Artifact, Cost, Environment, Exit, Metadata, Monitored, Provenance, Reason, Recorder, Run as RunOutcome, Server,
    Status, StatusReason, Timings, Usage, Validity,
};
use kubebench_format::result::{API_VERSION, BenchmarkResult, Composition, KIND, SCHEMA_VERSION};
use kubebench_host::fault::InternalFault;

/// What a run is and what it gave.
pub struct Parts<'a> {
    /// 128 random bits in hex digits.
    pub id: String,
    /// What the runs of one execution share.
    pub session: String,
    /// Which run.
    pub run: &'a Run,
    /// From 1.
    pub attempt: u32,
    /// What started it.
    pub reason: Reason,
    /// Of which benchmark and case.
    pub metadata: Metadata,
    /// What it was made from.
    pub source: Provenance,
    /// What it ran on.
    pub environment: Environment,
    /// What it loaded.
    pub server: Option<Server>,
    /// What it read.
    pub inputs: serde_json::Value,
    /// When it began and ended.
    pub span: Span,
    /// How it ended.
    pub ended: Ended,
    /// What was read from what it left.
    pub measured: Measured,
    /// What was sampled meanwhile.
    pub monitoring: Vec<Monitored>,
    /// What it held of a cluster.
    pub usage: Option<Usage>,
    /// What that cost.
    pub cost: Option<Cost>,
    /// What it was made of.
    pub composition: Composition,
    /// The files that it left.
    pub artifacts: Vec<Artifact>,
    /// Who writes the result.
    pub recorder: Recorder,
}

/// The time of a run.
pub struct Span {
    /// Its begin, as people write it.
    pub started: String,
    /// Its end.
    pub finished: String,
    /// From one to the other by a monotonic clock.
    pub took: Duration,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ended {
    /// What it is, but for what it measured.
    pub status: Status,
    /// Why it did not succeed, and what is incomplete about it.
    pub reasons: Vec<StatusReason>,
    /// How its replicas ended.
    pub exits: Vec<Exit>,
    /// How often they were restarted.
    pub restarts: u32,
    /// Where its time went.
    pub timings: Timings,
}

impl Ended {
    /// Says that a bug of this program ended its part in the run.
    pub(crate) fn break_off(&mut self, fault: &InternalFault) {
        break_off(&mut self.status, &mut self.reasons, fault);
    }

    /// Returns what was done, or says that it broke off.
    pub(crate) fn unless_broken_off<T>(&mut self, done: Result<T, InternalFault>) -> Option<T> {
        done.map_err(|fault| self.break_off(&fault)).ok()
    }
}

/// Says of a run with this status and these reasons that a bug of this program ended its part in it: it has not succeeded.
pub(crate) fn break_off(status: &mut Status, reasons: &mut Vec<StatusReason>, fault: &InternalFault) {
    let message = format!("a bug in kubebench interrupted the run: {fault}");
    let reason = StatusReason { code: ReasonCode::InternalFault, message };
    if *status == Status::Succeeded {
        *status = Status::Failed;
        reasons.insert(0, reason);
    } else {
        reasons.push(reason);
    }
}

/// Says that a log is not all that the replica printed.
pub(crate) fn log_incomplete(log: &str, fault: &str) -> StatusReason {
    StatusReason { code: ReasonCode::LogIncomplete, message: format!("{log} is incomplete: {fault}") }
}

/// Makes the result of `parts`.
pub fn assemble(parts: Parts<'_>) -> BenchmarkResult {
    let Parts { ended, measured, span, run, .. } = parts;
    let Ended { mut status, mut reasons, exits, restarts, timings } = ended;
    let exits = without_idle_words(exits, status);
    let Composition { workflow, experiment } = parts.composition.bounded();
    // A run that did not end by itself is what it is; that its metrics are missing says nothing more.
    if status == Status::Succeeded && !measured.invalid.is_empty() {
        status = Status::Invalid;
        reasons.extend(measured.invalid);
    }
    reasons.extend(measured.cautions.into_iter().map(|remark| remark.reason));
    BenchmarkResult {
        api_version: API_VERSION.to_owned(),
        kind: KIND.to_owned(),
        schema_version: SCHEMA_VERSION,
        digest: String::new(),
        synthetic: false,
        metadata: parts.metadata,
        run: RunOutcome {
            id: parts.id,
            session: parts.session,
            repeat: run.repeat,
            attempt: parts.attempt,
            warmup: run.warmup,
            reason: parts.reason,
            duration_seconds: (span.took.as_secs_f64() * 1000.0).round() / 1000.0,
            started_at: span.started,
            finished_at: span.finished,
            timings,
            status,
            reasons,
            exits,
            restarts,
        },
        source: parts.source,
        environment: parts.environment,
        inputs: parts.inputs,
        metrics: measured.metrics,
        monitoring: parts.monitoring,
        usage: parts.usage,
        workflow,
        experiment,
        cost: parts.cost,
        server: parts.server,
        validity: Validity { checks: measured.checks },
        artifacts: parts.artifacts,
        native: measured.native,
        recorder: parts.recorder,
        annotations: BTreeMap::new(),
    }
}

/// Leaves the last lines of what failed, and of all where the run did not end by itself: there they say how far it was.
fn without_idle_words(mut exits: Vec<Exit>, status: Status) -> Vec<Exit> {
    if matches!(status, Status::Succeeded | Status::Failed) {
        exits.iter_mut().filter(|exit| exit.code == Some(0)).for_each(|exit| exit.last_lines.clear());
    }
    exits
}
