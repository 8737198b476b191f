//! Resources that a benchmark uses, shown at its name.

use kubebench_compiler::compile::{Compilation, Compiled};
use kubebench_compiler::model::estimate::{Estimate, estimate};
use kubebench_syntax::text::Span;
use kubebench_syntax::words::counted;
use lsp_types::{InlayHint, InlayHintLabel, InlayHintTooltip};

use crate::document::Document;

/// Returns the runs and the most that they may cost, at the name of each benchmark of the document at `path`.
pub(crate) fn hints(compilation: &Compilation, path: &str, document: &Document) -> Vec<InlayHint> {
    let of_path: Vec<&Compiled> =
        compilation.benchmarks.iter().filter(|compiled| compiled.benchmark.path == path).collect();
    let Some(span) = of_path.first().map(|compiled| compiled.benchmark.name_span) else { return Vec::new() };
    let is_current = |span: Span| {
        compilation.sources.get(span.source).is_some_and(|source| source.path == path && source.text == document.text())
    };
    if !is_current(span) {
        return Vec::new();
    }
    let label = match of_path.as_slice() {
        [only] => words(only),
        several => {
            let of = |compiled: &&Compiled| format!("{}: {}", compiled.benchmark.target.name, words(compiled));
            several.iter().map(of).collect::<Vec<_>>().join("; ")
        }
    };
    vec![InlayHint {
        position: document.lines().position(document.text(), span.range().end),
        label: InlayHintLabel::String(label),
        kind: None,
        text_edits: None,
        tooltip: Some(InlayHintTooltip::String(
            "the most that all runs take, if each takes its full timeout".to_owned(),
        )),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    }]
}

fn words(Compiled { benchmark, .. }: &Compiled) -> String {
    let Estimate { runs, hours, gpu_hours, cost, .. } = estimate(benchmark);
    let mut words = vec![counted(usize::try_from(runs).unwrap_or(usize::MAX), "run")];
    words.push(if hours < 1.0 { format!("{:.0} min", hours * 60.0) } else { format!("{hours:.1} h") });
    words.extend((gpu_hours > 0.0).then(|| format!("{gpu_hours:.1} GPU-hours")));
    let currency = benchmark.target.prices.as_ref().map(|prices| prices.currency.as_str());
    words.extend(cost.zip(currency).map(|(cost, currency)| format!("{cost:.2} {currency}")));
    words.join(", ")
}
