//! `jobSet`: a JobSet, several indexed Jobs that start together, find each other by name and end as one.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::job::{MORE_COMPLETIONS, too_parallel};
use super::role::{ImageFrom, RoleFields, RoleForm, Shape};
use super::status::{self, Deciders, Outcome, PodSet, count_at, text_at};
use super::{Kind, Lowering, Purpose, insert, schema_of};
use crate::model::{Api, Role, TemplateAt, TemplateStep, Workload};
use kubebench_format::spec::v1::scalar::{Count, CountFromZero, Dns1123Label, Flag, Patch};
use kubebench_syntax::diag::{Diagnostic, code};
use kubebench_syntax::yaml::Node;

pub(super) const KIND: Kind = Kind {
    key: "jobSet",
    api: Api::known("jobset.x-k8s.io/v1alpha2", "JobSet", "jobsets"),
    schema: schema_of::<JobSet>,
    lower,
    purpose: Purpose::Works,
    container: "main",
    outcome,
    deciders,
    pods,
    example: EXAMPLE,
};

const EXAMPLE: &str = "\
jobSet:
  image: docker.io/library/python:3.13-slim
  resources: {cpu: 1, memory: 1Gi}
  replicatedJobs:
    # Its pods are `worker-0` to `worker-3`; each knows its number as JOB_COMPLETION_INDEX.
    - name: worker
      parallelism: 4
      command: [python3, -c, 'print(\"throughput: 42.0\")']
";

/// What the Job controller appends to the name of a pod.
const DRAWN: &str = "-00000";
/// More Jobs that one waits for are refused.
const MAX_DEPENDENCIES: usize = 5;

/// A JobSet: Jobs that start together and end as one.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("examples" = [{"image": "registry.example/train:1", "replicatedJobs": [{"name": "worker", "parallelism": 4, "command": ["python3", "train.py"]}]}]))]
struct JobSet {
    /// The Jobs; each is a role.
    #[schemars(extend("minItems" = 1, "examples" = [[{"name": "worker", "replicas": 1, "parallelism": 4}]]))]
    replicated_jobs: Vec<RoleForm<ReplicatedJob>>,
    /// How pods find each other.
    #[schemars(extend("examples" = [{"publishNotReadyAddresses": true}]))]
    network: Option<PodNetwork>,
    /// Which Jobs must succeed; without it, all.
    #[schemars(extend("examples" = [{"operator": "All", "targetReplicatedJobs": ["worker"]}]))]
    success_policy: Option<SuccessPolicy>,
    /// What happens when a Job fails: nothing is restarted.
    #[schemars(extend("default" = {"maxRestarts": 0}, "examples" = [{"maxRestarts": 0}]))]
    failure_policy: Option<FailurePolicy>,
    /// The pod whose address all others get as the label and annotation `jobset.sigs.k8s.io/coordinator`.
    #[schemars(extend("examples" = [{"replicatedJob": "worker", "jobIndex": 0, "podIndex": 0}]))]
    coordinator: Option<Coordinator>,
    /// Strategic merge patch over the whole object, applied last.
    #[schemars(extend("default" = {}, "examples" = [{"metadata": {"annotations": {"alpha.jobset.sigs.k8s.io/exclusive-topology": "topology.kubernetes.io/rack"}}}]))]
    patch: Option<Patch>,
}

/// One role of a JobSet: identical Jobs, each with its pods.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("examples" = [{"name": "worker", "parallelism": 4, "command": ["python3", "train.py"]}]))]
struct ReplicatedJob {
    /// The role, as metrics and logs name it.
    #[schemars(extend("examples" = ["worker"]))]
    name: Dns1123Label,
    /// How many Jobs.
    #[serde(default)]
    #[schemars(extend("default" = 1, "examples" = [2]))]
    replicas: Option<Count>,
    /// How many pods of each Job run at once.
    #[serde(default)]
    #[schemars(extend("default" = 1, "examples" = [4]))]
    parallelism: Option<Count>,
    /// How many pods of each Job must succeed; without it, as many as run at once.
    #[serde(default)]
    #[schemars(extend("examples" = [4]))]
    completions: Option<Count>,
    /// Earlier roles of the list that this one waits for.
    #[serde(default)]
    #[schemars(extend("default" = [], "examples" = [[{"name": "loader", "status": "Ready"}]]))]
    depends_on: Vec<Dependency>,
}

