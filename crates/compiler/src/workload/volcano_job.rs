//! `volcanoJob`: a Job of Volcano, whose tasks its scheduler starts together.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::kubeflow::NEVER_STARTED;
use super::role::{ImageFrom, RoleFields, RoleForm, Shape};
use super::status::{self, Deciders, Outcome, PodSet, text_at};
use super::{Kind, Lowering, Purpose, schema_of};
use crate::model::target::Queue;
use crate::model::{Api, Role, TemplateAt, TemplateStep, Workload};
use kubebench_format::spec::v1::scalar::{Count, Dns1123Label, Patch, Text};
use kubebench_syntax::diag::{Diagnostic, code};

pub(super) const KIND: Kind = Kind {
    key: "volcanoJob",
    api: Api::known("batch.volcano.sh/v1alpha1", "Job", "jobs"),
    schema: schema_of::<VolcanoJob>,
    lower,
    purpose: Purpose::Works,
    container: "main",
    outcome,
    deciders,
    pods,
    example: EXAMPLE,
};

const EXAMPLE: &str = "\
volcanoJob:
  image: docker.io/library/python:3.13-slim
  resources: {cpu: 1, memory: 1Gi}
  # `env` numbers the pods of a task, `svc` gives them names that the others can resolve.
  plugins: {env: [], svc: []}
  tasks:
    - name: worker
      replicas: 2
      command: [python3, -c, 'import os; print(\"worker\", os.environ[\"VC_TASK_INDEX\"]); print(\"throughput: 42.0\")']
";

/// A Job of Volcano: tasks of identical pods that start together.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("examples" = [{"image": "registry.example/train:1", "tasks": [{"name": "worker", "replicas": 2, "command": ["python3", "train.py"]}]}]))]
struct VolcanoJob {
    /// The scheduler's queue; without it, the target's Volcano queue, or `default`.
    #[serde(default)]
    #[schemars(extend("format" = "dns1123-subdomain", "examples" = ["ml"]))]
    queue: Option<Text>,
    /// How many pods must be schedulable before any starts; without it, all that wait for no other task.
    #[serde(default)]
    #[schemars(extend("examples" = [3]))]
    min_available: Option<Count>,
    /// What the controller adds to the pods, by name and with its arguments: `env`, `svc`, `ssh`, `pytorch`, `tensorflow`, `mpi`.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"env": [], "svc": []}]))]
    plugins: BTreeMap<String, Vec<Text>>,
    /// The tasks; each is a role.
    #[schemars(extend("minItems" = 1, "examples" = [[{"name": "worker", "replicas": 2}]]))]
    tasks: Vec<RoleForm<Task>>,
    /// Strategic merge patch over the whole object, applied last.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"spec": {"tasks": [{"name": "master", "policies": [{"event": "TaskCompleted", "action": "CompleteJob"}]}]}}]))]
    #[expect(dead_code, reason = "read with its places, by `Lowering::workload`")]
    patch: Option<Patch>,
}

/// The pods of one task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "VolcanoTask", extend("examples" = [{"name": "worker", "replicas": 2, "command": ["python3", "train.py"]}]))]
struct Task {
    /// The role, as metrics and logs name it.
    #[schemars(extend("examples" = ["worker"]))]
    name: Dns1123Label,
    /// How many pods.
    #[serde(default)]
    #[schemars(extend("default" = 1, "examples" = [2]))]
    replicas: Option<Count>,
    /// Tasks whose pods must be ready before those of this one are created.
    #[serde(default)]
    #[schemars(extend("default" = [], "examples" = [["master"]]))]
    depends_on: Vec<Dns1123Label>,
}

impl RoleFields for Task {}

