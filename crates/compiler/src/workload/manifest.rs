//! `manifest`: the user's own object of any kind, unchanged, and what it needs.

mod answers;
mod choose;
mod embedded;
mod fields;
mod placeholder;
mod role;
mod workflow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use self::choose::Chosen;
pub(super) use self::choose::Document;
pub(crate) use self::choose::never_created;
pub(crate) use self::embedded::{Embedded, read as read_embedded};
pub(super) use self::fields::check as check_fields;
pub(super) use self::placeholder::refuse as refuse_placeholders;
use super::condition::Condition;
use super::kind_of;
use super::mpi_job::ONE_MPI_JOB;
use super::role::RoleForm;
use super::serving::{self, Load, Ready, Server};
use super::status::{self, pod_sets};
use super::{Form, Kind, Lowering, Purpose};
use crate::model::target::MpiJobApi;
use crate::model::{Api, Given, Probe, Role, Supporting, Workload};
use kubebench_format::spec::v1::project::RelativePath;
use kubebench_format::spec::v1::scalar::{Patch, Text};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Severity, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::Node;

/// The form.
pub(super) const FORM: Form = Form { key: "manifest", schema, lower, example: EXAMPLE };

const EXAMPLE: &str = "\
manifest:
  # Or `file: jobs/train.yaml`, which is read as kubectl reads it.
  object:
    apiVersion: batch/v1
    kind: Job
    metadata: {name: train}
    spec:
      backoffLimit: 0
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: main
              image: docker.io/library/python:3.13-slim
              command: [python3, -c, 'print(\"throughput: 42.0\")']
              resources: {limits: {cpu: \"1\", memory: 1Gi}}
";

/// The place of an object that is not one of a run's objects, since another one creates it.
const IN_A_TEXT: usize = usize::MAX;
/// Where Kueue, or a person, says that a job is not to start yet.
const SUSPEND: [&str; 2] = ["/spec/suspend", "/spec/runPolicy/suspend"];
/// Versions that a controller serves in addition to the newest.
const ALSO_SERVED: [(&str, &str); 3] = [
    ("serving.kserve.io/v1alpha1", "LLMInferenceService"),
    ("machinelearning.seldon.io/v1alpha2", "SeldonDeployment"),
    ("machinelearning.seldon.io/v1alpha3", "SeldonDeployment"),
];
/// Metadata that a server writes, and what names the object.
const NOT_THE_USERS: [&str; 11] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generateName",
    "generation",
    "managedFields",
    "name",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Your own object, of any kind. Kubebench changes only what a run needs: name, namespace, labels, variables and volumes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("examples" = [{"file": "jobs/train.yaml"}]))]
struct Manifest {
    /// The file with the object, relative to the project root and outside the folders of specs; read as kubectl reads it.
    /// Expressions work in it as in a spec.
    #[schemars(extend("examples" = ["jobs/train.yaml"]))]
    file: Option<RelativePath>,
    /// The object itself; a `List` holds several.
    #[schemars(extend("examples" = [{"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "docker.io/library/python:3.13-slim"}]}}}}]))]
    object: Option<Patch>,
    /// Which object of the file is measured, as kind/name; needed where several could be.
    #[schemars(extend("examples" = ["Job/benchmark"]))]
    main: Option<Text>,
    /// Objects of the file that are in the cluster already, as kind/name: Kubebench does not create them.
    #[schemars(extend("default" = [], "examples" = [["Queue/batch"]]))]
    preinstalled: Vec<Text>,
    /// The condition for success, as for `kubectl wait --for`; needed for kinds that Kubebench does not know.
    #[schemars(extend("examples" = ["jsonpath={.status.phase}=Succeeded", "condition=Complete"]))]
    success: Option<Text>,
    /// The condition for failure, in the same form.
    #[schemars(extend("examples" = ["jsonpath={.status.phase}=Failed", "condition=Failed"]))]
    failure: Option<Text>,
    /// Whether the object gets a new name for every run, or keeps the name in the file, to which others may refer;
    /// then runs are sequential.
    #[schemars(extend("default" = "run", "examples" = ["keep"]))]
    name: Option<Naming>,
    /// When the object counts as ready, if it serves.
    #[schemars(extend("default" = {}, "examples" = [{"path": "/health", "timeout": "45m"}]))]
    ready: Option<Ready>,
    /// The load generator, if the object serves; without it the run ends when the object is ready.
    #[schemars(extend("examples" = [{"image": "registry.example/load:1", "args": ["--rate", "${{ matrix.rate }}"]}]))]
    load: Option<RoleForm<Load>>,
}

