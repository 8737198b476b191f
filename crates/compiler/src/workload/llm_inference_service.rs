//! `llmInferenceService`: an LLMInferenceService of KServe, a language model on one pod or on many.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::role::{ImageFrom, RoleFields, RoleForm, Shape};
use super::serving::{self, Load, ModelName, Ready, Server};
use super::status::{self, Outcome, PodSet, count_at};
use super::{Kind, Lowering, Purpose, insert, schema_of};
use crate::model::{self, Api, Endpoint, LongestName, Probe, Role, TemplateAt, TemplateForm, TemplateStep, Workload};
use kubebench_format::spec::v1::container::RoleBlock;
use kubebench_format::spec::v1::scalar::{Count, Patch, Text};
use kubebench_syntax::diag::code;

pub(super) const KIND: Kind = Kind {
    key: "llmInferenceService",
    api: Api::known("serving.kserve.io/v1alpha2", "LLMInferenceService", "llminferenceservices"),
    schema: schema_of::<LlmInferenceService>,
    lower,
    purpose: Purpose::Serves,
    container: CONTAINER,
    outcome,
    deciders: |_| status::all_of([SERVER, WORKER, PREFILL, PREFILL_WORKER]),
    pods,
    example: EXAMPLE,
};

const EXAMPLE: &str = "\
llmInferenceService:
  # The model comes from outside of the cluster: the target needs
  # `networkPolicy: {egress: [{ports: [{port: 443, protocol: TCP}]}]}`.
  model: {uri: 'hf://Qwen/Qwen3-0.6B', name: Qwen/Qwen3-0.6B}
  resources: {cpu: 8, memory: 32Gi, nvidia.com/gpu: 1}
  # A Job; it finds the server in KUBEBENCH_ENDPOINT.
  load:
    image: docker.io/vllm/vllm-openai:v0.11.0
    command: [sh, -c, 'vllm bench serve --base-url \"$KUBEBENCH_ENDPOINT\" --model \"$KUBEBENCH_MODEL\" --num-prompts 200']
    resources: {cpu: 4, memory: 8Gi}
";

/// The roles: the pods that answer, or lead those that do, and the pods that they lead; the same for prefill alone.
const SERVER: &str = "server";
const WORKER: &str = "worker";
const PREFILL: &str = "prefill";
const PREFILL_WORKER: &str = "prefill-worker";
/// The name that KServe wants for the container that answers.
const CONTAINER: &str = "main";

/// A language model served by KServe, and a load generator.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("examples" = [{"model": {"uri": "hf://Qwen/Qwen3-0.6B"}, "resources": {"nvidia.com/gpu": 1}, "load": {"image": "registry.example/load:1"}}]))]
struct LlmInferenceService {
    /// How many pods.
    #[serde(default)]
    #[schemars(extend("default" = 1, "examples" = [2]))]
    #[expect(dead_code, reason = "read as a part of the role block")]
    replicas: Option<Count>,
    /// The model.
    #[schemars(extend("examples" = [{"uri": "hf://Qwen/Qwen3-0.6B", "name": "Qwen/Qwen3-0.6B"}]))]
    model: Model,
    /// How the model is spread over accelerators and pods.
    #[serde(default)]
    #[schemars(extend("examples" = [{"tensor": 2}]))]
    parallelism: Option<Parallelism>,
    /// The worker pods of each replica, for a model that does not fit into one pod.
    #[serde(default)]
    #[schemars(extend("examples" = [{"resources": {"nvidia.com/gpu": 8}}]))]
    worker: Option<RoleBlock>,
    /// Separate pods for prefill; the others then only decode.
    #[serde(default)]
    #[schemars(extend("examples" = [{"replicas": 2, "parallelism": {"tensor": 1}}]))]
    prefill: Option<RoleForm<Prefill>>,
    /// The router in front of the pods, with the fields of the API; empty mappings mean KServe's defaults. Without it
    /// the load sends requests to the pods' Service.
    #[serde(default)]
    #[schemars(extend("examples" = [{"route": {}, "gateway": {}, "scheduler": {}}]))]
    router: Option<Patch>,
    /// When the server counts as ready.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"timeout": "45m"}]))]
    ready: Option<Ready>,
    /// The load generator; without it the run ends when the server is ready.
    #[serde(default)]
    #[schemars(extend("examples" = [{"image": "registry.example/load:1", "args": ["--rate", "${{ matrix.rate }}"]}]))]
    #[expect(dead_code, reason = "read with its places, by `serving::finish`")]
    load: Option<RoleForm<Load>>,
    /// Strategic merge patch over the whole object, applied last.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"metadata": {"annotations": {"example.com/owner": "serving"}}}]))]
    #[expect(dead_code, reason = "read with its places, by `Lowering::workload`")]
    patch: Option<Patch>,
}

