//! From the model to Kubernetes objects: one file a kind.
//!
//! Objects are plain data; `meta` alone sets names, labels and annotations, `patch` alone applies what users override.

mod admission;
mod claim;
mod config;
mod files;
mod identity;
mod meta;
mod object;
mod overrides;
mod patch;
mod pipeline;
mod placement;
mod pod;
mod rules;
mod run_object;
mod suite;
mod template;
mod undone;
mod user_manifest;
mod workflow;
mod workload;

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::model::target::Settings;
use crate::model::{Benchmark, Target};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::digest::Digest;

pub use claim::refused_changes;
pub use files::files;
pub use identity::Identity;
pub use pipeline::pipeline;
pub use pod::{DATA, EXPERIMENTS};
pub use suite::Part;
pub(crate) use suite::SuiteIdentity;
pub(crate) use suite::emit_suite;
pub use workload::standalone;

/// The bytes from which Argo CD can no longer keep its copy of an object in an annotation.
const SERVER_SIDE_APPLY_FROM: usize = 200 * 1024;
/// Data below this cannot reach [`SERVER_SIDE_APPLY_FROM`] as JSON, where quotes and line ends take two bytes.
const SURELY_SMALL: usize = SERVER_SIDE_APPLY_FROM / 2;
/// The bytes over which a ConfigMap is refused; the API server's limit is 1 MiB for the whole object.
const MAX_CONFIG_MAP: usize = 900 * 1024;

/// The file of the Workflow or CronWorkflow.
const WORKFLOW_FILE: &str = "workflow.yaml";
/// The file of the claim for results.
const CLAIM_FILE: &str = "results.yaml";

/// One object and the file it goes to, below the output directory.
#[derive(Clone, Debug)]
pub(crate) struct Manifest {
    /// `gpu-eu/resnet50/workflow.yaml`
    pub path: String,
    pub object: Json,
}

/// The objects of one benchmark on one target, and the identity of what they execute.
#[derive(Debug)]
pub(crate) struct Emitted {
    /// Who is who.
    pub identity: Identity,
    /// The text of `rules.json`.
    pub rules: String,
    /// The objects.
    pub manifests: Vec<Manifest>,
    /// What its target says of all pods, and its own do not have.
    pub undone: Vec<Diagnostic>,
}

/// Returns the objects of `benchmark`, resolved from `document`, reporting patches that cannot be applied and objects that grow too large.
pub(crate) fn emit(benchmark: &Benchmark, document: &Json, diagnostics: &mut Diagnostics) -> Emitted {
    let Objects { cases, prepare } = Objects::of(benchmark, diagnostics);
    let identity = Identity::new(benchmark, &cases, prepare.as_ref());
    let rules = rules::text(benchmark, document);
    let mut objects = vec![
        ("config.yaml", config::config_map(benchmark, &identity, &cases, prepare.as_ref())),
        ("rules.yaml", rules::config_map(benchmark, &rules, document)),
    ];
    if benchmark.suite.is_none() {
        objects.push((WORKFLOW_FILE, workflow::workflow(benchmark, &identity)));
        objects.push((CLAIM_FILE, claim::claim(benchmark)));
    }
    let mut manifests = Vec::new();
    let mut add = |file: &str, object: Json| manifests.push(Manifest { path: path(benchmark, file), object });
    for (file, mut object) in objects {
        check_size(benchmark, &mut object, diagnostics);
        add(file, object);
    }
    if let Some(mut files) = files(benchmark) {
        if files.to_string().len() > SERVER_SIDE_APPLY_FROM {
            meta::require_server_side_apply(&mut files);
        }
        add("files.yaml", files);
    }
    let undone = undone::undone(benchmark, &cases, prepare.as_ref());
    Emitted { identity, rules, manifests, undone }
}

/// The objects that a benchmark creates.
struct Objects {
    cases: Vec<workload::CaseObjects>,
    prepare: Option<run_object::RunObject>,
}

impl Objects {
    fn of(benchmark: &Benchmark, diagnostics: &mut Diagnostics) -> Self {
        let cases = benchmark.cases.iter().map(|case| workload::case_objects(benchmark, case, diagnostics)).collect();
        let prepare = benchmark.prepare.as_ref().map(|job| workload::step_job(benchmark, job, diagnostics));
        if let Some(of_steps) = &benchmark.target.steps.pods.spec {
            patch::of_pod(of_steps, diagnostics);
        }
        Self { cases, prepare }
    }
}

/// What a benchmark executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Executed {
    /// The digest that is part of its [`Identity`].
    pub(crate) digest: Digest,
    /// That of each case, by its id.
    pub(crate) cases: BTreeMap<String, Digest>,
}

/// Returns what `benchmark` executes, without its manifests, and what its target says of all pods and its own do not have.
pub(crate) fn executed(benchmark: &Benchmark, diagnostics: &mut Diagnostics) -> (Executed, Vec<Diagnostic>) {
    let Objects { cases, prepare } = Objects::of(benchmark, diagnostics);
    let undone = undone::undone(benchmark, &cases, prepare.as_ref());
    let (digest, cases) = identity::digests(benchmark, &cases, prepare.as_ref());
    (Executed { digest, cases }, undone)
}

/// Returns the path of the manifest that holds the claim of the benchmark or suite called `owner`.
pub fn claim_path(target: &Target, owner: &str) -> String {
    format!("{}/{owner}/{CLAIM_FILE}", target.name)
}

fn path(benchmark: &Benchmark, file: &str) -> String {
    format!("{}/{}/{file}", benchmark.target.name, benchmark.name)
}

/// Returns the objects that all benchmarks of a target share.
pub(crate) fn emit_pipeline(target: &Target, settings: &Settings, benchmarks: &[&Benchmark]) -> Vec<Manifest> {
    pipeline(target, settings, benchmarks)
        .into_iter()
        .map(|(file, object)| Manifest { path: format!("{}/pipeline/{file}", target.name), object })
        .collect()
}

fn check_size(benchmark: &Benchmark, object: &mut Json, diagnostics: &mut Diagnostics) {
    let Some(Json::Object(data)) = object.get("data") else { return };
    if data.values().filter_map(Json::as_str).map(str::len).sum::<usize>() < SURELY_SMALL {
        return;
    }
    let size = object.to_string().len();
    if size > MAX_CONFIG_MAP {
        let message = format!(
            "the ConfigMap of `{}` would hold {} KiB, more than {} KiB",
            benchmark.name,
            size / 1024,
            MAX_CONFIG_MAP / 1024
        );
        let fault = Diagnostic::at(&code::KB0415, benchmark.name_span, message)
            .note("the API server refuses objects over 1 MiB");
        diagnostics.push(fault.help(format!(
            "split the benchmark: {} cases and {} runs are in one Workflow",
            benchmark.cases.len(),
            benchmark.runs()
        )));
    } else if size > SERVER_SIDE_APPLY_FROM {
        meta::require_server_side_apply(object);
    }
}
