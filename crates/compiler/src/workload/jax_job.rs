//! `jaxJob`: a JAXJob of the training operator, equal processes that meet at the first of them.

use schemars::JsonSchema;
use serde::Deserialize;

use super::kubeflow::{self, KubeflowJob, RoleName, SchedulingPolicy};
use super::{Kind, Lowering, Purpose, schema_of, status};
use crate::model::{Api, Workload};
use kubebench_format::spec::v1::container::RoleBlock;
use kubebench_format::spec::v1::scalar::Patch;
use kubebench_syntax::diag::code;

pub(super) const KIND: Kind = Kind {
    key: "jaxJob",
    api: Api::known("kubeflow.org/v1", "JAXJob", "jaxjobs"),
    schema: schema_of::<JaxJob>,
    lower,
    purpose: Purpose::Works,
    container: "jax",
    outcome: status::kubeflow,
    deciders: |_| status::all_of(["worker"]),
    pods: status::replica_specs,
    example: EXAMPLE,
};

const EXAMPLE: &str = "\
jaxJob:
  image: docker.io/library/python:3.13-slim
  # JAX takes these as arguments: jax.distributed.initialize(\"$COORDINATOR_ADDRESS:$COORDINATOR_PORT\", NUM_PROCESSES, PROCESS_ID)
  command: [python3, -c, 'import os; print(\"process\", os.environ[\"PROCESS_ID\"], \"of\", os.environ[\"NUM_PROCESSES\"]); print(\"throughput: 100.0\")']
  resources: {cpu: 2, memory: 4Gi}
  worker:
    replicas: 2
";

/// A JAXJob: identical processes, one in each pod.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("examples" = [{"image": "registry.example/jax:0.10.2", "command": ["python3", "train.py"], "worker": {"replicas": 2}}]))]
struct JaxJob {
    /// The pods; the first is the coordinator. The job succeeds when all do.
    #[schemars(extend("examples" = [{"replicas": 2}]))]
    worker: Option<RoleBlock>,
    /// Gang scheduling.
    #[schemars(extend("examples" = [{"minAvailable": 2}]))]
    scheduling_policy: Option<SchedulingPolicy>,
    /// Strategic merge patch over the whole object, applied last.
    #[schemars(extend("default" = {}, "examples" = [{"metadata": {"annotations": {"example.com/owner": "research"}}}]))]
    patch: Option<Patch>,
}

const ROLES: &[RoleName] = &[RoleName { field: "worker", api: "Worker", pod_infix: "-worker-", needs_token: false }];

fn lower(cx: &mut Lowering<'_>) -> Option<Workload> {
    let JaxJob { worker, scheduling_policy, patch: _ } = cx.form()?;
    if worker.is_none() {
        cx.fault(&code::KB0317, "jaxJob", "`jaxJob` has no `worker`", "add `worker: {replicas: n}`");
        return None;
    }
    let job = KubeflowJob::of(&KIND, "jaxReplicaSpecs", scheduling_policy);
    let roles = kubeflow::roles(cx, &job, ROLES);
    Some(kubeflow::finish(cx, job, roles))
}
