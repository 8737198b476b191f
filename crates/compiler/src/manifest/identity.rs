//! Identity: the digest of what is executed, and the names of its runs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::run_object::RunObject;
use super::workload::CaseObjects;
use crate::model::{Benchmark, Order, Served};
use kubebench_contract::instance::{Session, job_name};
use kubebench_contract::{Run, round};
use kubebench_syntax::digest::{Canonical, Digest};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::yaml;

/// Raised when the same model must run again because what it becomes means something else; a breaking release note.
pub(crate) const EPOCH: u32 = 1;

/// What a Workflow executes, by name.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The digest of what is executed.
    pub digest: Digest,
    /// The name of the immutable ConfigMap with the run list and every job manifest.
    pub config: String,
    /// The runs, in order.
    pub runs: Vec<Run>,
    /// What each case executes, except its images, its number of runs and its measurement: by case.
    pub workloads: BTreeMap<String, Digest>,
}

impl Identity {
    /// Returns the identity of `benchmark`, whose cases become `cases`.
    pub(super) fn new(benchmark: &Benchmark, cases: &[CaseObjects], prepare: Option<&RunObject>) -> Self {
        let executed = Executed::new(benchmark, cases, prepare);
        let digest = Digest::of(executed.to_json());
        let config = config_name(benchmark, &digest, cases, prepare);
        Self { digest, config, runs: runs(benchmark, cases, &digest), workloads: executed.workloads() }
    }
}

/// Returns the digest of what a benchmark executes, and those of its cases by their ids.
pub(super) fn digests(
    benchmark: &Benchmark,
    cases: &[CaseObjects],
    prepare: Option<&RunObject>,
) -> (Digest, BTreeMap<String, Digest>) {
    let executed = Executed::new(benchmark, cases, prepare);
    let of_case = |case: &ExecutedCase<'_>| {
        (case.id.to_owned(), Digest::of(serde_json::to_string(case).expected("JSON of our own types")))
    };
    (Digest::of(executed.to_json()), executed.cases.iter().map(of_case).collect())
}

/// Returns the name of the ConfigMap. Where a text is written otherwise than in epoch 1 it has a suffix: what the API server
/// has under the plain name is immutable, and has other bytes.
fn config_name(benchmark: &Benchmark, digest: &Digest, cases: &[CaseObjects], prepare: Option<&RunObject>) -> String {
    let of_cases = cases.iter().flat_map(|case| {
        let servers = case.server.iter().flat_map(|server| &server.objects);
        case.objects.iter().chain(&case.postprocess).chain(servers)
    });
    let differs = of_cases.chain(prepare).any(|run| yaml::differs_from_epoch_1(&run.object));
    format!("{}-{}{}", benchmark.name, digest.short(), if differs { "-2" } else { "" })
}

/// Everything that decides what a Workflow executes, and nothing else.
///
/// Fields are in alphabetical order, like the keys of everything that is hashed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Executed<'a> {
    benchmark: &'a str,
    cases: Vec<ExecutedCase<'a>>,
    epoch: u32,
    /// The digest of the carried files: names in objects hold eight of its digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<String>,
    order: Order,
    parallelism: u32,
    prepare: Option<Canonical<'a>>,
    queue_timeout_seconds: u64,
    repeats: u32,
    run: u32,
    warmups: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExecutedCase<'a> {
    id: &'a str,
    inputs: Canonical<'a>,
    name: &'a str,
    objects: Vec<Canonical<'a>>,
    postprocess: Option<Canonical<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    served: Option<&'a Served>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<ExecutedServer<'a>>,
    timeout_seconds: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExecutedServer<'a> {
    objects: Vec<Canonical<'a>>,
    served: &'a Served,
}

impl<'a> Executed<'a> {
    fn new(benchmark: &'a Benchmark, cases: &'a [CaseObjects], prepare: Option<&'a RunObject>) -> Self {
        let object = |run: &'a RunObject| Canonical::of(&run.object);
        let cases = benchmark.cases.iter().zip(cases).map(|(case, objects)| ExecutedCase {
            id: &case.id,
            inputs: Canonical::of(&case.inputs),
            name: &case.name,
            objects: objects.objects.iter().map(object).collect(),
            postprocess: objects.postprocess.as_ref().map(object),
            served: objects.served.as_ref(),
            server: objects.server.as_ref().map(|server| ExecutedServer {
                objects: server.objects.iter().map(object).collect(),
                served: &server.served,
            }),
            timeout_seconds: case.timeout.seconds(),
        });
        Self {
            benchmark: &benchmark.name,
            cases: cases.collect(),
            epoch: EPOCH,
            files: benchmark.files.digest().map(Digest::to_string),
            order: benchmark.order,
            parallelism: benchmark.parallelism,
            prepare: prepare.map(object),
            queue_timeout_seconds: benchmark.queue_timeout.seconds(),
            repeats: benchmark.repeats,
            run: benchmark.run,
            warmups: benchmark.warmups,
        }
    }

