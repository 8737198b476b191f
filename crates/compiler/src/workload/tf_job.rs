//! `tfJob`: a TFJob of the training operator, parameter servers and workers that find each other through `TF_CONFIG`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::kubeflow::{self, KubeflowJob, RoleName, SchedulingPolicy};
use super::status::{self, Deciders};
use super::{Kind, Lowering, Purpose, insert, schema_of};
use crate::model::{Api, Workload};
use kubebench_format::spec::v1::container::RoleBlock;
use kubebench_format::spec::v1::scalar::Patch;
use kubebench_syntax::diag::code;

pub(super) const KIND: Kind = Kind {
    key: "tfJob",
    api: Api::known("kubeflow.org/v1", "TFJob", "tfjobs"),
    schema: schema_of::<TfJob>,
    lower,
    purpose: Purpose::Works,
    container: "tensorflow",
    outcome: status::kubeflow,
    deciders,
    pods: status::replica_specs,
    example: EXAMPLE,
};

const EXAMPLE: &str = "\
tfJob:
  image: docker.io/tensorflow/tensorflow:2.19.0
  command: [python3, -c, 'import os; print(os.environ[\"TF_CONFIG\"]); print(\"throughput: 100.0\")']
  resources: {cpu: 2, memory: 4Gi}
  ps:
    replicas: 1
  worker:
    replicas: 2
";

/// A TFJob: TensorFlow with parameter servers and workers.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("examples" = [{"image": "docker.io/tensorflow/tensorflow:2.19.0", "command": ["python3", "train.py"], "ps": {"replicas": 1}, "worker": {"replicas": 2}}]))]
struct TfJob {
    /// The pod that coordinates and decides success; not together with `master`.
    #[schemars(extend("examples" = [{"resources": {"cpu": 2}}]))]
    chief: Option<RoleBlock>,
    /// The older name of `chief`.
    #[schemars(extend("examples" = [{"resources": {"cpu": 2}}]))]
    master: Option<RoleBlock>,
    /// Parameter servers.
    #[schemars(extend("examples" = [{"replicas": 2}]))]
    ps: Option<RoleBlock>,
    /// The pods that train.
    #[schemars(extend("examples" = [{"replicas": 4}]))]
    worker: Option<RoleBlock>,
    /// The pod that evaluates checkpoints.
    #[schemars(extend("examples" = [{"replicas": 1}]))]
    evaluator: Option<RoleBlock>,
    /// When the job counts as done: with worker 0, or with all workers.
    #[schemars(extend("examples" = ["AllWorkers"]))]
    success_policy: Option<SuccessPolicy>,
    /// Gang scheduling.
    #[schemars(extend("examples" = [{"minAvailable": 6}]))]
    scheduling_policy: Option<SchedulingPolicy>,
    /// Strategic merge patch over the whole object, applied last.
    #[schemars(extend("default" = {}, "examples" = [{"metadata": {"annotations": {"example.com/owner": "vision"}}}]))]
    patch: Option<Patch>,
}

/// When a TFJob counts as done.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
enum SuccessPolicy {
    /// With all workers.
    AllWorkers,
    /// With worker 0.
    #[serde(rename = "")]
    Default,
}

const ROLES: &[RoleName] = &[
    RoleName { field: "chief", api: "Chief", pod_infix: "-chief-", needs_token: false },
    RoleName { field: "master", api: "Master", pod_infix: "-master-", needs_token: false },
    RoleName { field: "ps", api: "PS", pod_infix: "-ps-", needs_token: false },
    RoleName { field: "worker", api: "Worker", pod_infix: "-worker-", needs_token: false },
    RoleName { field: "evaluator", api: "Evaluator", pod_infix: "-evaluator-", needs_token: false },
];

fn lower(cx: &mut Lowering<'_>) -> Option<Workload> {
    let TfJob { chief, master, ps: _, worker, evaluator: _, success_policy, scheduling_policy, patch: _ } =
        cx.form()?;
    if chief.is_some() && master.is_some() {
        cx.fault(
            &code::KB0317,
            "master",
            "a TFJob has a `chief` or a `master`, not both",
            "delete `master`; it is the older name of `chief`",
        );
    }
    if chief.is_none() && master.is_none() && worker.is_none() {
        cx.fault(
            &code::KB0317,
            "tfJob",
            "`tfJob` has no role that can succeed",
            "add `worker: {replicas: 1}` or a `chief`",
        );
        return None;
    }
    let mut fields = Map::new();
    let success_policy = success_policy.and_then(|policy| match policy {
        SuccessPolicy::AllWorkers => Some("AllWorkers"),
        SuccessPolicy::Default => None,
    });
    insert(&mut fields, "successPolicy", success_policy);
    let job = KubeflowJob { fields, ..KubeflowJob::of(&KIND, "tfReplicaSpecs", scheduling_policy) };
    let roles = kubeflow::roles(cx, &job, ROLES);
    for role in roles.iter().filter(|role| matches!(role.name.as_str(), "chief" | "master") && role.replicas != 1) {
        let message = format!("`{}` has {} replicas, but a TFJob has exactly one", role.name, role.replicas);
        cx.report(
            kubebench_syntax::diag::Diagnostic::at(&code::KB0317, role.replicas_span, message)
                .help("delete `replicas`; more pods that train are `worker` replicas"),
        );
    }
    Some(kubeflow::finish(cx, job, roles))
}

/// The operator looks at the chief where there is one, whatever the success policy says.
fn deciders(object: &Json) -> Deciders {
    let has = |role: &str| object.pointer("/spec/tfReplicaSpecs").and_then(|specs| specs.get(role)).is_some();
    let policy = object.pointer("/spec/successPolicy").and_then(Json::as_str);
    match policy {
        _ if has("Chief") || has("Master") => status::all_of(["chief", "master"]),
        Some("AllWorkers") => status::all_of(["worker"]),
        _ => status::first_of("worker"),
    }
}
