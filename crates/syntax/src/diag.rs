//! What a fault is: a coded, placed, explained finding about the user's input.
//!
//! Faults are data and are collected; they never abort a stage. Broken machines (a full disk) are `anyhow::Error`s instead.

pub mod code;
pub mod fix;
pub mod group;
pub mod limit;
pub mod render;

use crate::text::{SourceMap, Span};
pub use code::Code;

/// What to do about a file that cannot be read.
pub const CHECK_FILE: &str = "check its permissions (`ls -l`) and the disk";

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input cannot be compiled.
    Error,
    /// The input compiles, but probably not into what its author wants.
    Warning,
    /// The input is right, and does something that a reviewer wants to know.
    Info,
}

impl Severity {
    /// All, the worst first.
    pub const ALL: [Self; 3] = [Self::Error, Self::Warning, Self::Info];

    /// Returns the lower-case name that every renderer prints.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// Where a finding points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Bytes of a source.
    Span(Span),
    /// A whole file (or a path where a file should be), relative to the project root.
    File(String),
    /// A line, from 1, of a file that is no source, such as a carried script.
    Line(String, usize),
}

/// A replacement of source bytes that removes the fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The bytes to replace.
    pub span: Span,
    /// What to write instead.
    pub replacement: String,
    pub applicability: Applicability,
}

/// Who may apply a fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applicability {
    /// A program: nothing else can be meant.
    Certain,
    /// A person, who knows whether it is what they meant.
    Likely,
}

impl Applicability {
    /// Returns the lower-case name that every renderer prints.
    pub fn name(self) -> &'static str {
        match self {
            Self::Certain => "certain",
            Self::Likely => "likely",
        }
    }
}

/// A second place that explains the first, such as an earlier definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// Where it is.
    pub place: Place,
    /// What is there, as a short fragment.
    pub label: String,
}

/// One finding.
///
/// `message` is a lower-case fragment without a full stop; user literals are in backticks.
/// `notes` say why it matters, `help` says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The stable code.
    pub code: &'static Code,
    /// The severity after the project's lint levels were applied.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub place: Place,
    /// A few words at the place itself.
    pub label: Option<String>,
    /// Other places that explain it.
    pub related: Vec<Related>,
    /// Why it matters.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Option<String>,
    /// An edit that does it, where one is known.
    pub fix: Option<Fix>,
    /// The value that a finding of level info is about, such as the name of a Secret.
    pub value: Option<String>,
    /// What it has in common with others, where more than the message says it.
    pub cause: Option<Box<group::Cause>>,
}

impl Diagnostic {
    /// Returns a finding at `span` with the code's own severity.
    pub fn at(code: &'static Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Place::Span(span), message.into())
    }

    /// Returns a finding about the file at `path`.
    pub fn in_file(code: &'static Code, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(code, Place::File(path.into()), message.into())
    }

    /// Returns a finding about a place.
    pub fn new(code: &'static Code, place: Place, message: String) -> Self {
        Self {
            code,
            severity: code.severity,
            message,
            place,
            label: None,
            related: Vec::new(),
            notes: Vec::new(),
            help: None,
            fix: None,
            value: None,
            cause: None,
        }
    }

    /// Makes it information rather than an error.
    #[must_use]
    pub fn info(mut self) -> Self {
        self.severity = Severity::Info;
        self
    }

    /// Adds a few words at the place itself.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Adds why it matters.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Says what to write instead.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds another place that explains this one.
    #[must_use]
    pub fn related(mut self, place: Place, label: impl Into<String>) -> Self {
        self.related.push(Related { place, label: label.into() });
        self
    }

    /// Adds the edit that removes the fault.
    #[must_use]
    pub fn fix(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.fix = Some(Fix { span, replacement: replacement.into(), applicability: Applicability::Certain });
        self
    }

    /// Adds an edit that probably is what was meant.
    #[must_use]
    pub fn likely_fix(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.fix = Some(Fix { span, replacement: replacement.into(), applicability: Applicability::Likely });
        self
    }

    /// Asks whether the text `close` was meant at `span`.
    #[must_use]
    pub fn did_you_mean(self, span: Span, close: &str) -> Self {
        self.help(format!("did you mean `{close}`?")).likely_fix(span, word(close))
    }

    /// Sets the value that it is about.
    #[must_use]
    pub fn value(mut self, value: impl Into<String>) -> Self {
        self.value = Some(value.into());
        self
    }

    /// Says what it has in common with others.
    #[must_use]
    pub fn cause(mut self, cause: group::Cause) -> Self {
        self.cause = Some(Box::new(cause));
        self
    }

