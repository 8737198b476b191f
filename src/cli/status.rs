//! `kubebench status`: what runs where, since when, and what comes next.

mod watch;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::ExitStatus;
use super::args::{Global, StatusArgs};
use super::outside::{Outside, clean, elapsed, plain};
use kubebench_cluster::{Cluster, Fault, LogQuery, Resource};
use kubebench_contract::Config;
use kubebench_contract::labels;
use kubebench_executor::status::{JobStatus, Namespace, RunState, Session, configs_of, sessions, show};
use kubebench_host::terminal;
use kubebench_syntax::diag::render::Format;

/// Which Workflows are Kubebench's own: one that a run created is what is measured.
const WORKFLOWS: &str = "kubebench.dev/benchmark,!kubebench.dev/run";
/// Workflows of a benchmark that are shown, beside all that go on.
const SHOWN: usize = 1;
/// Runs whose last line is read: each is a request.
const SPEAKERS: usize = 8;

/// Shows the benchmarks of a target.
pub(super) fn run(global: &Global, args: &StatusArgs) -> Result<ExitStatus> {
    if args.watch && global.output_format == Format::Json {
        bail!("--watch is for people; call `kubebench status --output-format json` as often as needed instead");
    }
    let outside = Outside::open(global, &args.outside)?;
    outside.check_names(&args.benchmarks)?;
    if args.watch {
        return watch::run(&outside, &args.benchmarks);
    }
    let mut seen = read(&outside)?;
    let unread = std::mem::take(&mut seen.unread);
    let mut found = wanted(sessions(&seen, SHOWN), &args.benchmarks);
    add_last_lines(&outside, &mut found);
    tidy(&mut found);
    if global.output_format == Format::Json {
        terminal::print(&format!("{:#}\n", document(&outside, &found, &unread)))?;
    } else {
        terminal::print(&page(&outside, &found, &args.benchmarks))?;
        for note in unread {
            terminal::tell(&format!("note: {note}"));
        }
    }
    Ok(ExitStatus::Yes)
}

/// Keeps what was asked for.
fn wanted(mut sessions: Vec<Session>, names: &[String]) -> Vec<Session> {
    sessions.retain(|session| names.is_empty() || names.iter().any(|name| session.is_of(name)));
    sessions
}

/// Returns all that is shown to people.
fn page(outside: &Outside<'_>, found: &[Session], names: &[String]) -> String {
    let mut text = show(found, &elapsed);
    let silent: Vec<&str> = outside
        .benchmarks()
        .filter(|name| names.is_empty() || names.iter().any(|wanted| wanted == name))
        .filter(|name| !found.iter().any(|session| session.is_of(name)))
        .collect();
    if !silent.is_empty() {
        let gap = if text.is_empty() { "" } else { "\n" };
        text.push_str(&format!(
            "{gap}no Workflow in the cluster: {}\n  (git has to be applied: see `kubebench doctor`)\n",
            silent.join(", ")
        ));
    }
    text
}

/// Lists what there is in the namespace.
pub(super) fn read(outside: &Outside<'_>) -> Result<Namespace> {
    let (cluster, namespace) = (&outside.cluster, outside.target.namespace.as_str());
    let mut seen = Namespace::default();
    let mut unread = Vec::new();
    seen.workflows = match cluster.list(&Resource::workflows(), namespace, WORKFLOWS) {
        Ok(found) => found,
        Err(fault) => bail!("{fault}"),
    };
    seen.schedules = listed(cluster, &cron_workflows(), namespace, labels::BENCHMARK, &mut unread)?;
    let mut known = BTreeMap::new();
    add_lists(cluster, namespace, &mut seen, &mut known);
    for resource in job_kinds(outside, &known).into_iter().filter(|kind| serves(cluster, kind)) {
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
fn add_lists(cluster: &Cluster, namespace: &str, seen: &mut Namespace, known: &mut BTreeMap<String, Config>) {
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
fn typed<T: DeserializeOwned>(objects: Vec<Json>) -> Vec<T> {
    objects.into_iter().filter_map(|object| serde_json::from_value(object).ok()).collect()
}

fn cron_workflows() -> Resource {
    Resource::new("argoproj.io", "v1alpha1", "CronWorkflow", "cronworkflows")
}

/// Returns the kinds of the jobs that runs of the target create, and of those beside them: what the project has at hand, and
/// what the run lists in the cluster say, which may be of another commit.
fn job_kinds(outside: &Outside<'_>, lists: &BTreeMap<String, Config>) -> Vec<Resource> {
    let here = outside.session.compilation.benchmarks.iter().map(|compiled| &compiled.benchmark);
    let here = here.filter(|benchmark| benchmark.target.name == outside.target.name);
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

/// Returns whether a cluster serves a kind; true where nobody says no.
fn serves(cluster: &Cluster, resource: &Resource) -> bool {
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
fn add_last_lines(outside: &Outside<'_>, sessions: &mut [Session]) {
    let runs = sessions.iter_mut().flat_map(|session| &mut session.runs);
    let active = runs.filter(|run| matches!(run.state, RunState::Running | RunState::Gathering));
    for job in active.filter_map(|run| run.job.as_mut()).take(SPEAKERS) {
        job.last_line = last_line(outside, job);
    }
}

fn last_line(outside: &Outside<'_>, job: &JobStatus) -> Option<String> {
    use std::io::Read as _;
    let pod = &job.speaker()?.pod.name;
    let query = LogQuery { tail_lines: Some(1), ..LogQuery::default() };
    let namespace = outside.target.namespace.as_str();
    let stream = outside.cluster.log(namespace, pod, job.container, &query).ok()?;
    let mut bytes = Vec::new();
    // A line may be of any length.
    stream.take(64 * 1024).read_to_end(&mut bytes).ok()?;
    // A progress bar rewrites its line.
    let text = String::from_utf8_lossy(&bytes);
    text.split(['\r', '\n']).map(clean).rfind(|line| !line.is_empty())
}

/// Makes texts of the cluster fit to be shown.
pub(super) fn tidy(sessions: &mut [Session]) {
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

fn document(outside: &Outside<'_>, sessions: &[Session], unread: &[String]) -> Json {
    let run = |run: &kubebench_executor::status::RunStatus| {
        let reasons: Vec<Json> =
            run.reasons.iter().map(|reason| json!({ "code": reason.code, "message": reason.message })).collect();
        let job = run.job.as_ref().map(|job| {
            json!({
                "name": job.name, "podsStarted": job.started, "podsWanted": job.wanted, "nodes": job.nodes,
                "lastLine": job.last_line,
            })
        });
        json!({
            "id": run.id, "benchmark": run.member, "case": run.case, "round": run.round, "state": run.state.name(), "since": run.since,
            "reasons": reasons, "job": job,
        })
    };
    let list: Vec<Json> = sessions
        .iter()
        .map(|session| {
            json!({
                "benchmark": session.benchmark, "workflow": session.workflow, "phase": session.phase,
                "message": session.message, "since": session.since, "finished": session.finished,
                "step": session.step, "notes": session.notes, "next": session.next,
                "runs": session.runs.iter().map(run).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "schemaVersion": 1, "target": outside.target.name, "namespace": outside.target.namespace,
        "workflows": list, "unread": unread,
    })
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
