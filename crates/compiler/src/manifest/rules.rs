//! `rules.yaml`: the mutable ConfigMap with the spec and the rules for collecting and judging. It is outside the run digest.

use serde_json::Value as Json;

use super::meta;
use super::object::object;
use crate::model::Benchmark;
use kubebench_contract::{RulesFile, SpecSource};
use kubebench_syntax::yaml;

/// Returns the name of the ConfigMap.
pub(super) fn name(benchmark: &Benchmark) -> String {
    format!("{}-rules", benchmark.name)
}

/// Returns the ConfigMap; `document` is the resolved spec.
pub(super) fn config_map(benchmark: &Benchmark, document: &Json) -> Json {
    let list = |field: &str| {
        let found = document.get("spec").and_then(|spec| spec.get(field)).and_then(Json::as_array);
        found.cloned().unwrap_or_default()
    };
    let rules = RulesFile {
        benchmark: benchmark.name.clone(),
        checks: list("checks"),
        gates: list("gates"),
        labels: benchmark.labels.clone(),
        log_limit_bytes: benchmark.log_limit,
        metrics: list("metrics"),
        source: SpecSource { digest: benchmark.spec_digest.to_string(), path: benchmark.path.clone() },
    };
    let data = object([(RulesFile::FILE, rules.write().into()), ("spec.yaml", yaml::write(document).into())]);
    object([
        ("apiVersion", "v1".into()),
        ("kind", "ConfigMap".into()),
        ("metadata", meta::applied(&benchmark.target, &name(benchmark), Some(benchmark))),
        ("data", data),
    ])
}
