//! `mpiJob`: an MPIJob, in the version that the target serves: the training operator's v1 or the MPI operator's v2beta1.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Map;

use super::kubeflow::MORE_WORKERS;
use super::kubeflow::{self, KubeflowJob, RoleName, SchedulingPolicy};
use super::{Kind, Lowering, Purpose, insert, schema_of, status};
use crate::model::target::MpiJobApi;
use crate::model::{Api, Role, Workload};
use kubebench_format::spec::v1::container::RoleBlock;
use kubebench_format::spec::v1::scalar::{Count, Flag, Patch, Text};
use kubebench_syntax::diag::{Diagnostic, code};
use kubebench_syntax::unit::is_accelerator;
use kubebench_syntax::yaml::{Entry, Node};

pub(super) const ONE_MPI_JOB: &str =
    "the training operator's MPIJob (v1) and the MPI operator's (v2beta1) share a name, so a cluster has one of them";

pub(super) const KIND: Kind = Kind {
    key: "mpiJob",
    api: API_V1,
    schema: schema_of::<MpiJob>,
    lower,
    purpose: Purpose::Works,
    container: "mpi",
    outcome: status::kubeflow,
    deciders: |_| status::all_of(["launcher"]),
    pods: status::replica_specs,
    example: EXAMPLE,
};

const EXAMPLE: &str = "\
mpiJob:
  image: docker.io/mpioperator/openmpi:v0.6.0
  slotsPerWorker: 1
  # This image logs in as `mpiuser` (uid 1000): SSH needs a user that the image knows, and a home with the keys.
  sshAuthMountPath: /home/mpiuser/.ssh
  pod:
    securityContext: {runAsUser: 1000, runAsGroup: 1000}
  launcher:
    # `args`, not `command`: the image's entry point waits until the workers' names can be resolved.
    args: [mpirun, -n, 2, echo, 'throughput: 42.0']
    resources: {cpu: 1, memory: 1Gi}
  worker:
    replicas: 2
    command: [/usr/sbin/sshd, -De, -f, /home/mpiuser/.sshd_config]
    resources: {cpu: 2, memory: 4Gi}
    container:
      # The launcher starts when all workers are ready, and ready means: sshd answers.
      readinessProbe: {tcpSocket: {port: 2222}, initialDelaySeconds: 2}
      # The sshd of this image needs this capability to start; `restricted` allows it.
      securityContext: {capabilities: {add: [NET_BIND_SERVICE]}}
";

/// An MPIJob: a launcher that starts processes on workers.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("examples" = [{"image": "docker.io/mpioperator/openmpi:v0.6.0", "launcher": {"command": ["mpirun", "-n", "2", "hostname"]}, "worker": {"replicas": 2}}]))]
struct MpiJob {
    /// Processes on each worker.
    #[schemars(extend("default" = 1, "examples" = [8]))]
    slots_per_worker: Option<Count>,
    /// The pod that runs `mpirun`; always one.
    #[schemars(extend("examples" = [{"command": ["mpirun", "-n", "2", "hostname"]}]))]
    launcher: Option<RoleBlock>,
    /// The pods that compute.
    #[schemars(extend("examples" = [{"replicas": 2}]))]
    worker: Option<RoleBlock>,
    /// The MPI library, which decides the host list's form (v2beta1 only).
    #[schemars(extend("default" = "OpenMPI", "enum" = ["OpenMPI", "Intel", "MPICH"], "examples" = ["MPICH"]))]
    mpi_implementation: Option<Text>,
    /// Where the SSH keys are mounted (v2beta1 only): `.ssh` in the home of the user that the pods run as.
    #[schemars(extend("default" = "/root/.ssh", "examples" = ["/home/mpiuser/.ssh"]))]
    ssh_auth_mount_path: Option<Text>,
    /// When the launcher is created (v2beta1 only); waiting spares it crash loops while workers start.
    #[schemars(extend("default" = "WaitForWorkersReady", "enum" = ["AtStartup", "WaitForWorkersReady"], "examples" = ["AtStartup"]))]
    launcher_creation_policy: Option<Text>,
    /// Lets the launcher compute too (v2beta1 only).
    #[schemars(extend("default" = false, "examples" = [true]))]
    run_launcher_as_worker: Option<Flag>,
    /// Gang scheduling.
    #[schemars(extend("examples" = [{"minAvailable": 3}]))]
    scheduling_policy: Option<SchedulingPolicy>,
    /// Strategic merge patch over the whole object, applied last.
    #[schemars(extend("default" = {}, "examples" = [{"metadata": {"annotations": {"example.com/owner": "hpc"}}}]))]
    patch: Option<Patch>,
}

/// The training operator's.
const API_V1: Api = Api::known("kubeflow.org/v1", "MPIJob", "mpijobs");
/// The MPI operator's.
const API_V2BETA1: Api = Api::known("kubeflow.org/v2beta1", "MPIJob", "mpijobs");
const V2BETA1_ONLY: [&str; 4] =
    ["mpiImplementation", "sshAuthMountPath", "launcherCreationPolicy", "runLauncherAsWorker"];

