//! The pod template of a role: restricted by default, without a token, with what the run must know in its environment.

mod owned;

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{
    Capabilities, ConfigMapKeySelector, Container, ContainerPort, EmptyDirVolumeSource, EnvVar, EnvVarSource,
    HTTPGetAction, ObjectFieldSelector, PersistentVolumeClaimVolumeSource, PodSecurityContext, PodSpec,
    ResourceRequirements, SeccompProfile, SecretKeySelector, SecurityContext, TCPSocketAction, Toleration, Volume,
    VolumeMount,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde_json::{Value as Json, json};

use super::object::object;
use super::{files, meta, patch};
use crate::model::target::Queue;
use crate::model::{self, Benchmark, Case, Env, OfServer, Probe, Role, Serves, VOLUME_OF_RESULTS, carried};
use kubebench_contract::{data_folder, labels, users};
use kubebench_syntax::diag::Diagnostics;

use kubebench_syntax::invariant::Invariant as _;

/// Where the steps mount the volume of results; the same place as in kubeflow/kubebench, so that its images work.
pub const EXPERIMENTS: &str = "/kubebench/experiments";
/// Where the input of jobs is mounted: what `prepare` leaves, or a volume of the user's.
pub const DATA: &str = "/kubebench/data";
/// Where a pod that sees the volume of results sees the folder of its run.
const RUN: &str = "/kubebench/experiments/run";
const SHARED_MEMORY: &str = "dshm";

/// Returns the pod template of `role`; `case` is absent for the Job before the runs.
pub(super) fn template(benchmark: &Benchmark, case: Option<&Case>, role: &Role, diagnostics: &mut Diagnostics) -> Json {
    let mut spec = serde_json::to_value(pod_spec(benchmark, role)).expected("JSON of our own types");
    for user in &role.pod_patches {
        let change = patch::of_pod(user, diagnostics);
        owned::refuse_in_pod(user, role, diagnostics);
        patch::merge(&mut spec, &change);
    }
    for user in &role.container_patches {
        let change = patch::of_container(user, diagnostics);
        owned::refuse_in_container(user, diagnostics);
        let containers = spec.get_mut("containers").and_then(Json::as_array_mut);
        let main = containers
            .into_iter()
            .flatten()
            .find(|container| container.get("name").is_some_and(|name| name == &*role.container_name));
        if let Some(main) = main {
            patch::merge(main, &change);
        }
    }
    owned::refuse_removals(role, &spec, diagnostics);
    object([("metadata", metadata(benchmark, case, role)), ("spec", spec)])
}

fn metadata(benchmark: &Benchmark, case: Option<&Case>, role: &Role) -> Json {
    let mut labels = meta::pod_labels(benchmark, case);
    if let Some(labels) = labels.as_object_mut() {
        labels.insert(labels::ROLE.to_owned(), role.name.as_str().into());
        for (key, value) in &role.labels {
            labels.entry(key.clone()).or_insert_with(|| value.as_str().into());
        }
    }
    let mut annotations: BTreeMap<&str, &str> =
        role.annotations.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    if let (Queue::Volcano(queue), Some(_)) = (&benchmark.target.queue, role.restart_policy) {
        annotations.entry("scheduling.volcano.sh/queue-name").or_insert(queue);
    }
    if annotations.is_empty() {
        object([("labels", labels)])
    } else {
        object([("labels", labels), ("annotations", json!(annotations))])
    }
}

fn pod_spec(benchmark: &Benchmark, role: &Role) -> PodSpec {
    let target = &benchmark.target;
    let mut volumes = Vec::new();
    let mut mounts = Vec::new();
    if role.accelerators() > 0.0 {
        let memory = EmptyDirVolumeSource { medium: Some("Memory".to_owned()), ..EmptyDirVolumeSource::default() };
        volumes.push(Volume { name: SHARED_MEMORY.to_owned(), empty_dir: Some(memory), ..Volume::default() });
        mounts.push(VolumeMount {
            name: SHARED_MEMORY.to_owned(),
            mount_path: "/dev/shm".to_owned(),
            ..VolumeMount::default()
        });
    }
    let sees = sees(benchmark, role);
    if sees != Sees::Nothing {
        let (volume, of_results) = results(benchmark, sees);
        volumes.push(volume);
        mounts.extend(of_results.into_iter().filter(|mount| !mounts_itself(role, &mount.mount_path)));
    }
    if let Some((volume, mount)) = files::mount(benchmark) {
        volumes.push(volume);
        mounts.push(mount);
    }
    let volcano = matches!(target.queue, Queue::Volcano(_)) && role.restart_policy.is_some();
    PodSpec {
        active_deadline_seconds: role.deadline.and_then(|deadline| i64::try_from(deadline.seconds()).ok()),
        automount_service_account_token: (!role.needs_token).then_some(false),
        containers: vec![container(benchmark, role, mounts)],
        node_selector: (!target.node_selector.is_empty()).then(|| target.node_selector.clone()),
        priority_class_name: target.priority_class.clone(),
        restart_policy: role.restart_policy.map(str::to_owned),
        service_account_name: role.service_account.clone(),
        scheduler_name: volcano.then(|| "volcano".to_owned()),
        security_context: Some(PodSecurityContext {
            // Only for the volume: with it, a mounted SSH key would be readable by the group, which ssh refuses.
            fs_group: (sees != Sees::Nothing).then_some(i64::from(users::GROUP)),
            // What the volume holds keeps its modes: the kubelet would make all of it writable for the group.
            fs_group_change_policy: (sees != Sees::Nothing).then(|| "OnRootMismatch".to_owned()),
            run_as_group: Some(i64::from(users::GROUP)),
            run_as_non_root: Some(true),
            run_as_user: Some(i64::from(users::JOBS)),
            seccomp_profile: Some(SeccompProfile { localhost_profile: None, type_: "RuntimeDefault".to_owned() }),
            ..PodSecurityContext::default()
        }),
        tolerations: (!target.tolerations.is_empty()).then(|| {
            target
                .tolerations
                .iter()
                .filter_map(|json| serde_json::from_value::<Toleration>(json.clone()).ok())
                .collect()
        }),
        volumes: (!volumes.is_empty()).then_some(volumes),
        ..PodSpec::default()
    }
}

/// What a pod sees of the volume of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sees {
    /// Nothing: its results are in its log.
    Nothing,
    /// What its run leaves.
    Run,
    /// The same, and what is made from it.
    Postprocess,
    /// What all runs read, before there is one.
    Prepare,
}

