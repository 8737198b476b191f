//! The types of the Kubernetes API, against which the parts of it that people write are held.
//!
//! The API server drops a field that it does not know, or refuses the object when the run is due; both are found here
//! instead. Built-in types come from `k8s-openapi`; those of custom resources are in `fields.json`.

mod fields;
mod object;
mod pod_rule;
mod rule;
mod shape;
mod typed;

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::batch::v1::JobSpec;
use k8s_openapi::api::core::v1::{Container, PodSpec, Toleration, Volume};
use k8s_openapi::api::networking::v1::{NetworkPolicyEgressRule, NetworkPolicyIngressRule};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::Value as Json;

use kubebench_syntax::diag::{Code, Diagnostic, Diagnostics, code, did_you_mean};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Node, Value};

pub(crate) use object::check_object;
pub use shape::{Patches, patches};

/// What the API takes at one place.
#[derive(Clone, Copy, Debug)]
pub enum Type {
    /// A type that `k8s-openapi` has, or a plain one.
    Known(for<'a> fn(&mut Reader<'a>, &'a Node)),
    /// The `spec` of a kind, from `fields.json`; none where that does not list the kind.
    Spec {
        /// The version of the kind's API.
        api_version: &'static str,
        kind: &'static str,
        /// The release whose fields differ from the latest's, after a space.
        release: &'static str,
    },
    /// One of these words.
    Words(&'static [&'static str]),
    /// A whole number of this type, from the first to the last.
    Within(&'static Self, i64, i64),
    /// A mapping with these fields.
    Object(&'static [(&'static str, Self)]),
    List(&'static Self),
    /// A mapping whose keys are the names of the workload's roles.
    Roles(&'static Self),
    /// A list of the workload's roles, identified by the field named here.
    RoleList(&'static str, &'static Self),
    /// A field that existing objects may still have, and no patch: the controller keeps it only for them.
    Deprecated(&'static Self),
    /// A mapping with these fields in addition to those of another type.
    Beside(&'static [(&'static str, Self)], &'static Self),
}

/// The `spec` of a batch/v1 Job.
pub const JOB_SPEC: Type = Type::Known(typed::read::<JobSpec>);
/// The `spec` of a pod.
pub const POD_SPEC: Type = Type::Known(typed::read::<PodSpec>);
/// A container.
pub const CONTAINER: Type = Type::Known(typed::read::<Container>);
/// A volume of a pod.
pub const VOLUME: Type = Type::Known(typed::read::<Volume>);
/// A toleration.
pub(crate) const TOLERATION: Type = Type::Known(typed::read::<Toleration>);
/// A rule for what pods may reach.
pub(crate) const EGRESS_RULE: Type = Type::Known(typed::read::<NetworkPolicyEgressRule>);
/// A rule for who may reach pods.
pub(crate) const INGRESS_RULE: Type = Type::Known(typed::read::<NetworkPolicyIngressRule>);
/// Amounts by resource.
pub(crate) const QUANTITIES: Type = Type::Known(typed::read::<BTreeMap<String, Quantity>>);
const TEXT: Type = Type::Known(typed::read::<String>);
const METADATA: Type = Type::Known(typed::read::<ObjectMeta>);

/// Fields of containers that people look for in pods.
const OF_CONTAINERS: &[&str] = &[
    "envFrom",
    "imagePullPolicy",
    "lifecycle",
    "livenessProbe",
    "ports",
    "readinessProbe",
    "startupProbe",
    "volumeDevices",
    "volumeMounts",
    "workingDir",
];

/// How a fragment is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// The value itself.
    Value,
    /// A strategic merge patch: `null` removes, and keys with `$` are directives.
    Patch,
    /// A part of an object that its author wrote for the API server, which reads `null` as no value.
    Object,
}

/// Reports what in `node` does not match the API's `wanted` type; `name` completes "is not a field of …".
pub(crate) fn check(node: &Node, wanted: Type, name: &str, diagnostics: &mut Diagnostics) {
    let mut reader = Reader::new(name, Meaning::Value, &[], diagnostics);
    reader.read(node, wanted);
}

/// Reports what in a patch over a `wanted` does not match the API, and returns the patch as JSON: a number in the place of
/// text is read as its source text, as in every other field of a spec.
pub fn read_patch(patch: &Node, wanted: Type, name: &str, diagnostics: &mut Diagnostics) -> Json {
    let mut reader = Reader::new(name, Meaning::Patch, &[], diagnostics);
    reader.read(patch, wanted);
    let texts = reader.texts;
    to_json(patch, &texts)
}

