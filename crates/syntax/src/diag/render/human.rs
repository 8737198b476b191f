//! Snippets and explanations, as rustc and cargo print them.
//!
//! The two header lines are written here and not by the library, which would count columns in the excerpt that it is
//! given instead of the file.

#[cfg(test)]
mod tests;

mod excerpt;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use annotate_snippets::renderer::{self, Style as Ansi};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Message, Renderer, Snippet};

use self::excerpt::Excerpt;
use super::location::{Location, Region};
use super::printable::{LineBreaks, printable};
use super::{Report, Style};
use crate::diag::{Diagnostic, Place, Related, Severity, code, group};
use crate::text::{SourceId, SourceMap};

/// Wider than any excerpt, so that the library never cuts one a second time.
const WIDTH: usize = 1_000;

pub(super) fn render(report: &Report<'_>) -> String {
    let palette = match report.style {
        Style::Plain => Palette::plain(),
        Style::Colored => Palette::colored(),
    };
    let concealed = concealed_lines(report);
    let shown = group::shown(report.diagnostics, report.sources);
    let findings: Vec<_> =
        shown.iter().map(|shown| palette.finding(&shown.finding, report.sources, &concealed)).collect();
    findings.join("\n")
}

/// Returns the lines that hold a secret: no finding quotes them, because output ends in logs that many people read.
fn concealed_lines(report: &Report<'_>) -> BTreeSet<(SourceId, usize)> {
    let secrets = report.diagnostics.iter().filter(|diagnostic| diagnostic.code == &code::KB0407);
    secrets.flat_map(|diagnostic| lines(&Location::of(&diagnostic.place, report.sources), &diagnostic.place)).collect()
}

/// Returns the lines that a place covers.
fn lines(location: &Location<'_>, place: &Place) -> Vec<(SourceId, usize)> {
    match (place, location.start(), location.end()) {
        (Place::Span(span), Some(start), Some(end)) => {
            (start.line..=end.line).map(|line| (span.source, line)).collect()
        }
        _ => Vec::new(),
    }
}

struct Palette {
    renderer: Renderer,
    error: Ansi,
    warning: Ansi,
    note: Ansi,
    message: Ansi,
    arrow: Ansi,
}

impl Palette {
    fn plain() -> Self {
        let none = Ansi::new();
        Self {
            renderer: Renderer::plain().term_width(WIDTH),
            error: none,
            warning: none,
            note: none,
            message: none,
            arrow: none,
        }
    }

    fn colored() -> Self {
        Self {
            renderer: Renderer::styled().term_width(WIDTH),
            error: renderer::DEFAULT_ERROR_STYLE,
            warning: renderer::DEFAULT_WARNING_STYLE,
            note: renderer::DEFAULT_NOTE_STYLE,
            message: renderer::DEFAULT_EMPHASIS_STYLE,
            arrow: renderer::DEFAULT_LINE_NUM_STYLE,
        }
    }

    /// Returns all lines of one finding, each ended.
    fn finding(&self, diagnostic: &Diagnostic, sources: &SourceMap, concealed: &BTreeSet<(SourceId, usize)>) -> String {
        let (level, ansi) = match diagnostic.severity {
            Severity::Error => (Level::ERROR, self.error),
            Severity::Warning => (Level::WARNING, self.warning),
            Severity::Info => (Level::INFO, self.note),
        };
        let location = Location::of(&diagnostic.place, sources);
        let others = diagnostic.related.iter().map(|related| (related, Location::of(&related.place, sources)));
        let (beside, elsewhere): (Vec<_>, Vec<_>) = others.partition(|(_, other)| fit_together(&location, other));

        let name = format!("{}[{}]", diagnostic.severity.name(), diagnostic.code.id);
        let title = title(&name, ansi, self.message, &diagnostic.message);
        let is_concealed = lines(&location, &diagnostic.place).iter().any(|line| concealed.contains(line));
        let main = location.region.as_ref().filter(|_| !is_concealed).map(|region| {
            let label = diagnostic.label.as_deref().unwrap_or_default();
            let beside = beside
                .iter()
                .filter_map(|(related, other)| Some((other.region.as_ref()?.range.clone(), related.label.as_str())));
            Marked::new(region, std::iter::once((region.range.clone(), label)).chain(beside))
        });
        let mut text = self.block(&title, level, &location, main.as_ref(), &remarks(diagnostic));
        for (related, other) in &elsewhere {
            text.push_str(&self.aside(related, other));
        }
        text
    }

