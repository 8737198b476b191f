//! `pytorchJob`: a PyTorchJob of the training operator, a master and workers that meet by torch.distributed.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::kubeflow::{self, KubeflowJob, SchedulingPolicy};
use super::status;
use super::{Kind, Lowering, Purpose, insert, schema_of};
use crate::model::{Api, Role, Workload};
use kubebench_format::spec::v1::container::RoleBlock;
use kubebench_format::spec::v1::scalar::{Count, CountFromZero, Patch, Port, Text};
use kubebench_syntax::diag::{Diagnostic, code};

pub(super) const KIND: Kind = Kind {
    key: "pytorchJob",
    api: Api::known("kubeflow.org/v1", "PyTorchJob", "pytorchjobs"),
    schema: schema_of::<PyTorchJob>,
    lower,
    purpose: Purpose::Works,
    container: "pytorch",
    outcome: status::kubeflow,
    deciders: |object| kubeflow::master_or_workers(object, "pytorchReplicaSpecs"),
    pods: status::replica_specs,
    example: EXAMPLE,
};

const EXAMPLE: &str = "\
pytorchJob:
  image: docker.io/pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime
  command: [torchrun, train.py]
  resources: {cpu: 8, memory: 32Gi, nvidia.com/gpu: 1}
  master: {}
  worker:
    replicas: 1
";

/// A PyTorchJob: a master and workers, or workers alone.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("examples" = [{"image": "registry.example/train:1", "master": {}, "worker": {"replicas": 3, "command": ["torchrun", "train.py"]}}]))]
struct PyTorchJob {
    /// Processes on each pod: `auto`, `gpu`, `cpu` or a number; torchrun reads it as `PET_NPROC_PER_NODE`.
    #[schemars(extend("default" = "auto", "type" = ["string", "integer"], "format" = "processes-per-node", "minimum" = 1, "examples" = ["gpu", 8]))]
    nproc_per_node: Option<Text>,
    /// How workers join and leave; without a master and without it, workers meet at a fixed size.
    #[schemars(extend("examples" = [{"minReplicas": 2, "maxReplicas": 4, "maxRestarts": 3}]))]
    elastic_policy: Option<ElasticPolicy>,
    /// Rank 0; always one pod. The job succeeds when it does.
    #[schemars(extend("examples" = [{}]))]
    master: Option<RoleBlock>,
    /// The other ranks.
    #[schemars(extend("examples" = [{"replicas": 3}]))]
    worker: Option<RoleBlock>,
    /// Gang scheduling.
    #[schemars(extend("examples" = [{"minAvailable": 4}]))]
    scheduling_policy: Option<SchedulingPolicy>,
    /// Strategic merge patch over the whole object, applied last.
    #[schemars(extend("default" = {}, "examples" = [{"metadata": {"annotations": {"example.com/owner": "vision"}}}]))]
    patch: Option<Patch>,
}

/// How workers join and leave.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
struct ElasticPolicy {
    /// The fewest workers.
    #[schemars(extend("examples" = [2]))]
    min_replicas: Option<Count>,
    /// The most workers.
    #[schemars(extend("examples" = [4]))]
    max_replicas: Option<Count>,
    /// How often torchrun starts its processes again; every restart spoils a measurement.
    #[schemars(extend("default" = 0, "examples" = [3]))]
    max_restarts: Option<CountFromZero>,
    /// How the workers find each other.
    #[schemars(extend("default" = "c10d", "enum" = ["c10d", "etcd", "etcd-v2"], "examples" = ["c10d"]))]
    rdzv_backend: Option<Text>,
    /// The host of the rendezvous; by default worker 0, where no etcd runs, so that `etcd` and `etcd-v2` need it.
    #[schemars(extend("format" = "dns1123-subdomain", "examples" = ["etcd.ml-platform.svc"]))]
    rdzv_host: Option<Text>,
    /// The port of `rdzvHost`; by default 2379 for `etcd` and `etcd-v2`, and the operator's port otherwise.
    #[schemars(extend("examples" = [2379]))]
    rdzv_port: Option<Port>,
    /// Settings of the rendezvous.
    #[schemars(extend("default" = {}, "examples" = [{"timeout": "900"}]))]
    rdzv_conf: std::collections::BTreeMap<String, Text>,
}