    fn workloads(&self) -> BTreeMap<String, Digest> {
        let of_case = |case: &ExecutedCase<'_>| {
            let workload = Workload {
                files: self.files.as_deref(),
                inputs: case.inputs.without(&BESIDE_THE_WORKLOAD),
                objects: bare(&case.objects),
                served: case.served,
                server: case
                    .server
                    .as_ref()
                    .map(|server| WorkloadServer { objects: bare(&server.objects), served: server.served }),
            };
            let json = serde_json::to_string(&workload).expected("JSON of our own types");
            (case.id.to_owned(), Digest::of(json))
        };
        self.cases.iter().map(of_case).collect()
    }

    fn to_json(&self) -> String {
        let json = serde_json::to_string(self).expected("JSON of our own types");
        debug_assert_eq!(
            serde_json::from_str::<serde_json::Value>(&json).ok().map(|value| value.to_string()).as_ref(),
            Some(&json),
            "keys are sorted"
        );
        json
    }
}

/// Fields that decide which image runs, what an object is called and where it is placed, not what is done.
const BESIDE_THE_WORKLOAD: [&str; 8] = [
    "activeDeadlineSeconds",
    "image",
    "metadata",
    "nodeSelector",
    "priorityClassName",
    "queue",
    "schedulerName",
    "tolerations",
];

/// What a case executes, except its images, names and places. Fields are in alphabetical order.
#[derive(Serialize)]
struct Workload<'a> {
    files: Option<&'a str>,
    inputs: Canonical<'a>,
    objects: Vec<Canonical<'a>>,
    served: Option<&'a Served>,
    server: Option<WorkloadServer<'a>>,
}

#[derive(Serialize)]
struct WorkloadServer<'a> {
    objects: Vec<Canonical<'a>>,
    served: &'a Served,
}

/// Returns objects without the fields that are not part of the workload.
fn bare<'a>(objects: &[Canonical<'a>]) -> Vec<Canonical<'a>> {
    objects.iter().map(|object| object.without(&BESIDE_THE_WORKLOAD)).collect()
}

fn runs(benchmark: &Benchmark, cases: &[CaseObjects], digest: &Digest) -> Vec<Run> {
    let rounds: Vec<(u32, bool)> = (1..=benchmark.warmups)
        .map(|round| (round, true))
        .chain((1..=benchmark.repeats).map(|round| (round, false)))
        .collect();
    let of = |case: &str, (repeat, warmup): (u32, bool)| {
        let round = round(repeat, warmup);
        let job = job_name(&benchmark.name, &digest.hex(), case, &round, 1, Session::Once);
        Run { id: format!("{case}-{round}"), case: case.to_owned(), repeat, warmup, job }
    };
    let mut known: Vec<(&str, Option<&str>)> = benchmark
        .cases
        .iter()
        .zip(cases)
        .map(|(case, objects)| (case.id.as_str(), objects.server.as_ref().map(|server| server.id.as_str())))
        .collect();
    // Cases that load the same server follow one another, so that it stays up between them.
    let servers: Vec<Option<&str>> = known.iter().map(|(_, server)| *server).collect();
    known.sort_by_key(|(_, server)| server.and_then(|_| servers.iter().position(|other| other == server)));
    // A load is warmed up when its server is started, not by separate runs.
    let is_run = |server: Option<&str>, (_, warmup): (u32, bool)| !warmup || server.is_none();
    let run =
        |(case, server): &(&str, Option<&str>), round: (u32, bool)| is_run(*server, round).then(|| of(case, round));
    match benchmark.order {
        Order::Interleaved => {
            rounds.iter().flat_map(|round| known.iter().filter_map(|case| run(case, *round))).collect()
        }
        Order::Grouped => known.iter().flat_map(|case| rounds.iter().filter_map(|round| run(case, *round))).collect(),
    }
}
