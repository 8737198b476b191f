//! `rules.yaml`: the mutable ConfigMap with the spec and the rules for collecting and judging. It is outside the run digest.

use serde_json::{Value as Json, json};

use super::{config, meta};
use crate::model::Benchmark;
use crate::yaml;

/// Returns the name of the ConfigMap.
pub(super) fn name(benchmark: &Benchmark) -> String {
    format!("{}-rules", benchmark.name)
}

/// Returns the ConfigMap.
pub(super) fn config_map(benchmark: &Benchmark) -> Json {
    let list =
        |field: &str| benchmark.document.pointer(&format!("/spec/{field}")).cloned().unwrap_or_else(|| json!([]));
    let rules = json!({ "schemaVersion": 1, "benchmark": benchmark.name, "checks": list("checks"), "gates": list("gates"), "metrics": list("metrics") });
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": meta::applied(&benchmark.target, &name(benchmark), Some(benchmark)),
        "data": { "rules.json": config::pretty(&rules), "spec.yaml": yaml::write(&benchmark.document) },
    })
}
