//! KB0353: windows that count steps where no value has one.

use crate::model::Benchmark;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Reports windows of steps over sources that know no steps.
pub(super) fn counted(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for (source, span) in benchmark.metrics.iter().filter_map(|metric| metric.stepless_window) {
        let (message, help) = match source {
            "log" => (
                "this window counts steps, but the pattern has no group `step`".to_owned(),
                "add the group, as in `step (?P<step>[0-9]+) loss (?P<value>\\S+)`, or count values by `skipFirst` or \
                 `lastN`",
            ),
            source => (
                format!("this window counts steps, but values of `{source}` have none"),
                "count values by `skipFirst` or `lastN`, or leave the window out",
            ),
        };
        let fault = Diagnostic::at(&code::KB0353, span, message);
        diagnostics
            .push(fault.note("no value would ever count, and every run would end without the metric").help(help));
    }
}
