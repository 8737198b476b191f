//! Where a project's folders may be, as far as their names say; what links hide is checked where the disk is read.

use std::path::Path;

use crate::model::target::Settings;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code};
use kubebench_syntax::path::{is_gits_own, overlap};
use kubebench_syntax::yaml::Node;

/// A folder of the project file.
struct Folder<'a> {
    /// What it is called, to begin a sentence about it.
    name: &'static str,
    path: &'a str,
    /// Where its path is written, unless it is a default.
    node: Option<&'a Node>,
}

/// Reports folders that would mix manifests, results and specs; `spec` is the project file's.
pub(super) fn check(spec: Option<&Node>, settings: &Settings, diagnostics: &mut Diagnostics) {
    let at = |steps: &[&str]| steps.iter().try_fold(spec?, |node, step| node.get(step));
    let output = Folder { name: "the output directory", path: &settings.output, node: at(&["output"]) };
    let results = Folder {
        name: "the directory of results",
        path: &settings.results.directory,
        node: at(&["results", "directory"]),
    };
    let spec_nodes = at(&["specs"]).map(Node::items).unwrap_or_default();
    let specs = settings.spec_dirs.iter().enumerate().map(|(index, path)| Folder {
        name: "a folder of specs",
        path,
        node: spec_nodes.get(index),
    });
    for other in specs {
        check_pair(&output, &other, diagnostics);
        check_pair(&results, &other, diagnostics);
    }
    check_pair(&results, &output, diagnostics);
    for folder in [output, results] {
        if let Some(node) = folder.node.filter(|_| folder.path.split('/').any(is_gits_own)) {
            let message = format!("{} `{}` is in git's own folder", folder.name, folder.path);
            let fault = Diagnostic::at(&code::KB0323, node.span, message);
            diagnostics.push(fault.note("git may delete or refuse what it did not put there").help(HELP));
        }
    }
}

const HELP: &str = "choose a separate folder, such as `generated` or `results`";

fn check_pair(one: &Folder<'_>, other: &Folder<'_>, diagnostics: &mut Diagnostics) {
    let Some(how) = overlap(Path::new(one.path), Path::new(other.path)) else { return };
    // The two defaults do not overlap, so one of the two is written.
    let Some(node) = one.node.or(other.node) else { return };
    let message = format!("{} `{}` {how} {} `{}`", one.name, one.path, other.name, other.path);
    let fault = Diagnostic::at(&code::KB0323, node.span, message)
        .note("kubebench deletes manifests that no spec asks for, and Argo CD applies every YAML file it finds there")
        .help(HELP);
    diagnostics.push(match other.node.filter(|_| one.node.is_some()) {
        Some(node) => fault.related(Place::Span(node.span), "the other folder"),
        None => fault,
    });
}

#[cfg(test)]
mod tests;