/// A language model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LanguageModel")]
struct Model {
    /// Its location: `hf://`, `s3://`, `pvc://`, `oci://` and others.
    #[schemars(extend("examples" = ["hf://Qwen/Qwen3-0.6B"]))]
    uri: Text,
    /// Its name in requests; by default the name of the server.
    #[serde(default)]
    #[schemars(extend("examples" = ["Qwen/Qwen3-0.6B"]))]
    name: Option<Text>,
}

/// How a model is spread.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(rename = "ModelParallelism")]
struct Parallelism {
    /// The number of parts of each layer (tensor parallelism).
    #[schemars(extend("examples" = [2]))]
    tensor: Option<Count>,
    /// The number of stages of layers (pipeline parallelism).
    #[schemars(extend("examples" = [2]))]
    pipeline: Option<Count>,
    /// The number of copies that share requests (data parallelism).
    #[schemars(extend("examples" = [8]))]
    data: Option<Count>,
    /// The number of copies on one pod.
    #[schemars(extend("examples" = [4]))]
    data_local: Option<Count>,
}

/// Pods for prefill.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(rename = "PrefillPods")]
struct Prefill {
    /// How many pods.
    #[schemars(extend("default" = 1, "examples" = [2]))]
    replicas: Option<Count>,
    /// How the model is spread over their accelerators and pods.
    #[schemars(extend("examples" = [{"tensor": 1}]))]
    parallelism: Option<Parallelism>,
    /// The worker pods of each of them.
    #[schemars(extend("examples" = [{"resources": {"nvidia.com/gpu": 8}}]))]
    worker: Option<RoleBlock>,
}

impl RoleFields for Prefill {}

fn lower(cx: &mut Lowering<'_>) -> Option<Workload> {
    let form: LlmInferenceService = cx.form()?;
    let root = cx.entry.value.clone();
    let span = cx.entry.key_span;
    let mut roles = Vec::new();
    let mut spec = Map::new();
    let leader = role(cx, SERVER, (&root, span), &["template"], "/spec")?;
    spec.insert("replicas".to_owned(), leader.replicas.into());
    let replicas = leader.replicas;
    roles.push(leader);
    insert(&mut spec, "parallelism", form.parallelism.as_ref().map(spread));
    if let (Some(_), Some(entry)) = (&form.worker, root.entry("worker")) {
        let worker = role(cx, WORKER, (&entry.value, entry.key_span), &["worker"], "/spec")?;
        roles.push(led(cx, worker, replicas, pods_of_each(form.parallelism.as_ref())));
    }
    if let (Some(RoleForm(Prefill { parallelism, worker, .. })), Some(entry)) = (&form.prefill, root.entry("prefill")) {
        let leader = role(cx, PREFILL, (&entry.value, entry.key_span), &["prefill", "template"], "/spec/prefill")?;
        let replicas = leader.replicas;
        let mut prefill = Map::new();
        prefill.insert("replicas".to_owned(), replicas.into());
        insert(&mut prefill, "parallelism", parallelism.as_ref().map(spread));
        spec.insert("prefill".to_owned(), Json::Object(prefill));
        roles.push(leader);
        if let (Some(_), Some(entry)) = (worker, entry.value.entry("worker")) {
            let place = (&entry.value, entry.key_span);
            let role = role(cx, PREFILL_WORKER, place, &["prefill", "worker"], "/spec/prefill")?;
            roles.push(led(cx, role, replicas, pods_of_each(parallelism.as_ref())));
        }
    }
    let Model { uri: Text(uri), name } = form.model;
    let mut model = json!({ "uri": uri });
    if let (Some(Text(name)), Some(model)) = (&name, model.as_object_mut()) {
        model.insert("name".to_owned(), name.as_str().into());
    }
    spec.insert("model".to_owned(), model);
    // Through the gateway and the scheduler, as users' requests go.
    insert(&mut spec, "router", form.router.map(|Patch(router)| router));
    let server = server(&json!({ "spec": spec }));
    let workload = cx.workload(KIND.api, spec, roles);
    serving::finish(cx, workload, form.ready, server)
}

