//! What fields of one mapping require of each other, in words of JSON Schema, for editors.
//!
//! Specs are held to the same by rules of the compiler, each with words of its own.

use serde_json::{Value, json};

/// Returns what is added to the schemas at these JSON Pointers, where they exist.
pub(super) fn conditions() -> Vec<(&'static str, Value)> {
    vec![
        (
            "/definitions/Matrix",
            json!({
                "anyOf": [
                    {"required": ["axes"], "properties": {"axes": {"minProperties": 1}}},
                    {"required": ["zip"], "properties": {"zip": {"minProperties": 1}}},
                    {"required": ["include"], "properties": {"include": {"minItems": 1}}},
                ],
                "errorMessage": "A matrix needs an axis, such as `axes: {batchSize: [64, 128]}`, lists in `zip`, or cases in `include`.",
            }),
        ),
        ("/definitions/Matrix/properties/axes/additionalProperties", json!({"minItems": 1})),
        ("/definitions/Matrix/properties/zip/additionalProperties", json!({"minItems": 1})),
        ("/definitions/Matrix/properties/include/items", json!({"minProperties": 1})),
        ("/definitions/Matrix/properties/exclude/items", json!({"minProperties": 1})),
        (
            "/definitions/Metric",
            json!({
                "if": {"required": ["from"], "properties": {"from": {"required": ["tool"]}}},
                "then": {
                    "not": {"required": ["name"]},
                    "errorMessage": "A tool has its own names for metrics: choose some by `tool: {metrics: […]}`.",
                },
                "else": {"anyOf": [
                    {"required": ["name"]},
                    {"properties": {"from": {"required": ["prometheus"], "properties": {"prometheus": {"required": ["preset"]}}}}},
                ]},
            }),
        ),
        (
            "/definitions/Check",
            json!({
                "oneOf": [
                    {"required": ["metric"], "anyOf": any_of(&["finite", "min", "max"]), "not": {"anyOf": any_of(&["restarts", "failedRequests", "cautions"])}},
                    {"anyOf": any_of(&["restarts", "failedRequests", "cautions"]), "not": {"anyOf": any_of(&["metric", "finite", "min", "max"])}},
                ],
                "errorMessage": "Write `{metric: NAME, finite: true}`, `{metric: NAME, min: …, max: …}`, `{restarts: 0}`, `{failedRequests: {max: 1%}}` or `{cautions: {forbid: [debugBuild]}}`.",
            }),
        ),
        (
            "/definitions/Gate",
            json!({
                "anyOf": any_of(&["maxRegression", "min", "max"]),
                "errorMessage": "A gate needs a limit: `maxRegression: 3%`, `min: …` or `max: …`.",
            }),
        ),
        (
            "/definitions/Placement",
            json!({
                "oneOf": [{"required": ["together"], "properties": {"together": {"minItems": 1}}}, {"required": ["spread"]}],
                "errorMessage": "Write either `together: [launcher, worker]` or `spread: worker`.",
            }),
        ),
        (
            "/definitions/Queue",
            json!({
                "oneOf": [{"required": ["kueue"]}, {"required": ["volcano"], "not": {"required": ["frameworks"]}}],
                "errorMessage": "Write `{kueue: NAME}`, with `frameworks` where you know them, or `{volcano: NAME}`.",
            }),
        ),
        ("/definitions/OpenMetricsSource", one_of("file", "url")),
        ("/definitions/PrometheusSource", one_of("query", "preset")),
        ("/definitions/CertificateAuthorities", one_of("configMap", "secret")),
        (
            "/definitions/Resources",
            json!({"properties": {"memory": bytes(), "ephemeral-storage": bytes()}, "patternProperties": {"/": whole()}}),
        ),
        (
            "/definitions/Resources/properties/requests",
            json!({"properties": {"memory": bytes(), "ephemeral-storage": bytes()}, "patternProperties": {"/": whole()}}),
        ),
        (
            "/definitions/Resources/properties/limits",
            json!({"properties": {"memory": bytes(), "ephemeral-storage": bytes()}, "patternProperties": {"/": whole()}}),
        ),
        ("/definitions/Claim/properties/size", in_bytes("minimum", 1_048_576, "10Gi")),
        ("/definitions/Results/properties/logLimit", in_bytes("minimum", 65_536, "100Mi")),
    ]
}

