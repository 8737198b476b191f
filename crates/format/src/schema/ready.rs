//! One schema with its validator, made once.

use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::Value as Json;

use super::DocumentKind;
use super::explain::Homes;
use super::format::FORMATS;
use super::generate::{WorkloadForm, generate};
use kubebench_syntax::invariant::Invariant as _;

/// One schema, ready to validate and to explain itself.
pub(super) struct Ready {
    pub(super) schema: Json,
    pub(super) validator: Validator,
    homes: OnceLock<Homes>,
}

impl Ready {
    pub(super) fn new(kind: DocumentKind, workloads: &[WorkloadForm]) -> Self {
        let schema = generate(kind, workloads);
        let mut options = jsonschema::draft7::options().should_validate_formats(true);
        for format in FORMATS {
            options = options
                .with_format(format.name, move |text: &str| text.contains("${{") || (format.check)(text).is_ok());
        }
        let validator = options.build(&schema).expected("a schema of ours");
        Self { schema, validator, homes: OnceLock::new() }
    }

    /// Returns the path of the mapping that has the field, if that is certain.
    pub(super) fn home_of(&self, field: &str) -> Option<String> {
        self.homes.get_or_init(|| Homes::of(&self.schema)).home_of(field)
    }
}
