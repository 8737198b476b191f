//! `mpiJob`: an MPIJob, in the version that the target serves: the training operator's v1 or the MPI operator's v2beta1.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Map;

use super::kubeflow::{self, KubeflowJob, RoleName, SchedulingPolicy};
use super::{Kind, Lowering, insert, schema_of};
use crate::diag::{Diagnostic, code};
use crate::model::target::MpiJobApi;
use crate::model::{Api, Workload};
use crate::spec::v1::container::RoleBlock;
use crate::spec::v1::scalar::{Count, Flag, Patch, Text};

pub(super) const KIND: Kind = Kind { key: "mpiJob", schema: schema_of::<MpiJob>, lower, example: EXAMPLE };

const EXAMPLE: &str = "\
mpiJob:
  image: docker.io/mpioperator/openmpi:v0.6.0
  slotsPerWorker: 1
  resources: {cpu: 2, memory: 4Gi}
  launcher:
    command: [mpirun, -n, 2, hostname]
  worker:
    replicas: 2
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
    /// Where the SSH keys are mounted (v2beta1 only).
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
        let fault = Diagnostic::at(&code::KB0318, cx.span_of(field), message)
            .note("the training operator's MPIJob (v1) and the MPI operator's (v2beta1) share a name, so a cluster has one of them");
        cx.report(fault.help(
            "delete the field, or set `apis: {mpiJob: v2beta1}` on the target if the MPI operator is installed there",
        ));
    }
    let MpiJob {
        slots_per_worker,
        mpi_implementation,
        ssh_auth_mount_path,
        launcher_creation_policy,
        run_launcher_as_worker,
        scheduling_policy,
        ..
    } = form;
    let mut fields = Map::new();
    fields.insert("slotsPerWorker".to_owned(), slots_per_worker.map_or(1, |count| count.0).into());
    let api = match version {
        MpiJobApi::V1 => Api { api_version: "kubeflow.org/v1", kind: "MPIJob", plural: "mpijobs" },
        MpiJobApi::V2beta1 => {
            let policy = launcher_creation_policy.map_or_else(|| "WaitForWorkersReady".to_owned(), |text| text.0);
            fields.insert("launcherCreationPolicy".to_owned(), policy.into());
            // Written out, the operator's defaults say nothing new and so start no run.
            let unless = |default: &str, given: Option<Text>| given.map(|text| text.0).filter(|text| text != default);
            insert(&mut fields, "mpiImplementation", unless("OpenMPI", mpi_implementation));
            insert(&mut fields, "sshAuthMountPath", unless("/root/.ssh", ssh_auth_mount_path));
            insert(&mut fields, "runLauncherAsWorker", run_launcher_as_worker.map(|flag| flag.0).filter(|flag| *flag));
            Api { api_version: "kubeflow.org/v2beta1", kind: "MPIJob", plural: "mpijobs" }
        }
    };
    let job = KubeflowJob {
        key: KIND.key,
        api,
        replica_specs: "mpiReplicaSpecs",
        container_name: "mpi",
        scheduling_policy,
        fields,
        scale_is_manual: true,
    };
    let names = [
        // Under v1 the launcher reaches the workers by `kubectl exec`, for which it needs its token.
        RoleName { field: "launcher", api: "Launcher", pod_infix: "-launcher", needs_token: version == MpiJobApi::V1 },
        RoleName { field: "worker", api: "Worker", pod_infix: "-worker-", needs_token: false },
    ];
    let roles = kubeflow::roles(cx, &job, &names);
    for role in roles.iter().filter(|role| role.name == "launcher" && role.replicas != 1) {
        let message = format!("`launcher` has {} replicas, but an MPIJob has exactly one", role.replicas);
        cx.report(
            Diagnostic::at(&code::KB0317, role.replicas_span, message)
                .help("delete `replicas` here and raise `worker.replicas`"),
        );
    }
    Some(kubeflow::finish(cx, job, roles))
}