/// The Jobs outside the runs always see the volume; the workload only when the spec says so.
fn sees(benchmark: &Benchmark, role: &Role) -> Sees {
    match role.name.as_str() {
        "prepare" => Sees::Prepare,
        "postprocess" => Sees::Postprocess,
        _ => of_workload(benchmark),
    }
}

/// Returns what the pods of the workload see.
pub(super) fn of_workload(benchmark: &Benchmark) -> Sees {
    if benchmark.mount_in_job { Sees::Run } else { Sees::Nothing }
}

/// Returns the volume of results of a pod, and the mounts of its main container: never the place where the results of runs are.
pub(super) fn results(benchmark: &Benchmark, sees: Sees) -> (Volume, Vec<VolumeMount>) {
    let claim = PersistentVolumeClaimVolumeSource { claim_name: super::claim::name(benchmark), read_only: None };
    let volume =
        Volume { name: VOLUME_OF_RESULTS.to_owned(), persistent_volume_claim: Some(claim), ..Volume::default() };
    let of_run = |folder: &&str| VolumeMount {
        name: VOLUME_OF_RESULTS.to_owned(),
        mount_path: format!("{RUN}/{folder}"),
        sub_path_expr: Some(format!("$(KUBEBENCH_EXP_ID)/{folder}")),
        ..VolumeMount::default()
    };
    let folders = if sees == Sees::Postprocess { &["output", "result"][..] } else { &["output"] };
    let data = benchmark.prepare.is_some().then(|| VolumeMount {
        name: VOLUME_OF_RESULTS.to_owned(),
        mount_path: DATA.to_owned(),
        read_only: (sees != Sees::Prepare).then_some(true),
        sub_path: Some(data_folder(&benchmark.name)),
        ..VolumeMount::default()
    });
    (volume, folders.iter().map(of_run).chain(data).collect())
}

