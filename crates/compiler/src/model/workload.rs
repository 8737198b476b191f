//! What is run: the roles of a workload and the object that they become, as plain data.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use super::placement::Placement;
use super::{Api, Probe, Serving};
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::{Duration, ImageRef, Quantity, is_accelerator};
use kubebench_syntax::yaml::Node;

/// One workload: an object of `api` whose `spec` is complete except for the pod templates of its roles.
#[derive(Debug)]
pub struct Workload {
    /// The key in the spec, such as `pytorchJob`.
    pub key: &'static str,
    /// Where that key is.
    pub span: Span,
    /// The object's API.
    pub api: Api,
    /// The object's spec without pod templates.
    pub spec: Map<String, Json>,
    /// The roles, in a fixed order.
    pub roles: Vec<Role>,
    /// The pods of the user's objects that are created with it: they are not part of what is measured.
    pub beside: Vec<Role>,
    /// Whether pods find each other by the names of a headless Service that Kubebench adds.
    pub headless_service: bool,
    /// JSON Pointers into the object, other than its own name, that receive the name of the run's job.
    pub name_at: Vec<String>,
    /// JSON Pointers to mappings of the object, other than those of its metadata and pods, that receive the labels of the run.
    pub labels_at: Vec<String>,
    /// Annotations of the object.
    pub annotations: Map<String, Json>,
    /// Objects that are created before it and deleted after it.
    pub supporting: Vec<Supporting>,
    /// Strategic merge patch over the whole object.
    pub patch: Option<Node>,
    /// True where the launcher takes its number of processes from somewhere other than what the operator passes to every pod.
    pub scale_is_manual: bool,
    /// The object itself, where the spec gives it whole; `spec` is empty then.
    pub given: Option<Given>,
    /// What it serves, unless it ends by itself.
    pub serving: Option<Serving>,
    /// Where its pods are to each other.
    pub placement: Vec<Placement>,
}

/// The user's own object, changed only where a run needs it.
#[derive(Clone, Debug)]
pub struct Given {
    /// All of it but API version, kind and what a server writes.
    pub body: Map<String, Json>,
    /// The name that it keeps; none if every run has a name of its own.
    pub name: Option<String>,
}

/// An object that a workload needs.
#[derive(Clone, Debug)]
pub struct Supporting {
    /// The object's API.
    pub api: Api,
    /// The object without API version, kind, and the pod templates of its roles.
    pub body: Map<String, Json>,
    /// The name that it keeps; none if it has that of the workload.
    pub name: Option<String>,
    /// JSON Pointers to mappings, other than those of its metadata and pods, that receive the labels of the run.
    pub labels_at: Vec<String>,
}

impl Supporting {
    /// Returns an object of `api` that has the name of the workload.
    pub(crate) fn new(api: Api, body: Map<String, Json>) -> Self {
        Self { api, body, name: None, labels_at: Vec::new() }
    }
}

/// The place of a pod template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateAt {
    /// In which object: the workload's own is the first, those that support it follow.
    pub object: usize,
    /// The way from the object's `spec`.
    pub steps: Vec<TemplateStep>,
    /// How the pods are described there.
    pub form: TemplateForm,
}

/// How pods are described.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TemplateForm {
    /// By `metadata` and `spec`.
    #[default]
    Template,
    /// By the fields of a pod's `spec` alone, possibly among other fields.
    Pod {
        /// The JSON Pointer to the mapping that has the `labels` and `annotations` of the pods.
        metadata: String,
        /// The JSON Pointer to the main container, if it is not among the others.
        container: Option<String>,
    },
}

impl TemplateForm {
    /// Returns the JSON Pointer to the `spec` of the pods at `place`.
    pub(crate) fn pod(&self, place: &str) -> String {
        match self {
            Self::Template => format!("{place}/spec"),
            Self::Pod { .. } => place.to_owned(),
        }
    }

    /// Returns the JSON Pointer to the mapping that has the labels and annotations of the pods at `place`.
    pub(crate) fn metadata(&self, place: &str) -> String {
        match self {
            Self::Template => format!("{place}/metadata"),
            Self::Pod { metadata, .. } => metadata.clone(),
        }
    }
}