impl RoleFields for ReplicatedJob {}

/// A role that another one waits for.
#[derive(Debug, Deserialize, JsonSchema)]
struct Dependency {
    /// The role.
    #[schemars(extend("examples" = ["loader"]))]
    name: Dns1123Label,
    /// The state that it must have reached.
    #[schemars(extend("examples" = ["Ready"]))]
    status: DependencyStatus,
}

/// The state that a role must have reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(inline)]
enum DependencyStatus {
    /// All of its pods are ready.
    Ready,
    /// All of its Jobs have succeeded.
    Complete,
}

/// How pods find each other.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
struct PodNetwork {
    /// Whether pods have names: `<job>-<role>-<job index>-<pod index>.<subdomain>`.
    #[serde(rename = "enableDNSHostnames")]
    #[schemars(extend("default" = true, "examples" = [false]))]
    enable_dns_hostnames: Option<Flag>,
    /// Whether the names of pods resolve before the pods are ready.
    #[schemars(extend("default" = true, "examples" = [false]))]
    publish_not_ready_addresses: Option<Flag>,
    /// The subdomain of the names; by default the name of the run's job, which is `$KUBEBENCH_EXP_ID`.
    #[schemars(extend("examples" = ["trainers"]))]
    subdomain: Option<Dns1123Label>,
}

/// Which Jobs must succeed.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
struct SuccessPolicy {
    /// Whether all of them must succeed or any one is enough.
    #[schemars(extend("default" = "All", "examples" = ["All"]))]
    operator: Option<Operator>,
    /// The roles that count; without it, all. The pods of others are deleted when these have succeeded.
    #[schemars(extend("default" = [], "examples" = [["worker"]]))]
    target_replicated_jobs: Vec<Dns1123Label>,
}

/// How many of the Jobs that count must succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(inline)]
enum Operator {
    /// All of them.
    All,
    /// One of them.
    Any,
}

/// What happens when a Job fails.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
struct FailurePolicy {
    /// How often all Jobs are restarted; always 0, because a restarted run is not one measurement.
    #[schemars(extend("default" = 0, "examples" = [0]))]
    max_restarts: Option<CountFromZero>,
}

/// The pod that all others find.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Coordinator {
    /// Its role.
    #[schemars(extend("examples" = ["worker"]))]
    replicated_job: Dns1123Label,
    /// The index of the Job in the role.
    #[serde(default)]
    #[schemars(extend("default" = 0, "examples" = [0]))]
    job_index: Option<CountFromZero>,
    /// The index of the pod in the Job.
    #[serde(default)]
    #[schemars(extend("default" = 0, "examples" = [0]))]
    pod_index: Option<CountFromZero>,
}

/// How many Jobs a role has, and how many pods each has at once and in all.
#[derive(Clone, Copy)]
struct Size {
    jobs: u32,
    parallelism: u32,
    completions: u32,
}

