//! Results of runs that never took place, to try thresholds and gates before paying for machines: pure.
//!
//! They have the form of real ones, say that they are synthetic, and are never recorded.

mod noise;
mod values;

use std::collections::BTreeMap;

use serde_json::Value as Json;

use kubebench_compiler::manifest::Identity;
use kubebench_compiler::model::{Benchmark, Case};
use kubebench_extract::rules::{MetricRule, Rules};
use kubebench_format::result::v1::{
    Cluster, Direction, Environment, Image, Kind, Metadata, Metric, Node, Provenance, Reason, Recorder, Run, Source,
    Status, Timings, Validity,
};
use kubebench_format::result::{self, BenchmarkResult, Sealed, fingerprint, spelled};
use kubebench_format::spec::v1::metric::Better;
use kubebench_syntax::digest::Digest;
use kubebench_syntax::unit::Day;
use noise::Noise;
pub use values::Values;

/// The maximum number of runs that fit into the day of a session.
pub(crate) const MOST_RUNS: u64 = 1000;

/// What is made.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub benchmark: &'a Benchmark,
    /// What it executes.
    pub identity: &'a Identity,
    /// What it measures.
    pub rules: &'a Rules,
    pub values: &'a Values,
    /// How many sessions.
    pub sessions: u32,
    /// The day of the first one; each has a day of its own.
    pub start: Day,
    /// Another one gives other noise.
    pub seed: u64,
    /// The version of this program.
    pub version: &'a str,
}

/// Returns the images that the spec names: another one is another revision.
fn images(case: &Case) -> Vec<Image> {
    let roles = case.workload.roles.iter().filter(|role| !role.image_name().is_empty());
    roles.map(|role| Image { role: role.name.clone(), declared: role.image_name(), observed: None }).collect()
}

/// Says what is wrong with `values` for this benchmark.
///
/// # Errors
/// A metric or case that the benchmark does not have, or too few values for the sessions.
pub fn check(request: Request<'_>) -> Result<(), String> {
    let Request { benchmark, rules, values, sessions, .. } = request;
    if benchmark.runs() > MOST_RUNS {
        return Err(format!("{} runs per session are too many, expected at most {MOST_RUNS}", benchmark.runs()));
    }
    if values.by_case().all(|(_, wishes)| wishes.is_empty()) {
        return Err("it sets no value for any metric: write `metrics: {NAME: VALUE}`".to_owned());
    }
    let metrics: Vec<&str> = rules.metrics.iter().filter_map(|rule| rule.name.as_deref()).collect();
    for (case, wishes) in values.by_case() {
        if let Some(case) = case.filter(|case| !benchmark.cases.iter().any(|own| own.is_called(case))) {
            let known: Vec<&str> = benchmark.cases.iter().map(|own| own.name.as_str()).collect();
            return Err(format!("there is no case `{case}`; the cases are {}", known.join("; ")));
        }
        for (metric, wish) in wishes {
            if !metrics.contains(&metric.as_str()) {
                return Err(format!("there is no metric `{metric}`; the metrics are {}", metrics.join(", ")));
            }
            wish.check(sessions).map_err(|fault| format!("`{metric}`: {fault}"))?;
        }
    }
    Ok(())
}

/// Makes the results of all sessions, in the order of time.
pub fn results(request: Request<'_>) -> Vec<Sealed> {
    let benchmark = request.benchmark;
    let mut made = Vec::new();
    for session in 0..request.sessions {
        let mut order = 0;
        for repeat in 1..=benchmark.repeats {
            for case in &benchmark.cases {
                made.push(result::seal(request.run(session, case, repeat, order)));
                order += 1;
            }
        }
    }
    made
}

