//! `paddleJob`: a PaddleJob of the training operator: only workers (collective), or servers as masters with trainers.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::kubeflow::{self, KubeflowJob, SchedulingPolicy};
use super::status;
use super::{Kind, Lowering, Purpose, insert, schema_of};
use crate::model::{Api, Role, Workload};
use kubebench_format::spec::v1::container::RoleBlock;
use kubebench_format::spec::v1::scalar::{Count, CountFromZero, Patch};
use kubebench_syntax::diag::{Diagnostic, code};

pub(super) const KIND: Kind = Kind {
    key: "paddleJob",
    api: Api::known("kubeflow.org/v1", "PaddleJob", "paddlejobs"),
    schema: schema_of::<PaddleJob>,
    lower,
    purpose: Purpose::Works,
    container: "paddle",
    outcome: status::kubeflow,
    deciders: |object| kubeflow::master_or_workers(object, "paddleReplicaSpecs"),
    pods: status::replica_specs,
    example: EXAMPLE,
};

const EXAMPLE: &str = "\
paddleJob:
  image: ccr-2vdh3abv-pub.cnc.bj.baidubce.com/paddlepaddle/paddle:3.0.0
  # Paddle's launcher reads the rendezvous address itself: [python3, -m, paddle.distributed.launch, train.py]
  command: [python3, -c, 'import os; print(\"meets at\", os.environ[\"PADDLE_MASTER\"]); print(\"throughput: 100.0\")']
  resources: {cpu: 2, memory: 4Gi}
  worker:
    replicas: 2
";

/// A PaddleJob: workers that train together, or masters that serve parameters to workers.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("examples" = [{"image": "registry.example/paddle:3.0.0", "command": ["python3", "-m", "paddle.distributed.launch", "train.py"], "worker": {"replicas": 2}}]))]
struct PaddleJob {
    /// How many workers there may be. The training operator ignores it.
    #[schemars(extend("examples" = [{"minReplicas": 2, "maxReplicas": 4, "maxRestarts": 3}]))]
    elastic_policy: Option<PaddleElasticPolicy>,
    /// The parameter servers. The job succeeds when they do; without them, when all workers do.
    #[schemars(extend("examples" = [{"replicas": 1}]))]
    master: Option<RoleBlock>,
    /// The pods that train.
    #[schemars(extend("examples" = [{"replicas": 2}]))]
    worker: Option<RoleBlock>,
    /// Gang scheduling.
    #[schemars(extend("examples" = [{"minAvailable": 2}]))]
    scheduling_policy: Option<SchedulingPolicy>,
    /// Strategic merge patch over the whole object, applied last.
    #[schemars(extend("default" = {}, "examples" = [{"metadata": {"annotations": {"example.com/owner": "speech"}}}]))]
    patch: Option<Patch>,
}

/// How workers may join and leave.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
struct PaddleElasticPolicy {
    /// The fewest workers; without it, as many as there are.
    #[schemars(extend("examples" = [2]))]
    min_replicas: Option<Count>,
    /// The most workers; without it, as many as there are.
    #[schemars(extend("examples" = [4]))]
    max_replicas: Option<Count>,
    /// How often pods may be started again; every restart spoils a measurement.
    #[schemars(extend("default" = 0, "examples" = [3]))]
    max_restarts: Option<CountFromZero>,
}

fn lower(cx: &mut Lowering<'_>) -> Option<Workload> {
    let PaddleJob { elastic_policy, master, worker, scheduling_policy, patch: _ } = cx.form()?;
    if master.is_none() && worker.is_none() {
        cx.fault(
            &code::KB0317,
            "paddleJob",
            "`paddleJob` has neither `worker` nor `master`",
            "add `worker: {replicas: n}`, and `master: {replicas: n}` for parameter servers",
        );
        return None;
    }
    if elastic_policy.is_some() && worker.is_none() {
        cx.fault(
            &code::KB0317,
            "elasticPolicy",
            "`elasticPolicy` needs a `worker`",
            "write the pods that train as `worker: {replicas: n}`",
        );
    }
    let mut job = KubeflowJob::of(&KIND, "paddleReplicaSpecs", scheduling_policy);
    let mut roles = kubeflow::roles(cx, &job, kubeflow::MASTER_AND_WORKERS);
    insert(&mut job.fields, "elasticPolicy", elastic_policy.map(|policy| elastic(cx, &policy, &mut roles)));
    Some(kubeflow::finish(cx, job, roles))
}

fn elastic(cx: &mut Lowering<'_>, policy: &PaddleElasticPolicy, roles: &mut [Role]) -> Json {
    let PaddleElasticPolicy { min_replicas, max_replicas, max_restarts } = *policy;
    let (min, max) = kubeflow::elastic_range(cx, roles, (min_replicas, max_replicas));
    let idle = Diagnostic::at(
        &code::KB0437,
        cx.span_of("elasticPolicy"),
        "the training operator ignores `elasticPolicy` of a PaddleJob",
    );
    cx.report(
        idle.note(
            "it creates no autoscaler, and sets `PADDLE_NNODES` of every pod to the number of all pods, which \
             `paddle.distributed.launch` prefers to `--nnodes`: the job has `worker.replicas` pods from start to end",
        )
        .help(format!("delete it, or {}", code::KB0437.switched_off())),
    );
    json!({ "minReplicas": min, "maxReplicas": max, "maxRestarts": max_restarts.map_or(0, |count| count.0) })
}