fn lower(cx: &mut Lowering<'_>) -> Option<Workload> {
    let form: JobSet = cx.form()?;
    let blocks = cx.entry.value.items_of("replicatedJobs");
    if blocks.is_empty() {
        let help = "add `replicatedJobs: [{name: worker, parallelism: n}]`";
        cx.fault(&code::KB0317, "jobSet", "`jobSet` has no `replicatedJobs`", help);
        return None;
    }
    let mut jobs = Vec::new();
    let mut roles: Vec<Role> = Vec::new();
    let mut sizes: Vec<(String, Size)> = Vec::new();
    for (block, RoleForm(job)) in blocks.iter().zip(&form.replicated_jobs) {
        let name = job.name.0.to_string();
        check_place(cx, block, job, &name, &sizes);
        let parallelism = job.parallelism.map_or(1, |count| count.0);
        let completions = job.completions.map_or(parallelism, |count| count.0);
        let size = Size { jobs: job.replicas.map_or(1, |count| count.0), parallelism, completions };
        if parallelism > completions {
            let at = block.get("parallelism").map_or(block.span, |node| node.span);
            let message = too_parallel(parallelism, completions);
            cx.report(Diagnostic::at(&code::KB0317, at, message).help(MORE_COMPLETIONS));
        }
        roles.extend(role(cx, block, &name, jobs.len(), size));
        jobs.push(job_of(cx, &name, job, size));
        sizes.push((name, size));
    }
    let known: Vec<&str> = sizes.iter().map(|(name, _)| name.as_str()).collect();
    let mut spec = Map::new();
    // The controller's own default says nothing of restarts; this does.
    spec.insert("failurePolicy".to_owned(), json!({ "maxRestarts": 0 }));
    spec.insert("replicatedJobs".to_owned(), Json::Array(jobs));
    insert(&mut spec, "network", form.network.and_then(network));
    check_restarts(cx, form.failure_policy);
    insert(&mut spec, "successPolicy", form.success_policy.and_then(|policy| success(cx, &policy, &known, &sizes)));
    insert(&mut spec, "coordinator", form.coordinator.map(|coordinator| self::coordinator(cx, &coordinator, &sizes)));
    Some(cx.workload(KIND.api, spec, roles))
}

/// Reports a name that is taken, and what a Job cannot wait for.
fn check_place(cx: &mut Lowering<'_>, block: &Node, job: &ReplicatedJob, name: &str, earlier: &[(String, Size)]) {
    let is_earlier = |name: &str| earlier.iter().any(|(other, _)| other == name);
    if is_earlier(name) {
        let at = block.get("name").map_or(block.span, |node| node.span);
        let fault = Diagnostic::at(&code::KB0317, at, format!("two replicated jobs are called `{name}`"));
        cx.report(fault.help("give each its own name, or raise `replicas` of one"));
    }
    let list = block.entry("dependsOn");
    let places = list.map(|entry| entry.value.items()).unwrap_or_default();
    for (place, dependency) in places.iter().zip(&job.depends_on) {
        let wanted = dependency.name.0.to_string();
        if !is_earlier(&wanted) {
            let message = format!("`{name}` waits for `{wanted}`, which does not precede it");
            let fault = Diagnostic::at(&code::KB0317, place.get("name").map_or(place.span, |node| node.span), message)
                .note("the JobSet's webhook refuses it: a role can wait only for roles above it in the list");
            cx.report(fault.help(match earlier.last() {
                Some((last, _)) => format!("name a role above it, such as `{last}`, or move `{wanted}` up"),
                None => "delete `dependsOn`: nothing precedes the first role".to_owned(),
            }));
        }
    }
    if let Some(entry) = list.filter(|_| job.depends_on.len() > MAX_DEPENDENCIES) {
        let message =
            format!("`{name}` waits for {} roles, and the API takes {MAX_DEPENDENCIES}", job.depends_on.len());
        let fault = Diagnostic::at(&code::KB0317, entry.key_span, message);
        cx.report(fault.help("chain the roles: let each wait for the one before"));
    }
}

fn role(cx: &mut Lowering<'_>, block: &Node, name: &str, index: usize, size: Size) -> Option<Role> {
    let element = TemplateStep::Element { index, key: "name".into(), name: name.to_owned() };
    let [list, template, spec] = ["replicatedJobs", "template", "spec"].map(TemplateStep::field);
    let shape = Shape {
        container_name: KIND.container,
        template_at: TemplateAt::of(0, vec![list, element, template.clone(), spec, template]),
        pod_infix: "",
        restart_policy: Some("Never"),
        needs_token: false,
        image: ImageFrom::Spec,
    };
    let mut role = cx.role_of(name, block, block.span, shape)?;
    role.replicas = size.jobs.saturating_mul(size.parallelism);
    role.max_replicas = role.replicas;
    role.completions = size.jobs.saturating_mul(size.completions);
    let said = ["completions", "parallelism", "replicas"].iter().find_map(|field| block.get(field));
    role.replicas_span = said.map_or(role.span, |node| node.span);
    role.longest_name.suffix = format!("-{name}-{}-{}{DRAWN}", size.jobs - 1, size.completions - 1);
    Some(role)
}

