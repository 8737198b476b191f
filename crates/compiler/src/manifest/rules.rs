//! `rules.yaml`: the mutable ConfigMap with the spec and the rules for collecting and judging. It is outside the run digest.

use serde_json::Value as Json;

use super::object::object;
use super::{config, meta};
use crate::model::Benchmark;
use kubebench_syntax::yaml;

/// Returns the name of the ConfigMap.
pub(super) fn name(benchmark: &Benchmark) -> String {
    format!("{}-rules", benchmark.name)
}

/// Returns the ConfigMap; `document` is the resolved spec.
pub(super) fn config_map(benchmark: &Benchmark, document: &Json) -> Json {
    let spec = document.get("spec");
    let list = |field| spec.and_then(|spec| spec.get(field)).cloned().unwrap_or_else(|| Json::Array(Vec::new()));
    let labels =
        Json::Object(benchmark.labels.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect());
    let source =
        object([("digest", benchmark.spec_digest.to_string().into()), ("path", benchmark.path.as_str().into())]);
    let limit = benchmark.log_limit.map(|bytes| ("logLimitBytes", bytes.into()));
    let rules = object(
        [
            ("schemaVersion", 1.into()),
            ("benchmark", benchmark.name.as_str().into()),
            ("checks", list("checks")),
            ("gates", list("gates")),
            ("labels", labels),
            ("metrics", list("metrics")),
            ("source", source),
        ]
        .into_iter()
        .chain(limit),
    );
    let data = object([("rules.json", config::pretty(&rules).into()), ("spec.yaml", yaml::write(document).into())]);
    object([
        ("apiVersion", "v1".into()),
        ("kind", "ConfigMap".into()),
        ("metadata", meta::applied(&benchmark.target, &name(benchmark), Some(benchmark))),
        ("data", data),
    ])
}