    /// Returns the path that the finding is about.
    pub fn path<'a>(&'a self, sources: &'a SourceMap) -> &'a str {
        match &self.place {
            Place::Span(span) => sources.get(span.source).map_or("", |source| &source.path),
            Place::File(path) | Place::Line(path, _) => path,
        }
    }
}

/// Findings in the making.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Adds one finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// Adds many findings.
    pub fn extend(&mut self, others: impl IntoIterator<Item = Diagnostic>) {
        self.list.extend(others);
    }

    /// Returns true when at least one finding is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Returns true when something warns.
    pub fn has_warnings(&self) -> bool {
        self.list.iter().any(|diagnostic| diagnostic.severity == Severity::Warning)
    }

    /// Returns the findings so far.
    pub fn as_slice(&self) -> &[Diagnostic] {
        &self.list
    }

    /// Returns the findings ordered by path, offset and code, with exact repetitions removed.
    pub fn into_sorted(mut self, sources: &SourceMap) -> Vec<Diagnostic> {
        fn key<'a>(d: &'a Diagnostic, sources: &'a SourceMap) -> (&'a str, u32, &'static str, &'a str) {
            let start = if let Place::Span(span) = &d.place { span.start } else { 0 };
            (d.path(sources), start, d.code.id, &d.message)
        }
        self.list.sort_by(|a, b| key(a, sources).cmp(&key(b, sources)));
        self.list.dedup();
        self.list
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(findings: I) -> Self {
        Self { list: findings.into_iter().collect() }
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

/// Returns what to say after "there is no `word`": what was probably meant, or else all there is, after `lead`.
pub fn what_there_is<'a>(word: &str, known: impl IntoIterator<Item = &'a str>, lead: &str) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    if let Some(close) = did_you_mean(word, known.iter().copied()) {
        return format!("did you mean `{close}`?");
    }
    // Names may hold commas themselves.
    let quoted: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    format!("{lead} {}", quoted.join(", "))
}

/// Returns the end of a sentence about an unknown word: the nearest of those that are known; nothing where none is near.
pub fn nearest<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    did_you_mean(unknown, known)
        .map_or_else(String::new, |near| format!("; did you mean `{}`?", render::on_one_line(near)))
}

/// Returns the candidate closest to `word`, when it is close enough to be what was meant.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lowered = word.to_lowercase();
    let length = lowered.chars().count();
    candidates
        .into_iter()
        // Words of very different lengths are not similar, and measuring costs the product of the lengths.
        .filter(|candidate| candidate.chars().count().abs_diff(length) <= reach(candidate, word))
        .map(|candidate| (strsim::damerau_levenshtein(&lowered, &candidate.to_lowercase()), candidate))
        // Two words without a common letter are unrelated, however short they are.
        .filter(|(distance, candidate)| {
            *distance <= reach(candidate, word) && *distance < length.max(candidate.chars().count())
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns what was probably meant by `word`, quoted, to end a question: the closest candidate, or else those that have a part
/// of its name: `busbw` is a part of `avg_busbw`.
pub fn likely<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    const SHORTEST: usize = 3;
    const MOST: usize = 3;
    if let Some(close) = did_you_mean(word, candidates.clone()) {
        return Some(format!("`{close}`"));
    }
    let parts = |name: &str| -> Vec<String> {
        let parts = name.split(|letter: char| !letter.is_ascii_alphanumeric());
        parts.filter(|part| part.len() >= SHORTEST).map(str::to_ascii_lowercase).collect()
    };
    let asked = parts(word);
    let mut found: Vec<(usize, &str)> = candidates
        .into_iter()
        .map(|name| (parts(name).iter().filter(|part| asked.contains(part)).count(), name))
        .filter(|(shared, _)| *shared > 0)
        .collect();
    found.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    let best = found.first()?.0;
    let best = found.iter().take_while(|(shared, _)| *shared == best).take(MOST);
    let quoted: Vec<String> = best.map(|(_, name)| format!("`{name}`")).collect();
    let (last, others) = quoted.split_last()?;
    Some(if others.is_empty() { last.clone() } else { format!("{} or {last}", others.join(", ")) })
}

/// Returns a text as a scalar of YAML: without quotes if every reader reads it as this text.
fn word(text: &str) -> String {
    const RESERVED: [&str; 8] = ["true", "false", "null", "yes", "no", "on", "off", "inf"];
    let is_plain = text.len() > 1
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte))
        && !RESERVED.iter().any(|reserved| text.eq_ignore_ascii_case(reserved));
    if is_plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

/// How many changes are allowed between a word and what was meant.
fn reach(candidate: &str, word: &str) -> usize {
    (candidate.len().max(word.len()) / 3).max(1)
}
