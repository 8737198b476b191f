//! KB0405: names that exceed Kubernetes' limits once digest, role and replica index are appended to the benchmark's name.

use crate::model::{Benchmark, Case, LongestName, Role};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code};
use kubebench_syntax::text::Span;

/// The maximum length of a label's value and of a pod's host name.
const LABEL: usize = 63;
/// Argo appends the time of the run to a CronWorkflow's name.
const CRON_WORKFLOW: usize = 52;
/// The maximum length of a claim's name.
const SUBDOMAIN: usize = 253;
/// Stands for the eight hex digits of a digest.
const DIGEST: &str = "-00000000";
/// What a Job appends to the names of its pods.
const JOB_POD: &str = "-00000";

/// A name made from the benchmark's name.
struct Derived<'a> {
    what: String,
    prefix: &'static str,
    suffix: String,
    limit: usize,
    /// The role that makes it long.
    role: Option<&'a Role>,
}

impl Derived<'_> {
    /// Returns the length of the longest benchmark name that fits.
    fn room(&self) -> usize {
        self.limit.saturating_sub(self.prefix.len() + self.suffix.len())
    }
}

/// Reports the derived name that leaves the least room, when the benchmark's name does not fit.
pub(super) fn fits(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let of_cases = benchmark.cases.iter().flat_map(of_case);
    let Some(tightest) = of_benchmark(benchmark).into_iter().chain(of_cases).min_by_key(Derived::room) else { return };
    if benchmark.name.len() <= tightest.room() {
        return;
    }
    let (name, Derived { what, prefix, suffix, limit, role }) = (&benchmark.name, &tightest);
    let length = prefix.len() + name.len() + suffix.len();
    let message = format!("{what} would be `{prefix}{name}{suffix}`: {length} characters, and the limit is {limit}");
    let fault = Diagnostic::at(&code::KB0405, benchmark.name_span, message)
        .note(
            "the API server often accepts such a job, but its controller reports the overflow only as an event, and \
             the run hangs",
        )
        .help(format!("shorten the benchmark's name to at most {} characters", tightest.room()));
    diagnostics.push(match role {
        Some(role) if role.replicas_span != Span::default() => {
            fault.related(Place::Span(role.replicas_span), format!("{} pods", role.max_replicas))
        }
        Some(_) | None => fault,
    });
}

fn of_benchmark(benchmark: &Benchmark) -> Vec<Derived<'_>> {
    let derived = |what: &str, suffix: String, limit: usize| Derived {
        what: format!("the name of {what}"),
        prefix: "",
        suffix,
        limit,
        role: None,
    };
    let workflow = if benchmark.schedule.is_some() {
        derived("the CronWorkflow", String::new(), CRON_WORKFLOW)
    } else {
        derived("the Workflow", format!("{DIGEST}-r{}", benchmark.run), LABEL)
    };
    vec![
        workflow,
        derived("the job of a run", DIGEST.to_owned(), LABEL),
        derived("the claim for results", "-results".to_owned(), SUBDOMAIN),
    ]
}

fn of_case(case: &Case) -> impl Iterator<Item = Derived<'_>> {
    let is_mpi = case.workload.api.kind == "MPIJob";
    // The MPI operator's launcher is a Job, whose pod gets a random end; under v1 it is a pod.
    let launcher_is_job = is_mpi && case.workload.api.api_version != "kubeflow.org/v1";
    let config = is_mpi.then(|| Derived {
        what: "the name of the operator's ConfigMap".to_owned(),
        prefix: "",
        suffix: format!("{DIGEST}-config"),
        limit: LABEL,
        role: None,
    });
    let of_roles = case.workload.roles.iter().map(move |role| {
        let end = if launcher_is_job && role.name == "launcher" { JOB_POD } else { "" };
        let LongestName { what, prefix, suffix } = &role.longest_name;
        Derived {
            what: format!("{what} of `{}`", role.name),
            prefix,
            suffix: format!("{DIGEST}{suffix}{end}"),
            limit: LABEL,
            role: Some(role),
        }
    });
    of_roles.chain(config)
}
