//! `KubebenchJob` of `kubeflow.org/v1alpha2`: a graph of tasks without a notion of what is measured.
//!
//! The job of a `resource` is what is measured, else the last container. What comes before it runs before it, what comes
//! behind it after it.

use std::collections::BTreeSet;

use super::harness;
use super::job::metadata;
use super::ledger::{At, Ledger};
use super::pod;
use super::spec_builder::{Draft, Role, Workload};
use super::text::{Item, Map};
use kubebench_compiler::api;
use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml::{self, Node, Value};

const ONE_JOB: &str = "one job is measured; make the other one a separate benchmark";

/// What a task is made of.
struct Task<'n> {
    name: &'n str,
    at: At<'n>,
}

/// A job manifest that a task names: its text in the task, or a file.
pub(super) enum Manifest<'n> {
    /// The text.
    Inline(At<'n>),
    /// The path of a file on a volume of kubeflow/kubebench.
    File(At<'n>),
}

/// Returns whether a KubebenchJob is a graph of tasks.
pub(super) fn is_graph(top: &At<'_>) -> bool {
    top.find(&["spec", "tasks"]).is_some()
}

/// Returns the manifest of the first task that has one.
pub(super) fn manifest<'n>(top: &At<'n>) -> Option<Manifest<'n>> {
    let tasks = top.find(&["spec", "tasks"])?.items();
    tasks.iter().filter_map(|task| task.get("resource")).find_map(|resource| {
        let inline = resource.get("manifest").filter(|at| at.text().is_some()).map(Manifest::Inline);
        inline.or_else(|| resource.find(&["manifestFrom", "path"]).map(Manifest::File))
    })
}

/// Reads the documents of an inline manifest.
pub(super) fn documents(at: &At<'_>, ledger: &mut Ledger) -> Vec<Node> {
    let source = Source::new("manifest", at.text().unwrap_or_default().as_bytes());
    let read = yaml::read_manifest(SourceId::default(), &source);
    if let Some(fault) = read.diagnostics.iter().find(|fault| fault.severity == kubebench_syntax::diag::Severity::Error)
    {
        ledger.lost(at, format!("it cannot be read: {}", fault.message));
        return Vec::new();
    }
    read.documents
}

/// Begins the benchmark of a graph.
pub(super) fn begin(top: &At<'_>, ledger: &mut Ledger) -> Draft {
    let mut draft = Draft::default();
    for key in ["apiVersion", "kind"] {
        ledger.changed_if(top.get(key).as_ref(), "`kubebench.dev/v1`, `Benchmark`");
    }
    metadata(top, "KubebenchJob", &mut draft, &mut Workload::default(), ledger);
    ledger.dropped_if(top.get("status").as_ref(), pod::OF_CLUSTER);
    if let Some(spec) = top.get("spec") {
        parameters(&spec, &mut draft, ledger);
    }
    draft
}

/// Adds the tasks; `draft` has the workload already where a manifest gave it.
pub(super) fn finish(top: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) {
    let Some(spec) = top.get("spec") else { return };
    let tasks: Vec<Task<'_>> = spec.items_of("tasks").into_iter().map(task).collect();
    for task in &tasks {
        ledger.changed_if(
            task.at.get("name").as_ref(),
            "the position of a task decides its role: before the measured task, that task, or after it",
        );
    }
    let order = ordered(&tasks, ledger);
    let has_job = draft.workload.is_some();
    let is_resource = |index: &usize| tasks.get(*index).is_some_and(|task| task.at.get("resource").is_some());
    let is_measured = |index: &usize| {
        tasks
            .get(*index)
            .and_then(|task| task.at.find(&["container", "image"]))
            .and_then(|at| at.text())
            .is_some_and(|image| !harness::is_post_processor(image) && !harness::is_reporter(image))
    };
    let main = if has_job { order.iter().position(is_resource) } else { order.iter().rposition(is_measured) };
    let Some((main, task)) = main.and_then(|main| Some((main, tasks.get(*order.get(main)?)?))) else { return };
    if has_job {
        main_resource(&task.at, draft, ledger);
    } else if let Some(container) = task.at.get("container") {
        main_container(&container, &spec, draft, ledger);
    }
    let at = |index: &usize| tasks.get(*index).map(|task| task.at.clone());
    let before: Vec<At<'_>> = order.iter().take(main).filter_map(at).collect();
    let after: Vec<At<'_>> = order.iter().skip(main + 1).filter_map(at).collect();
    prepare(&before, &spec, draft, ledger);
    for task in &after {
        follow(task, draft, ledger);
    }
    around(&spec, draft, ledger);
}

