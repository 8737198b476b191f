//! What the jobs of the training operator (`kubeflow.org/v1`) and of the MPI operator share.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::role::{ImageFrom, Shape};
use super::status::{self, Deciders};
use super::{Kind, Lowering, insert};
use crate::api;
use crate::model::target::Queue;
use crate::model::{Api, Role, TemplateAt, TemplateStep, Workload};
use kubebench_format::spec::v1::scalar::{Count, Patch, Text};
use kubebench_syntax::diag::{Diagnostic, code};

pub(super) const MORE_WORKERS: &str = "delete `replicas` here and raise `worker.replicas`";

pub(super) const NEVER_STARTED: &str = "the scheduler would never start any of them";

/// Gang scheduling: all pods start together or none does.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct SchedulingPolicy {
    /// How many pods must be schedulable before any starts.
    #[schemars(extend("examples" = [3]))]
    min_available: Option<Count>,
    /// The scheduler's queue; without it, the target's Volcano queue.
    #[schemars(extend("format" = "dns1123-subdomain", "examples" = ["ml"]))]
    queue: Option<Text>,
    /// The PriorityClass of the pod group.
    #[schemars(extend("format" = "dns1123-subdomain", "examples" = ["benchmarks"]))]
    priority_class: Option<Text>,
    /// Resources that must be free before any pod starts.
    #[schemars(extend("examples" = [{"nvidia.com/gpu": 8}]))]
    min_resources: Option<Patch>,
    /// How long the scheduler tries, in seconds.
    #[schemars(extend("examples" = [600]))]
    schedule_timeout_seconds: Option<Count>,
}

impl SchedulingPolicy {
    fn into_json(self) -> Json {
        let Self { min_available, queue, priority_class, min_resources, schedule_timeout_seconds } = self;
        let mut policy = Map::new();
        insert(&mut policy, "minAvailable", min_available.map(|count| count.0));
        insert(&mut policy, "queue", queue.map(|text| text.0));
        insert(&mut policy, "priorityClass", priority_class.map(|text| text.0));
        insert(&mut policy, "minResources", min_resources.map(|patch| patch.0));
        insert(&mut policy, "scheduleTimeoutSeconds", schedule_timeout_seconds.map(|count| count.0));
        Json::Object(policy)
    }
}

/// One role of a Kubeflow job: its field in the spec and its name in the API.
pub(super) struct RoleName {
    pub(super) field: &'static str,
    pub(super) api: &'static str,
    /// `-worker-`, or `-launcher` for a role whose one pod has no index.
    pub(super) pod_infix: &'static str,
    pub(super) needs_token: bool,
}

/// The roles of a job with a rank 0 of its own.
pub(super) const MASTER_AND_WORKERS: &[RoleName] = &[
    RoleName { field: "master", api: "Master", pod_infix: "-master-", needs_token: false },
    RoleName { field: "worker", api: "Worker", pod_infix: "-worker-", needs_token: false },
];

/// A Kubeflow job in the making.
pub(super) struct KubeflowJob {
    pub(super) api: Api,
    pub(super) replica_specs: &'static str,
    pub(super) container_name: &'static str,
    pub(super) scheduling_policy: Option<SchedulingPolicy>,
    /// The role whose pods the operator creates only once all others run; a gang with it would wait forever.
    pub(super) late_role: Option<&'static str>,
    /// Further fields of the object's spec.
    pub(super) fields: Map<String, Json>,
    pub(super) scale_is_manual: bool,
}

impl KubeflowJob {
    /// Returns a job of `kind` whose pods are under `replica_specs`, as in most kinds.
    pub(super) fn of(kind: &Kind, replica_specs: &'static str, scheduling_policy: Option<SchedulingPolicy>) -> Self {
        Self {
            api: kind.api.clone(),
            replica_specs,
            container_name: kind.container,
            scheduling_policy,
            late_role: None,
            fields: Map::new(),
            scale_is_manual: false,
        }
    }
}

/// Decides by the master where the object has one, else by all workers.
pub(super) fn master_or_workers(object: &Json, replica_specs: &str) -> Deciders {
    let specs = object.get("spec").and_then(|spec| spec.get(replica_specs));
    let has_master = specs.is_some_and(|specs| specs.get("Master").is_some());
    status::all_of([if has_master { "master" } else { "worker" }])
}

/// Returns the roles of `names` that the spec has.
pub(super) fn roles(cx: &mut Lowering<'_>, job: &KubeflowJob, names: &[RoleName]) -> Vec<Role> {
    names
        .iter()
        .filter_map(|name| {
            let shape = Shape {
                container_name: job.container_name,
                template_at: TemplateAt::fields([job.replica_specs, name.api, "template"]),
                pod_infix: name.pod_infix,
                restart_policy: None,
                needs_token: name.needs_token,
                image: ImageFrom::Spec,
            };
            cx.role(name.field, shape)
        })
        .collect()
}