impl Request<'_> {
    fn run(&self, session: u32, case: &Case, repeat: u32, order: u32) -> BenchmarkResult {
        let benchmark = self.benchmark;
        let seed = self.seed.to_string();
        let number = session.to_string();
        let of_session = Digest::of_fields(["session", &benchmark.name, &benchmark.target.name, &number, &seed]).hex();
        let id = Digest::of_fields([of_session.as_str(), &case.id, &repeat.to_string()]).hex();
        let time = |second: u32| {
            let minutes = order % (24 * 60);
            format!("{}T{:02}:{:02}:{second:02}Z", self.start.after(session), minutes / 60, minutes % 60)
        };
        let cluster = Cluster { name: "synthetic".to_owned(), engine: "process".to_owned(), version: None };
        let node = Node { cpu_model: Some("synthetic".to_owned()), cpu_count: Some(1), ..Node::default() };
        let fingerprint = fingerprint::fingerprint(&cluster, std::slice::from_ref(&node)).to_string();
        BenchmarkResult {
            api_version: result::API_VERSION.to_owned(),
            kind: result::KIND.to_owned(),
            schema_version: result::SCHEMA_VERSION,
            digest: String::new(),
            synthetic: true,
            metadata: Metadata {
                benchmark: benchmark.name.clone(),
                case: case.id.clone(),
                case_name: case.name.clone(),
                params: spelled(&case.values, &case.name),
                labels: benchmark.labels.clone(),
                target: benchmark.target.name.clone(),
            },
            run: Run {
                id: id.get(..32).unwrap_or(&id).to_owned(),
                session: of_session.get(..16).unwrap_or(&of_session).to_owned(),
                repeat,
                attempt: 1,
                warmup: false,
                reason: Reason::Manual,
                started_at: time(0),
                finished_at: time(1),
                duration_seconds: 1.0,
                timings: Timings::default(),
                status: Status::Succeeded,
                reasons: Vec::new(),
                exits: Vec::new(),
                restarts: 0,
            },
            source: Provenance {
                spec_path: benchmark.path.clone(),
                spec_digest: benchmark.spec_digest.to_string(),
                run_digest: self.identity.digest.to_string(),
                workload_digest: self.identity.workloads.get(&case.id).map(Digest::to_string),
                run: benchmark.run,
                commit: None,
                dirty: None,
                content: None,
                rules_digest: self.rules.digest.to_string(),
                extraction: Some(kubebench_extract::VERSION),
                reparsed: None,
            },
            environment: Environment {
                fingerprint,
                fingerprint_keys: fingerprint::KEYS.map(str::to_owned).to_vec(),
                cluster,
                nodes: vec![node],
                images: images(case),
                software: BTreeMap::new(),
                neighbors: Vec::new(),
                neighbors_left_out: 0,
            },
            server: None,
            inputs: Json::Null,
            metrics: self.metrics(session, case, repeat),
            monitoring: Vec::new(),
            usage: None,
            workflow: None,
            experiment: None,
            cost: None,
            validity: Validity::default(),
            artifacts: Vec::new(),
            native: BTreeMap::new(),
            recorder: Recorder { version: self.version.to_owned(), method: "mock".to_owned() },
            annotations: BTreeMap::new(),
        }
    }

    fn metrics(&self, session: u32, case: &Case, repeat: u32) -> Vec<Metric> {
        let rules = self.rules.metrics.iter();
        rules.filter_map(|rule| self.metric(rule, session, case, repeat)).collect()
    }

    fn metric(&self, rule: &MetricRule, session: u32, case: &Case, repeat: u32) -> Option<Metric> {
        let name = rule.name.as_ref()?;
        let wish = self.values.of(case, name)?;
        let noise = Noise::new(self.seed, &[&self.benchmark.name, &case.id, name]);
        let value = wish.value(session, repeat, &noise)?;
        Some(Metric {
            name: name.clone(),
            labels: BTreeMap::new(),
            unit: rule.unit.clone(),
            direction: match rule.better {
                Some(Better::Higher) => Direction::Higher,
                Some(Better::Lower) => Direction::Lower,
                None => Direction::None,
            },
            kind: if rule.is_primary { Kind::Primary } else { Kind::Secondary },
            value: Some(value),
            aggregation: "synthetic".to_owned(),
            n: 1,
            non_finite: 0,
            samples: Vec::new(),
            stats: None,
            source: Source { parser: "mock".to_owned(), ..Source::default() },
            reason: None,
        })
    }
}
