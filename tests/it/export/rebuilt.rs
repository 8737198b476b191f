//! A result made again from the rows of a database: they are the whole of it.

use kubebench_format::result::BenchmarkResult;
use kubebench_results::export::column::{Column, METRIC, REST, RUN, Type};
use serde_json::{Map, Value, json};

pub(super) type Row = Map<String, Value>;

/// Makes a result of its rows; each metric comes with its samples.
pub(super) fn rebuilt(run: &Row, metrics: Vec<(Row, Vec<Value>)>) -> BenchmarkResult {
    let run = &typed(&typed(run, RUN), REST);
    let metrics = metrics.into_iter().map(|(row, samples)| metric(&typed(&row, METRIC), &samples)).collect::<Vec<_>>();
    let reparsed = json!({"of": run["reparsed_of"], "originalVersion": run["reparsed_version"]});
    let whole = json!({
        "apiVersion": "kubebench.dev/v1", "kind": "BenchmarkResult", "schemaVersion": 1,
        "digest": run["digest"], "synthetic": run["synthetic"],
        "metadata": {
            "benchmark": run["benchmark"], "case": run["case_id"], "caseName": run["case_name"],
            "params": run["params"], "labels": run["labels"], "target": run["target"],
        },
        "run": {
            "id": run["run_id"], "session": run["session"], "repeat": run["repeat"], "attempt": run["attempt"],
            "warmup": run["warmup"], "reason": run["started_by"], "startedAt": run["started_at"],
            "finishedAt": run["finished_at"], "durationSeconds": run["duration_seconds"],
            "timings": {
                "queueSeconds": run["queue_seconds"], "startupSeconds": run["startup_seconds"],
                "runSeconds": run["run_seconds"], "readySeconds": run["ready_seconds"],
            },
            "status": run["status"], "reasons": run["reasons"], "exits": run["exits"], "restarts": run["restarts"],
        },
        "source": {
            "specPath": run["spec_path"], "specDigest": run["spec_digest"], "runDigest": run["run_digest"],
            "workloadDigest": run["workload_digest"], "run": run["spec_run"], "commit": run["source_commit"],
            "dirty": run["dirty"], "rulesDigest": run["rules_digest"],
            "reparsed": if run["reparsed_of"].is_null() { Value::Null } else { reparsed },
        },
        "environment": {
            "fingerprint": run["fingerprint"], "fingerprintKeys": run["fingerprint_keys"],
            "cluster": {"name": run["cluster"], "engine": run["engine"], "version": run["cluster_version"]},
            "nodes": run["nodes"], "images": run["images"], "software": run["software"],
        },
        "server": run["server"], "inputs": run["inputs"], "metrics": metrics, "monitoring": run["monitoring"],
        "usage": run["usage"], "workflow": run["workflow"], "experiment": run["experiment"], "cost": run["costs"],
        "validity": {"checks": run["checks"]}, "artifacts": run["artifacts"], "native": run["native"],
        "recorder": {"version": run["recorder_version"], "method": run["recorder_method"]},
        "annotations": run["annotations"],
    });
    serde_json::from_value(whole).unwrap()
}

fn metric(row: &Row, samples: &[Value]) -> Value {
    let stats = ["mean", "stddev", "median", "mad", "min", "max", "p01", "p10", "p90", "p99"];
    let stats: Row = stats.iter().map(|name| ((*name).to_owned(), row[*name].clone())).collect();
    json!({
        "name": row["metric"], "labels": row["metric_labels"], "unit": row["unit"], "direction": row["direction"],
        "kind": row["kind"], "value": row["value"], "aggregation": row["aggregation"], "n": row["n"],
        "nonFinite": row["non_finite"], "samples": samples,
        "stats": if row["mean"].is_null() { Value::Null } else { Value::Object(stats) },
        "source": {
            "parser": row["parser"], "artifact": row["artifact"], "line": row["source_line"],
            "rank": row["source_rank"], "selector": row["selector"], "window": row["source_window"],
        },
        "reason": row["metric_reason"],
    })
}

/// The row with its JSON read, its flags as such and its times as results have them.
fn typed<T>(row: &Row, columns: &[Column<T>]) -> Row {
    let mut typed = row.clone();
    for column in columns {
        let value = typed.get_mut(column.name).unwrap_or_else(|| panic!("no column {}", column.name));
        *value = match (column.of, value.take()) {
            (Type::Json, Value::String(text)) => serde_json::from_str(&text).unwrap(),
            (Type::Flag, Value::Number(flag)) => json!(flag == 1.into()),
            (_, value) => value,
        };
    }
    typed
}