/// Reports values of `minResources` that are not quantities: it is copied into the object unchanged.
fn check_min_resources(cx: &mut Lowering<'_>) {
    let amounts = cx.entry.value.get("schedulingPolicy").and_then(|policy| policy.get("minResources"));
    if let Some(amounts) = amounts {
        api::check(amounts, api::QUANTITIES, "`minResources`", cx.diagnostics);
    }
}

/// Returns the workload: nothing restarts silently, nothing is cleaned before its logs are read, nothing runs forever.
pub(super) fn finish(cx: &mut Lowering<'_>, job: KubeflowJob, roles: Vec<Role>) -> Workload {
    let KubeflowJob { api, replica_specs, scheduling_policy, late_role, fields, scale_is_manual, .. } = job;
    let mut run_policy = Map::new();
    run_policy.insert("activeDeadlineSeconds".to_owned(), cx.timeout.seconds().into());
    run_policy.insert("backoffLimit".to_owned(), 0.into());
    run_policy.insert("cleanPodPolicy".to_owned(), "None".into());
    check_min_resources(cx);
    let gang = roles.iter().filter(|role| Some(role.name.as_str()) != late_role);
    let gang = gang.fold(0_u32, |sum, role| sum.saturating_add(role.replicas));
    refuse_larger_gang(cx, scheduling_policy.as_ref(), gang, late_role);
    let mut scheduling = scheduling_policy.map(SchedulingPolicy::into_json).filter(|policy| policy != &json!({}));
    if let Queue::Volcano(queue) = &cx.target.queue {
        let policy = scheduling.get_or_insert_with(|| json!({}));
        if let Some(policy) = policy.as_object_mut() {
            policy.entry("queue").or_insert_with(|| queue.as_str().into());
        }
    }
    if let (Some(Json::Object(policy)), Some(_)) = (&mut scheduling, late_role) {
        policy.entry("minAvailable").or_insert_with(|| gang.into());
    }
    insert(&mut run_policy, "schedulingPolicy", scheduling);
    let mut specs = Map::new();
    for role in &roles {
        if let Some(TemplateStep::Field(name)) = role.template_at.steps.get(1) {
            specs.insert(name.to_string(), json!({ "replicas": role.replicas, "restartPolicy": "Never" }));
        }
    }
    let mut spec = fields;
    spec.insert("runPolicy".to_owned(), Json::Object(run_policy));
    spec.insert(replica_specs.to_owned(), Json::Object(specs));
    Workload { scale_is_manual, ..cx.workload(api, spec, roles) }
}

/// Reports a master of several pods: rank 0 is one.
pub(super) fn refuse_more_masters(cx: &mut Lowering<'_>, roles: &[Role]) {
    for role in roles.iter().filter(|role| role.name == "master" && role.replicas != 1) {
        let message = format!("`master` has {} replicas, but rank 0 is one pod", role.replicas);
        cx.report(Diagnostic::at(&code::KB0317, role.replicas_span, message).help(MORE_WORKERS));
    }
}

/// Returns the fewest and the most workers of an elastic job, and notes in the role to what it may grow.
pub(super) fn elastic_range(
    cx: &mut Lowering<'_>,
    roles: &mut [Role],
    (min, max): (Option<Count>, Option<Count>),
) -> (u32, u32) {
    let worker = roles.iter_mut().find(|role| role.name == "worker");
    let workers = worker.as_ref().map_or(1, |role| role.replicas);
    let (min, max) = (min.map_or(workers, |count| count.0), max.map_or(workers, |count| count.0));
    if min > workers || max < workers {
        let message = format!("`worker` has {workers} replicas, outside `elasticPolicy`'s {min} to {max}");
        cx.fault(&code::KB0317, "elasticPolicy", message, "set `minReplicas` ≤ `worker.replicas` ≤ `maxReplicas`");
    }
    if let Some(worker) = worker {
        worker.max_replicas = workers.max(max);
        let infix = worker.longest_name.suffix.trim_end_matches(|letter: char| letter.is_ascii_digit());
        worker.longest_name.suffix = format!("{infix}{}", worker.max_replicas.saturating_sub(1));
    }
    (min, max)
}

/// Reports a gang of more pods than the job has.
fn refuse_larger_gang(
    cx: &mut Lowering<'_>,
    policy: Option<&SchedulingPolicy>,
    pods: u32,
    late_role: Option<&'static str>,
) {
    let Some(Count(wanted)) = policy.and_then(|policy| policy.min_available) else { return };
    if wanted <= pods {
        return;
    }
    let at = cx.entry.value.get("schedulingPolicy").and_then(|policy| policy.get("minAvailable"));
    let message = match late_role {
        None => format!("`minAvailable` waits for {wanted} pods, but the job has {pods}"),
        Some(role) => format!("`minAvailable` waits for {wanted} pods, but before the {role} there are {pods}"),
    };
    let fault =
        Diagnostic::at(&code::KB0317, at.map_or(cx.entry.key_span, |node| node.span), message).note(NEVER_STARTED);
    cx.report(fault.help(format!("write {pods} or less, or leave it out, which means all of them")));
}
