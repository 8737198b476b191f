//! KB0331, KB0421: results volumes that several pods mount at once and whose access mode does not allow it.

use crate::model::Benchmark;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;

const HELP: &str = "write `results: {claim: {accessModes: [ReadWriteMany]}}`, with a StorageClass that supports it, \
                    such as NFS, CephFS or EFS";

/// Reports volumes of one node or one pod that the Workflow's step and another pod, or several steps, need at once.
///
/// One step after another is fine: the volume follows from node to node.
pub(super) fn possible(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let modes = &benchmark.claim.access_modes;
    let is_of_one_pod = modes.contains(&"ReadWriteOncePod");
    if is_of_one_pod && modes.len() > 1 {
        let fault = Diagnostic::at(
            &code::KB0331,
            benchmark.claim.span,
            "`ReadWriteOncePod` is combined with other access modes",
        );
        diagnostics.push(
            fault
                .note("Kubernetes refuses such a claim, so no sync would succeed")
                .help("keep one of them; `ReadWriteMany` covers the others"),
        );
        return;
    }
    let causes = causes(benchmark);
    let Some((_, span)) = causes.first().filter(|_| !modes.contains(&"ReadWriteMany")) else { return };
    let names = causes.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
    let names = if causes.len() == 1 { format!("{names} needs") } else { format!("{names} need") };
    diagnostics.push(if is_of_one_pod {
        let message = format!("the results volume is `ReadWriteOncePod`, but {names} it in several pods at once");
        Diagnostic::at(&code::KB0331, benchmark.claim.span, message)
            .note(
                "the run's step mounts the volume, so no other pod that needs it is scheduled, and the run hangs until \
                 its timeout",
            )
            .help(HELP)
    } else {
        let message = format!("the results volume is `ReadWriteOnce`, but {names} it in several pods at once");
        Diagnostic::at(&code::KB0421, *span, message)
            .note(
                "the run's step attaches the volume to one node; a pod on another node waits with a Multi-Attach \
                 error, and the run hangs until its timeout",
            )
            .help(HELP)
    });
}

/// Returns what mounts the volume in addition to the running step, and where that is set.
fn causes(benchmark: &Benchmark) -> Vec<(&'static str, Span)> {
    let postprocess = benchmark.cases.iter().find_map(|case| case.postprocess.as_ref());
    let at_once = u64::from(benchmark.parallelism).min(benchmark.runs());
    [
        benchmark.mount_in_job.then_some(("mountInJob", benchmark.mount_in_job_span)),
        benchmark.prepare.as_ref().map(|job| ("prepare", job.role.span)),
        postprocess.map(|job| ("postprocess", job.role.span)),
        (at_once > 1).then_some(("parallelism", benchmark.parallelism_span)),
    ]
    .into_iter()
    .flatten()
    .collect()
}
