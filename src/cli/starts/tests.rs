use super::table;
use crate::app::schedule::schedule;
use kubebench_compiler::compile::{Input, Workspace};
use kubebench_testing::snapshot::{assert_text, str};

/// A spec whose `spec` begins with `fields`.
fn benchmark(name: &str, fields: &str) -> Input {
    let text = format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: {name}}}\nspec:\n  {fields}\n  timeout: 1h\n  workload:\n    job: {{image: 'r.example/a:1', command: [a], resources: {{cpu: 1, memory: 1Gi}}}}\n  metrics: [{{name: seconds, unit: s, better: lower, primary: true, from: {{duration: run}}}}]\n"
    );
    Input { path: format!("specs/{name}.yaml"), bytes: text.into_bytes() }
}

fn shown(now: &str, inputs: Vec<Input>) -> String {
    let compilation = Workspace::open(None, "0.1.0").compile(inputs);
    let benchmarks: Vec<_> = compilation.benchmarks.iter().map(|compiled| &*compiled.benchmark).collect();
    let schedules: Vec<_> = benchmarks.iter().map(|benchmark| schedule(benchmark, now)).collect();
    table(benchmarks.into_iter().zip(schedules.iter().map(Option::as_ref)))
}

#[test]
fn starts_are_shown_by_both_clocks() {
    let suite = "apiVersion: kubebench.dev/v1\nkind: Suite\nmetadata: {name: nightly}\nspec:\n  schedule: {cron: '0 4 * * *'}\n  benchmarks: [first, second]\n  results: {claim: {accessModes: [ReadWriteMany]}}\n";
    let inputs = vec![
        benchmark("weekly", "schedule: {cron: '0 3 * * 1', timezone: Europe/Berlin}"),
        benchmark("leap", "schedule: {cron: '@yearly', timezone: Pacific/Kiritimati}"),
        benchmark("often", "schedule: {cron: '@every 6h'}"),
        benchmark("once", "repeats: 2"),
        benchmark("first", "repeats: 2"),
        benchmark("second", "repeats: 2"),
        Input { path: "specs/nightly.yaml".to_owned(), bytes: suite.as_bytes().to_vec() },
    ];
    assert_text(
        shown("2026-10-18T01:00:00Z", inputs),
        str! {[r#"
STARTS NEXT    TARGETS  SCHEDULE                      LOCAL                        UTC
leap           default  @yearly (Pacific/Kiritimati)  2027-01-01 00:00 +14         2026-12-31T10:00:00Z
                                                      2028-01-01 00:00 +14         2027-12-31T10:00:00Z
                                                      2029-01-01 00:00 +14         2028-12-31T10:00:00Z
often          default  @every 6h (Etc/UTC)           counted from its last start
suite nightly  default  0 4 * * * (Etc/UTC)           2026-10-18 04:00 UTC         2026-10-18T04:00:00Z
                                                      2026-10-19 04:00 UTC         2026-10-19T04:00:00Z
                                                      2026-10-20 04:00 UTC         2026-10-20T04:00:00Z
weekly         default  0 3 * * 1 (Europe/Berlin)     2026-10-19 03:00 CEST        2026-10-19T01:00:00Z
                                                      2026-10-26 03:00 CET         2026-10-26T02:00:00Z
                                                      2026-11-02 03:00 CET         2026-11-02T02:00:00Z

"#]},
    );
}

#[test]
fn without_a_schedule_there_is_no_table() {
    assert_eq!(shown("2026-10-18T01:00:00Z", vec![benchmark("once", "repeats: 2")]), "");
}
