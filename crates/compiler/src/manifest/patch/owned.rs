//! Fields that Kubebench itself must set, whatever a patch says.

use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Node, Step};

/// What to write instead of patching the resources of the main container.
pub(in crate::manifest) const RESOURCES: &str = "write `resources` of the role";

/// Reports fields of `patch` that Kubebench itself must set; each is given with what to write instead.
pub(in crate::manifest) fn refuse_owned(patch: &Node, owned: &[(&str, &str)], diagnostics: &mut Diagnostics) {
    for (path, instead) in owned {
        let steps: Vec<Step> = path.split('.').map(Step::from).collect();
        let Some((last, parents)) = steps.split_last() else { continue };
        let Step::Key(key) = last else { continue };
        if let Some(entry) = patch.at(parents).and_then(|parent| parent.entry(key)) {
            diagnostics.push(refused(entry.key_span, path).help(*instead));
        }
    }
}

/// Reports amounts in the `resources` of a patch over the main container or its pod.
pub(in crate::manifest) fn refuse_resources(owner: &Node, diagnostics: &mut Diagnostics) {
    let Some(resources) = owner.entry("resources") else { return };
    // Claims of devices are in no estimate, and the role cannot name them.
    let amounts: Vec<_> = resources.value.entries().iter().filter(|entry| entry.key != "claims").collect();
    let place = match amounts.as_slice() {
        [] if !resources.value.entries().is_empty() => return,
        [] => resources.key_span,
        [first, ..] => first.key_span,
    };
    let fault = Diagnostic::at(&code::KB0315, place, "`resources` is set by kubebench and cannot be patched");
    diagnostics.push(
        fault
            .note("budget, estimate and `/dev/shm` are computed from the role, and would miss what a patch adds")
            .help(RESOURCES),
    );
}

/// Reports a patch of what kubebench sets.
pub(super) fn refused(place: Span, path: &str) -> Diagnostic {
    Diagnostic::at(&code::KB0315, place, format!("`{path}` is set by kubebench and cannot be patched"))
}
