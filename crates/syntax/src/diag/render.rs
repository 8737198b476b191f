//! How findings are shown: one file a format.
//!
//! Renderers turn findings into text; they print nothing and decide nothing. They trust no byte of a message, path or
//! source: everything with a meaning in the format (a terminal's escapes, a runner's commands, markup) is escaped there.

mod concise;
mod fingerprint;
mod from_top;
mod github;
mod gitlab;
mod human;
mod json;
mod junit;
mod location;
mod printable;
mod sarif;
#[cfg(test)]
mod tests;

pub use from_top::FromTop;
pub use printable::is_hidden;

use std::borrow::Cow;

use self::location::Location;
use super::{Diagnostic, Place, Severity};
use crate::text::SourceMap;

/// A format of `--output-format` and `--report`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Snippets and explanations for a person at a terminal.
    Human,
    /// One line a finding, for `grep` and editors.
    Concise,
    /// The versioned object of `docs/reference/json-output.md`.
    Json,
    /// Workflow commands that GitHub Actions shows as annotations.
    Github,
    /// A GitLab Code Quality report.
    Gitlab,
    /// A SARIF 2.1.0 log, for code scanning.
    Sarif,
    /// A JUnit report, for CI systems that count tests.
    Junit,
}

impl Format {
    /// Every format, in the order that help texts list them.
    pub const ALL: [Self; 7] =
        [Self::Human, Self::Concise, Self::Json, Self::Github, Self::Gitlab, Self::Sarif, Self::Junit];

    /// Returns the name that the command line knows the format by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Concise => "concise",
            Self::Json => "json",
            Self::Github => "github",
            Self::Gitlab => "gitlab",
            Self::Sarif => "sarif",
            Self::Junit => "junit",
        }
    }

    /// Returns true if each finding is separate output, and false if all together make one document.
    pub fn is_lines(self) -> bool {
        matches!(self, Self::Human | Self::Concise | Self::Github)
    }

    /// Returns true when readers of the format look for files from the top of the repository, wherever the project is in it.
    pub fn is_of_repository(self) -> bool {
        matches!(self, Self::Github | Self::Gitlab | Self::Sarif | Self::Junit)
    }

    /// Returns the format called `name`, if there is one.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// Whether [`Format::Human`] may use color; every other format is plain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// No escape sequence at all.
    #[default]
    Plain,
    /// ANSI colors.
    Colored,
}

/// Returns `text` for a line of a table: what a terminal would obey, reorder or hide is spelled out.
pub fn on_one_line(text: &str) -> Cow<'_, str> {
    printable::printable(text, printable::LineBreaks::Escape)
}

/// Returns names that somebody else gave, for a list in a message.
pub fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().map(on_one_line).collect::<Vec<_>>().join(", ")
}

/// Returns where a finding is: its file, with line and column where it has them.
pub fn place(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    place_of(&diagnostic.place, sources)
}

/// Returns where a finding is, and the other places that explain it.
pub fn each_place(diagnostic: &Diagnostic, sources: &SourceMap) -> Vec<String> {
    let related = diagnostic.related.iter().map(|related| &related.place);
    std::iter::once(&diagnostic.place).chain(related).map(|place| place_of(place, sources)).collect()
}

fn place_of(place: &Place, sources: &SourceMap) -> String {
    let location = Location::of(place, sources);
    let position = location.start().map(|start| format!(":{}:{}", start.line, start.column));
    format!("{}{}", on_one_line(location.path), position.unwrap_or_default())
}

/// Returns a message of several lines without what a terminal would obey, reorder or hide.
pub fn on_its_lines(text: &str) -> Cow<'_, str> {
    printable::printable(text, printable::LineBreaks::Keep)
}

/// What one run found.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The findings, sorted as [`Diagnostics::into_sorted`](super::Diagnostics::into_sorted) sorts them.
    pub diagnostics: &'a [Diagnostic],
    /// The sources that the findings point into.
    pub sources: &'a SourceMap,
    /// The paths of all files checked, those without a finding too.
    pub checked: &'a [String],
    /// Whether color is wanted.
    pub style: Style,
}

impl<'a> Report<'a> {
    fn of(&self, severity: Severity) -> impl Iterator<Item = &'a Diagnostic> + use<'a> {
        self.diagnostics.iter().filter(move |diagnostic| diagnostic.severity == severity)
    }

    fn count(&self, severity: Severity) -> usize {
        self.of(severity).count()
    }
}

/// Returns the whole text of `report` in `format`, ending with a line break unless empty.
pub fn render(format: Format, report: &Report<'_>) -> String {
    match format {
        Format::Human => human::render(report),
        Format::Concise => concise::render(report),
        Format::Json => json::render(report),
        Format::Github => github::render(report),
        Format::Gitlab => gitlab::render(report),
        Format::Sarif => sarif::render(report),
        Format::Junit => junit::render(report),
    }
}
