//! `trainJob`: a TrainJob of Kubeflow Trainer v2, whose pods come from a runtime: one that Kubebench carries, or one that the
//! cluster has.

mod check;
mod form;

use serde_json::{Map, Value as Json, json};

use self::form::{Framework, Initializer, RuntimeKind, RuntimeRef, StorageSource, TrainJob};
use super::role::{ImageFrom, RoleForm, Shape};
use super::status::{self, Deciders, Outcome, PodSet, count_at, text_at};
use super::{Kind, Lowering, Purpose, insert, read, schema_of, spans, texts};
use crate::api::Type;
use crate::model::target::{Queue, TrainerApi};
use crate::model::{Api, Role, Supporting, TemplateAt, TemplateStep, Workload};
use kubebench_format::spec::v1::container::RoleBlock;
use kubebench_syntax::diag::code;
use kubebench_syntax::yaml::Node;

pub(super) const KIND: Kind = Kind {
    key: "trainJob",
    api: Api::known(API_VERSION, "TrainJob", "trainjobs"),
    schema: schema_of::<TrainJob>,
    lower,
    purpose: Purpose::Works,
    container: NODE,
    outcome,
    deciders,
    pods,
    example: EXAMPLE,
};

const EXAMPLE: &str = "\
trainJob:
  image: docker.io/pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime
  # Kubebench carries this runtime; `runtimeRef: {name: torch-distributed}` would use the cluster's.
  runtime: {torch: {}}
  trainer:
    numNodes: 2
    command: [torchrun, train.py]
    resources: {cpu: 8, memory: 32Gi, nvidia.com/gpu: 1}
";

/// The API of TrainJobs and their runtimes.
const GROUP: &str = "trainer.kubeflow.org";
const API_VERSION: &str = "trainer.kubeflow.org/v1alpha1";
/// The name that Trainer wants for the container that trains, and for the Job of the nodes.
const NODE: &str = "node";
/// The Job that runs `mpirun`.
const LAUNCHER: &str = "launcher";
/// The label by which Trainer finds the Job that trains.
const ANCESTOR: &str = "trainer.kubeflow.org/trainjob-ancestor-step";
/// The program of MPI's nodes that have none of their own.
const SSHD: [&str; 2] = ["/usr/sbin/sshd", "-De"];
/// What the Job controller appends to the name of a pod.
const DRAWN: &str = "-00000";

/// The fields of the trainer's block other than those of its role.
struct Size {
    nodes: u32,
    processes: Option<u32>,
}

fn lower(cx: &mut Lowering<'_>) -> Option<Workload> {
    let form: TrainJob = cx.form()?;
    check::mpi_pods(cx, &form);
    let TrainJob { runtime_ref, runtime, trainer, initializer, patch: _ } = form;
    let size = trainer.map_or(Size { nodes: 1, processes: None }, |RoleForm(trainer)| Size {
        nodes: trainer.num_nodes.map_or(1, |count| count.0),
        processes: trainer.num_proc_per_node.map(|count| count.0),
    });
    let mut spec = Map::new();
    let mut trainer = Map::new();
    trainer.insert("numNodes".to_owned(), size.nodes.into());
    insert(&mut trainer, "numProcPerNode", size.processes);
    spec.insert("trainer".to_owned(), Json::Object(trainer));
    if cx.target.trainer >= TrainerApi::V2_2 {
        spec.insert("activeDeadlineSeconds".to_owned(), cx.timeout.seconds().into());
    }
    let framework = runtime.and_then(form::Runtime::into_framework);
    let (roles, supporting, name_at) = match (runtime_ref, framework) {
        (Some(reference), None) => {
            spec.insert("runtimeRef".to_owned(), reference_of(&reference));
            insert(&mut spec, "initializer", initializer.map(initialize));
            let role = trainer_role(cx, NODE, TemplateAt::fields(["template"]), size.nodes)?;
            check::overrides(cx, &role);
            (vec![role], Vec::new(), Vec::new())
        }
        (None, Some(framework)) => {
            check::framework(cx, &framework);
            check::no_initializer(cx);
            let reference = json!({ "apiGroup": GROUP, "kind": "TrainingRuntime" });
            spec.insert("runtimeRef".to_owned(), reference);
            let (roles, runtime) = own_runtime(cx, &framework, &size)?;
            (roles, vec![runtime], vec!["/spec/runtimeRef/name".to_owned()])
        }
        (Some(_), Some(_)) => {
            let message = "`runtime` and `runtimeRef` both name a runtime";
            cx.fault(
                &code::KB0317,
                "runtimeRef",
                message,
                "keep one: `runtime` is carried in git, `runtimeRef` is the cluster's",
            );
            return None;
        }
        (None, None) => {
            let message = "`trainJob` has neither `runtime` nor `runtimeRef`";
            cx.fault(
                &code::KB0317,
                "trainJob",
                message,
                "add `runtime: {torch: {}}`, or name one of the cluster in `runtimeRef`",
            );
            return None;
        }
    };
    let release = cx.target.trainer.release();
    let api = Api { spec: Type::Spec { api_version: API_VERSION, kind: "TrainJob", release }, ..KIND.api };
    Some(Workload { name_at, supporting, ..cx.workload(api, spec, roles) })
}