/// Returns whether a patch mounts a volume of the user's at `path`.
fn mounts_itself(role: &Role, path: &str) -> bool {
    let of_pods = role.pod_patches.iter().flat_map(|pod| pod.items_of("containers"));
    let mounts = of_pods.chain(&role.container_patches).flat_map(|container| container.items_of("volumeMounts"));
    mounts.filter_map(|mount| mount.get("mountPath")).any(|own| own.as_text() == Some(path))
}

fn container(benchmark: &Benchmark, role: &Role, mounts: Vec<VolumeMount>) -> Container {
    let words = |words: &[String]| (!words.is_empty()).then(|| words.iter().map(|word| literal(word, role)).collect());
    let quantities = |amounts: &BTreeMap<String, kubebench_syntax::unit::Quantity>| {
        (!amounts.is_empty())
            .then(|| amounts.iter().map(|(name, amount)| (name.clone(), Quantity(amount.canonical()))).collect())
    };
    Container {
        name: role.container_name.to_string(),
        image: role.image.as_ref().map(|image| benchmark.target.mirrored(image)),
        command: words(&role.command),
        args: words(&role.args),
        env: Some(environment(benchmark, role)),
        resources: (!role.limits.is_empty() || !role.requests.is_empty()).then(|| ResourceRequirements {
            claims: None,
            limits: quantities(&role.limits),
            requests: quantities(&role.requests),
        }),
        security_context: Some(SecurityContext {
            allow_privilege_escalation: Some(false),
            capabilities: Some(Capabilities { add: None, drop: Some(vec!["ALL".to_owned()]) }),
            ..SecurityContext::default()
        }),
        ports: role.serves.as_ref().map(|serves| vec![port(serves)]),
        readiness_probe: role.serves.as_ref().map(readiness),
        volume_mounts: (!mounts.is_empty()).then_some(mounts),
        ..Container::default()
    }
}

fn port(serves: &Serves) -> ContainerPort {
    let (name, number) = (Some("http".to_owned()), i32::from(serves.port));
    ContainerPort { name, container_port: number, protocol: Some("TCP".to_owned()), ..ContainerPort::default() }
}

/// A server under load may be too busy to answer the kubelet; it must still receive requests.
const BUSY: i32 = 3600;

/// Returns what the kubelet asks each second, so that the time until a server is ready is known to the second.
fn readiness(serves: &Serves) -> k8s_openapi::api::core::v1::Probe {
    let port = IntOrString::Int(i32::from(serves.port));
    let (http_get, tcp_socket) = match &serves.probe {
        Probe::Http { path } => {
            (Some(HTTPGetAction { path: Some(path.clone()), port, ..HTTPGetAction::default() }), None)
        }
        Probe::HttpOfModel { .. } | Probe::Tcp => (None, Some(TCPSocketAction { host: None, port })),
    };
    k8s_openapi::api::core::v1::Probe {
        http_get,
        tcp_socket,
        period_seconds: Some(1),
        timeout_seconds: Some(5),
        failure_threshold: Some(BUSY),
        ..k8s_openapi::api::core::v1::Probe::default()
    }
}

/// Returns the variables: Kubebench's own first, because the user's may refer to them.
fn environment(benchmark: &Benchmark, role: &Role) -> Vec<EnvVar> {
    let mut variables = own_variables(benchmark, sees(benchmark, role));
    variables.extend(role.of_server.iter().map(|(name, what)| match what {
        OfServer::Text(value) => text(name, &model::literal(value)),
        // The step sets it.
        OfServer::Endpoint | OfServer::Name => EnvVar { name: (*name).to_owned(), ..EnvVar::default() },
    }));
    let of_target = &benchmark.target.pods.env;
    // A user without a passwd entry has neither, and libraries that ask for them fail.
    for (name, value) in [("HOME", "/tmp"), ("USER", "kubebench")] {
        if !role.env.contains_key(name) && !of_target.contains_key(name) {
            variables.push(text(name, value));
        }
    }
    let of_target = of_target.iter().filter(|(name, _)| !role.env.contains_key(*name));
    variables.extend(of_target.map(|(name, (value, _))| variable(name, value)));
    variables.extend(in_order_of_use(role).into_iter().filter_map(|name| role.env.get_key_value(name)).map(
        |(name, (value, _))| match value {
            Env::Text(value) => text(name, &literal(value, role)),
            other => variable(name, other),
        },
    ));
    variables
}