/// The same for a patch over a whole object; `spec` is the type of its field of that name.
pub(crate) fn read_object_patch(
    patch: &Node,
    spec: Type,
    kind: &str,
    roles: &[&str],
    diagnostics: &mut Diagnostics,
) -> Json {
    let name = format!("a {kind}");
    let mut reader = Reader::new(&name, Meaning::Patch, roles, diagnostics);
    let fields = [("apiVersion", TEXT), ("kind", TEXT), ("metadata", METADATA), ("spec", spec)];
    reader.object(patch, &fields);
    let texts = reader.texts;
    to_json(patch, &texts)
}

fn to_json(node: &Node, texts: &BTreeSet<Span>) -> Json {
    match &node.value {
        Value::Number(text) if texts.contains(&node.span) => text.as_str().into(),
        Value::Seq(items) => items.iter().map(|item| to_json(item, texts)).collect(),
        Value::Map(entries) => entries.iter().map(|entry| (entry.key.clone(), to_json(&entry.value, texts))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => node.to_json(),
    }
}

/// A step into the fragment, for the names of places.
#[derive(Clone, Copy, Debug)]
enum Within<'a> {
    Field(&'a str),
    Element,
}

/// A fragment in the reading.
pub struct Reader<'a> {
    name: &'a str,
    meaning: Meaning,
    roles: &'a [&'a str],
    path: Vec<Within<'a>>,
    /// The depths of mappings whose type lacks some of their fields, with those fields.
    beside: Vec<(usize, &'static [(&'static str, Type)])>,
    /// Numbers of a patch where the API wants text.
    texts: BTreeSet<Span>,
    diagnostics: &'a mut Diagnostics,
}

