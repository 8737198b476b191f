//! KB0313, KB0324, KB0409, KB0410, KB0420.

use super::*;

#[test]
fn metrics_that_gates_and_checks_name() {
    let metrics = "metrics: [{name: seconds, better: lower, from: {duration: run}}]";
    let of = |rest: &str| format!("{metrics}\n{rest}");
    check(
        &of("gates: [{metric: seconds, maxRegression: 3%}]\nchecks: [{metric: seconds, max: 9}, {restarts: 0}]"),
        &[],
    );
    check(
        &of("gates: [{metric: second, maxRegression: 3%}]"),
        &["KB0313 this gate is about `second`, which nothing measures"],
    );
    check(
        &of("checks: [{metric: loss, finite: true}]"),
        &["KB0313 this check is about `loss`, which nothing measures"],
    );
    let tool = "gates: [{metric: mfu, min: 1}, {metric: tpt, min: 1}]\nmetrics: [{primary: true, from: {tool: {name: torchtitan";
    check(&format!("{tool}}}}}}}]"), &[]);
    check(&format!("{tool}, metrics: [tps, mfu]}}}}}}]"), &["KB0313 this gate is about `tpt`, which nothing measures"]);
}

#[test]
fn roles_that_metrics_are_read_from() {
    let metric = |source: &str| format!("metrics: [{{name: x, better: lower, from: {{{source}}}}}]");
    check(&metric("log: {pattern: '(?P<value>[0-9]+)', role: job}"), &[]);
    check(&metric("keyValue: {key: x}"), &[]);
    check(&metric("log: {pattern: '(?P<value>[0-9]+)', role: worker}"), &["KB0324 the workload has no role `worker`"]);
    check(&metric("keyValue: {key: x, role: jobs}"), &["KB0324 the workload has no role `jobs`"]);
}

#[test]
fn directions() {
    check("metrics: [{name: x, from: {duration: run}}]", &["KB0409 `x` does not say whether more or less is better"]);
    check("metrics: [{from: {tool: {name: fio, metrics: [iops]}}}]", &[]);
}

#[test]
fn primary_metrics() {
    let two = |more: &str| {
        format!(
            "metrics: [{{name: x, better: lower, from: {{duration: run}}}}, {{name: z, better: lower, from: {{duration: queue}}{more}}}]"
        )
    };
    let none = "KB0410 several metrics are measured, and none of them is primary";
    check(&two(""), &[none]);
    check(&two(", primary: false"), &[none]);
    check(&two(", primary: true"), &[]);
    check("metrics: []", &["KB0410 this benchmark measures nothing"]);
    check("metrics: [{from: {tool: {name: fio}}}]", &[none]);
    check("metrics: [{from: {tool: {name: fio, metrics: [iops, latency]}}}]", &[none]);
}

#[test]
fn files_that_stay_in_the_pod() {
    let finding = "KB0420 this file is on a volume that the pods do not mount";
    for source in [
        "json: {file: a.json, pointer: /x}",
        "jsonLines: {file: a.jsonl, pointer: /x}",
        "csv: {file: a.csv, column: x}",
        "openMetrics: {file: a.prom, name: x}",
        "file: {path: a.txt}",
    ] {
        let metrics = format!("metrics: [{{name: x, better: lower, from: {{{source}}}}}]");
        check(&metrics, &[finding]);
        let shared = "claim: {accessModes: [ReadWriteMany]}";
        check(&format!("{metrics}\nresults: {{{shared}, mountInJob: true}}"), &[]);
        let postprocess = "postprocess: {image: 'r.example/a:1', resources: {cpu: 1, memory: 1Gi}}";
        check(&format!("{metrics}\n{postprocess}\nresults: {{{shared}}}"), &[]);
    }
    check("metrics: [{name: x, better: lower, from: {openMetrics: {url: 'http://localhost/', name: x}}}]", &[]);
}
