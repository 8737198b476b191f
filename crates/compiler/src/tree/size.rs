//! Argo CD refuses a directory whose manifests are too large together; this says so before it does.

use std::collections::BTreeMap;

use kubebench_syntax::diag::{Diagnostic, code};

use super::OutputTree;
use kubebench_syntax::path::join;

/// The default of Argo CD's `reposerver.max.combined.directory.manifests.size`, `10M`.
pub(crate) const ARGO_CD_LIMIT: usize = 10_000_000;
/// Where the warning begins.
pub(crate) const WARNING_FROM: usize = 8_000_000;

/// Warns about every target whose manifests come close to [`ARGO_CD_LIMIT`].
pub(crate) fn warnings(tree: &OutputTree, output_dir: &str) -> Vec<Diagnostic> {
    let mut sizes = BTreeMap::<&str, usize>::new();
    for (path, file) in tree.iter() {
        if let Some((target, _)) = path.split_once('/') {
            *sizes.entry(target).or_default() += file.text.len();
        }
    }
    sizes
        .into_iter()
        .filter(|(_, bytes)| *bytes >= WARNING_FROM)
        .map(|(t, b)| warning(&join(output_dir, t), b))
        .collect()
}

fn warning(folder: &str, bytes: usize) -> Diagnostic {
    let limit =
        "Argo CD's `reposerver.max.combined.directory.manifests.size` is 10 MB unless its administrator raised it";
    let relation = if bytes > ARGO_CD_LIMIT { "more than the" } else { "close to the" };
    let message = format!("`{folder}` holds {} of manifests, {relation} 10 MB that Argo CD reads", megabytes(bytes));
    Diagnostic::in_file(&code::KB0417, folder, message)
        .note(limit)
        .help("move some of its benchmarks to another target, or raise that setting in `argocd-cmd-params-cm`")
}

fn megabytes(bytes: usize) -> String {
    let tenths = bytes / 100_000;
    format!("{}.{} MB", tenths / 10, tenths % 10)
}