impl<'a> Reader<'a> {
    fn new(name: &'a str, meaning: Meaning, roles: &'a [&'a str], diagnostics: &'a mut Diagnostics) -> Self {
        Self { name, meaning, roles, path: Vec::new(), beside: Vec::new(), texts: BTreeSet::new(), diagnostics }
    }

    fn read(&mut self, node: &'a Node, wanted: Type) {
        match wanted {
            Type::Known(read) => read(self, node),
            Type::Deprecated(of) => self.read(node, *of),
            Type::Spec { api_version, kind, release } => {
                self.read(node, fields::spec(&format!("{api_version} {kind}{release}")));
            }
            Type::Words(words) => {
                self.read(node, TEXT);
                if let Value::String(text) = &node.value
                    && !words.contains(&text.as_str())
                    && !text.is_empty()
                {
                    let place = self.place();
                    rule::unknown_word(self, node, text, &place, words);
                }
            }
            Type::Within(of, least, most) => {
                self.read(node, *of);
                let place = self.place();
                rule::value_within(self, node, &place, least, most);
            }
            Type::Object(fields) => self.object(node, fields),
            Type::List(element) => match &node.value {
                Value::Seq(items) => items.iter().for_each(|item| self.element(item, element)),
                _ => self.mistyped(node, "a list"),
            },
            Type::RoleList(_, role) if self.meaning == Meaning::Object => self.read(node, Type::List(role)),
            Type::RoleList(key, role) => match &node.value {
                Value::Seq(items) => items.iter().for_each(|item| self.role_element(item, key, role)),
                _ => self.mistyped(node, "a list"),
            },
            Type::Beside(fields, others) => {
                for entry in node.entries() {
                    if let (Some(wanted), true) = (self.own(fields, &entry.key), self.is_given(entry)) {
                        self.within(Within::Field(&entry.key), |reader| reader.read(&entry.value, wanted));
                    }
                }
                self.beside.push((self.path.len(), fields));
                self.read(node, *others);
                self.beside.pop();
            }
            Type::Roles(role) => {
                let is_mapping = self.is_mapping(node);
                for entry in node.entries().iter().filter(|_| is_mapping) {
                    if !self.is_given(entry) {
                        continue;
                    }
                    if self.meaning == Meaning::Object || self.roles.contains(&entry.key.as_str()) {
                        self.within(Within::Field(&entry.key), |reader| reader.read(&entry.value, *role));
                    } else {
                        self.unknown_role(&entry.key, entry.key_span);
                    }
                }
            }
        }
    }

    /// Returns the type of a field among `fields`.
    fn own(&self, fields: &[(&str, Type)], name: &str) -> Option<Type> {
        let is_given = |wanted: &Type| self.meaning == Meaning::Object || !matches!(wanted, Type::Deprecated(_));
        fields.iter().find(|(own, _)| *own == name).map(|(_, wanted)| *wanted).filter(is_given)
    }

    /// Reads an element of a list of roles, which must be one that the workload has.
    fn role_element(&mut self, item: &'a Node, key: &str, role: &Type) {
        match item.get(key).and_then(Node::as_text) {
            Some(name) if self.roles.contains(&name) => self.element(item, role),
            Some(name) => self.unknown_role(name, item.get(key).map_or(item.span, |node| node.span)),
            None => {
                let fault = Diagnostic::at(&code::KB0316, item.span, format!("this element has no `{key}`"));
                let roles = self.roles.join(", ");
                self.diagnostics.push(
                    fault
                        .note("a patch finds the element to change by this field")
                        .help(format!("write the `{key}` of a role: {roles}")),
                );
            }
        }
    }

    fn object(&mut self, node: &'a Node, fields: &[(&'static str, Type)]) {
        let names: Vec<&'static str> = fields.iter().map(|(name, _)| *name).collect();
        let is_mapping = self.is_mapping(node);
        for entry in node.entries().iter().filter(|_| is_mapping) {
            if let (true, Some((_, wanted))) =
                (self.is_known(entry, "", &names), fields.iter().find(|(name, _)| *name == entry.key))
            {
                self.within(Within::Field(&entry.key), |reader| reader.read(&entry.value, *wanted));
            }
        }
    }

    fn element(&mut self, item: &'a Node, wanted: &Type) {
        self.within(Within::Element, |reader| reader.read(item, *wanted));
    }

    fn within(&mut self, step: Within<'a>, read: impl FnOnce(&mut Self)) {
        self.path.push(step);
        read(self);
        self.path.pop();
    }

    /// Returns true for an entry whose value is read: not a directive, and not a removal.
    fn is_given(&mut self, entry: &'a kubebench_syntax::yaml::Entry) -> bool {
        let is_null = entry.value.value == Value::Null;
        match self.meaning {
            Meaning::Patch => !is_null && !entry.key.starts_with('$'),
            Meaning::Object => !is_null,
            Meaning::Value => {
                if is_null {
                    self.within(Within::Field(&entry.key), |reader| reader.mistyped(&entry.value, "a value"));
                }
                !is_null
            }
        }
    }

    /// Returns true for an entry that is given and among `fields`; one that is not among them is reported.
    fn is_known(&mut self, entry: &'a kubebench_syntax::yaml::Entry, owner: &str, fields: &[&'static str]) -> bool {
        let is_beside = |(depth, fields): &(usize, &[(&str, Type)])| {
            *depth == self.path.len() && self.own(fields, &entry.key).is_some()
        };
        if self.beside.iter().any(is_beside) {
            return false;
        }
        let is_directive = self.meaning == Meaning::Patch && entry.key.starts_with('$');
        if !is_directive && !fields.contains(&entry.key.as_str()) {
            self.unknown_field(entry, owner, fields);
            return false;
        }
        self.is_given(entry)
    }

    fn is_mapping(&mut self, node: &'a Node) -> bool {
        let is_mapping = matches!(node.value, Value::Map(_));
        if !is_mapping {
            self.mistyped(node, "a mapping");
        }
        is_mapping
    }

    /// Returns what the place is called: `the pod spec`, `` `resources` `` or ``an element of `volumes` ``.
    fn place(&self) -> String {
        let field = self.path.iter().rev().find_map(|step| match step {
            Within::Field(name) => Some(format!("`{name}`")),
            Within::Element => None,
        });
        match (self.path.last(), field) {
            (Some(Within::Field(_)), Some(field)) => field,
            (Some(Within::Element), Some(field)) => format!("an element of {field}"),
            _ => self.name.to_owned(),
        }
    }

    /// Returns true in an element of the list `name`.
    fn is_element_of(&self, name: &str) -> bool {
        matches!(self.path.as_slice(), [.., Within::Field(field), Within::Element] if *field == name)
    }

    fn unknown_field(&mut self, entry: &kubebench_syntax::yaml::Entry, owner: &str, fields: &[&'static str]) {
        let message = format!("`{}` is not a field of {}", entry.key, self.place());
        let found = |code: &'static Code| {
            Diagnostic::at(code, entry.key_span, message)
                .note("the API server would silently drop the field, or refuse the object")
        };
        if owner == "PodSpec" && OF_CONTAINERS.contains(&entry.key.as_str()) {
            let help = match self.meaning {
                Meaning::Object => "move it into an element of `containers`: it is a field of containers",
                Meaning::Value | Meaning::Patch => "move it under `container`, which is the main container",
            };
            return self.diagnostics.push(found(&code::KB0316).help(help));
        }
        if let Some(close) = did_you_mean(&entry.key, fields.iter().copied()) {
            return self.diagnostics.push(found(&code::KB0316).did_you_mean(entry.key_span, close));
        }
        // A later release of its controller may have the field, and the object is its author's.
        let fault = found(if self.meaning == Meaning::Object { &code::KB0370 } else { &code::KB0316 });
        self.diagnostics.push(match explained(owner) {
            Some(path) => fault.help(format!("`kubectl explain {path}` lists the fields")),
            None => fault.help(format!("write one of its fields: {}", fields.join(", "))),
        });
    }

    fn unknown_role(&mut self, name: &str, span: Span) {
        let message = format!("`{name}` is not a role of this workload");
        let fault = Diagnostic::at(&code::KB0316, span, message).note(
            "its pods would be missing from estimates and budgets, and would lack the fields that kubebench sets",
        );
        self.diagnostics.push(match did_you_mean(name, self.roles.iter().copied()) {
            Some(close) => fault.did_you_mean(span, close),
            None => fault.help(format!("write one of {}, or add the role to the spec", self.roles.join(", "))),
        });
    }

    /// Reports a node that is not `wanted`.
    fn mistyped(&mut self, node: &Node, wanted: &str) {
        if node.value == Value::Null {
            let fault = Diagnostic::at(&code::KB0316, node.span, format!("{} has no value", self.place()));
            return self.diagnostics.push(fault.help("write a value, or delete it"));
        }
        let message = format!("{} must be {wanted}, not {}", self.place(), node.described());
        let fault = Diagnostic::at(&code::KB0316, node.span, message);
        self.diagnostics.push(match &node.value {
            Value::Number(text) if wanted == "text" => quote(fault, node, text),
            Value::Bool(flag) if wanted == "text" => quote(fault, node, if *flag { "true" } else { "false" }),
            value => {
                let fault = fault.note("the API server would refuse the object");
                match value {
                    Value::String(text) if is_plain(text, wanted) => {
                        fault.help(format!("write `{text}` without quotes")).likely_fix(node.span, text)
                    }
                    Value::String(text) if wanted == "a list" => {
                        let list = format!("[{}]", Json::from(&**text));
                        fault.help(format!("write a list: `{list}`")).likely_fix(node.span, list)
                    }
                    _ if wanted.starts_with(WHOLE_NUMBER) => fault.help("write a number, such as `2`"),
                    _ => fault,
                }
            }
        });
    }

    /// Reports a value that has the right type and is nevertheless refused.
    fn refused(&mut self, node: &Node, message: impl Into<String>, help: impl Into<String>) {
        self.refused_at(node.span, message, help);
    }

    fn refused_at(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        let fault = self.refusal(span, message).help(help);
        self.diagnostics.push(fault);
    }

    fn refusal(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        let note = match self.meaning {
            Meaning::Value | Meaning::Object => "the API server would refuse the object",
            Meaning::Patch => "the API server would refuse it, and the run would wait until its timeout",
        };
        Diagnostic::at(&code::KB0325, span, message).note(note)
    }
}