/// Returns the role that the trainer's block describes, or, without one, the fields next to it.
fn trainer_role(cx: &mut Lowering<'_>, name: &str, template_at: TemplateAt, pods: u32) -> Option<Role> {
    let shape = shape(template_at);
    let block = cx.entry.value.entry("trainer");
    let mut role = match block {
        Some(block) => cx.role_of(name, &block.value, block.key_span, shape)?,
        None => cx.only_role(name, shape)?,
    };
    let said = block.and_then(|block| block.value.get("numNodes"));
    resize(&mut role, pods, said);
    Some(role)
}

fn shape(template_at: TemplateAt) -> Shape {
    Shape {
        container_name: NODE,
        template_at,
        pod_infix: "",
        restart_policy: Some("Never"),
        needs_token: false,
        image: ImageFrom::Spec,
    }
}

fn resize(role: &mut Role, pods: u32, said: Option<&Node>) {
    role.replicas = pods;
    role.max_replicas = pods;
    role.completions = pods;
    role.replicas_span = said.map_or(role.span, |node| node.span);
    role.longest_name.suffix = format!("-{}-0-{}{DRAWN}", role.name, pods.saturating_sub(1));
}

fn reference_of(reference: &RuntimeRef) -> Json {
    let kind = match reference.kind {
        Some(RuntimeKind::TrainingRuntime) => "TrainingRuntime",
        Some(RuntimeKind::ClusterTrainingRuntime) | None => "ClusterTrainingRuntime",
    };
    json!({ "apiGroup": GROUP, "kind": kind, "name": reference.name.0.to_string() })
}

fn initialize(initializer: Initializer) -> Json {
    let mut object = Map::new();
    let source = |source: StorageSource| {
        let mut object = Map::new();
        object.insert("storageUri".to_owned(), source.storage_uri.0.into());
        insert(&mut object, "secretRef", source.secret.map(|name| json!({ "name": name.0.to_string() })));
        Json::Object(object)
    };
    insert(&mut object, "dataset", initializer.dataset.map(source));
    insert(&mut object, "model", initializer.model.map(source));
    Json::Object(object)
}

/// Returns the roles of the runtime that Kubebench carries, and the runtime without their pods.
fn own_runtime(cx: &mut Lowering<'_>, framework: &Framework, size: &Size) -> Option<(Vec<Role>, Supporting)> {
    let mut roles = Vec::new();
    let mut jobs = Vec::new();
    if let Framework::Mpi(_) = framework {
        // As in the runtime that Trainer ships, the launcher is one of the nodes.
        roles.push(mpi_node(cx, size)?);
        jobs.push(job(cx, NODE, None));
        let launcher = trainer_role(cx, LAUNCHER, template_at(1, LAUNCHER), 1)?;
        roles.push(launcher);
        let mut launcher = job(cx, LAUNCHER, Some("trainer"));
        if let Some(launcher) = launcher.as_object_mut() {
            launcher.insert("dependsOn".to_owned(), json!([{ "name": NODE, "status": "Ready" }]));
        }
        jobs.push(launcher);
    } else {
        roles.push(trainer_role(cx, NODE, template_at(0, NODE), size.nodes)?);
        jobs.push(job(cx, NODE, Some("trainer")));
    }
    check::reserved_variables(cx, framework, &roles);
    let mut policy = Map::new();
    policy.insert(framework.name().to_owned(), policy_of(framework, size));
    policy.insert("numNodes".to_owned(), size.nodes.into());
    let mut template = Map::new();
    template.insert("failurePolicy".to_owned(), json!({ "maxRestarts": 0 }));
    if let Framework::Mpi(_) = framework {
        template.insert("network".to_owned(), json!({ "publishNotReadyAddresses": true }));
        template.insert("successPolicy".to_owned(), json!({ "operator": "All", "targetReplicatedJobs": [LAUNCHER] }));
    }
    template.insert("replicatedJobs".to_owned(), Json::Array(jobs));
    let mut spec = Map::new();
    spec.insert("mlPolicy".to_owned(), Json::Object(policy));
    let mut whole = json!({ "spec": template });
    if let (Queue::Volcano(queue), Some(whole)) = (&cx.target.queue, whole.as_object_mut())
        && cx.target.trainer >= TrainerApi::V2_1
    {
        // Trainer makes one group of all pods of the job, and takes its queue from here.
        spec.insert("podGroupPolicy".to_owned(), json!({ "volcano": {} }));
        whole.insert("metadata".to_owned(), json!({ "annotations": { "scheduling.volcano.sh/queue-name": queue } }));
    }
    spec.insert("template".to_owned(), whole);
    let api = Api::known(API_VERSION, "TrainingRuntime", "trainingruntimes");
    let body = Map::from_iter([("spec".to_owned(), Json::Object(spec))]);
    Some((roles, Supporting::new(api, body)))
}