fn lower(cx: &mut Lowering<'_>) -> Option<Workload> {
    let form: MpiJob = cx.form()?;
    let version = cx.target.mpi_job;
    if form.launcher.is_none() {
        cx.fault(&code::KB0317, "mpiJob", "`mpiJob` has no `launcher`", "add `launcher: {command: [mpirun, …]}`");
        return None;
    }
    if form.worker.is_none() && !form.run_launcher_as_worker.is_some_and(|flag| flag.0) {
        cx.fault(&code::KB0317, "mpiJob", "`mpiJob` has no `worker`", "add `worker: {replicas: n}`");
    }
    for field in
        V2BETA1_ONLY.into_iter().filter(|field| version == MpiJobApi::V1 && cx.entry.value.get(field).is_some())
    {
        let message = format!("`{field}` does not exist in MPIJob v1, which the target `{}` serves", cx.target.name);
        let fault = Diagnostic::at(&code::KB0318, cx.span_of(field), message).note(ONE_MPI_JOB);
        cx.report(fault.help(
            "delete the field, or set `apis: {mpiJob: v2beta1}` on the target if the MPI operator is installed there",
        ));
    }
    refuse_shared_command(cx, version);
    let MpiJob {
        slots_per_worker,
        mpi_implementation,
        ssh_auth_mount_path,
        launcher_creation_policy,
        run_launcher_as_worker,
        scheduling_policy,
        ..
    } = form;
    let launcher_computes = run_launcher_as_worker.is_some_and(|flag| flag.0);
    let mut late_role = None;
    let mut fields = Map::new();
    fields.insert("slotsPerWorker".to_owned(), slots_per_worker.map_or(1, |count| count.0).into());
    let api = match version {
        MpiJobApi::V1 => API_V1,
        MpiJobApi::V2beta1 => {
            let policy = launcher_creation_policy.map_or_else(|| "WaitForWorkersReady".to_owned(), |text| text.0);
            late_role = (policy == "WaitForWorkersReady").then_some("launcher");
            fields.insert("launcherCreationPolicy".to_owned(), policy.into());
            // Written out, the operator's defaults say nothing new and so start no run.
            let unless = |default: &str, given: Option<Text>| given.map(|text| text.0).filter(|text| text != default);
            insert(&mut fields, "mpiImplementation", unless("OpenMPI", mpi_implementation));
            insert(&mut fields, "sshAuthMountPath", unless("/root/.ssh", ssh_auth_mount_path));
            insert(&mut fields, "runLauncherAsWorker", launcher_computes.then_some(true));
            API_V2BETA1
        }
    };
    let job = KubeflowJob {
        api,
        late_role,
        fields,
        scale_is_manual: true,
        ..KubeflowJob::of(&KIND, "mpiReplicaSpecs", scheduling_policy)
    };
    let names = [
        // Under v1 the launcher reaches the workers by `kubectl exec`, for which it needs its token.
        RoleName { field: "launcher", api: "Launcher", pod_infix: "-launcher", needs_token: version == MpiJobApi::V1 },
        RoleName { field: "worker", api: "Worker", pod_infix: "-worker-", needs_token: false },
    ];
    let roles = kubeflow::roles(cx, &job, &names);
    for role in roles.iter().filter(|role| role.name == "launcher" && role.replicas != 1) {
        let message = format!("`launcher` has {} replicas, but an MPIJob has exactly one", role.replicas);
        cx.report(Diagnostic::at(&code::KB0317, role.replicas_span, message).help(MORE_WORKERS));
    }
    for launcher in roles.iter().filter(|role| role.name == "launcher" && !launcher_computes) {
        report_idle_accelerators(cx, launcher);
    }
    Some(kubeflow::finish(cx, job, roles))
}

/// Reports the launcher's program if it is outside the roles, where the workers would run it as well.
fn refuse_shared_command(cx: &mut Lowering<'_>, version: MpiJobApi) {
    let form = &cx.entry.value;
    if form.get("worker").is_none_or(|worker| worker.get("command").or(worker.get("args")).is_some()) {
        return;
    }
    let is_own = |field: &&str| form.get("launcher").is_some_and(|launcher| launcher.get(field).is_some());
    let shared = ["command", "args"].into_iter().filter(|field| !is_own(field)).find_map(|field| form.entry(field));
    let Some(shared) = shared else { return };
    let message = format!("the workers also run the `{}` next to the roles", shared.key);
    let note = match version {
        MpiJobApi::V1 => {
            "a worker waits until the launcher starts processes in it, and a worker with its own command does not"
        }
        MpiJobApi::V2beta1 => {
            "a worker runs `sshd`, unless it has a command; without `sshd` the launcher reaches no worker, and the run \
             fails or hangs"
        }
    };
    let fault = Diagnostic::at(&code::KB0330, shared.key_span, message).note(note);
    cx.report(fault.help(format!(
        "write it under `launcher`, and under `worker` too if the workers run it: `launcher: {{{}: […]}}`",
        shared.key
    )));
}

/// Reports accelerators that the launcher has only because they are set outside the roles.
fn report_idle_accelerators(cx: &mut Lowering<'_>, launcher: &Role) {
    let form = &cx.entry.value;
    let own = form.get("launcher").and_then(|block| block.get("resources"));
    for (name, _) in
        launcher.extended_resources().filter(|(name, amount)| is_accelerator(name) && amount.as_f64() > 0.0)
    {
        if own.is_some_and(|own| amount_of(own, name).is_some()) {
            continue;
        }
        let Some(entry) = form.get("resources").and_then(|shared| amount_of(shared, name)) else { continue };
        let message = format!("the launcher also gets `{name}`, but does not use it");
        let fault = Diagnostic::at(&code::KB0423, entry.key_span, message)
            .note("it only starts `mpirun`: the accelerator is reserved and paid for, and idles");
        cx.report(fault.help(format!(
            "write it under `worker`: `worker: {{resources: {{{name}: …}}}}`, or set `{name}: 0` under `launcher`"
        )));
    }
}

/// Returns where `resources` say an amount of `name`, for both or for one of requests and limits.
fn amount_of<'n>(resources: &'n Node, name: &str) -> Option<&'n Entry> {
    let parts = ["limits", "requests"].into_iter().filter_map(|part| resources.get(part));
    std::iter::once(resources).chain(parts).find_map(|part| part.entry(name))
}