/// A step towards a pod template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateStep {
    /// Into a field.
    Field(Cow<'static, str>),
    /// Into an element of a list.
    Element {
        /// Its place.
        index: usize,
        /// The field that identifies an element.
        key: Cow<'static, str>,
        /// The value of that field.
        name: String,
    },
}

impl TemplateStep {
    /// Returns a step into the field `name` of a kind that this program knows.
    pub(crate) fn field(name: &'static str) -> Self {
        Self::Field(Cow::Borrowed(name))
    }
}

impl TemplateAt {
    /// Returns the place in the workload's own object behind these fields.
    pub(crate) fn fields<const N: usize>(fields: [&'static str; N]) -> Self {
        Self::of(0, fields.map(TemplateStep::field).to_vec())
    }

    /// Returns the place of a template behind `steps` in one of the workload's objects.
    pub(crate) fn of(object: usize, steps: Vec<TemplateStep>) -> Self {
        Self { object, steps, form: TemplateForm::Template }
    }

    /// Returns the JSON Pointer to the `spec` of the pods.
    pub(crate) fn pod(&self) -> String {
        self.form.pod(&self.pointer())
    }

    /// Returns the JSON Pointer to the mapping that has the labels and annotations of the pods.
    pub(crate) fn metadata(&self) -> String {
        self.form.metadata(&self.pointer())
    }

    /// Returns the JSON Pointer into the object.
    pub(crate) fn pointer(&self) -> String {
        let steps = self.steps.iter().map(|step| match step {
            TemplateStep::Field(field) => format!("/{field}"),
            TemplateStep::Element { index, .. } => format!("/{index}"),
        });
        std::iter::once("/spec".to_owned()).chain(steps).collect()
    }

    /// Returns the place as people write it: `spec.tasks[worker].template`.
    pub(crate) fn shown(&self) -> String {
        let steps = self.steps.iter().map(|step| match step {
            TemplateStep::Field(field) => format!(".{field}"),
            TemplateStep::Element { name, .. } => format!("[{name}]"),
        });
        std::iter::once("spec".to_owned()).chain(steps).collect()
    }

    /// Returns what a patch over the workload's object says of the `spec` of the pods.
    pub(crate) fn pod_within<'a>(&self, patch: &'a Node) -> Option<&'a Node> {
        let place = self.within(patch)?;
        if self.form == TemplateForm::Template { place.get("spec") } else { Some(place) }
    }

    /// Returns what a patch over the workload's object says of the template.
    pub(crate) fn within<'a>(&self, patch: &'a Node) -> Option<&'a Node> {
        let spec = patch.get("spec").filter(|_| self.object == 0)?;
        self.steps.iter().try_fold(spec, |node, step| match step {
            TemplateStep::Field(field) => node.get(field),
            TemplateStep::Element { key, name, .. } => node.element(key, name),
        })
    }
}

/// A name that an operator makes of a job's name.
#[derive(Clone, Debug, PartialEq)]
pub struct LongestName {
    /// What it is, such as the name of the last pod.
    pub what: &'static str,
    /// What comes before the job's name.
    pub prefix: &'static str,
    /// What comes after it.
    pub suffix: String,
}

impl LongestName {
    /// Returns the name of the last pod.
    pub(crate) fn of_pod(suffix: String) -> Self {
        Self::of("the name of the last pod", suffix)
    }

    /// Returns something else that is made of the job's name. What a ReplicaSet makes has none that could be too long: the API server cuts it.
    pub(crate) fn of(what: &'static str, suffix: impl Into<String>) -> Self {
        Self { what, prefix: "", suffix: suffix.into() }
    }
}

