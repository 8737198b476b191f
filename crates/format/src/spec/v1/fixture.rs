//! Kept logs that test the extraction of metrics.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::project::RelativePath;

/// A kept log and the values that must be read from it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fixture {
    /// The log, relative to the project root and outside the folders of specs.
    #[schemars(extend("examples" = ["fixtures/resnet50.log"]))]
    pub log: RelativePath,
    /// The value of each metric; `null` means that no value is found.
    #[schemars(extend("minProperties" = 1, "examples" = [{"throughput": 1234.5, "loss": null}], "propertyNames" = {"format": "metric-name"}))]
    pub expect: BTreeMap<String, Expected>,
}

/// A number, or none.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Expected(pub Option<f64>);

impl JsonSchema for Expected {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Expected".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["number", "null"], "x-kubebench-nullable": true })
    }
}
