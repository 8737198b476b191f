//! What a local run hands in for its result.

use std::time::Duration;

use super::LocalRun;
use super::wait::{Finished, SAMPLE_STEP, Waited};
use crate::collect::{self, Ended, Span, log_incomplete};
use kubebench_compiler::model::Case;
use kubebench_contract::Run;
use kubebench_extract::measure::Measured;
use kubebench_format::result::v1::{
    Artifact, Environment, Image, Metadata, Monitored, Provenance, Reason, Recorder, Timings,
};
use kubebench_format::result::{BenchmarkResult, Composition, fingerprint, spelled, thinned};
use kubebench_format::spec::v1::metric::ProcessSource;
use kubebench_syntax::digest::Digest;

/// What a run gave.
pub(super) struct Parts<'a> {
    pub(super) id: String,
    pub(super) run: &'a Run,
    pub(super) case: &'a Case,
    pub(super) started: String,
    pub(super) finished: String,
    /// From start to end by a monotonic clock.
    pub(super) took: Duration,
    pub(super) waited: Waited,
    pub(super) measured: Measured,
    pub(super) artifacts: Vec<Artifact>,
    pub(super) load_before: Option<f64>,
}

impl LocalRun<'_> {
    /// Makes the result of `parts`.
    pub(super) fn assemble(&self, parts: Parts<'_>) -> BenchmarkResult {
        let Parts { id, run, case, started, finished, took, waited, measured, artifacts, load_before } = parts;
        let request = self.request;
        let benchmark = &request.compiled.benchmark;
        let began = waited.began();
        let monitoring = self.monitoring(&waited.samples);
        let exits = waited.finished.iter().map(Finished::exit).collect();
        let mut reasons = waited.reasons;
        let faults = waited
            .finished
            .iter()
            .filter_map(|finished| finished.log_fault.as_ref().map(|fault| log_incomplete(&finished.log, fault)));
        reasons.extend(faults);
        let images = case.workload.roles.iter().map(|role| Image {
            role: role.name.clone(),
            declared: role.image_name(),
            observed: self.images.get(&role.image_name()).cloned(),
        });
        let mut node = self.node.clone();
        node.load_before = load_before;
        collect::assemble(collect::Parts {
            id,
            session: self.request.session.clone(),
            run,
            attempt: 1,
            reason: Reason::Manual,
            metadata: Metadata {
                benchmark: benchmark.name.clone(),
                case: case.id.clone(),
                case_name: case.name.clone(),
                params: spelled(&case.values, &case.name),
                labels: benchmark.labels.clone(),
                target: benchmark.target.name.clone(),
            },
            source: Provenance {
                workload_digest: request.compiled.identity.workloads.get(&case.id).map(Digest::to_string),
                spec_path: benchmark.path.clone(),
                spec_digest: benchmark.spec_digest.to_string(),
                run_digest: request.compiled.identity.digest.to_string(),
                run: benchmark.run,
                commit: request.commit.as_ref().map(|known| known.commit.clone()),
                dirty: request.commit.as_ref().map(|known| !known.differing.is_empty()),
                content: request.commit.as_ref().and_then(|known| known.content.clone()),
                rules_digest: Digest::of(request.rules).to_string(),
                extraction: Some(kubebench_extract::VERSION),
                reparsed: None,
            },
            environment: Environment {
                fingerprint: self.fingerprint(),
                fingerprint_keys: fingerprint::KEYS.map(str::to_owned).to_vec(),
                cluster: self.cluster.clone(),
                nodes: vec![node],
                images: images.collect(),
                software: self.software.clone(),
                neighbors: Vec::new(),
                neighbors_left_out: 0,
            },
            server: None,
            inputs: case.inputs.clone(),
            span: Span { started, finished, took },
            ended: Ended {
                status: waited.status,
                reasons,
                exits,
                restarts: 0,
                timings: Timings {
                    ready_seconds: None,
                    queue_seconds: None,
                    startup_seconds: began.then_some(waited.startup),
                    run_seconds: waited.run.filter(|_| began),
                },
            },
            measured,
            monitoring,
            usage: None,
            cost: None,
            composition: Composition::default(),
            artifacts,
            recorder: Recorder { version: request.version.to_owned(), method: "local".to_owned() },
        })
    }

    /// Returns the samples of what the processes used, where the spec asks for any.
    fn monitoring(&self, samples: &kubebench_host::process::Sampler) -> Vec<Monitored> {
        use kubebench_extract::rules::From;
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
