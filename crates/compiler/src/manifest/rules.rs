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

/// Returns the text of `rules.json`; `document` is the resolved spec.
pub(super) fn text(benchmark: &Benchmark, document: &Json) -> String {
    let list = |field: &str| {
        let found = document.get("spec").and_then(|spec| spec.get(field)).and_then(Json::as_array);
        found.cloned().unwrap_or_default()
    };
    RulesFile {
        benchmark: benchmark.name.clone(),
        checks: list("checks"),
        extraction: Some(kubebench_extract::VERSION),
        gates: list("gates"),
        labels: benchmark.labels.clone(),
        log_limit_bytes: benchmark.log_limit,
        metrics: list("metrics"),
        source: SpecSource { digest: benchmark.spec_digest.to_string(), path: benchmark.path.clone() },
    }
    .write()
}

/// Returns the ConfigMap of the rules `text` and of the spec.
pub(super) fn config_map(benchmark: &Benchmark, text: &str, document: &Json) -> Json {
    let data = object([(RulesFile::FILE, text.into()), ("spec.yaml", yaml::write(document).into())]);
    object([
        ("apiVersion", "v1".into()),
        ("kind", "ConfigMap".into()),
        ("metadata", meta::applied(&benchmark.target, &name(benchmark), Some(benchmark))),
        ("data", data),
    ])
}