/// Returns a variable whose text is not expanded.
pub(super) fn variable(name: &str, value: &Env) -> EnvVar {
    match value {
        Env::Text(value) => text(name, &model::literal(value)),
        other => EnvVar { name: name.to_owned(), value_from: Some(source(other)), ..EnvVar::default() },
    }
}

fn text(name: &str, value: &str) -> EnvVar {
    EnvVar { name: name.to_owned(), value: Some(value.to_owned()), ..EnvVar::default() }
}

/// Returns the variables that tell the main container of any pod where it is.
pub(super) fn own_variables(benchmark: &Benchmark, sees: Sees) -> Vec<EnvVar> {
    // Kubernetes expands no variable in the path of a mount.
    let folder = if sees == Sees::Nothing { "$(KUBEBENCH_EXP_ROOT)/$(KUBEBENCH_EXP_ID)" } else { RUN };
    let mut variables = vec![
        text("KUBEBENCH_EXP_ROOT", EXPERIMENTS),
        EnvVar {
            name: "KUBEBENCH_EXP_ID".to_owned(),
            value_from: Some(field(format!("metadata.labels['{}']", labels::RUN))),
            ..EnvVar::default()
        },
        text("KUBEBENCH_EXP_PATH", folder),
        text("KUBEBENCH_EXP_CONFIG_PATH", "$(KUBEBENCH_EXP_PATH)/config"),
        text("KUBEBENCH_EXP_OUTPUT_PATH", "$(KUBEBENCH_EXP_PATH)/output"),
        text("KUBEBENCH_EXP_RESULT_PATH", "$(KUBEBENCH_EXP_PATH)/result"),
        text("KUBEBENCH_DATA_ROOT", DATA),
    ];
    if !benchmark.files.is_empty() {
        variables.push(text(carried::VARIABLE, carried::FOLDER));
    }
    variables
}

fn source(value: &Env) -> EnvVarSource {
    match value {
        Env::Secret { name, key } => EnvVarSource {
            secret_key_ref: Some(SecretKeySelector { key: key.clone(), name: name.clone(), optional: None }),
            ..EnvVarSource::default()
        },
        Env::ConfigMap { name, key } => EnvVarSource {
            config_map_key_ref: Some(ConfigMapKeySelector { key: key.clone(), name: name.clone(), optional: None }),
            ..EnvVarSource::default()
        },
        Env::Field(path) => field(path.clone()),
        Env::Text(_) => EnvVarSource::default(),
    }
}

fn field(path: String) -> EnvVarSource {
    EnvVarSource {
        field_ref: Some(ObjectFieldSelector { api_version: None, field_path: path }),
        ..EnvVarSource::default()
    }
}

/// Returns the names of the user's variables: by name, but each after those that its value refers to, as Kubernetes needs.
fn in_order_of_use(role: &Role) -> Vec<&str> {
    let mut done = Vec::with_capacity(role.env.len());
    let mut seen = BTreeSet::new();
    for name in role.env.keys() {
        // A variable is on the stack twice: to push what it refers to, and then to be taken itself.
        let mut stack = vec![(name.as_str(), false)];
        while let Some((name, is_ready)) = stack.pop() {
            if is_ready {
                done.push(name);
            } else if seen.insert(name) {
                stack.push((name, true));
                stack.extend(references(role, name).into_iter().rev().map(|other| (other, false)));
            }
        }
    }
    done
}

/// Returns the user's variables that the value of `name` refers to.
fn references<'r>(role: &'r Role, name: &str) -> Vec<&'r str> {
    let Some((Env::Text(value), _)) = role.env.get(name).filter(|_| role.expand_variables) else { return Vec::new() };
    let named = value.split("$(").skip(1).filter_map(|rest| rest.split_once(')'));
    named.filter_map(|(other, _)| role.env.get_key_value(other)).map(|(other, _)| other.as_str()).collect()
}

/// Returns `text` as it must be written in a pod of `role`.
fn literal(text: &str, role: &Role) -> String {
    if role.expand_variables { text.to_owned() } else { model::literal(text) }
}