/// Where the name of the object comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
enum Naming {
    /// From the run.
    Run,
    /// From the file.
    Keep,
}

fn schema(generator: &mut SchemaGenerator) -> Schema {
    Manifest::json_schema(generator)
}

fn lower(cx: &mut Lowering<'_>) -> Option<Workload> {
    let form: Manifest = cx.form()?;
    match (&form.file, cx.entry.value.entry("object")) {
        (Some(_), None) | (None, Some(_)) => {}
        (Some(_), Some(_)) => {
            let message = "`file` and `object` both say what runs";
            cx.fault(&code::KB0317, "object", message, "keep one of them");
            return None;
        }
        (None, None) => {
            let message = "`manifest` has neither `file` nor `object`";
            cx.fault(&code::KB0317, "manifest", message, "add `file: jobs/train.yaml`, or the object under `object`");
            return None;
        }
    }
    let nodes = cx.documents?;
    let found_before = cx.diagnostics.as_slice().len();
    let documents: Vec<Document<'_>> = nodes.iter().filter_map(|node| Document::read(node, cx.diagnostics)).collect();
    if documents.len() < nodes.len() {
        return None;
    }
    let chosen = choose::choose(cx, &documents, &form)?;
    for node in chosen.all() {
        refuse_placeholders(node, cx.diagnostics);
    }
    let object = chosen.main.node.to_json();
    let kind = kind_of(&object);
    let api = api(cx, &chosen.main, kind, &form);
    let conditions = conditions(cx, &form, &chosen.main, kind.is_some());
    refuse_suspension(cx, &chosen.main, &object);
    for document in std::iter::once(&chosen.main).chain(&chosen.supporting) {
        warn_of_namespace(cx, document);
    }
    let roles = roles(chosen.main.node, &object, kind, cx.diagnostics);
    for node in chosen.all() {
        check_fields(node, cx.target.trainer, cx.diagnostics);
    }
    let name = (form.name == Some(Naming::Keep)).then(|| chosen.main.name.map(str::to_owned)).flatten();
    if form.name == Some(Naming::Keep) && name.is_none() {
        let message = "`name: keep`, but the object has no name to keep";
        cx.fault(&code::KB0317, "name", message, "write `metadata: {name: …}` in the object, or delete `name: keep`");
    }
    let beside: Vec<Json> = chosen.supporting.iter().map(|document| document.node.to_json()).collect();
    // A Service next to a job connects its pods.
    let serves = match kind {
        Some(kind) => kind.purpose == Purpose::Serves,
        None => form.load.is_some() || form.ready.is_some(),
    };
    let server = if serves { answers::server(&object, kind, &beside) } else { None };
    let object = if kind.is_some() { unsuspended(object) } else { object };
    let given = Given { body: body(object, &conditions), name };
    let mut beside = Vec::new();
    for (index, document) in chosen.supporting.iter().enumerate() {
        beside.extend(pods_beside(index + 1, document.node, cx.diagnostics));
    }
    for node in chosen.all() {
        beside.extend(pods_of_resources(node, cx.diagnostics));
    }
    let supporting = chosen.supporting.iter().map(supporting).collect();
    let workload = Workload { beside, supporting, given: Some(given), ..cx.workload(api, Map::new(), roles) };
    let workload = serve(cx, &form, workload, server)?;
    let is_sound = !cx.diagnostics.as_slice().iter().skip(found_before).any(|fault| fault.severity == Severity::Error);
    is_sound.then_some(workload)
}

/// Adds when the object is ready and what loads it, where it serves.
fn serve(cx: &mut Lowering<'_>, form: &Manifest, workload: Workload, server: Option<Server>) -> Option<Workload> {
    let Some(server) = server else {
        for (field, is_said) in [("load", form.load.is_some()), ("ready", form.ready.is_some())] {
            if is_said {
                let message = format!("`{field}` is for servers, but nothing in this manifest serves");
                let help = "add one Service to the file whose `selector` matches the pods of the object, with a port";
                cx.fault(&code::KB0317, field, message, help);
            }
        }
        return Some(workload);
    };
    // A server without a known protocol at least accepts connections.
    let server = Server { probe: server.probe.or(Some(Probe::Tcp)), ..server };
    serving::finish(cx, workload, form.ready.clone(), server)
}

