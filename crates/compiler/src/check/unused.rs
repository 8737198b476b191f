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
            ("matrix", "each of its values is run, and all runs do the same under different names")
        } else {
            ("parameters", "whoever changes its value changes nothing")
        };
        let fault = Diagnostic::at(&code::KB0406, *span, format!("nothing looks up the {what} `{name}`")).note(note);
        diagnostics.push(fault.help(format!("write `${{{{ {root}.{name} }}}}` where the value belongs, or delete it")));
    }
}