fn lower(cx: &mut Lowering<'_>) -> Option<Workload> {
    let VolcanoJob { queue, min_available, plugins, tasks, patch: _ } = cx.form()?;
    if tasks.is_empty() {
        cx.fault(&code::KB0317, "tasks", "`volcanoJob` has no `tasks`", "add `tasks: [{name: worker, replicas: n}]`");
        return None;
    }
    let roles = roles(cx, &tasks)?;
    check_dependencies(cx, &tasks, &roles);
    let pods = |waits: bool| {
        let counted = roles.iter().zip(&tasks).filter(|(_, RoleForm(task))| waits || task.depends_on.is_empty());
        counted.fold(0_u32, |sum, (role, _)| sum.saturating_add(role.replicas))
    };
    let (gang, all) = (pods(false), pods(true));
    let min_available = min_available.map_or(gang, |count| count.0);
    if min_available > gang {
        let message = if gang == all {
            format!("`minAvailable` waits for {min_available} pods, but the job has {all}")
        } else {
            format!("`minAvailable` waits for {min_available} pods, but only {gang} wait for no other task")
        };
        let fault = Diagnostic::at(&code::KB0317, cx.span_of("minAvailable"), message).note(NEVER_STARTED);
        cx.report(fault.help(format!("write {gang} or less, or leave it out")));
    }
    let queue = match (queue, &cx.target.queue) {
        (Some(Text(queue)), _) => queue,
        (None, Queue::Volcano(queue)) => queue.clone(),
        (None, Queue::None | Queue::Kueue { .. }) => "default".to_owned(),
    };
    let of_tasks = roles.iter().zip(&tasks).map(|(role, RoleForm(task))| of_task(role, task));
    let mut spec = Map::new();
    spec.insert("maxRetry".to_owned(), 1.into());
    spec.insert("minAvailable".to_owned(), min_available.into());
    // Without it a job whose pods failed counts as completed once all have ended.
    spec.insert("minSuccess".to_owned(), all.into());
    let plugins: Map<String, Json> = plugins
        .into_iter()
        .map(|(name, words)| (name, words.into_iter().map(|Text(word)| Json::from(word)).collect()))
        .collect();
    if !plugins.is_empty() {
        spec.insert("plugins".to_owned(), Json::Object(plugins));
    }
    let aborts = ["PodFailed", "PodEvicted"].map(|event| json!({"action": "AbortJob", "event": event}));
    spec.insert("policies".to_owned(), aborts.into_iter().collect());
    super::insert(&mut spec, "priorityClassName", cx.target.priority());
    spec.insert("queue".to_owned(), queue.into());
    spec.insert("schedulerName".to_owned(), "volcano".into());
    spec.insert("tasks".to_owned(), of_tasks.collect());
    Some(cx.workload(KIND.api, spec, roles))
}

/// Returns a task of the object, without its pod template.
fn of_task(role: &Role, task: &Task) -> Json {
    let mut object = json!({"name": role.name, "replicas": task.replicas.map_or(1, |count| count.0)});
    if let (false, Some(object)) = (task.depends_on.is_empty(), object.as_object_mut()) {
        let names: Vec<Json> = task.depends_on.iter().map(|name| name.0.as_str().into()).collect();
        object.insert("dependsOn".to_owned(), json!({ "name": names }));
    }
    object
}

/// Returns the roles of `tasks`, one each.
fn roles(cx: &mut Lowering<'_>, tasks: &[RoleForm<Task>]) -> Option<Vec<Role>> {
    let blocks = cx.entry.value.items_of("tasks").to_vec();
    let mut seen = BTreeSet::new();
    let mut roles = Vec::new();
    for (index, (RoleForm(task), block)) in tasks.iter().zip(&blocks).enumerate() {
        let name = task.name.0.as_str();
        let span = block.get("name").map_or(block.span, |name| name.span);
        if !seen.insert(name) {
            let fault = Diagnostic::at(&code::KB0317, span, format!("two tasks are called `{name}`"));
            cx.report(fault.help("give this one another name, or raise `replicas` of the first"));
        }
        let steps = vec![
            TemplateStep::field("tasks"),
            TemplateStep::Element { index, key: "name".into(), name: name.to_owned() },
            TemplateStep::field("template"),
        ];
        let shape = Shape {
            container_name: KIND.container,
            template_at: TemplateAt::of(0, steps),
            pod_infix: "-",
            restart_policy: Some("Never"),
            needs_token: false,
            image: ImageFrom::Spec,
        };
        let mut role = cx.role_of(name, block, span, shape)?;
        // The webhook tries the name with the place of the task in the list.
        let last = u64::from(role.replicas.saturating_sub(1)).max(index as u64);
        role.longest_name.suffix = format!("-{name}-{last}");
        role.deadline = Some(cx.timeout);
        roles.push(role);
    }
    Some(roles)
}

