//! A suite: the Workflow that runs its benchmarks, the list of benchmarks for its steps, and the claim for all their results.

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::identity::{EPOCH, Identity};
use super::{CLAIM_FILE, Manifest, WORKFLOW_FILE, claim, meta, pipeline, workflow};
use crate::expand::MAX_RUNS;
use crate::model::{Benchmark, Suite};
use kubebench_contract::{Member, SuiteList};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::digest::Digest;
use kubebench_syntax::invariant::Invariant as _;

/// A benchmark of a suite on one target.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    pub benchmark: &'a Benchmark,
    /// What it executes.
    pub identity: &'a Identity,
    /// Earlier benchmarks that must succeed before it is run.
    pub needs: &'a [String],
}

/// What the Workflow of a suite executes, by name.
#[derive(Clone, Debug)]
pub struct SuiteIdentity {
    /// The digest of what is executed.
    pub digest: Digest,
}

/// Everything that decides what the Workflow of a suite executes, and nothing else. Fields are in alphabetical order.
#[derive(Serialize)]
struct Executed<'a> {
    benchmarks: Vec<ExecutedPart<'a>>,
    epoch: u32,
    suite: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExecutedPart<'a> {
    benchmark: &'a str,
    needs: &'a [String],
    run_digest: String,
}

impl SuiteIdentity {
    fn new<'a>(suite: &'a Suite, parts: &[Part<'a>]) -> Self {
        let part = |part: &Part<'a>| ExecutedPart {
            benchmark: &part.benchmark.name,
            needs: part.needs,
            run_digest: part.identity.digest.to_string(),
        };
        let executed = Executed { benchmarks: parts.iter().map(part).collect(), epoch: EPOCH, suite: &suite.name };
        Self { digest: Digest::of(serde_json::to_string(&executed).expected("JSON of our own types")) }
    }
}

/// Returns the identity and the objects of `suite`, whose benchmarks are `parts`, reporting one with too many runs.
pub(crate) fn emit_suite(
    suite: &Suite,
    parts: &[Part<'_>],
    diagnostics: &mut Diagnostics,
) -> (SuiteIdentity, Vec<Manifest>) {
    let runs: u64 = parts.iter().map(|part| part.benchmark.runs()).sum();
    if runs > MAX_RUNS as u64 {
        let message = format!("the suite has {runs} runs on `{}`, more than {MAX_RUNS}", suite.target.name);
        let fault = Diagnostic::at(&code::KB0416, suite.name_span, message)
            .note("Argo keeps the state of all runs of a Workflow in one object of limited size");
        diagnostics.push(fault.help("split it into several suites, or lower `repeats`"));
    }
    let identity = SuiteIdentity::new(suite, parts);
    let objects = [
        ("suite.yaml", config_map(suite, &identity, parts)),
        (WORKFLOW_FILE, suite_workflow(suite, &identity, parts)),
        (CLAIM_FILE, claim::suite_claim(suite)),
    ];
    let manifest = |(file, object)| Manifest { path: format!("{}/{}/{file}", suite.target.name, suite.name), object };
    (identity, objects.into_iter().map(manifest).collect())
}

/// Returns the name of the ConfigMap.
fn config_name(suite: &Suite, identity: &SuiteIdentity) -> String {
    format!("{}-{}", suite.name, identity.digest.short())
}

/// Returns the immutable ConfigMap with the list of benchmarks. All of it is covered by the digest of the suite.
fn config_map(suite: &Suite, identity: &SuiteIdentity, parts: &[Part<'_>]) -> Json {
    let member = |Part { benchmark, identity, needs }: &Part<'_>| Member {
        benchmark: benchmark.name.clone(),
        needs: needs.to_vec(),
        run_digest: identity.digest.to_string(),
        runs: identity.runs.iter().map(|run| run.id.clone()).collect(),
    };
    let list = SuiteList { suite: suite.name.clone(), benchmarks: parts.iter().map(member).collect() };
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": meta::applied_of_suite(suite, &config_name(suite, identity)),
        "immutable": true,
        "data": { SuiteList::FILE: list.write() },
    })
}

/// Returns the thin Workflow, or the CronWorkflow of a suite with a schedule.
///
/// The elements of `benchmarks` become parts of the names of Argo's nodes, so they hold only what distinguishes them. The runs of a
/// benchmark are identified by its first step.
fn suite_workflow(suite: &Suite, identity: &SuiteIdentity, parts: &[Part<'_>]) -> Json {
    let item = |Part { benchmark, identity, .. }: &Part<'_>| {
        json!({
            "benchmark": benchmark.name,
            "config": identity.config,
            "lanes": benchmark.parallelism.to_string(),
        })
    };
    let longest = |of: fn(&Benchmark) -> u64| parts.iter().map(|part| of(part.benchmark)).max().unwrap_or_default();
    let parameters = [
        ("benchmarks", workflow::list(parts.iter().map(item))),
        ("claim", claim::name_of(&suite.name)),
        ("prepare-deadline", longest(workflow::prepare_deadline).to_string()),
        ("run-deadline", longest(workflow::run_deadline).to_string()),
        ("session", workflow::session(suite.schedule.as_ref()).to_owned()),
        ("suite", suite.name.clone()),
        ("suite-config", config_name(suite, identity)),
    ];
    let spec = workflow::spec(&parameters, pipeline::SUITE_ENTRYPOINT, pipeline::SUITE_TEMPLATE);
    match &suite.schedule {
        None => {
            let name = format!("{}-r{}", config_name(suite, identity), suite.run);
            workflow::once(&meta::applied_of_suite(suite, &name), &spec)
        }
        Some(schedule) => {
            let metadata = meta::applied_of_suite(suite, &suite.name);
            workflow::scheduled(&metadata, schedule, &meta::suite_labels(suite), &spec)
        }
    }
}
