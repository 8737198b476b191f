//! `seldonDeployment`: a SeldonDeployment of Seldon Core v1, one or several predictors with a graph each.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::role::{ImageFrom, RoleFields, RoleForm, Shape};
use super::serving::{self, Load, Ready, Server};
use super::status::{self, Deciders, Outcome, PodSet, count_at, text_at};
use super::{Kind, Lowering, Purpose, insert, schema_of};
use crate::model::{self, Api, Endpoint, LongestName, Probe, Role, TemplateAt, TemplateStep, Workload};
use kubebench_format::spec::v1::scalar::{Count, Dns1123Label, Patch};
use kubebench_syntax::diag::{Diagnostic, code};
use kubebench_syntax::yaml::Node;

pub(super) const KIND: Kind = Kind {
    key: "seldonDeployment",
    api: Api::known("machinelearning.seldon.io/v1", "SeldonDeployment", "seldondeployments"),
    schema: schema_of::<SeldonDeployment>,
    lower,
    purpose: Purpose::Serves,
    // The graph names the containers, and the first of a pod does the work.
    container: "",
    outcome,
    deciders,
    pods,
    example: EXAMPLE,
};

const EXAMPLE: &str = "\
seldonDeployment:
  # The model comes from outside of the cluster: the target needs
  # `networkPolicy: {egress: [{ports: [{port: 443, protocol: TCP}]}]}`.
  protocol: v2
  predictors:
    - name: default
      graph: {name: iris, implementation: SKLEARN_SERVER, modelUri: 'gs://seldon-models/v1.19.0-dev/sklearn/iris'}
      resources: {cpu: 1, memory: 2Gi}
  # A Job; it finds the server in KUBEBENCH_ENDPOINT.
  load:
    image: registry.example/load:1
    command: [sh, -c, 'load --url \"$KUBEBENCH_ENDPOINT/v2/models/iris/infer\"']
    resources: {cpu: 2, memory: 1Gi}
";

/// The port of the orchestrator in front of each graph.
const PORT: u16 = 8000;

/// A server by Seldon Core v1, and a load generator.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("examples" = [{"protocol": "v2", "predictors": [{"name": "default", "graph": {"name": "m", "implementation": "TRITON_SERVER", "modelUri": "gs://models/m"}}], "load": {"image": "registry.example/load:1"}}]))]
struct SeldonDeployment {
    /// The protocol of requests.
    #[schemars(extend("default" = "seldon", "examples" = ["v2"]))]
    protocol: Option<Protocol>,
    /// The graphs; the load sends requests to the first one.
    #[schemars(extend("examples" = [[{"name": "default", "graph": {"name": "m", "implementation": "TRITON_SERVER", "modelUri": "gs://models/m"}}]]))]
    predictors: Vec<RoleForm<Predictor>>,
    /// When the server counts as ready.
    #[schemars(extend("default" = {}, "examples" = [{"timeout": "45m"}]))]
    ready: Option<Ready>,
    /// The load generator; without it the run ends when the server is ready.
    #[schemars(extend("examples" = [{"image": "registry.example/load:1", "args": ["--rate", "${{ matrix.rate }}"]}]))]
    load: Option<RoleForm<Load>>,
    /// Strategic merge patch over the whole object, applied last.
    #[schemars(extend("default" = {}, "examples" = [{"metadata": {"annotations": {"example.com/owner": "serving"}}}]))]
    patch: Option<Patch>,
}

/// The protocol of a SeldonDeployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
enum Protocol {
    /// Seldon's own protocol.
    Seldon,
    /// The protocol of TensorFlow Serving.
    Tensorflow,
    /// The Open Inference Protocol.
    V2,
}

/// One graph, and the pods of its first model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SeldonPredictor")]
struct Predictor {
    /// How many pods.
    #[serde(default)]
    #[schemars(extend("default" = 1, "examples" = [2]))]
    #[expect(dead_code, reason = "read as a part of the role block")]
    replicas: Option<Count>,
    /// Its name.
    #[schemars(extend("examples" = ["default"]))]
    name: Dns1123Label,
    /// The graph, by the fields of the API. Without `implementation` the block's `image` is the model.
    #[schemars(extend("examples" = [{"name": "m", "implementation": "TRITON_SERVER", "modelUri": "gs://models/m"}]))]
    graph: Patch,
    /// The percentage of requests, if there are several predictors.
    #[serde(default)]
    #[schemars(extend("examples" = [90]))]
    traffic: Option<kubebench_format::spec::v1::scalar::CountFromZero>,
}

impl RoleFields for Predictor {}

