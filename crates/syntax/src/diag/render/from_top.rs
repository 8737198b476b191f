//! Findings with paths from the top of a repository, from where CI systems look for files.

use super::{Report, Style};
use crate::diag::{Diagnostic, Place};
use crate::text::{SourceMap, shell_word};

/// What a report is about, with longer paths.
#[derive(Clone, Debug)]
pub struct FromTop {
    diagnostics: Vec<Diagnostic>,
    sources: SourceMap,
    checked: Vec<String>,
}

impl FromTop {
    /// Puts `folder` before each path, and has commands start there: that of the project in its repository, empty or ending in a slash.
    pub fn of(report: &Report<'_>, folder: &str) -> Self {
        let place = |place: &Place| match place {
            Place::Span(span) => Place::Span(*span),
            Place::File(path) => Place::File(joined(folder, path)),
            Place::Line(path, line) => Place::Line(joined(folder, path), *line),
        };
        let diagnostics = report.diagnostics.iter().cloned().map(|mut diagnostic| {
            diagnostic.place = place(&diagnostic.place);
            for related in &mut diagnostic.related {
                related.place = place(&related.place);
            }
            if let Some(at) = diagnostic.cause.as_mut().and_then(|cause| cause.place.as_mut()) {
                *at = place(at);
            }
            diagnostic.help = diagnostic.help.map(|help| started_in(folder, &help));
            diagnostic
        });
        let mut sources = SourceMap::default();
        for (_, source) in report.sources.iter() {
            let mut source = source.clone();
            source.path = joined(folder, &source.path);
            sources.add(source);
        }
        let checked = report.checked.iter().map(|path| joined(folder, path)).collect();
        Self { diagnostics: diagnostics.collect(), sources, checked }
    }

    /// Returns the report, which is without color.
    pub fn report(&self) -> Report<'_> {
        let Self { diagnostics, sources, checked } = self;
        Report { diagnostics, sources, checked, style: Style::Plain }
    }
}

/// Returns `path`, which is relative to `folder`, relative to what `folder` is in.
fn joined(folder: &str, path: &str) -> String {
    if path.is_empty() || path.starts_with('/') {
        return path.to_owned();
    }
    let (mut folder, mut path) = (folder.trim_end_matches('/'), path);
    while let Some(rest) = path.strip_prefix("../").filter(|_| !folder.is_empty()) {
        (folder, path) = (folder.rsplit_once('/').map_or("", |(above, _)| above), rest);
    }
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

/// Returns a text in which quoted commands start in `folder`, as they are run at the top of the repository.
fn started_in(folder: &str, text: &str) -> String {
    const COMMAND: &str = "`kubebench ";
    let folder = folder.trim_end_matches('/');
    if folder.is_empty() {
        return text.to_owned();
    }
    let mut pieces = text.split(COMMAND);
    let mut made = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        made.push_str(COMMAND);
        // What explains the program is no project's.
        if !piece.starts_with(['-', '`']) && !piece.starts_with("explain") {
            made.push_str(&format!("-C {} ", shell_word(folder)));
        }
        made.push_str(piece);
    }
    made
}

#[cfg(test)]
mod tests {
    use super::{joined, started_in};

    #[test]
    fn commands_start_in_the_folder_of_the_project() {
        let help = "run `kubebench compile` and commit the result; `kubebench explain KB0502` says more";
        for (folder, expected) in [
            ("", help),
            (
                "ml/bench/",
                "run `kubebench -C ml/bench compile` and commit the result; `kubebench explain KB0502` says more",
            ),
            (
                "data sci/",
                "run `kubebench -C 'data sci' compile` and commit the result; `kubebench explain KB0502` says more",
            ),
        ] {
            assert_eq!(started_in(folder, help), expected);
        }
    }

    #[test]
    fn paths_are_joined() {
        for (folder, path, expected) in [
            ("", "specs/a.yaml", "specs/a.yaml"),
            ("ml/bench/", "specs/a.yaml", "ml/bench/specs/a.yaml"),
            ("ml/bench/", "../shared/a.yaml", "ml/shared/a.yaml"),
            ("ml/bench/", "../../a.yaml", "a.yaml"),
            ("ml/", "../../a.yaml", "../a.yaml"),
            ("ml/", "/tmp/a.yaml", "/tmp/a.yaml"),
            ("ml/", "", ""),
        ] {
            assert_eq!(joined(folder, path), expected);
        }
    }
}
