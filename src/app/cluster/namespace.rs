//! What Kubebench has in the namespace of a target, read once.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::{TargetCluster, clean, plain};
use kubebench_cluster::{Cluster, Fault, LogQuery, Resource};
use kubebench_contract::Config;
use kubebench_contract::labels;
use kubebench_executor::status::{JobStatus, Namespace, RunState, WorkflowStatus, configs_of};

/// Which Workflows are Kubebench's own: one that a run created is what is measured.
pub(super) const WORKFLOWS: &str = "kubebench.dev/benchmark,!kubebench.dev/run";
/// Workflows of a benchmark that are shown, in addition to all that are running.
pub const SHOWN: usize = 1;
/// Runs whose last line is read: each is a request.
const SPEAKERS: usize = 8;

/// Keeps what was asked for.
pub fn wanted(mut sessions: Vec<WorkflowStatus>, names: &[String]) -> Vec<WorkflowStatus> {
    sessions.retain(|session| names.is_empty() || names.iter().any(|name| session.is_of(name)));
    sessions
}

/// Lists what there is in the namespace.
pub fn read(target: &TargetCluster) -> Result<Namespace> {
    let (cluster, namespace) = (&target.cluster, target.target.namespace.as_str());
    let mut seen = Namespace::default();
    let mut unread = Vec::new();
    seen.workflows = match cluster.list(&Resource::workflows(), namespace, WORKFLOWS) {
        Ok(found) => found,
        Err(fault) => bail!("{fault}"),
    };
    seen.schedules = listed(cluster, &cron_workflows(), namespace, labels::BENCHMARK, &mut unread)?;
    let mut known = BTreeMap::new();
    add_lists(cluster, namespace, &mut seen, &mut known);
    for resource in job_kinds(target, &known).into_iter().filter(|kind| serves(cluster, kind)) {
        seen.jobs.extend(listed(cluster, &resource, namespace, labels::RUN, &mut unread)?);
    }
    seen.pods = typed(listed(cluster, &Resource::pods(), namespace, labels::RUN, &mut unread)?);
    seen.events = typed(listed(cluster, &Resource::events(), namespace, "", &mut unread)?);
    seen.unread = unread;
    Ok(seen)
}

/// Lists objects; what may not be read is noted, and a kind that the cluster does not know has no objects.
fn listed(
    cluster: &Cluster,
    resource: &Resource,
    namespace: &str,
    selector: &str,
    unread: &mut Vec<String>,
) -> Result<Vec<Json>> {
    match cluster.list(resource, namespace, selector) {
        Ok(found) => Ok(found),
        Err(Fault::Refused(refusal)) if refusal.code == 404 => Ok(Vec::new()),
        Err(Fault::Refused(refusal)) => {
            unread.push(format!("{} cannot be read: {}", resource.plural, clean(&refusal.message)));
            Ok(Vec::new())
        }
        Err(fault) => bail!("{fault}"),
    }
}

/// Reads the run lists that the Workflows name. `known` keeps them: they never change, and git prunes them.
pub(super) fn add_lists(
    cluster: &Cluster,
    namespace: &str,
    seen: &mut Namespace,
    known: &mut BTreeMap<String, Config>,
) {
    let maps = Resource::new("", "v1", "ConfigMap", "configmaps");
    for name in seen.workflows.iter().flat_map(configs_of) {
        if known.contains_key(&name) {
            continue;
        }
        if let Ok(Some(map)) = cluster.get(&maps, namespace, &name) {
            let files = map.get("data").and_then(|data| serde_json::from_value(data.clone()).ok());
            if let Ok(config) = Config::read(files.unwrap_or_default()) {
                known.insert(name, config);
            }
        }
    }
    seen.lists = known.iter().map(|(name, config)| (name.clone(), config.list.clone())).collect();
}

/// Reads objects of the cluster as their type; what is not one is left out.
pub(super) fn typed<T: DeserializeOwned>(objects: Vec<Json>) -> Vec<T> {
    objects.into_iter().filter_map(|object| serde_json::from_value(object).ok()).collect()
}

pub(super) fn cron_workflows() -> Resource {
    Resource::new("argoproj.io", "v1alpha1", "CronWorkflow", "cronworkflows")
}

