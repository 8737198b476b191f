//! Why benchmarks run, and what changed without that, in words: the same on a screen and in a comment, which differ in their markup.

use std::collections::BTreeMap;

use super::{Group, Plan, Row, Shared, Why};
use kubebench_compiler::difference::Change;
use kubebench_results::compare::render::code_span;
use kubebench_syntax::text::{first_of, plain};
use kubebench_syntax::words::counted;

/// The maximum number of causes of a benchmark.
const CAUSES: usize = 10;
/// The maximum number of changed files that are named.
const FILES: usize = 10;

/// Where the words are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Markup<'f> {
    /// On a screen, which shows files from the project.
    Screen,
    /// In a comment in Markdown, which shows files from the top of the repository: the project is in this folder there.
    Comment(&'f str),
}

impl Markup<'_> {
    /// Returns what people wrote, such as a name or a value.
    pub fn text(self, text: &str) -> String {
        match self {
            Self::Screen => plain(text),
            Self::Comment(_) => code_span(text),
        }
    }

    fn file(self, path: &str) -> String {
        match self {
            Self::Screen => plain(path),
            Self::Comment(folder) => code_span(&format!("{folder}{path}")),
        }
    }

    /// Returns a field, and its file where that is not known from elsewhere.
    fn place(self, field: &str, file: &str) -> String {
        match self {
            _ if file.is_empty() => self.text(field),
            Self::Screen => format!("{}: {}", self.file(file), self.text(field)),
            Self::Comment(_) => format!("{} in {}", self.text(field), self.file(file)),
        }
    }
}

/// Says why the benchmarks of a group run, one cause a line; nothing where there is no comparison.
pub fn causes(group: &Group<'_>, markup: Markup<'_>) -> Vec<String> {
    match &group.why {
        Why::Asked => Vec::new(),
        Why::New => vec!["new".to_owned()],
        Why::Renamed(name) => vec![format!("was {}: a new name begins a new history", markup.text(name))],
        Why::Unknown(files, fault) => {
            let mut lines = vec!["the base does not compile, so what changed in it is unknown".to_owned()];
            lines.extend(fault.as_ref().map(|fault| markup.file(&fault.reason())));
            let named: Vec<String> = files.iter().map(|file| markup.file(file)).collect();
            lines.extend((!named.is_empty()).then(|| format!("files that changed: {}", first_of(&named, FILES))));
            lines
        }
        Why::Changed(causes) if causes.is_empty() => vec!["the cause is unknown".to_owned()],
        Why::Changed(causes) => {
            let mut lines: Vec<String> = causes.iter().take(CAUSES).map(|cause| of(cause, group, markup)).collect();
            let more = causes.len().saturating_sub(CAUSES);
            lines.extend((more > 0).then(|| format!("and {}", counted(more, "more cause"))));
            lines
        }
    }
}

fn of(Shared { change, certainty, cases }: &Shared, group: &Group<'_>, markup: Markup<'_>) -> String {
    let cases = cases.filter(|(_, all)| *all > group.rows.len());
    let cases = cases.map_or_else(String::new, |(count, all)| format!(" in {count} of {all} cases"));
    let doubt = certainty.doubt();
    format!("{}{cases}{doubt}", said(change, &change.file, markup))
}

/// Says what changed, in which file where that is not known from elsewhere.
pub fn said(change: &Change, file: &str, markup: Markup<'_>) -> String {
    match change.field() {
        "" if file.is_empty() => change.fate().to_owned(),
        "" => format!("{} {}", markup.file(file), change.fate()),
        field => valued(&markup.place(field, file), change, markup),
    }
}

/// Says what changed at a place, which has its markup.
pub fn valued(place: &str, change: &Change, markup: Markup<'_>) -> String {
    match change.values() {
        _ if change.fields > 1 => format!("{place}: {}", counted(change.fields, "field")),
        Some([old, new]) => format!("{place}: {} → {}", markup.text(&old), markup.text(&new)),
        None => format!("{place} changed"),
    }
}

/// Says what changed and starts nothing, each with the benchmarks for which it did; `counts` chooses among the changes of these.
pub fn without_run<'p>(
    plan: &'p Plan<'_>,
    markup: Markup<'_>,
    counts: impl Fn(&Change) -> bool,
) -> BTreeMap<String, Vec<&'p str>> {
    let mut changes: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for Row { compiled, change, .. } in &plan.rows {
        let benchmark = &compiled.benchmark;
        for change in change.iter().flat_map(|change| &change.idle).filter(|change| counts(change)) {
            let file = if change.file == benchmark.path { "" } else { &change.file };
            let names = changes.entry(said(change, file, markup)).or_default();
            if !names.contains(&benchmark.name.as_str()) {
                names.push(&benchmark.name);
            }
        }
    }
    for change in plan.since.iter().flat_map(|since| &since.difference.idle) {
        changes.entry(said(change, &change.file, markup)).or_default();
    }
    changes
}

/// Says that benchmarks, which have their markup as their targets have, are no longer there; one of them may be `renamed`.
pub fn removed(who: &str, count: usize, renamed: Option<&str>, targets: &str, markup: Markup<'_>) -> String {
    let renamed = renamed.map_or_else(String::new, |name| format!(", now called {}", markup.text(name)));
    let kept = if count == 1 { "its claim and results are kept" } else { "their claims and results are kept" };
    format!("{who} on {targets}{renamed}; {kept}")
}
