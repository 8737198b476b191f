//! What became of every value of an old document: a place to read it from, and a line of the report for each.

use kubebench_syntax::diag::{Code, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Entry, Node, Step, Value};

/// What became of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It says the same in the spec.
    Kept,
    /// It says the same in other words, or what it was meant to say.
    Changed,
    /// Nothing needs it any more.
    Dropped,
    /// It could not be carried over.
    Lost,
}

impl Outcome {
    /// All of them, in the order in which they are counted.
    pub(crate) const ALL: [Self; 4] = [Self::Kept, Self::Changed, Self::Dropped, Self::Lost];

    /// Returns the word of the report.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Changed => "changed",
            Self::Dropped => "dropped",
            Self::Lost => "lost",
        }
    }
}

/// One line of the report: what became of a value, or of all values below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where the value is in its file.
    pub place: Span,
    /// Which document of the file it is in, from 0.
    pub document: usize,
    /// The path to it from the top of its document. After a text that is itself YAML, the path continues inside it.
    pub steps: Vec<Step>,
    /// What became of it.
    pub outcome: Outcome,
    /// What it is now, or why it is not.
    pub said: String,
    /// The code of the finding about a value that is lost.
    pub code: &'static Code,
}

impl Line {
    /// Returns the way to the value as people write it: `spec.tasks[0].name`.
    pub fn path(&self) -> String {
        path(&self.steps)
    }
}

/// Writes steps as a path.
pub(super) fn path(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Index(index) => text.push_str(&format!("[{index}]")),
            Step::Key(key) => {
                let is_plain =
                    !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/'));
                if !is_plain {
                    text.push_str(&format!("[{key:?}]"));
                } else if text.is_empty() {
                    text.push_str(key);
                } else {
                    text.push_str(&format!(".{key}"));
                }
            }
        }
    }
    if text.is_empty() { "(all of it)".to_owned() } else { text }
}

/// A value of an old document, and the way to it.
#[derive(Clone, Debug)]
pub(super) struct At<'n> {
    /// The value.
    pub(super) node: &'n Node,
    steps: Vec<Step>,
    /// The place of its key, or of the text that holds its document where that is not the file's own.
    key: Option<Span>,
    held_in: Option<Span>,
}

impl<'n> At<'n> {
    /// Returns the top of a document.
    pub(super) fn top(node: &'n Node) -> Self {
        Self { node, steps: Vec::new(), key: None, held_in: None }
    }

    /// Returns the top of the `index`th document in the text at this place.
    pub(super) fn inside<'m>(&self, node: &'m Node, index: usize) -> At<'m> {
        let mut steps = self.steps.clone();
        let name = steps.pop().map(|step| path(&[step])).unwrap_or_default();
        steps.push(Step::Key(format!("{name}/{index}")));
        At { node, steps, key: None, held_in: Some(self.place()) }
    }

    /// Returns where it is in the file.
    pub(super) fn place(&self) -> Span {
        let is_scalar = !matches!(self.node.value, Value::Map(_) | Value::Seq(_));
        self.held_in.or(self.key.filter(|_| !is_scalar)).unwrap_or(self.node.span)
    }

    /// Returns the value of `key`, unless it is null, which says nothing.
    pub(super) fn get(&self, key: &str) -> Option<Self> {
        self.child(key).filter(|found| found.node.value != Value::Null)
    }

    fn child(&self, key: &str) -> Option<Self> {
        let entry = self.node.entry(key)?;
        Some(Self { key: Some(entry.key_span), ..self.step(key.into(), &entry.value) })
    }

    /// Returns the value at the path `keys`.
    pub(super) fn find(&self, keys: &[&str]) -> Option<Self> {
        keys.iter().try_fold(self.clone(), |at, key| at.get(key))
    }

    /// Returns the values of a mapping with their keys.
    pub(super) fn entries(&self) -> Vec<(&'n str, Self)> {
        let at =
            |entry: &'n Entry| Self { key: Some(entry.key_span), ..self.step(entry.key.as_str().into(), &entry.value) };
        self.node.entries().iter().map(|entry| (entry.key.as_str(), at(entry))).collect()
    }

    /// Returns the elements of a list.
    pub(super) fn items(&self) -> Vec<Self> {
        self.node.items().iter().enumerate().map(|(index, item)| self.step(index.into(), item)).collect()
    }

    /// Returns the entries of the mapping `key`; none where there is no such field.
    pub(super) fn entries_of(&self, key: &str) -> Vec<(&'n str, Self)> {
        self.get(key).map_or_else(Vec::new, |found| found.entries())
    }

    /// Returns the elements of the list `key`; none where there is no such field.
    pub(super) fn items_of(&self, key: &str) -> Vec<Self> {
        self.get(key).map_or_else(Vec::new, |found| found.items())
    }

    /// Returns the text of a string or number.
    pub(super) fn text(&self) -> Option<&'n str> {
        self.node.as_text()
    }

    /// Returns the text of any scalar, as YAML's readers of that time gave it to templates.
    pub(super) fn scalar(&self) -> Option<String> {
        match &self.node.value {
            Value::Bool(flag) => Some(flag.to_string()),
            Value::String(text) | Value::Number(text) => Some(text.clone()),
            Value::Null | Value::Seq(_) | Value::Map(_) => None,
        }
    }

    fn step(&self, step: Step, node: &'n Node) -> Self {
        let mut steps = self.steps.clone();
        steps.push(step);
        At { node, steps, key: None, held_in: self.held_in }
    }
}

