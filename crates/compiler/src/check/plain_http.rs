//! KB0390: a credential that anybody on the way can read.

use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::yaml::Node;

/// Reports a repository of results to which the recorder would send its password without encryption.
pub(crate) fn of_results(project: &Node, diagnostics: &mut Diagnostics) {
    let remote = project.get("spec").and_then(|spec| spec.get("results")?.get("remote"));
    let Some((node, rest)) = remote.and_then(|node| Some((node, node.as_text()?.strip_prefix("http://")?))) else {
        return;
    };
    let fault =
        Diagnostic::at(&code::KB0390, node.span, "the credential of the recorder would be sent without encryption")
            .note("whoever reads it on the way can write to the repository, and whoever answers there is believed");
    diagnostics.push(fault.help(format!("write `https://{rest}`, or an address of SSH")));
}