/// Returns the kinds of the jobs that runs of the target create, and of auxiliary ones: what the project has at hand, and
/// what the run lists in the cluster say, which may be of another commit.
pub(super) fn job_kinds(target: &TargetCluster, lists: &BTreeMap<String, Config>) -> Vec<Resource> {
    let here = target.project.compilation.benchmarks.iter().map(|compiled| &compiled.benchmark);
    let here = here.filter(|benchmark| benchmark.target.name == target.target.name);
    let apis: BTreeSet<(&str, &str, &str)> = here
        .flat_map(|benchmark| &benchmark.cases)
        .map(|case| &case.workload.api)
        .map(|api| (&*api.api_version, &*api.kind, &*api.plural))
        .chain([("batch/v1", "Job", "jobs")])
        .collect();
    let mut kinds: Vec<Resource> = apis
        .into_iter()
        .map(|(api_version, kind, plural)| {
            let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
            Resource::new(group, version, kind, plural)
        })
        .collect();
    let there = lists.values().flat_map(Config::kinds).collect::<BTreeSet<_>>();
    for kind in there.iter().filter_map(|(api, kind)| Resource::of(&json!({ "apiVersion": api, "kind": kind }))) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// Returns whether a cluster serves a kind; true where it is unknown.
pub(super) fn serves(cluster: &Cluster, resource: &Resource) -> bool {
    match cluster.read(&format!("/apis/{}", resource.api_version())) {
        Ok(Some(found)) => {
            let all = found.get("resources").and_then(Json::as_array).into_iter().flatten();
            all.into_iter().any(|served| served.get("name") == Some(&resource.plural.as_str().into()))
        }
        Ok(None) => false,
        Err(_) => true,
    }
}

/// Reads the last line of what each active run prints.
pub fn add_last_lines(target: &TargetCluster, sessions: &mut [WorkflowStatus]) {
    let runs = sessions.iter_mut().flat_map(|session| &mut session.runs);
    let active = runs.filter(|run| matches!(run.state, RunState::Running | RunState::Gathering));
    for job in active.filter_map(|run| run.job.as_mut()).take(SPEAKERS) {
        job.last_line = last_line(target, job);
    }
}

fn last_line(target: &TargetCluster, job: &JobStatus) -> Option<String> {
    use std::io::Read as _;
    let pod = &job.speaker()?.pod.name;
    let query = LogQuery { tail_lines: Some(1), ..LogQuery::default() };
    let namespace = target.target.namespace.as_str();
    let stream = target.cluster.log(namespace, pod, job.container, &query).ok()?;
    let mut bytes = Vec::new();
    // A line may be of any length.
    stream.take(64 * 1024).read_to_end(&mut bytes).ok()?;
    // A progress bar rewrites its line.
    let text = String::from_utf8_lossy(&bytes);
    text.split(['\r', '\n']).map(clean).rfind(|line| !line.is_empty())
}

/// Makes texts of the cluster safe to print.
pub fn tidy(sessions: &mut [WorkflowStatus]) {
    for session in sessions {
        session.message = clean(&session.message);
        for text in [&mut session.phase, &mut session.next] {
            *text = plain(text);
        }
        for note in &mut session.notes {
            *note = clean(note);
        }
        for run in &mut session.runs {
            // Names of cases are made of values, which may be any text.
            for text in [&mut run.id, &mut run.case].into_iter().chain(&mut run.member) {
                *text = plain(text);
            }
            for reason in &mut run.reasons {
                reason.message = clean(&reason.message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::tidy;
    use kubebench_executor::status::{Namespace, sessions, show};

    #[test]
    fn nothing_of_a_cluster_reaches_the_terminal_as_a_command() {
        let parameters = json!([{"name": "runs", "value": "[\"a\\u001b[2J-r1\"]"}]);
        let metadata = json!({"name": "x", "uid": "u", "labels": {"kubebench.dev/benchmark": "x"}});
        let workflow = |status: serde_json::Value| json!({"metadata": metadata, "spec": {"arguments": {"parameters": parameters}}, "status": status});
        let schedule = json!({
            "metadata": {"labels": {"kubebench.dev/benchmark": "x"}},
            "spec": {"schedules": ["0 3 * * *\u{1b}]0;owned\u{7}"], "timezone": "\u{9b}31m"},
        });
        let failed = json!({"1": {"type": "Retry", "templateName": "run", "phase": "Failed", "message": "\u{1b}[1m",
            "inputs": {"parameters": [{"name": "run", "value": "a\u{1b}[2J-r1"}]}}});
        for status in [json!({"phase": "Run\u{1b}[0mning"}), json!({"phase": "Failed", "nodes": failed})] {
            let seen = Namespace {
                workflows: vec![workflow(status)],
                schedules: vec![schedule.clone()],
                ..Namespace::default()
            };
            let mut found = sessions(&seen, 1);
            tidy(&mut found);
            let shown = show(&found, &|_| None);
            assert!(!shown.contains(|letter: char| letter.is_control() && letter != '\n'), "{shown:?}");
        }
    }
}
