//! Puts the result of a run together.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Session;
use super::wait::{SAMPLE_STEP, Waited};
use crate::digest::Digest;
use crate::ingest::measure::Measured;
use crate::manifest::Run;
use crate::model::Case;
use crate::result::v1::{
    Artifact, Environment, Image, Metadata, Monitored, Provenance, Reason, Recorder, Run as RunOutcome, Status,
    StatusReason, Timings, Validity,
};
use crate::result::{API_VERSION, BenchmarkResult, KIND, SCHEMA_VERSION, fingerprint, thinned};
use crate::spec::v1::metric::ProcessSource;

/// What a run gave.
pub(super) struct Parts<'a> {
    pub(super) id: String,
    pub(super) run: &'a Run,
    pub(super) case: &'a Case,
    pub(super) started: String,
    pub(super) finished: String,
    /// From start to end by a clock that nobody sets.
    pub(super) took: Duration,
    pub(super) waited: Waited,
    pub(super) measured: Measured,
    pub(super) artifacts: Vec<Artifact>,
    pub(super) load_before: Option<f64>,
}

impl Session<'_> {
    /// Makes the result of `parts`.
    pub(super) fn assemble(&self, parts: Parts<'_>) -> BenchmarkResult {
        let Parts { id, run, case, started, finished, took, waited, measured, artifacts, load_before } = parts;
        let request = self.request;
        let benchmark = &request.compiled.benchmark;
        let began = waited.began();
        let mut status = waited.status;
        let mut reasons = waited.reasons;
        for finished in &waited.finished {
            if let Some(fault) = &finished.log_fault {
                let message = format!("{} is incomplete: {fault}", finished.log);
                reasons.push(StatusReason { code: "logIncomplete".to_owned(), message });
            }
        }
        // A run that did not end by itself is what it is; that its metrics are missing says nothing more.
        if status == Status::Succeeded && !measured.invalid.is_empty() {
            status = Status::Invalid;
            reasons.extend(measured.invalid);
        }
        let images = case.workload.roles.iter().map(|role| Image {
            role: role.name.clone(),
            declared: role.image.to_string(),
            observed: self.images.get(&role.image.to_string()).cloned(),
        });
        let mut node = self.node.clone();
        node.load_before = load_before;
        BenchmarkResult {
            api_version: API_VERSION.to_owned(),
            kind: KIND.to_owned(),
            schema_version: SCHEMA_VERSION,
            digest: String::new(),
            metadata: Metadata {
                benchmark: benchmark.name.clone(),
                case: case.id.clone(),
                case_name: case.name.clone(),
                params: case.values.clone(),
                labels: benchmark.labels.clone(),
                target: benchmark.target.name.clone(),
            },
            run: RunOutcome {
                id,
                session: self.id.clone(),
                repeat: run.repeat,
                attempt: 1,
                warmup: run.warmup,
                reason: Reason::Manual,
                duration_seconds: (took.as_secs_f64() * 1000.0).round() / 1000.0,
                started_at: started,
                finished_at: finished,
                timings: Timings {
                    queue_seconds: None,
                    startup_seconds: began.then_some(waited.startup),
                    run_seconds: waited.run.filter(|_| began),
                },
                status,
                reasons,
                exits: waited.finished.iter().map(super::wait::Finished::exit).collect(),
                restarts: 0,
            },
            source: Provenance {
                spec_path: benchmark.path.clone(),
                spec_digest: request.spec_digest.clone(),
                run_digest: request.compiled.identity.digest.to_string(),
                run: benchmark.run,
                commit: request.commit.as_ref().map(|(commit, _)| commit.clone()),
                dirty: request.commit.as_ref().map(|(_, dirty)| *dirty),
                rules_digest: Digest::of(request.rules).to_string(),
                reparsed: None,
            },
            environment: Environment {
                fingerprint: self.fingerprint(),
                fingerprint_keys: fingerprint::KEYS.map(str::to_owned).to_vec(),
                cluster: self.cluster.clone(),
                nodes: vec![node],
                images: images.collect(),
                software: self.software.clone(),
            },
            inputs: case.inputs.clone(),
            metrics: measured.metrics,
            monitoring: self.monitoring(&waited.samples),
            cost: None,
            validity: Validity { checks: measured.checks },
            artifacts,
            native: measured.native,
            recorder: Recorder { version: request.version.to_owned(), method: "local".to_owned() },
            annotations: BTreeMap::new(),
        }
    }

    /// Returns the samples of what the processes used, where the spec asks for any.
    fn monitoring(&self, samples: &crate::edge::process::Sampler) -> Vec<Monitored> {
        use crate::ingest::rules::From;
        let asks = |what: fn(&ProcessSource) -> bool| {
            self.rules.metrics.iter().any(|rule| matches!(&rule.from, From::Process(process) if what(process)))
        };
        let made = |name: &str, unit: &str, values: &[f64]| Monitored {
            name: name.to_owned(),
            unit: unit.to_owned(),
            step_seconds: SAMPLE_STEP.as_secs_f64(),
            n: values.len() as u64,
            samples: thinned(values, 3600).into_iter().map(Some).collect(),
        };
        let mut monitored = Vec::new();
        if asks(|what| *what == ProcessSource::CpuSeconds) {
            monitored.push(made("process/cpuSeconds", "s", &samples.cpu_seconds));
        }
        if asks(|what| *what == ProcessSource::MaxRss) {
            monitored.push(made("process/rss", "B", &samples.rss_bytes));
        }
        if asks(|what| *what == ProcessSource::ReadBytes) {
            monitored.push(made("process/readBytes", "B", &samples.read_bytes));
        }
        if asks(|what| *what == ProcessSource::WriteBytes) {
            monitored.push(made("process/writeBytes", "B", &samples.write_bytes));
        }
        monitored.retain(|monitored| monitored.n > 0);
        monitored
    }
}
