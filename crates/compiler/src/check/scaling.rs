//! KB0412: more pods that the program does not know about.

use crate::model::{Benchmark, Workload};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// The options of `mpirun` and similar programs for the number of processes; a number per node follows the pods by itself.
const COUNTS: [&str; 4] = ["-n", "-np", "--np", "-c"];

/// Reports axes that set a number of pods where the program takes its scale from elsewhere.
pub(super) fn followed(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let Some(workload) = benchmark.cases.iter().map(|case| &case.workload).find(|workload| is_manual(workload)) else {
        return;
    };
    let (field, note) = if workload.key == "mpiJob" {
        ("replicas", "`mpirun` starts as many processes as its arguments say, however many pods there are")
    } else {
        ("parallelism", "pods that do not know of each other do not share the work: each does all of it")
    };
    for scaling in benchmark.scalings.iter().filter(|scaling| !scaling.is_followed) {
        let axis = &scaling.axis;
        let message = format!("`{field}` follows the axis `{axis}`, but no command, argument or variable does");
        let fault = Diagnostic::at(&code::KB0412, scaling.span, message).note(note);
        diagnostics.push(
            fault.help(format!("pass `${{{{ matrix.{axis} }}}}` on, in `command`, `args` or `env`, or fix `{field}`")),
        );
    }
}

/// An `mpirun` without a number of processes takes every slot of the operator's host list, and so follows by itself.
fn is_manual(workload: &Workload) -> bool {
    let launcher = workload.roles.iter().find(|role| role.name == "launcher");
    let words: Vec<&str> = launcher
        .map(|role| role.command.iter().chain(&role.args).flat_map(|word| word.split_whitespace()).collect())
        .unwrap_or_default();
    let mpi = words.iter().position(|word| word.ends_with("mpirun") || word.ends_with("mpiexec"));
    let follows = mpi.is_some_and(|at| !words.iter().skip(at).any(|word| COUNTS.contains(word)));
    workload.scale_is_manual && !follows
}