fn job_of(cx: &Lowering<'_>, name: &str, job: &ReplicatedJob, size: Size) -> Json {
    let mut object = json!({
        "name": name,
        "replicas": size.jobs,
        "template": {
            "spec": {
                "activeDeadlineSeconds": cx.timeout.seconds(),
                "backoffLimit": 0,
                "completionMode": "Indexed",
                "completions": size.completions,
                "parallelism": size.parallelism,
            },
        },
    });
    let word = |status| if status == DependencyStatus::Ready { "Ready" } else { "Complete" };
    let waits: Vec<Json> = job
        .depends_on
        .iter()
        .map(|dependency| json!({ "name": dependency.name.0.to_string(), "status": word(dependency.status) }))
        .collect();
    if let Some(object) = object.as_object_mut().filter(|_| !waits.is_empty()) {
        object.insert("dependsOn".to_owned(), Json::Array(waits));
    }
    object
}

/// Returns what differs from JobSet's defaults.
fn network(network: PodNetwork) -> Option<Json> {
    let PodNetwork { enable_dns_hostnames, publish_not_ready_addresses, subdomain } = network;
    let unless_true = |flag: Option<Flag>| flag.map(|flag| flag.0).filter(|flag| !flag);
    let mut object = Map::new();
    insert(&mut object, "enableDNSHostnames", unless_true(enable_dns_hostnames));
    insert(&mut object, "publishNotReadyAddresses", unless_true(publish_not_ready_addresses));
    insert(&mut object, "subdomain", subdomain.map(|label| label.0.to_string()));
    (!object.is_empty()).then_some(Json::Object(object))
}

/// Reports restarts: the run ends with the first failure, so none would be measured.
fn check_restarts(cx: &mut Lowering<'_>, policy: Option<FailurePolicy>) {
    let Some(restarts) = policy.and_then(|policy| policy.max_restarts).filter(|count| count.0 > 0) else { return };
    let at = cx.entry.value.get("failurePolicy").and_then(|policy| policy.get("maxRestarts"));
    let message = format!("`maxRestarts` is {}, but a restarted JobSet is not one measurement", restarts.0);
    let fault = Diagnostic::at(&code::KB0317, at.map_or(cx.entry.key_span, |node| node.span), message)
        .note("the run ends as failed with its first failed Job, whatever starts after it");
    cx.report(fault.help("write 0 or delete it; a program that must survive failures restarts inside its pods"));
}

fn success(cx: &mut Lowering<'_>, policy: &SuccessPolicy, known: &[&str], sizes: &[(String, Size)]) -> Option<Json> {
    let form = cx.entry.value.get("successPolicy");
    let targets: Vec<String> = policy.target_replicated_jobs.iter().map(|name| name.0.to_string()).collect();
    let places = form.and_then(|form| form.get("targetReplicatedJobs")).map(Node::items).unwrap_or_default();
    for (place, target) in places.iter().zip(&targets).filter(|(_, target)| !known.contains(&target.as_str())) {
        let message = format!("`{target}` is not one of the `replicatedJobs`");
        cx.report(unknown_role(place, message, known));
    }
    let counts = sizes.iter().filter(|(name, _)| targets.is_empty() || targets.contains(name));
    let jobs = counts.fold(0_u32, |sum, (_, size)| sum.saturating_add(size.jobs));
    let is_any = policy.operator == Some(Operator::Any);
    if is_any && jobs > 1 {
        let at = form.and_then(|form| form.get("operator")).map_or(cx.entry.key_span, |node| node.span);
        let message = format!("with `Any` of {jobs} jobs, the run ends with the first one that finishes");
        let fault = Diagnostic::at(&code::KB0317, at, message)
            .note("the others are deleted in the middle of their work, and every run would measure something else");
        cx.report(fault.help("write `All`, or name the one job that counts in `targetReplicatedJobs`"));
    }
    if targets.is_empty() && !is_any {
        // JobSet's default.
        return None;
    }
    let mut object = Map::new();
    object.insert("operator".to_owned(), if is_any { "Any".into() } else { "All".into() });
    insert(&mut object, "targetReplicatedJobs", (!targets.is_empty()).then_some(targets));
    Some(Json::Object(object))
}

