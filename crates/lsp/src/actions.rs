//! What can be done about findings by one edit.

use std::collections::BTreeMap;

use kubebench_compiler::compile::Compilation;
use kubebench_syntax::diag::fix::fix;
use kubebench_syntax::diag::{Diagnostic, Place};
use lsp_types::{CodeAction, CodeActionKind, Range as LspRange, TextEdit, Uri, WorkspaceEdit};

use crate::document::Document;
use crate::layout;

/// Returns the fixes of the findings at `range` of the document at `path`, and of all of its findings together.
pub(crate) fn actions(
    compilation: &Compilation,
    path: &str,
    uri: &Uri,
    document: &Document,
    range: LspRange,
    only: Option<&[CodeActionKind]>,
) -> Vec<CodeAction> {
    let sources = &compilation.sources;
    // What is compiled may be a text that the editor does not have yet.
    let is_here = |finding: &&Diagnostic| match &finding.fix {
        Some(fix) => sources.get(fix.span.source).is_some_and(|it| it.path == path && it.text == document.text()),
        None => false,
    };
    let fixable: Vec<&Diagnostic> = compilation.diagnostics.iter().filter(is_here).collect();
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
    let mut actions = Vec::new();
    for finding in fixable.iter().filter(|_| is_asked_for(&CodeActionKind::QUICKFIX)) {
        let Some(fix) = &finding.fix else { continue };
        let place = if let Place::Span(span) = finding.place { span } else { fix.span };
        let at = lines.range(document.text(), place.range());
        if at.start > range.end || range.start > at.end {
            continue;
        }
        let title = finding.help.clone().unwrap_or_else(|| format!("write `{}`", fix.replacement));
        let edit =
            TextEdit { range: lines.range(document.text(), fix.span.range()), new_text: fix.replacement.clone() };
        actions.push(CodeAction {
            is_preferred: Some(true),
            ..action(format!("{}: {title}", finding.code.id), CodeActionKind::QUICKFIX, vec![edit])
        });
    }
    if !fixable.is_empty() && is_asked_for(&CodeActionKind::SOURCE_FIX_ALL) {
        let by_source: BTreeMap<_, _> =
            fixable.iter().filter_map(|finding| Some((finding.fix.as_ref()?.span.source, ()))).collect();
        let all: Vec<Diagnostic> = fixable.iter().map(|finding| (*finding).clone()).collect();
        let fixed = by_source.into_keys().find_map(|id| Some(fix(id, sources.get(id)?, &all)));
        let edits = fixed.map(|fixed| layout::edits(document, &fixed)).unwrap_or_default();
        actions.push(action("Apply all fixes of Kubebench".to_owned(), CodeActionKind::SOURCE_FIX_ALL, edits));
    }
    actions
}