/// Reports tasks that wait for one that does not exist, or for each other.
fn check_dependencies(cx: &mut Lowering<'_>, tasks: &[RoleForm<Task>], roles: &[Role]) {
    let names: BTreeSet<&str> = tasks.iter().map(|RoleForm(task)| task.name.0.as_str()).collect();
    let mut waiting: Vec<(&Task, &Role)> = tasks.iter().map(|RoleForm(task)| task).zip(roles).collect();
    for (task, role) in &waiting {
        for name in task.depends_on.iter().map(|name| name.0.as_str()).filter(|name| !names.contains(name)) {
            let message = format!("the task `{}` depends on `{name}`, which is not a task of this job", role.name);
            let list = names.iter().copied().collect::<Vec<_>>().join(", ");
            cx.report(Diagnostic::at(&code::KB0317, role.span, message).help(format!("the tasks are {list}")));
        }
    }
    loop {
        let open: BTreeSet<&str> = waiting.iter().map(|(task, _)| task.name.0.as_str()).collect();
        let before = waiting.len();
        waiting.retain(|(task, _)| task.depends_on.iter().any(|name| open.contains(name.0.as_str())));
        if waiting.len() == before {
            break;
        }
    }
    if let Some((task, role)) = waiting.first() {
        let message = format!("the task `{}` waits for itself", task.name.0.as_str());
        let fault =
            Diagnostic::at(&code::KB0317, role.span, message).note("neither it nor what it waits for would start");
        cx.report(fault.help("delete one `dependsOn` of the cycle"));
    }
}

/// Reads the phase that the controller writes; while it aborts, pods still run.
fn outcome(object: &Json) -> Outcome {
    match text_at(object, "/status/state/phase") {
        "" | "Pending" => Outcome::Pending,
        "Completed" => Outcome::Succeeded,
        phase @ ("Failed" | "Aborted" | "Terminated") => {
            let reason = text_at(object, "/status/state/reason");
            Outcome::Failed {
                reason: if reason.is_empty() { phase } else { reason }.to_owned(),
                message: text_at(object, "/status/state/message").to_owned(),
            }
        }
        _ => Outcome::Running,
    }
}

/// All tasks decide, unless the end of some is made the end of the job.
fn deciders(object: &Json) -> Deciders {
    let completing: Vec<&Json> = tasks(object).filter(|task| completes_job(task)).collect();
    let deciding = if completing.is_empty() { tasks(object).collect() } else { completing };
    status::all_of(deciding.into_iter().map(|task| text_at(task, "/name")))
}

fn completes_job(task: &Json) -> bool {
    let policies = task.get("policies").and_then(Json::as_array).into_iter().flatten();
    policies.into_iter().any(|policy| {
        let is_end = |event: &Json| event == "TaskCompleted";
        let events = policy.get("events").and_then(Json::as_array).into_iter().flatten();
        policy.get("action").is_some_and(|action| action == "CompleteJob")
            && policy.get("event").into_iter().chain(events).any(is_end)
    })
}

fn tasks(object: &Json) -> impl Iterator<Item = &Json> {
    object.pointer("/spec/tasks").and_then(Json::as_array).into_iter().flatten()
}

fn pods(object: &Json) -> Vec<PodSet> {
    tasks(object)
        .enumerate()
        .map(|(index, task)| {
            let replicas = status::count_at(task, "/replicas").unwrap_or(1);
            let (role, template) = (text_at(task, "/name").to_owned(), format!("/spec/tasks/{index}/template"));
            PodSet::new(role, replicas, replicas, template)
        })
        .collect()
}

#[cfg(test)]
mod tests;