fn task(at: At<'_>) -> Task<'_> {
    Task { name: at.get("name").and_then(|at| at.text()).unwrap_or_default(), at }
}

/// Returns the tasks in an order in which they may run; those that could run at once are in the order of the file.
fn ordered(tasks: &[Task<'_>], ledger: &mut Ledger) -> Vec<usize> {
    let mut waits: Vec<BTreeSet<usize>> = Vec::new();
    for task in tasks {
        let mut own = BTreeSet::new();
        for at in task.at.items_of("dependencies") {
            match tasks.iter().position(|other| Some(other.name) == at.text()) {
                Some(index) => {
                    own.insert(index);
                    ledger.changed(&at, "the order of the tasks");
                }
                None => ledger.lost(&at, "there is no such task; the tasks above run before this one"),
            }
        }
        waits.push(own);
    }
    let mut order: Vec<usize> = Vec::new();
    while order.len() < tasks.len() {
        let is_next = |index: &usize| {
            !order.contains(index)
                && waits.get(*index).is_some_and(|waits| waits.iter().all(|other| order.contains(other)))
        };
        // In a cycle no task could begin, so the first one does.
        let next = (0..tasks.len()).find(is_next).or_else(|| (0..tasks.len()).find(|index| !order.contains(index)));
        order.extend(next);
    }
    order
}

/// Reads the parameters of the graph, and the parts of it that refer to them.
fn parameters(spec: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) {
    for at in spec.find(&["arguments", "parameters"]).map(|list| list.items()).unwrap_or_default() {
        let name = at.get("name").and_then(|at| at.text()).filter(|name| pod::is_a("parameter-name", name));
        match (name, at.get("value").and_then(|at| at.scalar())) {
            (Some(name), Some(value)) if draft.parameters.get(name).is_none() => {
                draft.parameters.put(name, value);
                ledger.kept(&at, format!("`parameters.{name}`"));
            }
            _ => ledger.lost(&at, "a parameter needs a name of letters and digits, and a value"),
        }
    }
    mark_lookups(spec, draft, ledger);
}

/// Marks the texts that refer to parameters, which are changed when the draft is done.
fn mark_lookups(at: &At<'_>, draft: &Draft, ledger: &mut Ledger) {
    if let Some(text) = at.text().filter(|text| text.contains("{{") && !text.contains('\n')) {
        match with_lookups(text, &draft.parameters) {
            Some(_) => ledger.changed(at, "with `${{ parameters.… }}`"),
            None => ledger.lost(at, "it still has a placeholder of Argo, which nothing would replace"),
        }
    }
    for child in at.entries().into_iter().map(|(_, child)| child).chain(at.items()) {
        mark_lookups(&child, draft, ledger);
    }
}

/// Returns `text` with lookups instead of Argo's placeholders, if all of them are parameters.
pub(super) fn with_lookups(text: &str, parameters: &Map) -> Option<String> {
    let mut rest = text;
    let mut done = String::new();
    while let Some((before, behind)) = rest.split_once("{{") {
        let (inside, after) = behind.split_once("}}")?;
        let name = inside
            .trim()
            .strip_prefix("inputs.parameters.")
            .or_else(|| inside.trim().strip_prefix("workflow.parameters."))?;
        parameters.get(name)?;
        done.push_str(&format!("{before}${{{{ parameters.{name} }}}}"));
        rest = after;
    }
    Some(done + rest)
}

/// The measured container becomes a Job.
fn main_container(at: &At<'_>, spec: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) {
    let mut role = Role::default();
    misplaced(at, ledger);
    pod::container(at, "main", &mut role, ledger);
    volumes(at, spec, &mut role, ledger);
    account(spec, &mut role, ledger);
    draft.workload = Some(Workload { kind: "job", roles: vec![("", role)], ..Workload::default() });
}

/// Reads the options of the task that created the job.
fn main_resource(task: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) {
    let Some(resource) = task.get("resource") else { return };
    ledger.changed_if(resource.get("manifest").as_ref(), "`workload`; its contents have their own lines");
    ledger.changed_if(resource.get("manifestFrom").as_ref(), "`workload`; its contents have their own lines");
    if let Some(at) = resource.get("volumeMounts") {
        ledger.lost(&at, "write it under `container.volumeMounts`, with its volume under `pod`");
    }
    options(&resource, draft, ledger);
}

/// Drops options of a container; to obey them now could end runs that went well before.
fn misplaced(container: &At<'_>, ledger: &mut Ledger) {
    ledger.dropped_if(
        container.get("options").as_ref(),
        "options belong to a `resource`; kubeflow/kubebench ignored those of a container, and `timeout` is the limit \
         now",
    );
}

/// Reads the options of a `resource`.
fn options(at: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) {
    let Some(options) = at.get("options") else { return };
    ledger.dropped_if(options.get("autoDelete").as_ref(), "the Workflow deletes a job once its result is saved");
    ledger.changed_if(options.get("mountManagedVolumes").as_ref(), "`results.mountInJob` mounts the volume of results");
    if let Some(number) = options.get("numCopies") {
        match pod::count(&number) {
            Some(0 | 1) => ledger.dropped(&number, "one"),
            _ => ledger
                .lost(&number, "write copies that run at once as `parallelism` of a Job, or as separate benchmarks"),
        }
    }
    if let Some(timeout) = options.find(&["autoWatch", "timeout"]) {
        match timeout.text().filter(|text| pod::is_a("duration", text)) {
            Some(text) => {
                draft.timeout = Some(text.to_owned());
                ledger.changed(
                    &timeout,
                    "`timeout`, which ends a run; kubeflow/kubebench let it continue and called it a success",
                );
            }
            None => ledger.lost(&timeout, "this is not a duration"),
        }
    }
    ledger.dropped_if(options.get("autoWatch").as_ref(), "every job is watched until it ends");
}

/// Reads the volumes that a container mounts.
fn volumes(container: &At<'_>, spec: &At<'_>, role: &mut Role, ledger: &mut Ledger) {
    let known = spec.items_of("volumes");
    for mount in container.items_of("volumeMounts") {
        let Some(name) = mount.get("name").and_then(|at| at.text()) else { continue };
        let Some(volume) = known.iter().find(|at| at.get("name").and_then(|at| at.text()) == Some(name)) else {
            continue;
        };
        let is_there = matches!(role.pod.get("volumes"), Some(Item::List(items)) if items.iter().any(|item| matches!(item, Item::Map(map) if map.get("name") == Some(&name.into()))));
        if is_there {
            continue;
        }
        if let Some(item) = pod::checked(volume, api::VOLUME, ledger) {
            ledger.kept(volume, "a volume, under `pod`");
            if let Some(list) = role.pod.list("volumes") {
                list.push(item);
            }
        }
    }
}

fn account(spec: &At<'_>, role: &mut Role, ledger: &mut Ledger) {
    let Some(at) = spec.get("serviceAccountName") else { return };
    match at.text() {
        Some(name) if name != "default" && pod::is_a("dns1123-subdomain", name) => {
            role.pod.put("serviceAccountName", name);
            ledger.kept(&at, "`pod.serviceAccountName`, without its token for the Kubernetes API");
        }
        _ => ledger.dropped(&at, "pods use this account by default"),
    }
}

/// Reads the tasks before the measured one: one that needs no volume is `prepare`, others are init containers.
fn prepare(before: &[At<'_>], spec: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) {
    if let [task] = before
        && let Some(container) = task.get("container").filter(|at| at.get("volumeMounts").is_none())
    {
        misplaced(&container, ledger);
        draft.prepare =
            harness::step(&container, ledger).map(|step| (vec!["It runs once, before all runs.".to_owned()], step));
        return;
    }
    let is_one_pod = draft.workload.as_ref().is_some_and(|workload| matches!(workload.roles.as_slice(), [("", _)]));
    for task in before {
        let Some(container) = task.get("container") else {
            ledger.lost(task, ONE_JOB);
            continue;
        };
        if !is_one_pod {
            ledger.lost(&container, "a task with volumes before a job of several pods; do its work once, in `prepare`");
            draft.open.push("a task ran before the measured job; do its work in `prepare`".to_owned());
            continue;
        }
        init_container(&container, spec, draft, ledger);
    }
    if !before.is_empty() && is_one_pod {
        draft.advice.insert(
            "the tasks before the measured one are init containers, so they run before every run; move work that is \
             needed only once to `prepare`"
                .to_owned(),
        );
    }
}

fn init_container(at: &At<'_>, spec: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) {
    misplaced(at, ledger);
    let Some(Workload { roles, .. }) = &mut draft.workload else { return };
    let Some((_, role)) = roles.first_mut() else { return };
    let mut container = Map::default();
    for (key, field) in at.entries().into_iter().filter(|(key, at)| *key != "options" && at.node.value != Value::Null) {
        if let Some(item) = pod::checked_field(key, &field, api::CONTAINER, ledger) {
            container.put(key, item);
            ledger.kept(&field, "an init container, under `pod`, which runs before every run");
        }
    }
    volumes(at, spec, role, ledger);
    if let Some(list) = role.pod.list("initContainers") {
        list.push(Item::Map(container));
    }
}

/// Reads a task after the measured one.
fn follow(task: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) {
    let Some(container) = task.get("container") else {
        return ledger.lost(task, ONE_JOB);
    };
    let image = container.get("image").and_then(|at| at.text()).unwrap_or_default();
    if harness::is_reporter(image) {
        ledger.changed(&container, "each run has its own result file in git");
    } else if draft.postprocess.is_none() || harness::is_post_processor(image) {
        misplaced(&container, ledger);
        harness::post_job(&container, draft, ledger);
        if draft.postprocess.is_some() {
            draft.open.push("the values of the post-processor: name each under `metrics`".to_owned());
        }
    } else {
        ledger.lost(&container, "only one Job runs after a run; let it do this work too");
    }
}

/// Reads what all tasks shared.
fn around(spec: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) {
    const OWN_CLAIM: &str = "the benchmark's own claim (`results`), mounted at the same place";
    ledger.dropped_if(spec.get("serviceAccount").as_ref(), "kubeflow/kubebench read only `serviceAccountName`");
    ledger.dropped_if(spec.get("serviceAccountName").as_ref(), "the job has the account in its manifest");
    ledger.dropped_if(spec.get("workflowAgent").as_ref(), "no agent runs between the steps");
    if let Some(managed) = spec.get("managedVolumes") {
        if let Some(at) = managed.get("experimentVolume") {
            ledger.changed(&at, OWN_CLAIM);
            draft.mounts_results = true;
            if let Some(claim) = at.find(&["persistentVolumeClaim", "claimName"]).and_then(|at| at.text()) {
                draft.advice.insert(format!("keep the claim `{claim}` as long as you need the results on it"));
            }
        }
        ledger.dropped_if(managed.get("workflowVolume").as_ref(), "the steps of the Workflow need no such volume");
    }
    for volume in spec.items_of("volumes") {
        ledger.dropped(&volume, "no task mounts it");
    }
}