/// The lines about one document.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    document: usize,
    lines: Vec<Line>,
}

impl Ledger {
    /// Begins the ledger of the `document`th document of a file.
    pub(super) fn new(document: usize) -> Self {
        Self { document, lines: Vec::new() }
    }

    /// Says that the spec has this value, or all values below it.
    pub(super) fn kept(&mut self, at: &At<'_>, said: impl Into<String>) {
        self.write(at, Outcome::Kept, said.into());
    }

    /// Says what the value became, and why.
    pub(super) fn changed(&mut self, at: &At<'_>, said: impl Into<String>) {
        self.write(at, Outcome::Changed, said.into());
    }

    /// Says why nothing needs the value.
    pub(super) fn dropped(&mut self, at: &At<'_>, said: impl Into<String>) {
        self.write(at, Outcome::Dropped, said.into());
    }

    /// Says why the value could not be carried over.
    pub(super) fn lost(&mut self, at: &At<'_>, said: impl Into<String>) {
        self.write(at, Outcome::Lost, said.into());
    }

    /// Says that a value names something that is not among the files.
    pub(super) fn missing(&mut self, at: &At<'_>, said: impl Into<String>) {
        let before = self.lines.len();
        self.lost(at, said);
        for line in self.lines.iter_mut().skip(before) {
            line.code = &code::KB0432;
        }
    }

    /// The same for a value that may not be there.
    pub(super) fn dropped_if(&mut self, at: Option<&At<'_>>, said: &str) {
        if let Some(at) = at {
            self.dropped(at, said);
        }
    }

    /// The same for a value that may not be there.
    pub(super) fn changed_if(&mut self, at: Option<&At<'_>>, said: &str) {
        if let Some(at) = at {
            self.changed(at, said);
        }
    }

    /// A line describes everything below it except what was described before, so that no value has two.
    fn write(&mut self, at: &At<'_>, outcome: Outcome, said: String) {
        if self.lines.iter().any(|line| at.steps.starts_with(&line.steps)) {
            return;
        }
        if self.lines.iter().any(|line| line.steps.starts_with(&at.steps)) {
            let children: Vec<At<'_>> = at.entries().into_iter().map(|(_, child)| child).chain(at.items()).collect();
            for child in children {
                self.write(&child, outcome, said.clone());
            }
            return;
        }
        let line = Line {
            place: at.place(),
            document: self.document,
            steps: at.steps.clone(),
            outcome,
            said,
            code: &code::KB0430,
        };
        self.lines.push(line);
    }

    /// Says of everything that nothing was said about that it could not be carried over, for `why`.
    pub(super) fn settle(&mut self, at: &At<'_>, why: &str) {
        if self.lines.iter().any(|line| line.steps == at.steps) {
            return;
        }
        let is_named = self.lines.iter().any(|line| line.steps.starts_with(&at.steps));
        match &at.node.value {
            Value::Null => self.dropped(at, "no value is written there"),
            Value::Map(entries) if entries.is_empty() => self.dropped(at, "no value is written there"),
            Value::Seq(items) if items.is_empty() => self.dropped(at, "no value is written there"),
            Value::Map(_) | Value::Seq(_) if is_named || at.steps.is_empty() => {
                let children: Vec<At<'_>> =
                    at.entries().into_iter().map(|(_, child)| child).chain(at.items()).collect();
                for child in children {
                    self.settle(&child, why);
                }
            }
            _ => self.lost(at, why),
        }
    }

    /// Returns the lines in the order of the file.
    pub(super) fn into_lines(mut self) -> Vec<Line> {
        self.lines.sort_by(|a, b| (a.place.start, &a.steps).cmp(&(b.place.start, &b.steps)));
        self.lines
    }
}
