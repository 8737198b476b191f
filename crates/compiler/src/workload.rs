//! The workload kinds, one file each: the fields that a spec may give, and the object they become.
//!
//! A kind is added by one file and one line in [`KINDS`].

mod condition;
mod deployment;
mod embedded_pods;
mod experiment;
mod inference_service;
mod jax_job;
mod job;
mod job_set;
mod kubeflow;
mod llm_inference_service;
mod manifest;
mod mpi_job;
mod notebook;
mod paddle_job;
mod pod_set;
mod pytorch_job;
mod ray_job;
mod role;
mod seldon_deployment;
mod seldon_model;
mod serving;
mod spark_application;
mod starter;
mod status;
mod tf_job;
mod train_job;
mod volcano_job;
mod workflow;
mod xgboost_job;

#[cfg(test)]
mod tests;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use crate::model::{Api, Role, Target, Workload};
use kubebench_contract::text_at;
use kubebench_format::schema::{WorkloadForm, form_schema};
use kubebench_format::spec::v1::container::RoleBlock;
use kubebench_syntax::diag::{Code, Diagnostic, Diagnostics};
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::{Duration, group};
use kubebench_syntax::yaml::{Entry, Node};

pub(crate) use manifest::{Embedded, never_created, read_embedded};
pub(crate) use notebook::carried_name;
pub use pod_set::PodSet;
pub(crate) use role::request_spans;
pub(crate) use role::{env_of, refuse_reserved};
pub use role::{spans, texts};
pub use starter::files_of;
pub(crate) use status::Deciders;
pub use status::{
    Outcome, add_to_pods, condition_of, count, count_at, deciders, is_composed, outcome, pod_sets, selector,
};

/// Every kind, in the order in which `explain` lists them.
pub static KINDS: &[Kind] = &[
    tf_job::KIND,
    pytorch_job::KIND,
    mpi_job::KIND,
    xgboost_job::KIND,
    paddle_job::KIND,
    jax_job::KIND,
    train_job::KIND,
    job::KIND,
    job_set::KIND,
    ray_job::KIND,
    spark_application::KIND,
    volcano_job::KIND,
    experiment::KIND,
    workflow::KIND,
    deployment::KIND,
    inference_service::KIND,
    llm_inference_service::KIND,
    seldon_deployment::KIND,
    seldon_model::KIND,
];

/// Returns the kind of a workload's object, by its API group and kind.
pub fn kind_of(object: &Json) -> Option<&'static Kind> {
    kind_called(text_at(object, "/apiVersion"), text_at(object, "/kind"))
}

/// Returns the kind that objects of this API version and kind are of.
pub(crate) fn kind_called(api_version: &str, name: &str) -> Option<&'static Kind> {
    let wanted = group(api_version);
    KINDS.iter().find(|kind| group(&kind.api.api_version) == wanted && kind.api.kind == name)
}

/// One workload kind.
pub struct Kind {
    /// The key under `spec.workload`.
    pub key: &'static str,
    /// The API of the objects that its runs create, in the version that most clusters serve.
    pub api: Api,
    /// Makes the schema of the form.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// Turns the form into a workload, reporting what cannot be.
    lower: fn(&mut Lowering<'_>) -> Option<Workload>,
    /// Whether its objects come to an end.
    pub purpose: Purpose,
    /// The name of the container that does the work, in every pod.
    pub container: &'static str,
    /// Reads what the object's controller says of it.
    pub outcome: fn(&Json) -> Outcome,
    /// Reads from the object which replicas' end is the end of the run.
    pub deciders: fn(&Json) -> Deciders,
    /// Reads from the object which pods it requests.
    pub pods: fn(&Json) -> Vec<PodSet>,
    /// A spec of this kind for `kubebench new`, below `workload:`, indented by two spaces a level.
    pub example: &'static str,
}

/// What the objects of a kind are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Work that ends.
    Works,
    /// To answer for as long as they are there: they have succeeded once they are ready.
    Serves,
}

/// One way to say what is run: the simple form of a kind, or an object of any kind as it is.
#[derive(Clone, Copy)]
pub struct Form {
    /// The key under `spec.workload`.
    pub key: &'static str,
    schema: fn(&mut SchemaGenerator) -> Schema,
    lower: fn(&mut Lowering<'_>) -> Option<Workload>,
    /// A spec of it for `kubebench new`, below `workload:`, indented by two spaces a level.
    pub example: &'static str,
}

/// Returns every form, in the order in which `explain` lists them.
pub fn forms() -> impl Iterator<Item = Form> {
    let of_kind = |kind: &Kind| Form { key: kind.key, schema: kind.schema, lower: kind.lower, example: kind.example };
    KINDS.iter().map(of_kind).chain([notebook::FORM, manifest::FORM])
}

/// Returns the forms as the schema wants them.
pub fn schemas() -> Vec<WorkloadForm> {
    forms().map(|form| WorkloadForm { key: form.key, schema: form.schema }).collect()
}

/// What else a workload is lowered from, in addition to its own form.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    /// Where it runs.
    pub target: &'a Target,
    /// How long it may.
    pub timeout: Duration,
    /// The objects of its manifest, unless that has errors.
    pub documents: Option<&'a [Node]>,
}

