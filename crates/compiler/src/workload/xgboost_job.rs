//! `xgboostJob`: an XGBoostJob of the training operator, a master with the tracker and workers; LightGBM runs in it too.

use schemars::JsonSchema;
use serde::Deserialize;

use super::kubeflow::{self, KubeflowJob, SchedulingPolicy};
use super::{Kind, Lowering, Purpose, schema_of, status};
use crate::model::{Api, Workload};
use kubebench_format::spec::v1::container::RoleBlock;
use kubebench_format::spec::v1::scalar::Patch;
use kubebench_syntax::diag::code;

pub(super) const KIND: Kind = Kind {
    key: "xgboostJob",
    api: Api::known("kubeflow.org/v1", "XGBoostJob", "xgboostjobs"),
    schema: schema_of::<XgboostJob>,
    lower,
    purpose: Purpose::Works,
    container: "xgboost",
    outcome: status::kubeflow,
    deciders: |_| status::all_of(["master"]),
    pods: status::replica_specs,
    example: EXAMPLE,
};

const EXAMPLE: &str = "\
xgboostJob:
  image: docker.io/library/python:3.13-slim
  # The master starts the tracker on MASTER_PORT; all pods join it at MASTER_ADDR.
  command: [python3, -c, 'import os; print(\"rank\", os.environ[\"RANK\"], \"of\", os.environ[\"WORLD_SIZE\"]); print(\"throughput: 100.0\")']
  resources: {cpu: 2, memory: 4Gi}
  master: {}
  worker:
    replicas: 2
";

/// An XGBoostJob: a master, which trains too, and workers.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("examples" = [{"image": "registry.example/xgboost:3.2.0", "command": ["python3", "train.py"], "master": {}, "worker": {"replicas": 2}}]))]
struct XgboostJob {
    /// Rank 0, with the tracker; always one pod, and never left out. The job succeeds when it does.
    #[schemars(extend("examples" = [{}]))]
    master: Option<RoleBlock>,
    /// The other ranks.
    #[schemars(extend("examples" = [{"replicas": 2}]))]
    worker: Option<RoleBlock>,
    /// Gang scheduling.
    #[schemars(extend("examples" = [{"minAvailable": 3}]))]
    scheduling_policy: Option<SchedulingPolicy>,
    /// Strategic merge patch over the whole object, applied last.
    #[schemars(extend("default" = {}, "examples" = [{"metadata": {"annotations": {"example.com/owner": "ranking"}}}]))]
    patch: Option<Patch>,
}

fn lower(cx: &mut Lowering<'_>) -> Option<Workload> {
    let XgboostJob { master, worker: _, scheduling_policy, patch: _ } = cx.form()?;
    if master.is_none() {
        cx.fault(
            &code::KB0317,
            "xgboostJob",
            "`xgboostJob` has no `master`",
            "add `master: {}`: it is rank 0, and the workers meet at it",
        );
        return None;
    }
    let job = KubeflowJob::of(&KIND, "xgbReplicaSpecs", scheduling_policy);
    let roles = kubeflow::roles(cx, &job, kubeflow::MASTER_AND_WORKERS);
    kubeflow::refuse_more_masters(cx, &roles);
    Some(kubeflow::finish(cx, job, roles))
}