/// The port on which etcd listens by default.
const ETCD_PORT: u32 = 2379;

fn lower(cx: &mut Lowering<'_>) -> Option<Workload> {
    let PyTorchJob { nproc_per_node, elastic_policy, master, worker, scheduling_policy, patch: _ } = cx.form()?;
    if master.is_none() && worker.is_none() {
        cx.fault(
            &code::KB0317,
            "pytorchJob",
            "`pytorchJob` has neither `master` nor `worker`",
            "add `master: {}` for one pod, and `worker: {replicas: n}` for more",
        );
        return None;
    }
    if elastic_policy.is_some() && worker.is_none() {
        cx.fault(
            &code::KB0317,
            "elasticPolicy",
            "`elasticPolicy` needs a `worker`",
            "write the pods as `worker: {replicas: n}`",
        );
    }
    if elastic_policy.is_some() && master.is_some() {
        cx.fault(
            &code::KB0317,
            "elasticPolicy",
            "`elasticPolicy` cannot be combined with a `master`",
            "delete `master` and raise `worker.replicas` by one: the rendezvous counts the workers alone, and one pod \
             would be left out",
        );
    }
    let mut job = KubeflowJob::of(&KIND, "pytorchReplicaSpecs", scheduling_policy);
    let mut roles = kubeflow::roles(cx, &job, kubeflow::MASTER_AND_WORKERS);
    kubeflow::refuse_more_masters(cx, &roles);
    // Written out, the operator's default says nothing new and so starts no run.
    insert(&mut job.fields, "nprocPerNode", nproc_per_node.map(|text| text.0).filter(|text| text != "auto"));
    insert(&mut job.fields, "elasticPolicy", elastic(cx, elastic_policy, &mut roles));
    Some(kubeflow::finish(cx, job, roles))
}

/// Without a master the operator sets no rendezvous at all unless the job is elastic, so a fixed size is written as one.
fn elastic(cx: &mut Lowering<'_>, policy: Option<ElasticPolicy>, roles: &mut [Role]) -> Option<Json> {
    let has_master = roles.iter().any(|role| role.name == "master");
    let policy = match policy {
        Some(policy) => policy,
        None if has_master => return None,
        None => ElasticPolicy::default(),
    };
    let ElasticPolicy { min_replicas, max_replicas, max_restarts, rdzv_backend, rdzv_host, rdzv_port, rdzv_conf } =
        policy;
    let (min, max) = kubeflow::elastic_range(cx, roles, (min_replicas, max_replicas));
    let backend = rdzv_backend.map_or_else(|| "c10d".to_owned(), |text| text.0);
    let is_etcd = backend != "c10d";
    if is_etcd && rdzv_host.is_none() {
        let at = cx.entry.value.get("elasticPolicy").and_then(|policy| policy.get("rdzvBackend"));
        let message = format!("the backend `{backend}` has no `rdzvHost`");
        let fault = Diagnostic::at(&code::KB0332, at.map_or(cx.entry.key_span, |node| node.span), message).note(
            "the operator would use worker 0, where no etcd runs: every worker would wait, and then the run would fail",
        );
        cx.report(fault.help("add `rdzvHost: etcd.example.svc`, or use `c10d`, which needs no server"));
    }
    let mut elastic = json!({
        "minReplicas": min,
        "maxReplicas": max,
        "maxRestarts": max_restarts.map_or(0, |count| count.0),
        "rdzvBackend": backend,
    });
    let port = rdzv_port.map(|port| port.0).or(is_etcd.then_some(ETCD_PORT));
    if let Some(elastic) = elastic.as_object_mut() {
        insert(elastic, "rdzvHost", rdzv_host.map(|text| text.0));
        insert(elastic, "rdzvPort", port);
    }
    let conf: Vec<Json> =
        rdzv_conf.into_iter().map(|(key, Text(value))| json!({ "key": key, "value": value })).collect();
    if let Some(elastic) = elastic.as_object_mut().filter(|_| !conf.is_empty()) {
        elastic.insert("rdzvConf".to_owned(), Json::Array(conf));
    }
    Some(elastic)
}
