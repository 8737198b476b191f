//! `inferenceService`: an InferenceService of KServe, with a model that a runtime of the cluster serves, or a container of the
//! user's own.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::role::{ImageFrom, RoleFields, RoleForm, Shape};
use super::serving::{self, Load, ModelName, Protocol, Ready, Server};
use super::status::{self, Outcome, PodSet, count_at, text_at};
use super::{Kind, Lowering, Purpose, insert, schema_of};
use crate::model::{self, Api, Endpoint, LongestName, Probe, Role, TemplateAt, TemplateForm, TemplateStep, Workload};
use kubebench_format::spec::v1::scalar::{Count, Patch, Text};
use kubebench_syntax::diag::code;

pub(super) const KIND: Kind = Kind {
    key: "inferenceService",
    api: Api::known("serving.kserve.io/v1beta1", "InferenceService", "inferenceservices"),
    schema: schema_of::<InferenceService>,
    lower,
    purpose: Purpose::Serves,
    container: CONTAINER,
    outcome,
    deciders: |_| status::all_of([PREDICTOR, TRANSFORMER]),
    pods,
    example: EXAMPLE,
};

const EXAMPLE: &str = "\
inferenceService:
  # The model comes from outside of the cluster: the target needs
  # `networkPolicy: {egress: [{ports: [{port: 443, protocol: TCP}]}]}`.
  predictor:
    model: {modelFormat: sklearn, storageUri: 'gs://kfserving-examples/models/sklearn/1.0/model', protocolVersion: v2}
    resources: {cpu: 1, memory: 2Gi}
  # A Job; it finds the server in KUBEBENCH_ENDPOINT and the model's name in KUBEBENCH_MODEL.
  load:
    image: registry.example/load:1
    command: [sh, -c, 'load --url \"$KUBEBENCH_ENDPOINT/v2/models/$KUBEBENCH_MODEL/infer\"']
    resources: {cpu: 2, memory: 1Gi}
";

const PREDICTOR: &str = "predictor";
const TRANSFORMER: &str = "transformer";
const KNATIVE: &str = "Knative";
/// The name that KServe wants for the container that answers.
const CONTAINER: &str = "kserve-container";

/// A server by KServe: a predictor, an optional transformer, and a load generator.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("examples" = [{"predictor": {"model": {"modelFormat": "sklearn", "storageUri": "gs://models/iris"}}, "load": {"image": "registry.example/load:1"}}]))]
struct InferenceService {
    /// How KServe deploys it: as a Deployment and a Service, or as a Knative service, which may scale to zero.
    #[schemars(extend("default" = "Standard", "examples" = ["Knative"]))]
    deployment_mode: Option<DeploymentMode>,
    /// The pods that serve the model.
    #[schemars(extend("examples" = [{"model": {"modelFormat": "sklearn", "storageUri": "gs://models/iris"}}]))]
    predictor: Option<RoleForm<Predictor>>,
    /// The transformer in front of it, with its own container.
    #[schemars(extend("examples" = [{"image": "registry.example/transformer:1"}]))]
    transformer: Option<RoleForm<Transformer>>,
    /// The protocol of requests to a custom container; a model has `protocolVersion` instead.
    #[schemars(extend("examples" = ["v2"]))]
    protocol: Option<Protocol>,
    /// When the server counts as ready.
    #[schemars(extend("default" = {}, "examples" = [{"path": "/v2/health/ready", "timeout": "45m"}]))]
    ready: Option<Ready>,
    /// The load generator; without it the run ends when the server is ready.
    #[schemars(extend("examples" = [{"image": "registry.example/load:1", "args": ["--rate", "${{ matrix.rate }}"]}]))]
    load: Option<RoleForm<Load>>,
    /// Strategic merge patch over the whole object, applied last.
    #[schemars(extend("default" = {}, "examples" = [{"metadata": {"annotations": {"example.com/owner": "serving"}}}]))]
    patch: Option<Patch>,
}

/// How KServe deploys an InferenceService.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(inline)]
enum DeploymentMode {
    /// A Deployment and a Service.
    Standard,
    /// A Knative service.
    Knative,
}

/// The pods that hold the model.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(rename = "KServePredictor")]
struct Predictor {
    /// How many pods.
    #[schemars(extend("default" = 1, "examples" = [2]))]
    replicas: Option<Count>,
    /// The model, which a runtime of the cluster serves; without it `image` is a custom server.
    #[schemars(extend("examples" = [{"modelFormat": "sklearn", "storageUri": "gs://models/iris", "protocolVersion": "v2"}]))]
    model: Option<Model>,
}

impl RoleFields for Predictor {}

/// The pods in front of the predictor.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "KServeTransformer")]
struct Transformer {
    /// How many pods.
    #[serde(default)]
    #[schemars(extend("default" = 1, "examples" = [2]))]
    #[expect(dead_code, reason = "read as a part of the role block")]
    replicas: Option<Count>,
}

