//! The workload kinds, one file each: the fields that a spec may give, and the object they become.
//!
//! A kind is added by one file and one line in [`KINDS`].

mod jax_job;
mod job;
mod kubeflow;
mod mpi_job;
mod paddle_job;
mod pytorch_job;
mod role;
mod status;
mod tf_job;
mod xgboost_job;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::model::{Role, Target, Workload};
use crate::schema::{WorkloadForm, form_schema};
use crate::spec::v1::container::RoleBlock;
use crate::text::Span;
use crate::unit::Duration;
use crate::yaml::{Entry, Node};

pub use role::{env_of, request_spans, spans, texts};
pub use status::{Deciders, Outcome, PodSet, kind_of, pod_sets, pods_of, text_at};

/// Every kind, in the order in which `explain` lists them.
pub static KINDS: &[Kind] =
    &[tf_job::KIND, pytorch_job::KIND, mpi_job::KIND, xgboost_job::KIND, paddle_job::KIND, jax_job::KIND, job::KIND];

/// One workload kind.
pub struct Kind {
    /// The key under `spec.workload`.
    pub key: &'static str,
    /// The API group and the plural of the objects that its runs create, for the runner's permission.
    pub resource: (&'static str, &'static str),
    /// Makes the schema of the form.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// Turns the form into a workload, reporting what cannot be.
    lower: fn(&mut Lowering<'_>) -> Option<Workload>,
    /// The name of the container that does the work, in every pod.
    pub container: &'static str,
    /// Reads what the object's controller says of it.
    pub outcome: fn(&Json) -> Outcome,
    /// Reads from the object which replicas' end is the end of the run.
    pub deciders: fn(&Json) -> Deciders,
    /// Reads from the object which pods it asks for.
    pub pods: fn(&Json) -> Vec<PodSet>,
    /// A spec of this kind for `kubebench new`, below `workload:`, indented by two spaces a level.
    pub example: &'static str,
}

/// Returns the kinds as the schema wants them.
pub fn forms() -> Vec<WorkloadForm> {
    KINDS.iter().map(|kind| WorkloadForm { key: kind.key, schema: kind.schema }).collect()
}

/// Turns the resolved value of `spec.workload` into a workload for one case on `target`.
pub fn lower(workload: &Node, target: &Target, timeout: Duration, diagnostics: &mut Diagnostics) -> Option<Workload> {
    let entry = workload.entries().first()?;
    let kind = KINDS.iter().find(|kind| kind.key == entry.key)?;
    let mut lowering = Lowering { entry, target, timeout, diagnostics };
    (kind.lower)(&mut lowering)
}

/// What a kind's lowering works with.
struct Lowering<'a> {
    entry: &'a Entry,
    target: &'a Target,
    timeout: Duration,
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

    /// Returns the patch over the whole object, if the form has one.
    fn patch(&self) -> Option<Node> {
        self.entry.value.get("patch").cloned()
    }

    /// Returns the role that stands under `field`, with the form's shared fields as defaults; nothing when it is absent.
    fn role(&mut self, field: &'static str, shape: role::Shape) -> Option<Role> {
        let block = self.entry.value.entry(field)?;
        let shared = self.form::<RoleBlock>()?;
        let own = read::<RoleBlock>(&block.value, self.diagnostics)?;
        role::merge(
            field,
            Some((&self.entry.value, shared)),
            (&block.value, block.key_span, own),
            shape,
            self.diagnostics,
        )
    }

    /// Returns the only role of a kind whose form is itself the role block.
    fn only_role(&mut self, name: &'static str, shape: role::Shape) -> Option<Role> {
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
                &crate::diag::code::KB0203,
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