/// The pods of one role.
#[derive(Clone, Debug, PartialEq)]
pub struct Role {
    /// The name in the spec, such as `worker`.
    pub name: String,
    /// Where the role is described.
    pub span: Span,
    /// How many pods.
    pub replicas: u32,
    /// How many pods it may grow to while the job runs.
    pub max_replicas: u32,
    /// How many pods there are in all, where they come one after another.
    pub completions: u32,
    /// Where the number of pods is said.
    pub replicas_span: Span,
    /// The name that the operator wants for the main container.
    pub container_name: Cow<'static, str>,
    /// Where its pod template is.
    pub template_at: TemplateAt,
    /// The longest name that is made of the job's name, of those that may have 63 characters.
    pub longest_name: LongestName,
    /// What the pod template's `restartPolicy` must be; none where the operator sets it from its own field.
    pub restart_policy: Option<&'static str>,
    /// Whether the pods need the token of a service account (the MPI operator's launcher under v1, Spark's driver).
    pub needs_token: bool,
    /// The account that a field of the kind gives the pods.
    pub service_account: Option<String>,
    /// What the main container serves, where the kind has no field of its own for that.
    pub serves: Option<Serves>,
    /// When a pod ends itself, where its object has no field that would end it.
    pub deadline: Option<Duration>,
    /// The image; none where the cluster's runtime for such models provides it.
    pub image: Option<ImageRef>,
    /// Where the image is said.
    pub image_span: Span,
    /// The program.
    pub command: Vec<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where each word of `command` and each of `args` is.
    pub word_spans: [Vec<Span>; 2],
    /// Environment variables by name.
    pub env: BTreeMap<String, (Env, Span)>,
    /// Variables that tell of the server that the pods load, by name.
    pub of_server: Vec<(&'static str, OfServer)>,
    /// What the scheduler sets aside.
    pub requests: BTreeMap<String, Quantity>,
    /// What the pod may use at most.
    pub limits: BTreeMap<String, Quantity>,
    /// Where resources are said, if they are.
    pub resources_span: Option<Span>,
    /// Where each request is said.
    pub request_spans: BTreeMap<String, Span>,
    /// Labels of the pods.
    pub labels: BTreeMap<String, String>,
    /// Annotations of the pods.
    pub annotations: BTreeMap<String, String>,
    /// Patches over the pod spec, in order.
    pub pod_patches: Vec<Node>,
    /// Patches over the main container, in order.
    pub container_patches: Vec<Node>,
    /// Whether `$(NAME)` is left to Kubernetes.
    pub expand_variables: bool,
}

/// What a container serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Serves {
    pub port: u16,
    /// The request that it must answer before it counts as ready.
    pub probe: Probe,
}

/// Returns `text` so that Kubernetes passes it on as written: `$(NAME)` would be expanded and `$$` halved.
pub fn literal(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        escaped.push(c);
        if c == '$' && matches!(chars.peek(), Some('$' | '(')) {
            escaped.push('$');
        }
    }
    escaped
}

/// The value of an environment variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Env {
    /// The value itself.
    Text(String),
    /// A key of a Secret.
    Secret {
        /// The Secret's name.
        name: String,
        key: String,
    },
    /// A key of a ConfigMap.
    ConfigMap {
        /// The ConfigMap's name.
        name: String,
        key: String,
    },
    /// A field of the pod.
    Field(String),
}

/// A property of the server that is passed to a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OfServer {
    /// Its address, which the run learns when it begins: scheme, host and port.
    Endpoint,
    /// Its name, which the run also learns when it begins.
    Name,
    Text(String),
}

impl Workload {
    /// Lets go of the roles and of the objects' fields; what kinds of objects there are stays.
    pub(crate) fn let_go_of_pods(&mut self) {
        self.roles = Vec::new();
        self.beside = Vec::new();
        self.spec = Map::new();
        self.annotations = Map::new();
        self.patch = None;
        self.given = None;
        for supporting in &mut self.supporting {
            supporting.body = Map::new();
        }
    }

    /// Iterates over all pods that it creates: the measured ones and the others.
    pub fn pods(&self) -> impl Iterator<Item = &Role> {
        self.roles.iter().chain(&self.beside)
    }

    /// Returns whether its pods are described by an object of the cluster, over which it only says something.
    pub fn takes_pods_of_cluster(&self) -> bool {
        self.key == "trainJob" && self.supporting.is_empty()
    }

