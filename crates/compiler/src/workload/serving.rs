//! What the kinds that serve share: when the server counts as ready, what loads it, and what that learns of it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::role::{ImageFrom, RoleFields, Shape};
use super::status::LOAD;
use super::{Lowering, job, read};
use crate::model::{self, Endpoint, OfServer, Probe, Served, Serving, Supporting, TemplateAt, TemplateStep, Workload};
use kubebench_format::spec::v1::container::RoleBlock;
use kubebench_format::spec::v1::scalar::{Count, Duration, Text};
use kubebench_syntax::diag::code;

/// The default time until a server must be ready, in seconds.
const READY_WITHIN: u64 = 20 * 60;
/// The variables that a load has in its environment.
const ENDPOINT: &str = "KUBEBENCH_ENDPOINT";
const MODEL: &str = "KUBEBENCH_MODEL";
const PROTOCOL: &str = "KUBEBENCH_PROTOCOL";

/// When a server counts as ready: its controller and all of its pods say so, and it answers a request.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Ready {
    /// The path of the request that the server must answer with success; protocols have a default.
    #[schemars(extend("examples" = ["/health"]))]
    pub(super) path: Option<Text>,
    /// The maximum time from the start of its pods.
    #[schemars(extend("default" = "20m", "examples" = ["45m"]))]
    pub(super) timeout: Option<Duration>,
}

/// The load generator: the pods of a Job, which find the address of the server in `KUBEBENCH_ENDPOINT`. Without it the
/// run ends when the server is ready.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Load {
    /// How many pods send load at once.
    #[schemars(extend("default" = 1, "examples" = [4]))]
    pub(super) parallelism: Option<Count>,
}

impl RoleFields for Load {
    const LACKS: &'static [&'static str] = &["replicas"];
}

/// The protocol of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(super) enum Protocol {
    /// The protocol of OpenAI's API.
    #[serde(rename = "openai")]
    OpenAi,
    /// The first protocol of KServe and TensorFlow Serving.
    V1,
    /// The Open Inference Protocol.
    V2,
    /// The Open Inference Protocol over gRPC.
    Grpc,
}

impl Protocol {
    pub(super) fn in_model(self) -> model::Protocol {
        match self {
            Self::OpenAi => model::Protocol::OpenAi,
            Self::V1 => model::Protocol::V1,
            Self::V2 => model::Protocol::V2,
            Self::Grpc => model::Protocol::Grpc,
        }
    }
}

/// What requests call the model.
pub(super) enum ModelName {
    /// This.
    Said(String),
    /// As the server is called.
    OfServer,
}

/// A server, as its kind knows it.
pub(super) struct Server {
    pub(super) endpoint: Endpoint,
    /// What it is asked where the spec names no path.
    pub(super) probe: Option<Probe>,
    pub(super) model: Option<ModelName>,
    pub(super) protocol: Option<model::Protocol>,
}

/// Adds to the workload of a server when it is ready and what loads it.
pub(super) fn finish(
    cx: &mut Lowering<'_>,
    mut workload: Workload,
    ready: Option<Ready>,
    server: Server,
) -> Option<Workload> {
    let Ready { path, timeout } = ready.unwrap_or_default();
    let ready_seconds = timeout.map_or(READY_WITHIN, |timeout| timeout.0.seconds());
    let Some(probe) = path.map(|Text(path)| Probe::Http { path }).or(server.probe.clone()) else {
        let message = "the server has no request that shows when it is ready";
        let help = "write `ready: {path: /health}`, or a `protocol`, which has its own path";
        cx.fault(&code::KB0317, "ready", message, help);
        return None;
    };
    if let Probe::Http { path } = &probe
        && !path.starts_with('/')
    {
        let message = format!("the path `{path}` does not begin with `/`");
        cx.fault(&code::KB0317, "ready", message, format!("write `ready: {{path: /{path}}}`"));
        return None;
    }
    let load = match cx.entry.value.entry("load") {
        Some(_) => Some(add_load(cx, &mut workload, &server)?),
        None => None,
    };
    let served = Served { endpoint: server.endpoint, probe, ready_seconds };
    Some(Workload { serving: Some(Serving { served, load }), ..workload })
}

/// Adds the Job that loads the server, and returns its place among the workload's objects.
fn add_load(cx: &mut Lowering<'_>, workload: &mut Workload, server: &Server) -> Option<usize> {
    let entry = cx.entry.value.entry("load")?;
    let object = workload.supporting.len() + 1;
    let shape = Shape {
        container_name: job::KIND.container,
        template_at: TemplateAt::of(object, vec![TemplateStep::field("template")]),
        pod_infix: "",
        restart_policy: Some("Never"),
        needs_token: false,
        image: ImageFrom::Spec,
    };
    let own = read::<RoleBlock>(&entry.value, cx.diagnostics)?;
    let Load { parallelism } = read(&entry.value, cx.diagnostics)?;
    let mut role = super::role::merge(LOAD, None, (&entry.value, entry.key_span, own), shape, cx.diagnostics)?;
    let pods = parallelism.map_or(1, |count| count.0);
    (role.replicas, role.max_replicas, role.completions) = (pods, pods, pods);
    role.replicas_span = entry.value.get("parallelism").map_or(role.span, |node| node.span);
    role.of_server = passed_on(server);
    let spec = job::spec(cx.timeout, pods, pods, "NonIndexed");
    let body = Map::from_iter([("spec".to_owned(), Json::Object(spec))]);
    workload.supporting.push(Supporting::new(job::KIND.api, body));
    workload.roles.push(role);
    Some(object)
}

/// Returns the properties of the server that are passed to the load, by the names of variables.
fn passed_on(server: &Server) -> Vec<(&'static str, OfServer)> {
    let model = server.model.as_ref().map(|model| match model {
        ModelName::Said(name) => OfServer::Text(name.clone()),
        ModelName::OfServer => OfServer::Name,
    });
    let protocol = server.protocol.map(|protocol| OfServer::Text(protocol.name().to_owned()));
    let all = [(ENDPOINT, Some(OfServer::Endpoint)), (MODEL, model), (PROTOCOL, protocol)];
    all.into_iter().filter_map(|(name, what)| Some((name, what?))).collect()
}

/// Returns the Service for `port` of the pods of the workload.
pub(super) fn service(port: u16) -> Supporting {
    let api = model::Api::known("v1", "Service", "services");
    let spec = json!({
        "ports": [{ "name": "http", "port": port, "protocol": "TCP", "targetPort": port }],
        "selector": {},
    });
    let body = Map::from_iter([("spec".to_owned(), spec)]);
    Supporting { labels_at: vec!["/spec/selector".to_owned()], ..Supporting::new(api, body) }
}
