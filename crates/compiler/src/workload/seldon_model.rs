//! `seldonModel`: a Model of Seldon Core v2, which a server of the cluster loads, possibly among others.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::role::RoleForm;
use super::serving::{self, Load, ModelName, Ready, Server};
use super::status::{self, Outcome, condition_of, text_at};
use super::{Kind, Lowering, Purpose, insert};
use crate::model::{self, Api, Endpoint, Probe, Workload};
use kubebench_format::schema::{form_schema, without};
use kubebench_format::spec::v1::scalar::{Count, Dns1123Subdomain, Patch, Quantity, Text};

pub(super) const KIND: Kind = Kind {
    key: "seldonModel",
    api: Api::known("mlops.seldon.io/v1alpha1", "Model", "models"),
    schema: |generator| without(form_schema::<SeldonModel>(generator), OF_PODS),
    lower,
    purpose: Purpose::Serves,
    container: "",
    outcome,
    // Its pods are those of a server that others share.
    deciders: |_| status::all_of([]),
    pods: |_| Vec::new(),
    example: EXAMPLE,
};

const EXAMPLE: &str = "\
seldonModel:
  storageUri: gs://seldon-models/scv2/samples/mlserver_1.5.0/iris-sklearn
  requirements: [sklearn]
  memory: 100Ki
  # A Job; it finds the mesh in KUBEBENCH_ENDPOINT, and the model's name in KUBEBENCH_MODEL.
  load:
    image: registry.example/load:1
    command: [sh, -c, 'load --header \"Seldon-Model: $KUBEBENCH_MODEL\" --url \"$KUBEBENCH_ENDPOINT/v2/models/$KUBEBENCH_MODEL/infer\"']
    resources: {cpu: 2, memory: 1Gi}
";

/// What other kinds say of pods: those of a model are its server's.
const OF_PODS: &[&str] =
    &["annotations", "args", "command", "container", "env", "expandVariables", "image", "labels", "pod", "resources"];
/// The Service through which every model of a namespace is reached, and its port.
const MESH: &str = "seldon-mesh";
const PORT: u16 = 80;

/// A model that a Seldon Core v2 server of the cluster loads, and a load generator.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("examples" = [{"storageUri": "gs://models/iris", "requirements": ["sklearn"], "load": {"image": "registry.example/load:1"}}]))]
struct SeldonModel {
    /// Where the model is.
    #[schemars(extend("examples" = ["gs://seldon-models/scv2/samples/mlserver_1.5.0/iris-sklearn"]))]
    storage_uri: Text,
    /// The capabilities that a server must have.
    #[serde(default)]
    #[schemars(extend("default" = [], "examples" = [["sklearn"]]))]
    requirements: Vec<Text>,
    /// The server; without it Seldon chooses one.
    #[serde(default)]
    #[schemars(extend("examples" = ["mlserver"]))]
    server: Option<Text>,
    /// How much of the server's memory the model needs.
    #[serde(default)]
    #[schemars(extend("examples" = ["100Ki"]))]
    memory: Option<Quantity>,
    /// On how many pods of the server the model is loaded.
    #[serde(default)]
    #[schemars(extend("default" = 1, "examples" = [2]))]
    replicas: Option<Count>,
    /// The Secret with the credentials of the storage.
    #[serde(default)]
    #[schemars(extend("examples" = ["models"]))]
    secret: Option<Dns1123Subdomain>,
    /// When the model counts as ready.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"timeout": "45m"}]))]
    ready: Option<Ready>,
    /// The load generator; without it the run ends when the model is ready.
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

fn lower(cx: &mut Lowering<'_>) -> Option<Workload> {
    let SeldonModel { storage_uri, requirements, server, memory, replicas, secret, ready, .. } = cx.form()?;
    let mut spec = Map::new();
    spec.insert("storageUri".to_owned(), storage_uri.0.into());
    spec.insert("replicas".to_owned(), replicas.map_or(1, |count| count.0).into());
    let requirements: Vec<String> = super::texts(requirements);
    insert(&mut spec, "requirements", Some(requirements).filter(|list| !list.is_empty()));
    insert(&mut spec, "server", server.map(|Text(name)| name));
    insert(&mut spec, "memory", memory.map(|Quantity(amount)| amount.canonical()));
    insert(&mut spec, "secretName", secret.map(|name| name.0.to_string()));
    let workload = cx.workload(KIND.api, spec, Vec::new());
    serving::finish(cx, workload, ready, self::server())
}

/// Returns how a Model is reached: through the mesh of its namespace.
pub(super) fn server() -> Server {
    Server {
        endpoint: Endpoint::Shared { name: MESH.into(), port: PORT },
        probe: Some(Probe::HttpOfModel {
            before: "/v2/models/".into(),
            after: "/ready".into(),
            header: Some("Seldon-Model".into()),
        }),
        model: Some(ModelName::OfServer),
        protocol: Some(model::Protocol::V2),
    }
}

/// Reads a Model. When Seldon gives up, it says so in the reason of a condition that is false.
fn outcome(object: &Json) -> Outcome {
    if condition_of(object, "ModelReady", "True").is_some() {
        return Outcome::Succeeded;
    }
    match condition_of(object, "ModelReady", "False") {
        Some(condition) if text_at(condition, "/reason").ends_with("Failed") => {
            let field = |at: &str| text_at(condition, at).to_owned();
            Outcome::Failed { reason: field("/reason"), message: field("/message") }
        }
        _ => Outcome::Pending,
    }
}