    /// Returns whether the pods of `role` are made from the spec's fields: with an object of the user's own, only those of its load
    /// are.
    pub(crate) fn describes(&self, role: &Role) -> bool {
        self.given.is_none() || self.is_of_load(role)
    }

    /// Returns the place among the objects of a run of the Job that loads the server, where there is one.
    pub(crate) fn load(&self) -> Option<usize> {
        self.serving.as_ref().and_then(|serving| serving.load)
    }

    /// Returns whether the pods of `role` load a server that outlives them.
    pub(crate) fn is_of_load(&self, role: &Role) -> bool {
        self.load() == Some(role.template_at.object)
    }

    /// Returns the place among the objects of a run of the one that has the `spec` of the user's own.
    pub(crate) fn given_at(&self) -> usize {
        // The object of a Workflow is in a separate template.
        usize::from(self.key == "workflow" && !self.supporting.is_empty())
    }

    /// Returns the `spec` of the user's own object.
    pub(crate) fn given_spec(&self) -> Option<&Json> {
        let given = self.given.as_ref()?;
        let apart = self.given_at().checked_sub(1).and_then(|index| self.supporting.get(index));
        apart.map_or(&given.body, |supporting| &supporting.body).get("spec")
    }

    /// Returns a field of the object's `spec`, whether the user or Kubebench wrote it.
    pub(crate) fn spec_field(&self, field: &str) -> Option<&Json> {
        self.given_spec().map_or_else(|| self.spec.get(field), |spec| spec.get(field))
    }

    /// Returns the patches over the pods of `role` in the order in which they apply, that over the object as the last.
    pub(crate) fn patches_of_pod<'a>(&'a self, role: &'a Role) -> Vec<&'a Node> {
        let of_object = self.patch.as_ref().and_then(|patch| role.template_at.pod_within(patch));
        role.pod_patches.iter().chain(of_object).collect()
    }
}

impl Role {
    /// Returns the image as the spec names it; nothing where the spec does not say it.
    pub fn image_name(&self) -> String {
        self.image.as_ref().map(ToString::to_string).unwrap_or_default()
    }

    /// Iterates over the words of the command and the texts of variables, which a program sees, with their places.
    pub fn texts(&self) -> impl Iterator<Item = (&str, Span)> {
        let [command, args] = &self.word_spans;
        let words = self.command.iter().zip(command).chain(self.args.iter().zip(args));
        let variables = self.env.values().filter_map(|(value, span)| match value {
            Env::Text(text) => Some((text.as_str(), *span)),
            Env::Secret { .. } | Env::ConfigMap { .. } | Env::Field(_) => None,
        });
        words.map(|(word, span)| (word.as_str(), *span)).chain(variables)
    }

    /// Returns the amount of extended resources (accelerators, RDMA devices) of one pod, by name.
    pub fn extended_resources(&self) -> impl Iterator<Item = (&str, &Quantity)> {
        self.limits
            .iter()
            .chain(self.requests.iter().filter(|(name, _)| !self.limits.contains_key(*name)))
            .filter(|(name, _)| is_extended(name))
            .map(|(name, amount)| (name.as_str(), amount))
    }

    /// Returns what the scheduler sets aside for one pod, by name: a limit without a request is both.
    pub(crate) fn amounts(&self) -> impl Iterator<Item = (&str, &Quantity)> {
        let limits = self.limits.iter().filter(|(name, _)| !self.requests.contains_key(*name));
        self.requests.iter().chain(limits).map(|(name, amount)| (name.as_str(), amount))
    }

    /// Returns the number of accelerators of one pod.
    pub fn accelerators(&self) -> f64 {
        self.extended_resources().filter(|(name, _)| is_accelerator(name)).map(|(_, amount)| amount.as_f64()).sum()
    }
}

/// Returns true for a resource that Kubernetes only hands out whole, with request = limit.
pub(crate) fn is_extended(name: &str) -> bool {
    name.contains('/') && !name.starts_with("kubernetes.io/") && !name.contains(".kubernetes.io/")
        || name.starts_with("hugepages-")
}