fn coordinator(cx: &mut Lowering<'_>, coordinator: &Coordinator, sizes: &[(String, Size)]) -> Json {
    let form = cx.entry.value.get("coordinator");
    let place = |field: &str| form.and_then(|form| form.get(field));
    let name = coordinator.replicated_job.0.to_string();
    let job = coordinator.job_index.map_or(0, |count| count.0);
    let pod = coordinator.pod_index.map_or(0, |count| count.0);
    let known: Vec<&str> = sizes.iter().map(|(name, _)| name.as_str()).collect();
    match (sizes.iter().find(|(other, _)| *other == name), place("replicatedJob")) {
        (None, Some(place)) => {
            cx.report(unknown_role(place, format!("`{name}` is not one of the `replicatedJobs`"), &known));
        }
        (Some((_, size)), _) => {
            for (field, index, count) in [("jobIndex", job, size.jobs), ("podIndex", pod, size.completions)] {
                if let Some(place) = place(field).filter(|_| index >= count) {
                    let message = format!("`{field}` is {index}, but the last one of `{name}` is {}", count - 1);
                    let fault = Diagnostic::at(&code::KB0317, place.span, message);
                    cx.report(fault.help("write an existing index; indexes count from 0"));
                }
            }
        }
        (None, None) => {}
    }
    json!({ "replicatedJob": name, "jobIndex": job, "podIndex": pod })
}

fn unknown_role(place: &Node, message: String, known: &[&str]) -> Diagnostic {
    let fault = Diagnostic::at(&code::KB0317, place.span, message);
    fault.note("the JobSet's webhook refuses it").help(format!("the roles are {}", known.join(", ")))
}

/// Reads a JobSet. `terminalState` is written with the condition that says why.
fn outcome(object: &Json) -> Outcome {
    let ready = object.pointer("/status/replicatedJobsStatus").and_then(Json::as_array);
    let is_ready = ready.into_iter().flatten().any(|job| count_at(job, "/ready").is_some_and(|count| count > 0));
    match (status::read(object, &["Failed"], &["Completed"], &[]), text_at(object, "/status/terminalState")) {
        (outcome @ (Outcome::Succeeded | Outcome::Failed { .. }), _) => outcome,
        (_, "Completed") => Outcome::Succeeded,
        (_, "Failed") => Outcome::Failed { reason: "Failed".to_owned(), message: String::new() },
        (Outcome::Pending, _) if is_ready => Outcome::Running,
        (outcome, _) => outcome,
    }
}

fn deciders(object: &Json) -> Deciders {
    let targets = object.pointer("/spec/successPolicy/targetReplicatedJobs").and_then(Json::as_array);
    let targets: Vec<&str> = targets.into_iter().flatten().filter_map(Json::as_str).collect();
    if targets.is_empty() {
        let jobs = object.pointer("/spec/replicatedJobs").and_then(Json::as_array);
        status::all_of(jobs.into_iter().flatten().map(|job| text_at(job, "/name")))
    } else {
        status::all_of(targets)
    }
}

fn pods(object: &Json) -> Vec<PodSet> {
    let jobs = object.pointer("/spec/replicatedJobs").and_then(Json::as_array);
    jobs.into_iter()
        .flatten()
        .enumerate()
        .map(|(index, job)| {
            let count = |at: &str| count_at(job, at).unwrap_or(1);
            let parallelism = count("/template/spec/parallelism");
            let completions = count_at(job, "/template/spec/completions").unwrap_or(parallelism);
            let replicas = count("/replicas").saturating_mul(parallelism.min(completions));
            let template = format!("/spec/replicatedJobs/{index}/template/spec/template");
            PodSet::new(text_at(job, "/name"), replicas, completions, template)
        })
        .collect()
}