fn lower(cx: &mut Lowering<'_>) -> Option<Workload> {
    let SeldonDeployment { protocol, predictors, ready, load: _, patch: _ } = cx.form()?;
    let nodes: Vec<Node> = cx.entry.value.items_of("predictors").to_vec();
    if predictors.is_empty() {
        let message = "`seldonDeployment` has no predictor";
        let help = "add `predictors: [{name: default, graph: {name: m, implementation: TRITON_SERVER, modelUri: …}}]`";
        cx.fault(&code::KB0317, "predictors", message, help);
        return None;
    }
    let (mut list, mut roles) = (Vec::new(), Vec::new());
    for (index, (RoleForm(predictor), node)) in predictors.iter().zip(&nodes).enumerate() {
        let role = pods_of(cx, (index, node), predictor)?;
        list.push(of_predictor(predictor, &role));
        roles.push(role);
    }
    let mut spec = Map::new();
    spec.insert("predictors".to_owned(), Json::Array(list));
    let name = |protocol: Protocol| match protocol {
        Protocol::Seldon => "seldon",
        Protocol::Tensorflow => "tensorflow",
        Protocol::V2 => "v2",
    };
    // Written out, Seldon's default says nothing new and so starts no run.
    insert(&mut spec, "protocol", protocol.filter(|protocol| *protocol != Protocol::Seldon).map(name));
    let server = server(&json!({ "spec": spec }))?;
    let workload = cx.workload(KIND.api, spec, roles);
    serving::finish(cx, workload, ready, server)
}

/// Returns how a SeldonDeployment answers: by the orchestrator of its first graph.
pub(super) fn server(object: &Json) -> Option<Server> {
    let first = object.pointer("/spec/predictors/0/name").and_then(Json::as_str)?;
    Some(Server {
        endpoint: Endpoint::Service { suffix: format!("-{first}"), port: Some(PORT) },
        // It covers the whole graph.
        probe: Some(Probe::Http { path: "/ready".to_owned() }),
        model: None,
        protocol: Some(match text_at(object, "/spec/protocol") {
            "v2" | "kfserving" => model::Protocol::V2,
            "tensorflow" => model::Protocol::V1,
            _ => model::Protocol::Seldon,
        }),
    })
}

/// Returns the role of a predictor: the pods of the first model of its graph.
fn pods_of(cx: &mut Lowering<'_>, (index, node): (usize, &Node), predictor: &Predictor) -> Option<Role> {
    let graph = &predictor.graph.0;
    let model = text_at(graph, "/name");
    if model.is_empty() {
        let place = node.get("graph").map_or(node.span, |graph| graph.span);
        let fault = Diagnostic::at(&code::KB0317, place, "the graph has no `name`");
        cx.report(fault.note("Seldon names a container by it").help("write `graph: {name: model, …}`"));
        return None;
    }
    let has_server = graph.get("implementation").is_some();
    let list = TemplateStep::field("predictors");
    let name = predictor.name.0.to_string();
    let element = TemplateStep::Element { index, key: "name".into(), name: name.clone() };
    let first = TemplateStep::Element { index: 0, key: "metadata".into(), name: "0".to_owned() };
    let shape = Shape {
        container_name: "",
        template_at: TemplateAt::of(0, vec![list, element, TemplateStep::field("componentSpecs"), first]),
        pod_infix: "",
        restart_policy: Some("Always"),
        needs_token: false,
        image: if has_server { ImageFrom::Runtime } else { ImageFrom::Spec },
    };
    let mut role = cx.role_of(&role_name(&name), node, node.span, shape)?;
    role.container_name = model.to_owned().into();
    role.longest_name = LongestName::of("the label `app`", format!("-{name}-0-{model}"));
    Some(role)
}

/// Returns the role of the predictor `name`.
fn role_name(name: &str) -> String {
    format!("predictor-{name}")
}

fn of_predictor(predictor: &Predictor, role: &Role) -> Json {
    let mut fields = Map::new();
    fields.insert("name".to_owned(), predictor.name.0.to_string().into());
    fields.insert("graph".to_owned(), predictor.graph.0.clone());
    fields.insert("replicas".to_owned(), role.replicas.into());
    fields.insert("componentSpecs".to_owned(), json!([{}]));
    insert(&mut fields, "traffic", predictor.traffic.map(|share| share.0));
    Json::Object(fields)
}

fn outcome(object: &Json) -> Outcome {
    match text_at(object, "/status/state") {
        "Available" => Outcome::Succeeded,
        "Failed" => {
            let message = text_at(object, "/status/description").to_owned();
            Outcome::Failed { reason: "Failed".to_owned(), message }
        }
        _ => Outcome::Pending,
    }
}

fn deciders(object: &Json) -> Deciders {
    let sets = pods(object);
    status::all_of(sets.iter().map(|set| set.role.as_str()))
}

fn pods(object: &Json) -> Vec<PodSet> {
    let predictors = object.pointer("/spec/predictors").and_then(Json::as_array);
    let sets = predictors.into_iter().flatten().enumerate().map(|(index, predictor)| {
        let replicas = count_at(predictor, "/replicas").or(count_at(object, "/spec/replicas")).unwrap_or(1);
        let role = role_name(text_at(predictor, "/name"));
        PodSet::new(role, replicas, replicas, format!("/spec/predictors/{index}/componentSpecs/0"))
    });
    sets.collect()
}
