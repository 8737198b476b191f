//! KB0454: groups that do not take all numbers that programs print.

use crate::model::{Benchmark, NarrowPattern};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Reports patterns whose group `value` is made for numbers and does not take all of them.
pub(super) fn wide(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let narrow = benchmark.metrics.iter().filter_map(|metric| metric.narrow.as_ref());
    for NarrowPattern { narrow, span, rewritten } in narrow {
        let missed: Vec<String> = narrow.missed.iter().map(|number| format!("`{number}`")).collect();
        let message = format!("the group `value` is `{}`, which does not match {}", narrow.group, missed.join(", "));
        let fault = Diagnostic::at(&code::KB0454, *span, message)
            .note("if a program prints such a number, the run has no value, or an earlier value counts")
            .help(format!("let the group match the whole token: `{}`", narrow.widened));
        diagnostics.push(match rewritten {
            Some(text) => fault.fix(*span, text),
            None => fault,
        });
    }
}