/// Returns the pattern and the words for fields that name something of which only the form is known here.
pub(super) fn names() -> Vec<(&'static str, &'static str, &'static str)> {
    const SELECTOR: &str = r"^[A-Za-z0-9][A-Za-z0-9._/@:-]{0,127}(?:\{[^\x00]*\})?$";
    const ROLE: &str = "^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$";
    const TARGET: &str = "^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$";
    const BENCHMARK: &str = "^[a-z](?:[a-z0-9-]{0,29}[a-z0-9])?$";
    const SPARK: &str = "^0*[1-9][0-9]*[mgtMGT]$";
    let metric = "Expected the name of a metric, such as `throughput`.";
    let role = "Expected the name of a role, such as `worker`.";
    let target = "Expected the name of a target of kubebench.yaml, such as `gpu-eu`.";
    let benchmark = "Expected the name of a benchmark, such as `resnet50-ddp`.";
    let spark = "Expected memory as Spark writes it, such as `512m` or `4g`.";
    vec![
        ("/definitions/BenchmarkSpec/properties/targets/items", TARGET, target),
        ("/definitions/SuiteSpec/properties/targets/items", TARGET, target),
        ("/definitions/Gate/properties/metric", SELECTOR, metric),
        ("/definitions/Check/properties/metric", SELECTOR, metric),
        ("/definitions/ToolSource/properties/metrics/items", SELECTOR, metric),
        ("/definitions/LogSource/properties/role", ROLE, role),
        ("/definitions/KeyValueSource/properties/role", ROLE, role),
        ("/definitions/ToolSource/properties/role", ROLE, role),
        ("/definitions/Placement/properties/spread", ROLE, role),
        ("/definitions/Placement/properties/together/items", ROLE, role),
        ("/definitions/Member", BENCHMARK, benchmark),
        ("/definitions/Member/properties/benchmark", BENCHMARK, benchmark),
        ("/definitions/Member/properties/needs/items", BENCHMARK, benchmark),
        ("/definitions/SparkDriver/properties/memory", SPARK, spark),
        ("/definitions/SparkDriver/properties/memoryOverhead", SPARK, spark),
        ("/definitions/SparkExecutor/properties/memory", SPARK, spark),
        ("/definitions/SparkExecutor/properties/memoryOverhead", SPARK, spark),
    ]
}

fn any_of(fields: &[&str]) -> Vec<Value> {
    fields.iter().map(|field| json!({"required": [field]})).collect()
}

fn one_of(one: &str, other: &str) -> Value {
    json!({"oneOf": any_of(&[one, other]), "errorMessage": format!("Write exactly one of `{one}` and `{other}`.")})
}

/// Bytes of memory that a process needs at least: a small number lacks its unit.
fn bytes() -> Value {
    json!({
        "allOf": [{"$ref": "#/definitions/Quantity"}],
        "anyOf": [{"type": "string"}, {"minimum": 1_048_576}, {"const": 0}],
        "errorMessage": "These are bytes: write a unit, such as `32Gi`.",
    })
}

/// Devices, which are given as a whole.
fn whole() -> Value {
    json!({
        "allOf": [{"$ref": "#/definitions/Quantity"}],
        "anyOf": [{"type": "string"}, {"type": "integer"}],
        "errorMessage": "A device is given as a whole: write a whole number.",
    })
}

fn in_bytes(bound: &str, least: u32, example: &str) -> Value {
    json!({bound: least, "errorMessage": format!("These are bytes: write a unit, such as `{example}`.")})
}
