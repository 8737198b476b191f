//! KB0454: groups that do not take all numbers that programs print.

use crate::model::Benchmark;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Reports patterns whose group `value` is made for numbers and does not take all of them.
pub(super) fn wide(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for (narrow, span) in benchmark.metrics.iter().filter_map(|metric| metric.narrow.as_ref()) {
        let missed: Vec<String> = narrow.missed.iter().map(|number| format!("`{number}`")).collect();
        let message = format!("the group `value` takes `{}`, and not {}", narrow.group, missed.join(" or "));
        let fault = Diagnostic::at(&code::KB0454, *span, message)
            .note("where a program prints such a number, the run ends without the value, or an older one counts")
            .help(format!("let the group take the whole token: `{}`", narrow.widened));
        diagnostics.push(match single_quoted(&narrow.widened) {
            Some(quoted) => fault.fix(*span, quoted),
            None => fault,
        });
    }
}

/// Returns `text` as a YAML scalar in single quotes, in which a backslash is just a backslash; none where it has more lines.
fn single_quoted(text: &str) -> Option<String> {
    (!text.contains(char::is_control)).then(|| format!("'{}'", text.replace('\'', "''")))
}
