//! KB0406: parameters and axes that nothing looks up.

use crate::model::{Benchmark, Unused};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Reports declared names that no lookup uses; where no case could be resolved, a faulty lookup may be the one.
pub(super) fn used(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    if benchmark.cases.is_empty() {
        return;
    }
    for Unused { what, name, span } in &benchmark.unused {
        let (root, note) = if *what == "axis" {
            ("matrix", "all of its values run the same thing under different names")
        } else {
            ("parameters", "a change of its value has no effect")
        };
        let fault = Diagnostic::at(&code::KB0406, *span, format!("nothing uses the {what} `{name}`")).note(note);
        diagnostics.push(fault.help(format!("write `${{{{ {root}.{name} }}}}` where the value belongs, or delete it")));
    }
}