impl RoleFields for Transformer {}

/// A model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "KServeModel")]
struct Model {
    #[expect(clippy::struct_field_names, reason = "as the API has it")]
    /// The format, by which KServe chooses a runtime: `sklearn`, `huggingface`, `onnx`, `tensorflow`, `pytorch`, `triton` and others.
    #[schemars(extend("examples" = ["sklearn"]))]
    model_format: Text,
    /// Where the model is: `gs://`, `s3://`, `hf://`, `pvc://`, `oci://` and others.
    #[serde(default)]
    #[schemars(extend("examples" = ["gs://kfserving-examples/models/sklearn/1.0/model"]))]
    storage_uri: Option<Text>,
    /// The serving runtime; without it KServe chooses one.
    #[serde(default)]
    #[schemars(extend("examples" = ["kserve-sklearnserver"]))]
    runtime: Option<Text>,
    /// The protocol of requests.
    #[serde(default)]
    #[schemars(extend("default" = "v1", "examples" = ["v2"]))]
    protocol_version: Option<ProtocolVersion>,
}

/// The protocol of a model's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(inline)]
enum ProtocolVersion {
    /// KServe's first protocol.
    #[serde(rename = "v1")]
    V1,
    /// The Open Inference Protocol.
    #[serde(rename = "v2")]
    V2,
    /// The Open Inference Protocol over gRPC.
    #[serde(rename = "grpc-v2")]
    Grpc,
    /// The protocol of OpenAI's API.
    #[serde(rename = "openai")]
    OpenAi,
}

impl ProtocolVersion {
    fn name(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V2 => "v2",
            Self::Grpc => "grpc-v2",
            Self::OpenAi => "openai",
        }
    }
}

fn lower(cx: &mut Lowering<'_>) -> Option<Workload> {
    let InferenceService { deployment_mode, predictor, transformer, protocol, ready, load: _, patch: _ } = cx.form()?;
    let Some(RoleForm(Predictor { model, .. })) = predictor else {
        let message = "`inferenceService` has no `predictor`";
        let help = "add `predictor: {model: {modelFormat: …, storageUri: …}}`, or `predictor: {image: …}`";
        cx.fault(&code::KB0317, "inferenceService", message, help);
        return None;
    };
    let mut spec = Map::new();
    let mut roles = vec![component(cx, PREDICTOR, model.as_ref())?];
    spec.insert(PREDICTOR.to_owned(), of_pods(roles.first()?, model.as_ref()));
    if transformer.is_some() {
        let role = component(cx, TRANSFORMER, None)?;
        spec.insert(TRANSFORMER.to_owned(), of_pods(&role, None));
        roles.push(role);
    }
    if let (Some(_), Some(_)) = (&model, protocol) {
        let message = "`protocol` and `protocolVersion` of the model both set the protocol";
        cx.fault(&code::KB0317, "protocol", message, "delete `protocol`, and write `protocolVersion` of the model");
        return None;
    }
    let protocol = protocol.map(Protocol::in_model);
    let mode = deployment_mode.unwrap_or(DeploymentMode::Standard);
    for role in &mut roles {
        role.longest_name = longest_name(mode, &role.name);
    }
    let name = match mode {
        DeploymentMode::Standard => "Standard",
        DeploymentMode::Knative => KNATIVE,
    };
    // The default of a cluster is its administrator's choice.
    let annotations = Map::from_iter([("serving.kserve.io/deploymentMode".to_owned(), name.into())]);
    let object = json!({ "metadata": { "annotations": annotations }, "spec": spec });
    let server = match (server(&object), protocol) {
        (server, Some(protocol)) if server.model.is_none() => {
            Server { probe: Some(probe(protocol, false)), protocol: Some(protocol), ..server }
        }
        (server, _) => server,
    };
    let workload = cx.workload(KIND.api, spec, roles);
    serving::finish(cx, Workload { annotations, ..workload }, ready, server)
}

/// Returns how an InferenceService answers.
pub(super) fn server(object: &Json) -> Server {
    let mode = text_at(object, "/metadata/annotations/serving.kserve.io~1deploymentMode");
    let endpoint = if matches!(mode, KNATIVE | "Serverless") {
        Endpoint::Status { at: ["/status/address/url", "/status/url"].map(Into::into).to_vec() }
    } else {
        let entry = if object.pointer("/spec/transformer").is_some() { TRANSFORMER } else { PREDICTOR };
        Endpoint::Service { suffix: format!("-{entry}"), port: None }
    };
    let Some(model) = object.pointer("/spec/predictor/model") else {
        return Server { endpoint, probe: None, model: None, protocol: None };
    };
    let protocol = match text_at(model, "/protocolVersion") {
        "v2" => model::Protocol::V2,
        "grpc-v1" | "grpc-v2" => model::Protocol::Grpc,
        "openai" => model::Protocol::OpenAi,
        _ => model::Protocol::V1,
    };
    let (probe, model) = (Some(probe(protocol, true)), Some(ModelName::OfServer));
    Server { endpoint, probe, model, protocol: Some(protocol) }
}

