//! KB0390: a repository of results whose server is not authenticated, so that somebody else may receive its data.

use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::yaml::Node;

/// Reports a repository of results whose server is not authenticated.
pub(crate) fn of_results(project: &Node, diagnostics: &mut Diagnostics) {
    without_encryption(project, diagnostics);
    let said = project.get("spec").and_then(|spec| spec.get("results")?.get("sshHostKeys"));
    if let Some(node) = said.filter(|node| node.as_text() == Some("acceptNew")) {
        let message = "the recorder would trust any server that answers";
        let fault = Diagnostic::at(&code::KB0390, node.span, message)
            .note("an impostor would receive the results, and could say which ones are already recorded");
        diagnostics.push(fault.help("delete it, and add `known_hosts` to the Secret of `results.credential`"));
    }
}

/// Reports a repository of results to which the recorder would send its password without encryption.
fn without_encryption(project: &Node, diagnostics: &mut Diagnostics) {
    let remote = project.get("spec").and_then(|spec| spec.get("results")?.get("remote"));
    let Some((node, rest)) = remote.and_then(|node| Some((node, node.as_text()?.strip_prefix("http://")?))) else {
        return;
    };
    let fault = Diagnostic::at(
        &code::KB0390,
        node.span,
        "the credential of the recorder would be sent without encryption",
    )
    .note("an attacker who intercepts it can write to the repository, and the recorder would trust any server that answers");
    diagnostics.push(fault.help(format!("write `https://{rest}`, or an address of SSH")));
}