/// Returns the roles of `object`, which `node` is with its places.
pub(super) fn roles(node: &Node, object: &Json, kind: Option<&Kind>, diagnostics: &mut Diagnostics) -> Vec<Role> {
    pod_sets(object).iter().filter_map(|set| role::of(node, set, kind, diagnostics)).collect()
}

/// Returns the pods of an object that is created with the measured one, at this place among the objects of a run.
fn pods_beside(place: usize, node: &Node, diagnostics: &mut Diagnostics) -> Vec<Role> {
    let object = node.to_json();
    let mut roles = roles(node, &object, kind_of(&object), diagnostics);
    for role in &mut roles {
        role.template_at.object = place;
    }
    roles
}

/// Returns the pods of the objects that a Workflow creates by its `resource` templates: nothing of them is written by Kubebench.
pub(super) fn pods_of_resources(object: &Node, diagnostics: &mut Diagnostics) -> Vec<Role> {
    let templates = object.get("spec").map(|spec| spec.items_of("templates")).unwrap_or_default();
    let texts = templates.iter().filter_map(|template| template.get("resource")?.get("manifest"));
    let objects: Vec<Node> = texts.filter_map(embedded::read).flat_map(|text| text.documents).collect();
    objects.iter().flat_map(|object| pods_beside(IN_A_TEXT, object, diagnostics)).collect()
}

/// Returns the API of the object, and reports a version of a kind that no controller answers any more, or not this target's.
fn api(cx: &mut Lowering<'_>, main: &Document<'_>, kind: Option<&Kind>, form: &Manifest) -> Api {
    let said = Api::of(main.api_version, main.kind);
    let Some(kind) = kind else { return said };
    let api = Api { spec: kind.api.spec, plural: kind.api.plural.clone(), ..said };
    if kind.key == "mpiJob" && matches!(main.api_version, "kubeflow.org/v1" | "kubeflow.org/v2beta1") {
        let wanted = match cx.target.mpi_job {
            MpiJobApi::V1 => "kubeflow.org/v1",
            MpiJobApi::V2beta1 => "kubeflow.org/v2beta1",
        };
        if main.api_version != wanted {
            let (version, target) = (main.api_version, &cx.target.name);
            let message = format!("this MPIJob is `{version}`, and the target `{target}` serves `{wanted}`");
            let short = version.trim_start_matches("kubeflow.org/");
            cx.report(
                Diagnostic::at(&code::KB0318, main.api_version_span(), message)
                    .note(ONE_MPI_JOB)
                    .help(format!(
                        "write it for `{wanted}`, or set `apis: {{mpiJob: {short}}}` on the target if that operator is installed there"
                    )),
            );
        }
    } else if main.api_version != kind.api.api_version
        && !ALSO_SERVED.contains(&(main.api_version, main.kind))
        && form.success.is_none()
    {
        let message = format!("`{}` is not a version of {} that its controller serves", main.api_version, main.kind);
        cx.report(
            Diagnostic::at(&code::KB0339, main.api_version_span(), message)
                .note("a current cluster refuses the object, or no controller acts on it and the run waits for its timeout")
                .help(format!(
                    "write it for `{}` (`kubebench migrate` does so for jobs of the first kubebench); if your own \
                     controller serves it, add the conditions `success` and `failure`",
                    kind.api.api_version
                )),
        );
    }
    api
}

