//! Merges a role block with its form's shared fields into a role of the model.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

use crate::model::{Env, LongestName, Role, TemplateAt};
use kubebench_format::schema::{role_schema, without};
use kubebench_format::spec::v1::container::{EnvSource, EnvValue, RoleBlock};
use kubebench_format::spec::v1::scalar::{Quantity, Text};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::Node;

/// What the kind, not the user, decides about a role.
pub(super) struct Shape {
    pub(super) container_name: &'static str,
    pub(super) template_at: TemplateAt,
    /// What the operator puts between the job's name and the replica index; none for a role without an index.
    pub(super) pod_infix: &'static str,
    pub(super) restart_policy: Option<&'static str>,
    pub(super) needs_token: bool,
    pub(super) image: ImageFrom,
}

/// Who says the image of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImageFrom {
    /// The spec.
    Spec,
    /// The spec, or a runtime of the cluster.
    Runtime,
}

type Block<'n> = (&'n Node, Span, RoleBlock);

/// The fields of a kind's role in addition to those of every role.
pub(super) trait RoleFields: JsonSchema {
    /// What every other role has, and this one has no use for.
    const LACKS: &'static [&'static str] = &[];
}

/// A role block with the fields of `T` too, under the name of `T`.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct RoleForm<T>(pub(super) T);

impl<T: RoleFields> JsonSchema for RoleForm<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        without(role_schema::<T>(generator), T::LACKS)
    }
}

/// Returns the role called `name`; `shared` are defaults that merge into it, except that it replaces command and args.
pub(super) fn merge(
    name: &str,
    shared: Option<(&Node, RoleBlock)>,
    (node, span, own): Block<'_>,
    shape: Shape,
    diagnostics: &mut Diagnostics,
) -> Option<Role> {
    let where_to_write = if shared.is_some() { "here, or next to the roles for all of them" } else { "here" };
    let (shared_node, shared) = shared.map_or((None, RoleBlock::default()), |(node, shared)| (Some(node), shared));
    let nodes: Vec<&Node> = shared_node.into_iter().chain([node]).collect();
    let place = |field: &str| nodes.iter().rev().find_map(|node| node.entry(field));
    let image = own.image.or(shared.image);
    if image.is_none() && shape.image == ImageFrom::Spec {
        let fault = Diagnostic::at(&code::KB0202, span, format!("`{name}` needs the field `image`"));
        diagnostics.push(fault.help(format!("write it {where_to_write}: `image: registry.example/name@sha256:…`")));
        return None;
    }
    let replicas = own.replicas.map_or(1, |replicas| replicas.0);
    let mut env = BTreeMap::new();
    for (block_node, variables) in [(shared_node, shared.env), (Some(node), own.env)] {
        for (variable, value) in variables {
            let at = block_node
                .and_then(|node| node.get("env"))
                .and_then(|env| env.get(&variable))
                .map_or(span, |value| value.span);
            env.insert(variable, (env_value(value), at));
        }
    }
    let mut requests = BTreeMap::new();
    let mut limits = BTreeMap::new();
    for resources in [shared.resources, own.resources].into_iter().flatten() {
        requests.extend(resources.requests.into_iter().map(|(resource, Quantity(amount))| (resource, amount)));
        limits.extend(resources.limits.into_iter().map(|(resource, Quantity(amount))| (resource, amount)));
    }
    let patches = |field: &str| -> Vec<Node> { nodes.iter().filter_map(|node| node.get(field)).cloned().collect() };
    Some(Role {
        name: name.to_owned(),
        span,
        replicas,
        max_replicas: replicas,
        completions: replicas,
        replicas_span: node.get("replicas").map_or(span, |node| node.span),
        container_name: shape.container_name.into(),
        template_at: shape.template_at,
        longest_name: LongestName::of_pod(format!(
            "{}{}",
            shape.pod_infix,
            if shape.pod_infix.ends_with('-') { (replicas - 1).to_string() } else { String::new() }
        )),
        restart_policy: shape.restart_policy,
        needs_token: shape.needs_token,
        service_account: None,
        serves: None,
        of_server: Vec::new(),
        deadline: None,
        image: image.map(|image| image.0),
        image_span: place("image").map_or(span, |entry| entry.value.span),
        command: texts(own.command.or(shared.command).unwrap_or_default()),
        args: texts(own.args.or(shared.args).unwrap_or_default()),
        word_spans: ["command", "args"].map(|field| spans(place(field).map(|entry| &entry.value))),
        env,
        requests,
        limits,
        resources_span: place("resources").map(|entry| entry.key_span),
        request_spans: nodes.iter().filter_map(|node| node.get("resources")).flat_map(request_spans).collect(),
        labels: shared.labels.into_iter().chain(own.labels).map(|(key, value)| (key, value.0)).collect(),
        annotations: shared
            .annotations
            .into_iter()
            .chain(own.annotations)
            .map(|(key, Text(value))| (key, value))
            .collect(),
        pod_patches: patches("pod"),
        container_patches: patches("container"),
        expand_variables: own.expand_variables.or(shared.expand_variables).is_some_and(|flag| flag.0),
    })
}

/// Returns where a block of resources says its requests; an amount directly in it is one.
pub(crate) fn request_spans(resources: &Node) -> impl Iterator<Item = (String, Span)> {
    let apart = resources.entries_of("requests");
    let both = resources.entries().iter().filter(|entry| !matches!(entry.key.as_str(), "requests" | "limits"));
    both.chain(apart).map(|entry| (entry.key.clone(), entry.value.span))
}

/// Returns the strings of a list of words.
pub fn texts(words: Vec<Text>) -> Vec<String> {
    words.into_iter().map(|Text(word)| word).collect()
}

/// Returns where the elements of a list are.
pub fn spans(list: Option<&Node>) -> Vec<Span> {
    list.map(Node::items).unwrap_or_default().iter().map(|item| item.span).collect()
}

/// Returns environment variables of the model; `span` returns the place of each.
pub(crate) fn env_of(
    variables: BTreeMap<String, EnvValue>,
    span: impl Fn(&str) -> Span,
) -> BTreeMap<String, (Env, Span)> {
    variables.into_iter().map(|(name, value)| (name.clone(), (env_value(value), span(&name)))).collect()
}

/// Reports variables of the user that Kubebench itself must set.
pub(crate) fn refuse_reserved<'a>(variables: impl IntoIterator<Item = (&'a str, Span)>, diagnostics: &mut Diagnostics) {
    for (name, span) in variables.into_iter().filter(|(name, _)| name.starts_with("KUBEBENCH_")) {
        let fault =
            Diagnostic::at(&code::KB0315, span, format!("`{name}` is set by kubebench and cannot be overridden"));
        diagnostics.push(fault.help("use a name of your own"));
    }
}

fn env_value(value: EnvValue) -> Env {
    match value {
        EnvValue::Text(text) => Env::Text(text),
        EnvValue::From(EnvSource::Secret(from)) => Env::Secret { name: from.name.0.to_string(), key: from.key },
        EnvValue::From(EnvSource::ConfigMap(from)) => Env::ConfigMap { name: from.name.0.to_string(), key: from.key },
        EnvValue::From(EnvSource::Field(path)) => Env::Field(path),
    }
}
