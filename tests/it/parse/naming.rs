//! Rules of several tools in one spec: what their metrics are called, and what distinguishes them.

use serde_json::Value;

use super::parsed;
use crate::support::project::{Folder, repository};

const FIO: &str = "tests/data/tools/fio/two_jobs_after_a_warning.json";
const OTHER: &str = "tests/data/tools/fio/clones_of_one_job.json";

/// Reads two files of fio by two rules with these further words, and returns whether the run would count, and the metrics.
fn two(first: &str, second: &str, more: &str) -> (Value, Vec<Value>) {
    let spec = format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: b}}\nspec:\n  timeout: 1h\n  workload: {{job: {{image: registry.example/fio:1, command: [fio]}}}}\n  metrics:\n    - from: {{tool: {{name: fio, file: seq.json, {first}}}}}\n    - from: {{tool: {{name: fio, file: rnd.json, {second}}}}}\n{more}"
    );
    let folder = Folder::with([("specs/b.yaml", spec.as_str())]);
    let file = |name: &str, path: &str| format!("{name}={}", repository().join(path).display());
    let [seq, rnd] = [file("seq.json", FIO), file("rnd.json", OTHER)];
    let (status, answer) = parsed(&folder, &["--spec", "specs/b.yaml", "--file", &seq, "--file", &rnd]);
    assert!(status.is_some_and(|status| status < 2), "{answer:#}");
    (answer.clone(), answer["metrics"].as_array().unwrap().clone())
}

fn named<'m>(metrics: &'m [Value], name: &str) -> Vec<&'m Value> {
    metrics.iter().filter(|metric| metric["name"] == name).collect()
}

#[test]
fn two_files_are_distinguished_by_a_label() {
    let (answer, metrics) = two("labels: {file: seq}", "labels: {file: rnd}", "");
    assert_eq!(answer["valid"], true, "{answer:#}");
    let iops = named(&metrics, "read_iops");
    let of = |file: &str| iops.iter().filter(|metric| metric["labels"]["file"] == file).count();
    assert!(of("seq") > 0 && of("rnd") > 0 && of("seq") + of("rnd") == iops.len(), "{answer:#}");
    assert!(iops.iter().all(|metric| metric["labels"]["job"].is_string()), "{answer:#}");
}

#[test]
fn a_prefix_and_another_name_are_those_of_results() {
    let (answer, metrics) = two("prefix: seq-", "prefix: rnd-, rename: {read_iops: iops}", "");
    assert_eq!(answer["valid"], true, "{answer:#}");
    assert!(!named(&metrics, "seq-read_iops").is_empty() && !named(&metrics, "iops").is_empty(), "{answer:#}");
    assert!(named(&metrics, "read_iops").is_empty() && named(&metrics, "rnd-read_iops").is_empty(), "{answer:#}");
}

#[test]
fn checks_and_chosen_metrics_name_labels() {
    let (_, all) = two("labels: {file: seq}", "labels: {file: rnd}", "");
    let jobs: Vec<&str> =
        named(&all, "read_iops").iter().filter_map(|metric| metric["labels"]["job"].as_str()).collect();
    let job = jobs[0];
    let chosen = format!("metrics: ['read_iops{{job={job}}}'], labels: {{file: seq}}");
    let check = |least: &str| format!("  checks: [{{metric: 'read_iops{{file=seq}}', min: {least}}}]\n");
    let (answer, metrics) = two(&chosen, "labels: {file: rnd}", &check("0"));
    let of_seq: Vec<&Value> = metrics.iter().filter(|metric| metric["labels"]["file"] == "seq").collect();
    assert!(answer["valid"] == true && of_seq.len() == 1 && of_seq[0]["labels"]["job"] == job, "{answer:#}");
    let (answer, _) = two(&chosen, "labels: {file: rnd}", &check("1000000000000"));
    let reasons = answer["reasons"].to_string();
    assert!(answer["valid"] == false && reasons.contains("read_iops{file=seq} ≥ 1000000000000"), "{answer:#}");
}

/// What more names would bring is not left out in silence.
#[test]
fn too_many_names_of_katib_are_no_run() {
    let log: String = (0..1_001).map(|number| format!("metric{number}=1.5\n")).collect();
    let folder = Folder::with([("a.log", log.as_str())]);
    let (_, answer) = parsed(&folder, &["--tool", "katib", "a.log"]);
    assert!(answer["valid"] == false && answer["reasons"].to_string().contains("more than 1000 names"), "{answer:#}");
}

/// Whether the run would count, and why not, where `text` is read by a rule with these further words.
fn of_output(text: &str, more: &str) -> (bool, String) {
    let spec = format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: b}}\nspec:\n  timeout: 1h\n  workload: {{job: {{image: registry.example/a:1, command: [a]}}}}\n  metrics:\n    - from: {{tool: {{name: openmetrics, file: q.prom{more}}}}}\n"
    );
    let folder = Folder::with([("specs/b.yaml", spec.as_str()), ("q.prom", text)]);
    let file = format!("q.prom={}", folder.path().join("q.prom").display());
    let (_, answer) = parsed(&folder, &["--spec", "specs/b.yaml", "--file", &file]);
    (answer["valid"] == true, answer["reasons"].to_string())
}

/// A label that the output has is not silently replaced by one of the rule.
#[test]
fn a_label_of_the_output_is_no_label_of_the_rule() {
    let hot = "q{pool=\"hot\"} 9\nr 1\n";
    let said =
        "the rule of openmetrics gives its metrics the label `pool: cold`, and openmetrics reported `q{pool=hot}`";
    for more in [", labels: {pool: cold}", ", metrics: [q], labels: {pool: cold}"] {
        let (valid, reasons) = of_output(hot, more);
        assert!(!valid && reasons.contains(said), "{more}: {reasons}");
    }
    for more in ["", ", labels: {part: cold}", ", labels: {pool: hot}", ", metrics: [r], labels: {pool: cold}"] {
        let (valid, reasons) = of_output(hot, more);
        assert!(valid, "{more}: {reasons}");
    }
}

#[test]
fn one_rule_that_brings_a_metric_twice_is_named_as_one() {
    let (valid, reasons) = of_output("q 9\nr 1\n", ", rename: {q: x, r: x}");
    assert!(!valid && reasons.contains("the rule of openmetrics produces the metric `x` twice"), "{reasons}");
}
