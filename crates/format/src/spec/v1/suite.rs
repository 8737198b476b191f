//! `kind: Suite`: an ordered list of benchmarks run as one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::benchmark::{AxisValue, Claim, Metadata, Schedule};
use super::scalar::{Count, CountFromZero, Duration, RunNumber, Text};
use super::suppression::Suppression;

/// An ordered list of benchmarks that are run as one: one Workflow, one session, one record of the results.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Suite {
    /// The version of this format.
    #[schemars(extend("enum" = ["kubebench.dev/v1"], "examples" = ["kubebench.dev/v1"]))]
    pub api_version: String,
    /// The kind of this document.
    #[schemars(extend("enum" = ["Suite"], "examples" = ["Suite"]))]
    pub kind: String,
    /// The suite's name, and labels that its benchmarks inherit unless they set another value.
    #[schemars(extend("examples" = [{"name": "nightly", "labels": {"cadence": "nightly"}}]))]
    pub metadata: Metadata,
    /// What the suite holds.
    #[schemars(extend("examples" = [{"benchmarks": ["resnet50-ddp", "llama-8b"]}]))]
    pub spec: SuiteSpec,
}

/// What a suite holds.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuiteSpec {
    /// What the suite is for.
    #[serde(default)]
    #[schemars(extend("default" = "", "examples" = ["Everything that runs each night"]))]
    pub description: Option<Text>,
    /// Names of targets in `kubebench.yaml` on which the suite runs its benchmarks; on other targets, each runs separately. Without it, every target.
    #[serde(default)]
    #[schemars(extend("minItems" = 1, "uniqueItems" = true, "examples" = [["gpu-eu"]]))]
    pub targets: Option<Vec<String>>,
    /// Raise it to run all benchmarks again with nothing else changed.
    #[serde(default)]
    #[schemars(extend("default" = 1, "examples" = [2]))]
    pub run: Option<RunNumber>,
    /// Runs on a schedule (a CronWorkflow) instead of once.
    #[serde(default)]
    #[schemars(extend("examples" = [{"cron": "0 3 * * 1", "timezone": "Etc/UTC"}]))]
    pub schedule: Option<Schedule>,
    /// Defaults of fields that its benchmarks omit; they override the `defaults` of the project.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"repeats": 5, "warmups": 1}]))]
    pub defaults: SuiteDefaults,
    /// The benchmarks, in the order in which they run, one after another.
    #[schemars(extend("minItems" = 1, "examples" = [["resnet50-ddp", {"benchmark": "llama-8b", "needs": ["resnet50-ddp"]}]]))]
    pub benchmarks: Vec<Member>,
    /// Where the results of all its benchmarks are kept in the cluster until they are in git.
    #[serde(default)]
    #[schemars(extend("examples" = [{"claim": {"size": "50Gi"}}]))]
    pub results: Option<SuiteResults>,
    /// Lints whose warnings about this document are not reported, by code, each with the reason.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"KB0438": {"level": "allow", "reason": "A night without a run does no harm"}}], "propertyNames" = {"format": "lint-code"}))]
    pub lints: BTreeMap<String, Suppression>,
}

/// Defaults of fields that the benchmarks of a suite omit.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SuiteDefaults {
    /// How often each case is measured.
    #[schemars(extend("examples" = [3]))]
    pub repeats: Option<Count>,
    /// Runs of each case before the measured ones.
    #[schemars(extend("examples" = [1]))]
    pub warmups: Option<CountFromZero>,
    /// How long one run may take.
    #[schemars(extend("examples" = ["2h"]))]
    pub timeout: Option<Duration>,
    /// How long one run may wait to be scheduled.
    #[schemars(extend("examples" = ["6h"]))]
    pub queue_timeout: Option<Duration>,
    /// Constants for `${{ parameters.NAME }}` that a benchmark does not declare itself.
    #[schemars(extend("default" = {}, "examples" = [{"epochs": 2}], "propertyNames" = {"format": "parameter-name"}))]
    pub parameters: BTreeMap<String, AxisValue>,
}

/// Where the results of a suite are kept.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SuiteResults {
    /// The PersistentVolumeClaim for the logs and results of all benchmarks.
    #[schemars(extend("examples" = [{"size": "50Gi"}]))]
    pub claim: Option<Claim>,
}

/// One benchmark of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub benchmark: String,
    /// Earlier benchmarks that must succeed; otherwise this one is not run.
    pub needs: Vec<String>,
}

impl JsonSchema for Member {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Member".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A benchmark: its name, or a mapping with `benchmark` and what it `needs`.",
            "type": ["string", "object"],
            "properties": {
                "benchmark": {
                    "description": "The `metadata.name` of a benchmark of the project.",
                    "type": "string", "examples": ["llama-8b"],
                },
                "needs": {
                    "description": "Names of earlier benchmarks: unless all their runs succeed, this benchmark is not \
                         run, and its results say so.",
                    "type": "array", "items": { "type": "string" }, "default": [], "uniqueItems": true, "examples": [["resnet50-ddp"]],
                },
            },
            "required": ["benchmark"],
            "examples": ["llama-8b", {"benchmark": "llama-8b", "needs": ["resnet50-ddp"]}],
        })
    }
}

impl<'de> Deserialize<'de> for Member {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            benchmark: String,
            #[serde(default)]
            needs: Vec<String>,
        }

        struct Visitor;

        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Member;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("the name of a benchmark, or a mapping with `benchmark` and `needs`")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Member, E> {
                Ok(Member { benchmark: name.to_owned(), needs: Vec::new() })
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Member, A::Error> {
                let Fields { benchmark, needs } =
                    Fields::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                Ok(Member { benchmark, needs })
            }
        }

        deserializer.deserialize_str(Visitor)
    }
}