/// What a type of whole numbers is called, if it has no bounds.
const WHOLE_NUMBER: &str = "a whole number";
/// What a boolean is called.
const BOOLEAN: &str = "`true` or `false`";

/// Returns whether `text` is `wanted` except for its quotes.
fn is_plain(text: &str, wanted: &str) -> bool {
    match wanted {
        BOOLEAN => matches!(text, "true" | "false"),
        _ => wanted.starts_with(WHOLE_NUMBER) && text.parse::<i32>().is_ok(),
    }
}

fn quote(fault: Diagnostic, node: &Node, text: &str) -> Diagnostic {
    let fault = fault.note("the API server would refuse the object: only text is allowed here");
    let written = (node.span.end - node.span.start) as usize;
    if written != text.len() {
        // A lookup, or another spelling of the value.
        return fault.help("quote it; quote an expression too, as in `\"${{ matrix.size }}\"`");
    }
    let quoted = format!("\"{text}\"");
    fault.help(format!("quote it: `{quoted}`")).fix(node.span, quoted)
}

/// Returns what `kubectl explain` calls a type with too many fields for a message.
fn explained(owner: &str) -> Option<&'static str> {
    let path = match owner {
        "PodSpec" => "pod.spec",
        "PodSecurityContext" => "pod.spec.securityContext",
        "Container" | "EphemeralContainer" => "pod.spec.containers",
        "SecurityContext" => "pod.spec.containers.securityContext",
        "Volume" => "pod.spec.volumes",
        "ObjectMeta" => "pod.metadata",
        "JobSpec" => "job.spec",
        _ => return None,
    };
    Some(path)
}

#[cfg(test)]
mod tests;
