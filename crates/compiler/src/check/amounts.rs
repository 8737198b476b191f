//! KB0334: amounts that are quantities and nonetheless nothing that a pod or a claim can have.

use crate::model::Benchmark;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::unit::Quantity;

/// Below this no process starts, so the unit was forgotten: one MiB.
const LEAST_BYTES: f64 = 1_048_576.0;

/// Reports bytes without a unit, empty claims and parts of huge pages.
pub(super) fn usable(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for role in benchmark.roles() {
        let span = role.resources_span.unwrap_or(role.span);
        for (name, amount) in role.requests.iter().chain(&role.limits) {
            if matches!(name.as_str(), "memory" | "ephemeral-storage") && is_too_few(amount) {
                let message = format!("{} of `{name}` is less than a MiB", in_bytes(amount));
                let fault = Diagnostic::at(&code::KB0334, span, message)
                    .note("the container would be killed before its first line, or never be created");
                diagnostics.push(fault.help(with_unit(amount)));
            }
            let page = name.strip_prefix("hugepages-").and_then(|size| Quantity::parse(size).ok());
            if let Some(page) = page.filter(|page| !amount.is_multiple_of(page)) {
                let message = format!("{amount} of `{name}` is not a multiple of the page size {page}");
                let fault = Diagnostic::at(&code::KB0334, span, message)
                    .note("the API server refuses every such pod, so the job would wait for pods until its timeout");
                diagnostics.push(fault.help(format!("write a multiple of {page}")));
            }
        }
    }
    let size = &benchmark.claim.size;
    if size.as_f64() < LEAST_BYTES {
        let message = format!("a claim of {} is too small for results", in_bytes(size));
        let fault = Diagnostic::at(&code::KB0334, benchmark.claim.span, message)
            .note("the API server refuses a size of 0, and the first result would fill a claim of less than a MiB");
        diagnostics.push(fault.help(if is_too_few(size) { with_unit(size) } else { "write `size: 10Gi`".to_owned() }));
    }
}

/// Nothing at all is an amount that Kubernetes has a meaning for.
fn is_too_few(amount: &Quantity) -> bool {
    amount.as_f64() > 0.0 && amount.as_f64() < LEAST_BYTES
}

fn in_bytes(amount: &Quantity) -> String {
    let written = amount.to_string();
    if written.ends_with(|c: char| c.is_ascii_digit()) { format!("{written} bytes") } else { written }
}

fn with_unit(amount: &Quantity) -> String {
    let written = amount.to_string();
    let number = written.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    format!("did you mean `{number}Gi`?")
}