    fn aside(&self, related: &Related, location: &Location<'_>) -> String {
        let title = title("note", self.note, Ansi::new(), &related.label);
        let marked = location.region.as_ref().map(|region| Marked::new(region, [(region.range.clone(), "")]));
        self.block(&title, Level::NOTE, location, marked.as_ref(), &[])
    }

    fn block<'a>(
        &self,
        title: &str,
        level: Level<'a>,
        location: &Location<'_>,
        marked: Option<&Marked<'a>>,
        remarks: &[Message<'a>],
    ) -> String {
        let mut text = title.to_owned();
        if !location.path.is_empty() {
            let (arrow, path) = (self.arrow, printable(location.path, LineBreaks::Escape));
            let gutter = " ".repeat(marked.map_or(1, |marked| marked.excerpt.last_line.to_string().len()));
            let at = location.start().map_or_else(String::new, |start| format!(":{}:{}", start.line, start.column));
            let _ = writeln!(text, "{gutter}{arrow}-->{arrow:#} {path}{at}");
        }
        let group = Group::with_level(level).elements(marked.map(Marked::snippet)).elements(remarks.iter().cloned());
        if !group.is_empty() {
            text.push_str(&self.renderer.render(&[group]));
            text.push('\n');
        }
        text
    }
}

fn title(name: &str, name_style: Ansi, text_style: Ansi, text: &str) -> String {
    let text = printable(text, LineBreaks::Escape);
    format!("{name_style}{name}{name_style:#}{text_style}: {text}{text_style:#}\n")
}

/// An excerpt and the labels of its marks.
struct Marked<'a> {
    excerpt: Excerpt,
    labels: Vec<Cow<'a, str>>,
}

impl<'a> Marked<'a> {
    fn new(region: &Region<'_>, marks: impl IntoIterator<Item = (Range<usize>, &'a str)>) -> Self {
        let (ranges, labels): (Vec<_>, Vec<_>) =
            marks.into_iter().map(|(range, label)| (range, printable(label, LineBreaks::Escape))).unzip();
        Self { excerpt: Excerpt::of(region.source, &ranges), labels }
    }

    fn snippet(&self) -> Snippet<'a, Annotation<'a>> {
        let marks = self.excerpt.marks.iter().zip(&self.labels).enumerate().map(|(number, (mark, label))| {
            let kind = if number == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            kind.span(mark.clone()).label((!label.is_empty()).then(|| label.clone()))
        });
        Snippet::source(self.excerpt.text.clone()).line_start(self.excerpt.first_line).annotations(marks)
    }
}

/// Returns true when both places can be shown in one snippet.
fn fit_together(one: &Location<'_>, other: &Location<'_>) -> bool {
    let (Some(one), Some(other)) = (&one.region, &other.region) else { return false };
    std::ptr::eq(one.source, other.source) && excerpt::fit_together(one.source, &one.range, &other.range)
}

fn remarks(diagnostic: &Diagnostic) -> Vec<Message<'_>> {
    let notes = diagnostic.notes.iter().map(|note| Level::NOTE.message(printable(note, LineBreaks::Keep)));
    let help = diagnostic.help.iter().map(|help| Level::HELP.message(printable(help, LineBreaks::Keep)));
    notes.chain(help).collect()
}
