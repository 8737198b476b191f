//! `deployment`: a server as a Deployment and a Service, whatever it is: TensorFlow Serving, Triton, vLLM.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::role::{ImageFrom, RoleForm, Shape};
use super::serving::{self, Load, ModelName, Protocol, Ready, Server};
use super::status::{self, Outcome, PodSet, condition_of, count_at, text_at};
use super::{Kind, Lowering, Purpose, schema_of};
use crate::model::{self, Api, Endpoint, LongestName, Probe, Serves, TemplateAt, Workload};
use kubebench_format::spec::v1::scalar::{Count, Patch, Port, Text};

pub(super) const KIND: Kind = Kind {
    key: "deployment",
    api: Api::known("apps/v1", "Deployment", "deployments"),
    schema: schema_of::<Deployment>,
    lower,
    purpose: Purpose::Serves,
    container: SERVER,
    outcome,
    deciders: |_| status::all_of([SERVER]),
    pods,
    example: EXAMPLE,
};

const EXAMPLE: &str = "\
deployment:
  # The model comes from outside of the cluster: the target needs
  # `networkPolicy: {egress: [{ports: [{port: 443, protocol: TCP}]}]}`.
  image: docker.io/vllm/vllm-openai:v0.11.0
  args: [--model, Qwen/Qwen3-0.6B]
  resources: {cpu: 8, memory: 32Gi, nvidia.com/gpu: 1}
  protocol: openai
  model: Qwen/Qwen3-0.6B
  # A Job; it finds the server in KUBEBENCH_ENDPOINT.
  load:
    image: docker.io/vllm/vllm-openai:v0.11.0
    command: [sh, -c, 'vllm bench serve --base-url \"$KUBEBENCH_ENDPOINT\" --model \"$KUBEBENCH_MODEL\" --num-prompts 200']
    resources: {cpu: 4, memory: 8Gi}
";

/// The role, and its container.
const SERVER: &str = "server";
/// The port on which servers usually listen.
const PORT: u16 = 8000;

/// A server: identical pods behind one address, and a load generator.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
#[schemars(extend("examples" = [{"image": "docker.io/vllm/vllm-openai:v0.11.0", "args": ["--model", "Qwen/Qwen3-0.6B"], "protocol": "openai", "load": {"image": "registry.example/load:1"}}]))]
struct Deployment {
    /// How many pods.
    #[schemars(extend("default" = 1, "examples" = [2]))]
    replicas: Option<Count>,
    /// The port that the server listens on.
    #[schemars(extend("default" = 8000, "examples" = [8501]))]
    port: Option<Port>,
    /// The protocol of requests (`KUBEBENCH_PROTOCOL`); it also decides which request shows that the server is ready.
    #[schemars(extend("examples" = ["openai"]))]
    protocol: Option<Protocol>,
    /// The name of the model in requests (`KUBEBENCH_MODEL`).
    #[schemars(extend("examples" = ["Qwen/Qwen3-0.6B"]))]
    model: Option<Text>,
    /// When the server counts as ready.
    #[schemars(extend("default" = {}, "examples" = [{"path": "/health", "timeout": "45m"}]))]
    ready: Option<Ready>,
    /// The load generator; without it the run ends when the server is ready.
    #[schemars(extend("examples" = [{"image": "registry.example/load:1", "args": ["--rate", "${{ matrix.rate }}"]}]))]
    load: Option<RoleForm<Load>>,
    /// Strategic merge patch over the Deployment, applied last.
    #[schemars(extend("default" = {}, "examples" = [{"metadata": {"annotations": {"example.com/owner": "serving"}}}]))]
    patch: Option<Patch>,
}

fn lower(cx: &mut Lowering<'_>) -> Option<Workload> {
    let Deployment { port, protocol, model, ready, .. } = cx.form()?;
    let port = port.map_or(PORT, |Port(port)| u16::try_from(port).unwrap_or(PORT));
    let shape = Shape {
        container_name: SERVER,
        template_at: TemplateAt::fields(["template"]),
        pod_infix: "",
        restart_policy: Some("Always"),
        needs_token: false,
        image: ImageFrom::Spec,
    };
    let mut role = cx.only_role(SERVER, shape)?;
    role.longest_name = LongestName::of("the name of the Service", "");
    let protocol = protocol.map(Protocol::in_model);
    let server = Server {
        endpoint: Endpoint::Service { suffix: String::new(), port: Some(port) },
        probe: protocol.map(|protocol| probe(protocol, model.as_ref())),
        model: model.map(|Text(name)| ModelName::Said(name)),
        protocol,
    };
    let mut spec = Map::new();
    spec.insert("replicas".to_owned(), role.replicas.into());
    spec.insert("revisionHistoryLimit".to_owned(), 0.into());
    spec.insert("selector".to_owned(), json!({ "matchLabels": {} }));
    let labels_at = vec!["/spec/selector/matchLabels".to_owned()];
    let workload = cx.workload(KIND.api, spec, vec![role]);
    let workload = Workload { labels_at, supporting: vec![serving::service(port)], ..workload };
    let mut workload = serving::finish(cx, workload, ready, server)?;
    if let Some(model::Serving { served, .. }) = workload.serving.clone() {
        // Its controller gives up at the same time as the step.
        workload.spec.insert("progressDeadlineSeconds".to_owned(), served.ready_seconds.into());
        let serves = Serves { port, probe: served.probe };
        workload.roles.first_mut().into_iter().for_each(|role| role.serves = Some(serves.clone()));
    }
    Some(workload)
}

/// Returns the request that a server of `protocol` must answer before it counts as ready.
fn probe(protocol: model::Protocol, model: Option<&Text>) -> Probe {
    let path = match protocol {
        model::Protocol::OpenAi => "/health".to_owned(),
        model::Protocol::V1 => model.map_or_else(|| "/".to_owned(), |Text(model)| format!("/v1/models/{model}")),
        model::Protocol::V2 | model::Protocol::Seldon => "/v2/health/ready".to_owned(),
        model::Protocol::Grpc => return Probe::Tcp,
    };
    Probe::Http { path }
}

/// Reads a Deployment. `Available` holds while a quarter of the pods is missing, so the pods are counted.
fn outcome(object: &Json) -> Outcome {
    // How long it may load, and wait for its nodes before, is set by the benchmark and not by the Deployment.
    let stopped = condition_of(object, "Progressing", "False");
    if let Some(condition) = stopped.filter(|it| text_at(it, "/reason") != "ProgressDeadlineExceeded") {
        let field = |name: &str| text_at(condition, name).to_owned();
        return Outcome::Failed { reason: field("/reason"), message: field("/message") };
    }
    let count = |at: &str| count_at(object, at).unwrap_or_default();
    let is_seen = count("/status/observedGeneration") >= count("/metadata/generation");
    let wanted = count_at(object, "/spec/replicas").unwrap_or(1);
    let has_all = count("/status/availableReplicas") >= wanted && count("/status/updatedReplicas") >= wanted;
    if is_seen && has_all && condition_of(object, "Available", "True").is_some() {
        return Outcome::Succeeded;
    }
    if count("/status/readyReplicas") > 0 { Outcome::Running } else { Outcome::Pending }
}

fn pods(object: &Json) -> Vec<PodSet> {
    let replicas = count_at(object, "/spec/replicas").unwrap_or(1);
    vec![PodSet::new(SERVER, replicas, replicas, "/spec/template")]
}
