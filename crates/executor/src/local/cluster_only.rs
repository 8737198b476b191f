//! What of a workload only a cluster does, so that a local run would measure something else.

use serde_json::Value as Json;

use kubebench_compiler::model::{Case, Role};
use kubebench_compiler::workload::{KINDS, Kind, Purpose};
use kubebench_syntax::diag::{Diagnostic, code};
use kubebench_syntax::text::Span;

const LOOPBACK: &str = "local processes reach each other at 127.0.0.1";

/// Plugins of Volcano that have a meaning on one machine.
const LOCAL_PLUGINS: [&str; 2] = ["env", "svc"];
/// Where Volcano mounts the names of hosts.
const HOST_FILES: &str = "/etc/volcano/";

/// Returns why the workload of `case` cannot run here.
pub(super) fn faults(case: &Case) -> Vec<Diagnostic> {
    let workload = &case.workload;
    match workload.key {
        _ if workload.takes_pods_of_cluster() => vec![
            fault(workload.span, "the runtime of `runtimeRef` exists only in its cluster")
                .note("its processes would start without the settings by which they find each other")
                .help("write `runtime: {torch: {}}` (or `mpi`, `jax`, `xgboost`), or run in a cluster"),
        ],
        _ if workload.serving.is_some() => vec![
            fault(workload.span, "a server needs a cluster, which starts it and resolves its name")
                .note("a server on the same machine as its load shares the processors with it, which changes what is \
                       measured")
                .help("run it in a cluster; to try the load here, write it as a `job` against a server that you start yourself"),
        ],
        "jobSet" => of_job_set(case),
        "volcanoJob" => of_volcano(case),
        key => of_kind(key, workload.span).into_iter().collect(),
    }
}

/// Returns whether no workload of a kind, in whatever case its key is written, has a meaning here.
pub fn needs_cluster(key: &str) -> bool {
    let serves = |kind: &Kind| kind.key.eq_ignore_ascii_case(key) && kind.purpose == Purpose::Serves;
    FOREIGN.iter().any(|foreign| foreign.key.eq_ignore_ascii_case(key)) || KINDS.iter().any(serves)
}

/// A kind that only its controller can run, whatever the spec contains.
struct Foreign {
    key: &'static str,
    message: &'static str,
    note: Option<&'static str>,
    help: &'static str,
}

const FOREIGN: [Foreign; 5] = [
    Foreign {
        key: "manifest",
        message: "a manifest needs its controller, which only a cluster has",
        note: None,
        help: "run it in a cluster, or write the workload in the simple form of its kind",
    },
    Foreign {
        key: "workflow",
        message: "a Workflow needs Argo, which only a cluster has",
        note: None,
        help: "run it in a cluster; to try one of its templates here, write it as a `job`",
    },
    Foreign {
        key: "experiment",
        message: "an Experiment needs Katib, which only a cluster has",
        note: Some("Katib suggests values, creates a job for each trial and reads its metrics"),
        help: "run it in a cluster; to try one trial here, write it as the workload itself, with values instead of `${trialParameters.…}`",
    },
    Foreign {
        key: "rayJob",
        message: "a RayJob needs a Ray cluster, which its operator starts in pods",
        note: Some("one process would measure Ray without a network, whatever workers the spec asks for"),
        help: "run in a cluster; to try the program here, write it as a `job` whose image has Ray: `ray.init()` then starts it alone",
    },
    Foreign {
        key: "sparkApplication",
        message: "a SparkApplication needs a driver and executors, which Spark starts in pods",
        note: Some("one process would measure Spark without a network, whatever executors the spec asks for"),
        help: "run in a cluster; to try the program here, write it as a `job` whose command is `spark-submit --master 'local[2]'`",
    },
];

fn of_kind(key: &str, span: Span) -> Option<Diagnostic> {
    let Foreign { message, note, help, .. } = FOREIGN.iter().find(|foreign| foreign.key == key)?;
    let mut found = fault(span, *message);
    if let Some(note) = note {
        found = found.note(*note);
    }
    Some(found.help(*help))
}

fn fault(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::at(&code::KB0442, span, message)
}

fn of_volcano(case: &Case) -> Vec<Diagnostic> {
    let workload = &case.workload;
    let mut found = Vec::new();
    let plugins = workload.spec.get("plugins").and_then(Json::as_object).into_iter().flatten();
    for (name, _) in plugins.filter(|(name, _)| !LOCAL_PLUGINS.contains(&name.as_str())) {
        let message = format!("the Volcano plugin `{name}` sets up pods, but a local run has none");
        found.push(
            fault(workload.span, message)
                .note("the program would start without the settings of the plugin")
                .help("run in a cluster, or use only `env` and `svc`"),
        );
    }
    for (text, span) in workload.roles.iter().flat_map(Role::texts) {
        if text.contains(HOST_FILES) {
            found.push(
                fault(span, format!("`{HOST_FILES}` holds names of pods, which only a cluster resolves"))
                    .note(LOOPBACK)
                    .help("read the hosts from VC_<TASK>_HOSTS, or run in a cluster"),
            );
        }
    }
    found
}

fn of_job_set(case: &Case) -> Vec<Diagnostic> {
    let workload = &case.workload;
    let mut found = Vec::new();
    let jobs = workload.spec.get("replicatedJobs").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    for role in &workload.roles {
        let job = jobs.iter().find(|job| job.get("name").is_some_and(|name| name == role.name.as_str()));
        let waits = job.and_then(|job| job.get("dependsOn")).and_then(Json::as_array).into_iter().flatten();
        if waits.into_iter().any(|wait| wait.get("status").is_some_and(|status| status == "Complete")) {
            let message =
                format!("`{}` waits for the end of another role, but a local run starts all roles at once", role.name);
            let fault = fault(role.span, message).note("the role would start before what it waits for is done");
            found.push(fault.help("run in a cluster, or move what comes first into `prepare`"));
        }
        if role.completions > role.replicas && workload.roles.len() > 1 {
            let message = format!("the pods of `{}` run one after another, at the same time as other roles", role.name);
            let fault = fault(role.span, message).note(
                "a local run cannot limit a single role, so more processes \
                                                        would run at once",
            );
            found.push(fault.help("run in a cluster, or raise `parallelism` to `completions`"));
        }
        for (text, span) in role.texts() {
            if let Some(name) = workload.roles.iter().find_map(|role| host_name(text, &role.name)) {
                let message = format!("`{name}` is the name of a pod, which only a cluster resolves");
                let fault = fault(span, message).note(LOOPBACK);
                found.push(fault.help("run in a cluster, or take the address from a parameter"));
            }
        }
    }
    found
}

/// Returns the end of a pod's host name in `text`: `-worker-0-0.`
fn host_name<'t>(text: &'t str, role: &str) -> Option<&'t str> {
    let begin = format!("-{role}-");
    let number = |text: &'t str| text.trim_start_matches(|c: char| c.is_ascii_digit());
    text.match_indices(&begin).find_map(|(at, begin)| {
        let rest = text.get(at + begin.len()..)?;
        let after = number(rest).strip_prefix('-').filter(|after| after.len() + 1 < rest.len())?;
        let end = number(after);
        let is_name = end.len() < after.len() && end.starts_with('.');
        is_name.then(|| text.get(at..text.len() - end.len())).flatten()
    })
}
