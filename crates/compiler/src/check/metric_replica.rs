//! KB0354: metrics read from the log of a replica that does not exist.

use crate::model::{Benchmark, Case, Metric};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;

/// Reports metrics whose replica exists in no case, or not in every case where a run without the metric is invalid.
pub(super) fn exists(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for metric in &benchmark.metrics {
        let Some((index, span)) = metric.index else { continue };
        // KB0324 reports a role that does not exist.
        let counts: Vec<(&Case, u32)> =
            benchmark.cases.iter().filter_map(|case| Some((case, replicas(case, metric)?))).collect();
        let Some((_, most)) = counts.iter().max_by_key(|(_, count)| *count) else { continue };
        let lacking = counts.iter().find(|(_, count)| *count <= index);
        if *most <= index {
            diagnostics.push(fault(index, span, metric, *most, ""));
        } else if let Some((case, count)) = lacking.filter(|_| metric.is_needed) {
            diagnostics.push(fault(index, span, metric, *count, &format!(" in the case {}", case.name)));
        }
    }
}

/// Returns how many replicas the metric may be read from: those of its role, or of the largest.
fn replicas(case: &Case, metric: &Metric) -> Option<u32> {
    let is_meant = |name: &str| metric.role.as_ref().is_none_or(|(wanted, _)| wanted == name);
    let roles = case.workload.roles.iter().filter(|role| is_meant(&role.name));
    // Pods that run one after another are replicas too.
    roles.map(|role| role.replicas.max(role.max_replicas).max(role.completions)).max()
}

fn fault(index: u32, span: Span, metric: &Metric, count: u32, case: &str) -> Diagnostic {
    let whose = match &metric.role {
        Some((role, _)) => format!("role `{role}`"),
        None => "largest role".to_owned(),
    };
    let what = if count == 1 { "one replica".to_owned() } else { format!("{count} replicas") };
    let note = match count {
        0 => "no pod would write that log".to_owned(),
        1 => "replicas are counted from 0, so the only one is 0".to_owned(),
        count => format!("replicas are counted from 0, so the last one is {}", count - 1),
    };
    let help = "write an existing index, or leave `index` out to read the lowest-numbered replica that printed a value";
    let message = format!("there is no replica {index}{case}: the {whose} has {what}");
    Diagnostic::at(&code::KB0354, span, message).note(note).help(help)
}
