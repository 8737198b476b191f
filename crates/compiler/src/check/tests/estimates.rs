//! What `plan` and budgets count: the runs, the other Jobs, and the largest size of each.

use super::*;
use crate::model::estimate::{Estimate, estimate};

const GPUS: &str = "resources: {cpu: 2, memory: 4Gi, nvidia.com/gpu: 4}";

#[track_caller]
fn of(prices: &str, fields: &str) -> Estimate {
    let project = format!(
        "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {{targets: {{t: {{{prices}}}}}}}\n"
    );
    let compiled = compile(&project, &document(fields));
    assert_eq!(compiled.before, []);
    estimate(&compiled.benchmarks[0])
}

#[test]
fn jobs_next_to_the_runs_count() {
    let job = |name: &str, timeout: &str| {
        format!("{name}: {{image: 'r.example/a:1', timeout: {timeout}, resources: {{nvidia.com/gpu: 1}}}}")
    };
    let runs = format!("repeats: 3\ntimeout: 1h\n{}", workload("job", GPUS));
    assert_eq!((of("", &runs).hours, of("", &runs).gpu_hours), (3.0, 12.0));
    let prepared = of("", &format!("{runs}\n{}", job("prepare", "2h")));
    assert_eq!((prepared.hours, prepared.gpu_hours), (5.0, 14.0));
    let followed = of("", &format!("{runs}\n{}", job("postprocess", "30m")));
    assert_eq!((followed.hours, followed.gpu_hours), (4.5, 13.5));
    let priced = "prices: {currency: EUR, nvidia.com/gpu: 2}";
    assert_eq!(
        of(priced, &format!("{runs}\n{}\n{}", job("prepare", "2h"), job("postprocess", "30m"))).cost,
        Some(31.0)
    );
    let beside = format!("{runs}\nparallelism: 3\n{}", job("prepare", "2h"));
    assert_eq!((of("", &beside).hours, of("", &beside).gpu_hours), (3.0, 14.0));
}

#[test]
fn elastic_jobs_count_at_their_largest() {
    let torch = |policy: &str| workload("pytorchJob", &format!("{GPUS}, {policy}worker: {{replicas: 3}}"));
    let used = |policy: &str| (of("", &torch(policy)).runs, of("", &torch(policy)).gpu_hours);
    assert_eq!(used(""), (1, 12.0));
    assert_eq!(used("elasticPolicy: {minReplicas: 1, maxReplicas: 6}, "), (1, 24.0));
}

#[test]
fn costs_without_a_price_are_not_zero() {
    let gpus = workload("job", GPUS);
    let known = |prices: &str, fields: &str| {
        let Estimate { cost, unpriced, .. } = of(prices, fields);
        (cost, unpriced.join(" "))
    };
    assert_eq!(known("", &gpus), (None, String::new()));
    assert_eq!(known("prices: {currency: EUR, nvidia.com/gpu: 2}", &gpus), (Some(8.0), String::new()));
    assert_eq!(known("prices: {currency: EUR, cpu: 1, memory: 0.5}", &gpus), (None, "nvidia.com/gpu".to_owned()));
    assert_eq!(known("prices: {currency: EUR, amd.com/gpu: 2}", &gpus), (None, "cpu memory nvidia.com/gpu".to_owned()));
    assert_eq!(known("prices: {currency: EUR, nvidia.com/gpu: 0}", &gpus), (Some(0.0), String::new()));
    let idle = workload("job", "args: [b]");
    assert_eq!(known("prices: {currency: EUR, cpu: 1}", &idle), (None, String::new()));
    let limited = workload("job", "resources: {limits: {cpu: 2}}");
    assert_eq!(known("prices: {currency: EUR, cpu: 1}", &limited), (Some(2.0), String::new()));
}

#[test]
fn a_budget_of_money_needs_the_price() {
    let fields = format!("{}\nbudget: {{cost: 5}}", workload("job", GPUS));
    check_on(
        "{t: {prices: {currency: EUR, cpu: 1}}}",
        &fields,
        &[("KB0311", str! {"the target `t` has no price for `nvidia.com/gpu`, so this cost limit cannot be checked"})],
    );
}

#[test]
fn a_budget_says_what_uses_it() {
    let small = "resources: {cpu: 1, memory: 1Gi}";
    let prepare = "prepare: {image: 'r.example/a:1', timeout: 3h, resources: {nvidia.com/gpu: 2}}";
    let compiled = compile("", &document(&format!("{}\n{prepare}\nbudget: {{gpuHours: 5}}", workload("job", small))));
    let found = compiled.findings();
    let fault = found.iter().find(|fault| fault.code.id == "KB0311").unwrap();
    assert_text(&fault.message, str! {"on `default` the runs could use 6 GPU-hours, and the budget is 5"});
    assert_eq!(
        fault.notes[..2],
        ["1 case × 1 run × 1h × 0 GPUs", "`prepare` alone could use 6 GPU-hours (its timeout is 3h)"]
    );
    assert!(fault.help.as_ref().unwrap().contains("`timeout` of `prepare`"), "{:?}", fault.help);
}