/// Returns how an LLMInferenceService answers.
pub(super) fn server(object: &Json) -> Server {
    let endpoint = match object.pointer("/spec/router") {
        Some(_) => {
            let at = ["/status/addresses/0/url", "/status/address/url", "/status/url"];
            Endpoint::Status { at: at.map(Into::into).to_vec() }
        }
        None => Endpoint::Service { suffix: "-kserve-workload-svc".to_owned(), port: None },
    };
    let name = object.pointer("/spec/model/name").and_then(Json::as_str);
    Server {
        endpoint,
        probe: Some(Probe::Http { path: "/health".to_owned() }),
        model: Some(name.map_or(ModelName::OfServer, |name| ModelName::Said(name.to_owned()))),
        protocol: Some(model::Protocol::OpenAi),
    }
}

/// Returns the role that `place` describes, whose pods are at `steps`.
fn role(
    cx: &mut Lowering<'_>,
    name: &'static str,
    (node, span): (&kubebench_syntax::yaml::Node, kubebench_syntax::text::Span),
    steps: &[&'static str],
    metadata: &str,
) -> Option<Role> {
    let steps = steps.iter().map(|step| TemplateStep::field(step)).collect();
    let form = TemplateForm::Pod { metadata: metadata.to_owned(), container: None };
    let shape = Shape {
        container_name: CONTAINER,
        template_at: TemplateAt { form, ..TemplateAt::of(0, steps) },
        pod_infix: "",
        restart_policy: Some("Always"),
        needs_token: false,
        image: ImageFrom::Runtime,
    };
    let own = super::read::<RoleBlock>(node, cx.diagnostics)?;
    let mut role = super::role::merge(name, None, (node, span, own), shape, cx.diagnostics)?;
    role.longest_name = LongestName::of("the name of the Service", "-kserve-workload-svc");
    Some(role)
}

/// Returns a role whose pods are led by others: `of_each` for each of `leaders`.
fn led(cx: &mut Lowering<'_>, role: Role, leaders: u32, of_each: u32) -> Role {
    if role.replicas != 1 {
        let message = "`parallelism` decides how many pods a replica leads";
        let fault = kubebench_syntax::diag::Diagnostic::at(&code::KB0317, role.replicas_span, message);
        cx.report(fault.help("delete `replicas` here, and write `parallelism: {data: …, dataLocal: …}` or `pipeline`"));
    }
    let pods = leaders.saturating_mul(of_each);
    Role { replicas: pods, max_replicas: pods, completions: pods, ..role }
}

/// Returns how many pods a replica leads, not counting itself.
fn pods_of_each(parallelism: Option<&Parallelism>) -> u32 {
    let count = |count: &Option<Count>| count.as_ref().map_or(1, |count| count.0);
    let Some(Parallelism { pipeline, data, data_local, .. }) = parallelism else { return 1 };
    let pods = match (data, pipeline) {
        (Some(_), _) => count(data).div_ceil(count(data_local).max(1)),
        (None, _) => count(pipeline),
    };
    pods.saturating_sub(1).max(1)
}

fn spread(parallelism: &Parallelism) -> Json {
    let Parallelism { tensor, pipeline, data, data_local } = parallelism;
    let mut fields = Map::new();
    for (field, count) in [("tensor", tensor), ("pipeline", pipeline), ("data", data), ("dataLocal", data_local)] {
        insert(&mut fields, field, count.as_ref().map(|count| count.0));
    }
    Json::Object(fields)
}

fn outcome(object: &Json) -> Outcome {
    let count = |at: &str| count_at(object, at).unwrap_or_default();
    if count("/status/observedGeneration") < count("/metadata/generation") {
        return Outcome::Pending;
    }
    status::read(object, &[], &["Ready"], &["WorkloadsReady"])
}

fn pods(object: &Json) -> Vec<PodSet> {
    let size = |at: &str| {
        let data = count_at(object, &format!("{at}/parallelism/data"));
        let local = count_at(object, &format!("{at}/parallelism/dataLocal")).unwrap_or(1).max(1);
        let pipeline = count_at(object, &format!("{at}/parallelism/pipeline")).unwrap_or(1);
        data.map_or(pipeline, |data| data.div_ceil(local)).saturating_sub(1).max(1)
    };
    let mut sets = Vec::new();
    for (at, leader, led) in [("/spec", SERVER, WORKER), ("/spec/prefill", PREFILL, PREFILL_WORKER)] {
        let Some(part) = object.pointer(at) else { continue };
        let replicas = count_at(part, "/replicas").unwrap_or(1);
        let of_led = replicas.saturating_mul(size(at));
        for (role, field, pods) in [(leader, "template", replicas), (led, "worker", of_led)] {
            // KServe adds the template where there is none.
            if field == "template" || part.get(field).is_some() {
                let form = TemplateForm::Pod { metadata: at.to_owned(), container: None };
                sets.push(PodSet { form, ..PodSet::new(role, pods, pods, format!("{at}/{field}")) });
            }
        }
    }
    sets
}