/// Turns the resolved value of `spec.workload` into a workload for one case.
pub(crate) fn lower(workload: &Node, around: Around<'_>, diagnostics: &mut Diagnostics) -> Option<Workload> {
    let entry = workload.entries().first()?;
    let form = forms().find(|form| form.key == entry.key)?;
    let Around { target, timeout, documents } = around;
    let mut lowering = Lowering { key: form.key, entry, target, timeout, documents, diagnostics };
    (form.lower)(&mut lowering)
}

/// What a form's lowering works with.
struct Lowering<'a> {
    key: &'static str,
    entry: &'a Entry,
    target: &'a Target,
    timeout: Duration,
    documents: Option<&'a [Node]>,
    diagnostics: &'a mut Diagnostics,
}

impl Lowering<'_> {
    /// Reads the form as the kind's own type.
    fn form<T: DeserializeOwned + JsonSchema>(&mut self) -> Option<T> {
        read(&self.entry.value, self.diagnostics)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Returns the span of `field`'s key in the form, or of the form's own key.
    fn span_of(&self, field: &str) -> Span {
        self.entry.value.entry(field).map_or(self.entry.key_span, |entry| entry.key_span)
    }

    fn fault(&mut self, code: &'static Code, field: &str, message: impl Into<String>, help: impl Into<String>) {
        let fault = Diagnostic::at(code, self.span_of(field), message);
        self.report(fault.help(help));
    }

    /// Returns an object of `api` that needs no other objects and numbers its pods itself.
    fn workload(&self, api: Api, spec: Map<String, Json>, roles: Vec<Role>) -> Workload {
        Workload {
            key: self.key,
            span: self.entry.key_span,
            api,
            spec,
            roles,
            beside: Vec::new(),
            headless_service: false,
            name_at: Vec::new(),
            labels_at: Vec::new(),
            annotations: Map::new(),
            supporting: Vec::new(),
            patch: self.entry.value.get("patch").cloned(),
            scale_is_manual: false,
            given: None,
            serving: None,
            placement: Vec::new(),
        }
    }

    /// Returns the role under `field`, with the form's shared fields as defaults; none when it is absent.
    fn role(&mut self, field: &'static str, shape: role::Shape) -> Option<Role> {
        let block = self.entry.value.entry(field)?;
        self.role_of(field, &block.value, block.key_span, shape)
    }

    /// Returns the role called `name` that `block` describes, with the form's shared fields as defaults.
    fn role_of(&mut self, name: &str, block: &Node, span: Span, shape: role::Shape) -> Option<Role> {
        let shared = self.form::<RoleBlock>()?;
        let own = read::<RoleBlock>(block, self.diagnostics)?;
        role::merge(name, Some((&self.entry.value, shared)), (block, span, own), shape, self.diagnostics)
    }

    /// Returns the only role of a kind whose form is itself the role block.
    fn only_role(&mut self, name: &str, shape: role::Shape) -> Option<Role> {
        let own = self.form::<RoleBlock>()?;
        role::merge(name, None, (&self.entry.value, self.entry.key_span, own), shape, self.diagnostics)
    }
}

/// Reads `node` as a `T`; a mismatch after the schema's approval is reported as a wrong type.
pub fn read<T: DeserializeOwned>(node: &Node, diagnostics: &mut Diagnostics) -> Option<T> {
    match node.read_as::<T>() {
        Ok(value) => Some(value),
        Err(mismatch) => {
            diagnostics.push(Diagnostic::at(
                &kubebench_syntax::diag::code::KB0203,
                mismatch.span.unwrap_or(node.span),
                mismatch.message,
            ));
            None
        }
    }
}

/// Inserts `value` under `key` unless it is absent.
fn insert(object: &mut Map<String, Json>, key: &str, value: Option<impl Into<Json>>) {
    if let Some(value) = value {
        object.insert(key.to_owned(), value.into());
    }
}

/// Declares the schema function of a kind's form.
fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    form_schema::<T>(generator)
}