/// Returns the annotations that say when the object has succeeded or failed.
fn conditions(cx: &mut Lowering<'_>, form: &Manifest, main: &Document<'_>, is_known: bool) -> Vec<(String, Json)> {
    let (mut annotations, mut missing) = (Vec::new(), Vec::new());
    for (field, said, annotation) in
        [("success", &form.success, status::SUCCESS), ("failure", &form.failure, status::FAILURE)]
    {
        match said {
            Some(Text(text)) => {
                if let Err(reason) = Condition::parse(text) {
                    let at = cx.entry.value.get(field).map_or(cx.entry.key_span, |node| node.span);
                    let fault = Diagnostic::at(&code::KB0345, at, format!("`{text}` is not a condition: {reason}"));
                    cx.report(fault.help(
                        "write it as for `kubectl wait --for`: `condition=Complete`, or `jsonpath={.status.phase}=Succeeded`",
                    ));
                }
                annotations.push((annotation.to_owned(), text.as_str().into()));
            }
            None => missing.push(format!("`{field}`")),
        }
    }
    if !is_known && !missing.is_empty() {
        let message = format!("kubebench does not know when a run of `{}` ({}) ends", main.kind, main.api_version);
        let fault = Diagnostic::at(&code::KB0338, cx.entry.key_span, message).note(
            "without both conditions a run would end only by its timeout, and a failed one would keep its nodes \
             until then",
        );
        cx.report(fault.help(format!(
            "add {}, as for `kubectl wait --for`: `condition=…`, or `jsonpath={{.status.phase}}=…`",
            missing.join(" and ")
        )));
    }
    annotations
}

/// Reports a job that waits for somebody to start it.
fn refuse_suspension(cx: &mut Lowering<'_>, main: &Document<'_>, object: &Json) {
    for at in SUSPEND.into_iter().filter(|at| object.pointer(at) == Some(&true.into())) {
        let place = main.span_of(at);
        let fault = Diagnostic::at(&code::KB0349, place, "the job is suspended, and nothing would resume it")
            .note("a queue suspends jobs itself: Kueue does so if the target names it (`queue: {kueue: …}`)");
        cx.report(fault.help("delete this field"));
    }
}

/// Returns an object of a known kind without a field that says what holds without it, and that operators and Kueue write.
fn unsuspended(mut object: Json) -> Json {
    for (owner, field) in SUSPEND.iter().filter_map(|at| at.rsplit_once('/')) {
        if let Some(owner) = object.pointer_mut(owner).and_then(Json::as_object_mut)
            && owner.get(field) == Some(&false.into())
        {
            owner.remove(field);
        }
    }
    object
}

/// Warns about a namespace that is not the target's.
pub(super) fn warn_of_namespace(cx: &mut Lowering<'_>, document: &Document<'_>) {
    let said = document.node.get("metadata").and_then(|metadata| metadata.get("namespace"));
    let Some((name, span)) = said.and_then(|node| Some((node.as_text()?, node.span))) else { return };
    if name != cx.target.namespace {
        let message =
            format!("the object is in the namespace `{name}`, but runs are created in `{}`", cx.target.namespace);
        cx.report(
            Diagnostic::at(&code::KB0348, span, message)
                .note("the Services, claims and Secrets that the object names must be in the namespace of the runs")
                .help(format!("delete the field, or {}", code::KB0348.switched_off())),
        );
    }
}

/// Returns what of an object is the user's.
pub(super) fn body(object: Json, annotations: &[(String, Json)]) -> Map<String, Json> {
    let Json::Object(mut body) = object else { return Map::new() };
    for field in ["apiVersion", "kind", "status"] {
        body.remove(field);
    }
    let metadata = body.entry("metadata").or_insert_with(|| Json::Object(Map::new()));
    if let Json::Object(metadata) = metadata {
        metadata.retain(|field, _| !NOT_THE_USERS.contains(&field.as_str()));
        if !annotations.is_empty() {
            let own = metadata.entry("annotations").or_insert(Json::Null);
            if !own.is_object() {
                *own = Json::Object(Map::new());
            }
            own.as_object_mut().into_iter().for_each(|own| own.extend(annotations.iter().cloned()));
        }
    }
    body
}

fn supporting(document: &Document<'_>) -> Supporting {
    let name = document.name.map(str::to_owned);
    let api = Api::of(document.api_version, document.kind);
    Supporting { name, ..Supporting::new(api, body(document.node.to_json(), &[])) }
}

impl<'n> Chosen<'n> {
    /// Iterates over all that is created.
    fn all(&self) -> impl Iterator<Item = &'n Node> {
        std::iter::once(self.main.node).chain(self.supporting.iter().map(|document| document.node))
    }
}

impl Document<'_> {
    fn api_version_span(&self) -> Span {
        self.node.get("apiVersion").map_or(self.node.span, |node| node.span)
    }

    /// Returns the span of what the JSON Pointer `at` points to.
    fn span_of(&self, at: &str) -> Span {
        workflow::at_pointer(self.node, at).map_or(self.node.span, |node| node.span)
    }
}