/// Returns the request that a server of `protocol` must answer before it counts as ready; for a model, by the server's name.
fn probe(protocol: model::Protocol, is_model: bool) -> Probe {
    let path = match protocol {
        model::Protocol::V1 if is_model => {
            return Probe::HttpOfModel { before: "/v1/models/".into(), after: "".into(), header: None };
        }
        model::Protocol::V1 => "/",
        model::Protocol::V2 | model::Protocol::Seldon => "/v2/health/ready",
        model::Protocol::OpenAi if is_model => "/openai/v1/models",
        model::Protocol::OpenAi => "/health",
        model::Protocol::Grpc => return Probe::Tcp,
    };
    Probe::Http { path: path.to_owned() }
}

/// Returns the role of a component. Its pods' fields are in the component itself; a model replaces their container.
fn component(cx: &mut Lowering<'_>, name: &'static str, model: Option<&Model>) -> Option<Role> {
    let metadata = format!("/spec/{name}");
    let container = model.map(|_| format!("/spec/{name}/model"));
    let shape = Shape {
        container_name: CONTAINER,
        template_at: TemplateAt {
            form: TemplateForm::Pod { metadata, container },
            ..TemplateAt::of(0, vec![TemplateStep::field(name)])
        },
        pod_infix: "",
        restart_policy: Some("Always"),
        needs_token: false,
        image: if model.is_some() { ImageFrom::Runtime } else { ImageFrom::Spec },
    };
    cx.role(name, shape)
}

/// Returns the longest name that KServe makes for a component.
fn longest_name(mode: DeploymentMode, component: &str) -> LongestName {
    match mode {
        // Some versions of KServe write `isvc.` before it.
        DeploymentMode::Standard => {
            LongestName { prefix: "isvc.", ..LongestName::of("the label `app`", format!("-{component}")) }
        }
        DeploymentMode::Knative => {
            LongestName::of("the name of the Service of the revision", format!("-{component}-00001-private"))
        }
    }
}

fn of_pods(role: &Role, model: Option<&Model>) -> Json {
    let mut fields = Map::new();
    // The same number throughout: a server that scales while it is measured is another server.
    fields.insert("minReplicas".to_owned(), role.replicas.into());
    fields.insert("maxReplicas".to_owned(), role.replicas.into());
    insert(&mut fields, "model", model.map(of_model));
    Json::Object(fields)
}

fn of_model(model: &Model) -> Json {
    let Model { model_format: Text(format), storage_uri, runtime, protocol_version } = model;
    let mut fields = Map::new();
    fields.insert("modelFormat".to_owned(), json!({ "name": format }));
    insert(&mut fields, "storageUri", storage_uri.as_ref().map(|Text(uri)| uri.as_str()));
    insert(&mut fields, "runtime", runtime.as_ref().map(|Text(name)| name.as_str()));
    // Written out, KServe's default says nothing new and so starts no run.
    let said = protocol_version.filter(|version| *version != ProtocolVersion::V1);
    insert(&mut fields, "protocolVersion", said.map(ProtocolVersion::name));
    Json::Object(fields)
}

/// Reads an InferenceService. A model that cannot be loaded does not appear as a condition.
fn outcome(object: &Json) -> Outcome {
    let transition = text_at(object, "/status/modelStatus/transitionStatus");
    if matches!(transition, "BlockedByFailedLoad" | "InvalidSpec") {
        let info = |field: &str| text_at(object, &format!("/status/modelStatus/lastFailureInfo/{field}")).to_owned();
        let reason = Some(info("reason")).filter(|reason| !reason.is_empty()).unwrap_or_else(|| transition.to_owned());
        return Outcome::Failed { reason, message: info("message") };
    }
    let count = |at: &str| count_at(object, at).unwrap_or_default();
    // The conditions may still be those of what it was before.
    if count("/status/observedGeneration") < count("/metadata/generation") {
        return Outcome::Pending;
    }
    status::read(object, &[], &["Ready"], &["PredictorReady"])
}

fn pods(object: &Json) -> Vec<PodSet> {
    let of = |name: &'static str| {
        let place = format!("/spec/{name}");
        let component = object.pointer(&place)?;
        let replicas = count_at(component, "/minReplicas").unwrap_or(1);
        let container = component.get("model").map(|_| format!("{place}/model"));
        let form = TemplateForm::Pod { metadata: place.clone(), container };
        Some(PodSet { form, ..PodSet::new(name, replicas, replicas, place) })
    };
    [PREDICTOR, TRANSFORMER].into_iter().filter_map(of).collect()
}
