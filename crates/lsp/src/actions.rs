//! What can be done about findings by one edit.

use kubebench_compiler::compile::Compilation;
use kubebench_syntax::diag::{Applicability, Diagnostic, Fix, Place};
use lsp_types::{CodeAction, CodeActionKind, Range as LspRange, TextEdit, Uri, WorkspaceEdit};

use crate::document::Document;
use crate::layout;
use crate::project::Project;

/// The longest replacement that is named.
const LONGEST: usize = 60;

/// Returns the fixes of the findings at `range` of the document at `path`, and the certain ones of all of its findings together.
pub(crate) fn actions(
    project: &mut Project,
    path: &str,
    uri: &Uri,
    document: &Document,
    range: LspRange,
    only: Option<&[CodeActionKind]>,
) -> Vec<CodeAction> {
    let is_asked_for = |kind: &CodeActionKind| {
        only.is_none_or(|only| {
            only.iter().any(|asked| kind == asked || kind.as_str().starts_with(&format!("{}.", asked.as_str())))
        })
    };
    let action = |title: String, kind: CodeActionKind, edits: Vec<TextEdit>| CodeAction {
        title,
        kind: Some(kind),
        edit: Some(WorkspaceEdit {
            changes: Some([(uri.clone(), edits)].into_iter().collect()),
            ..WorkspaceEdit::default()
        }),
        ..CodeAction::default()
    };
    let lines = document.lines();
    let mut actions: Vec<CodeAction> = Vec::new();
    if is_asked_for(&CodeActionKind::QUICKFIX) {
        for (finding, fix) in fixable(project.compilation(), path, document) {
            let place = if let Place::Span(span) = finding.place { span } else { fix.span };
            let at = lines.range(document.text(), place.range());
            if at.start > range.end || range.start > at.end {
                continue;
            }
            let edit = TextEdit {
                range: lines.range(document.text(), fix.span.range()),
                new_text: document.as_written(&fix.replacement),
            };
            let action = CodeAction {
                is_preferred: (fix.applicability == Applicability::Certain).then_some(true),
                ..action(title(finding, fix), CodeActionKind::QUICKFIX, vec![edit])
            };
            if !actions.contains(&action) {
                actions.push(action);
            }
        }
    }
    if is_asked_for(&CodeActionKind::SOURCE_FIX_ALL)
        && let Some(fixed) = project.fixed(path, document.text())
    {
        let edits = layout::edits(document, &fixed);
        actions.push(action("Apply all fixes of Kubebench".to_owned(), CodeActionKind::SOURCE_FIX_ALL, edits));
    }
    actions
}

/// Returns the findings with a fix of the document at `path`: what is compiled may be a text that the editor does not have yet.
fn fixable<'c>(
    compilation: &'c Compilation,
    path: &'c str,
    document: &'c Document,
) -> impl Iterator<Item = (&'c Diagnostic, &'c Fix)> {
    compilation.diagnostics.iter().filter_map(move |finding| {
        let fix = finding.fix.as_ref()?;
        let source = compilation.sources.get(fix.span.source)?;
        (source.path == path && source.text == document.text()).then_some((finding, fix))
    })
}

/// Says what an edit does.
fn title(finding: &Diagnostic, fix: &Fix) -> String {
    let text = fix.replacement.as_str();
    if fix.span.start == fix.span.end {
        return format!("Insert `{text}`");
    }
    if text.trim().is_empty() || text.len() > LONGEST || text.contains(['`', '\n']) {
        let help = finding.help.as_deref().unwrap_or(finding.code.title);
        let mut letters = help.chars();
        return letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    }
    format!("Replace by `{text}`")
}