fn policy_of(framework: &Framework, size: &Size) -> Json {
    let Framework::Mpi(mpi) = framework else { return json!({}) };
    let mut policy = Map::new();
    policy.insert("mpiImplementation".to_owned(), "OpenMPI".into());
    insert(&mut policy, "numProcPerNode", Some(size.processes.unwrap_or(1)));
    policy.insert("runLauncherAsNode".to_owned(), true.into());
    // Written out, Trainer's default says nothing new and so starts no run.
    let mount_path = mpi.ssh_auth_mount_path.as_ref().map(|text| text.0.clone());
    insert(&mut policy, "sshAuthMountPath", mount_path.filter(|path| path != "/root/.ssh"));
    Json::Object(policy)
}

/// Returns the role of the nodes other than the launcher; without a program of their own they run `sshd`.
fn mpi_node(cx: &mut Lowering<'_>, size: &Size) -> Option<Role> {
    let pods = size.nodes.saturating_sub(1).max(1);
    // Fields of the trainer's pods apply to all of them, except for the program.
    let mut role = trainer_role(cx, NODE, template_at(0, NODE), pods)?;
    role.command = SSHD.map(str::to_owned).to_vec();
    role.args.clear();
    role.word_spans = [vec![role.span; SSHD.len()], Vec::new()];
    let mpi = cx.entry.value.get("runtime").and_then(|runtime| runtime.get("mpi"));
    if let Some(block) = mpi.and_then(|mpi| mpi.get("node")) {
        let RoleBlock { command, args, .. } = read(block, cx.diagnostics)?;
        if let Some(command) = command {
            role.command = texts(command);
        }
        role.args = texts(args.unwrap_or_default());
        let places = |field: &str, words: &[String]| {
            let said = spans(block.get(field));
            if said.is_empty() { vec![block.span; words.len()] } else { said }
        };
        role.word_spans = [places("command", &role.command), places("args", &role.args)];
        role.pod_patches.extend(block.get("pod").cloned());
        role.container_patches.extend(block.get("container").cloned());
    }
    Some(role)
}

/// Returns where the template of a Job's pods is in the runtime.
fn template_at(index: usize, name: &str) -> TemplateAt {
    let field = TemplateStep::field;
    let element = TemplateStep::Element { index, key: "name".into(), name: name.to_owned() };
    let before = [field("template"), field("spec"), field("replicatedJobs"), element];
    let after = ["template", "spec", "template"].map(field);
    TemplateAt::of(1, before.into_iter().chain(after).collect())
}

fn job(cx: &Lowering<'_>, name: &str, step: Option<&str>) -> Json {
    let mut spec = Map::new();
    if cx.target.trainer < TrainerApi::V2_2 {
        // The TrainJob has no such field before.
        spec.insert("activeDeadlineSeconds".to_owned(), cx.timeout.seconds().into());
    }
    spec.insert("backoffLimit".to_owned(), 0.into());
    spec.insert("completionMode".to_owned(), "Indexed".into());
    let mut template = json!({ "spec": spec });
    if let (Some(step), Some(template)) = (step, template.as_object_mut()) {
        template.insert("metadata".to_owned(), json!({ "labels": { (ANCESTOR): step } }));
    }
    json!({ "name": name, "replicas": 1, "template": template })
}

/// Reads a TrainJob, whose conditions are those of its JobSet.
fn outcome(object: &Json) -> Outcome {
    let jobs = object.pointer("/status/jobsStatus").and_then(Json::as_array);
    let is_ready = jobs.into_iter().flatten().any(|job| count_at(job, "/ready").is_some_and(|count| count > 0));
    match status::read(object, &["Failed"], &["Complete"], &[]) {
        Outcome::Pending if is_ready => Outcome::Running,
        outcome => outcome,
    }
}

/// The launcher decides if there is one. For a runtime of the cluster, only the status shows that.
fn deciders(object: &Json) -> Deciders {
    let jobs = object.pointer("/status/jobsStatus").and_then(Json::as_array);
    let has_launcher = jobs.into_iter().flatten().any(|job| text_at(job, "/name") == LAUNCHER);
    status::all_of([if has_launcher { LAUNCHER } else { NODE }])
}

/// The launcher of MPI is one of the nodes.
fn pods(object: &Json) -> Vec<PodSet> {
    let replicas = count_at(object, "/spec/trainer/numNodes").unwrap_or(1);
    vec![PodSet::new(NODE, replicas, replicas, "")]
}
