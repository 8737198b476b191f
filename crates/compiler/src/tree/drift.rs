//! Why manifests are not what they should be: which of them a reader takes for one thing to fix.
//!
//! A line of the project file changes manifests of many benchmarks in the same way, and so does the same edit in many specs. Specs whose
//! manifests differ in the same line are said to have one cause, and the line is shown. The manifests hold the specs that they were
//! compiled from: where these are the same as now, the cause is the project file.

use std::collections::{BTreeMap, BTreeSet};

use kubebench_syntax::diag::Place;
use kubebench_syntax::diag::group::Cause;
use kubebench_syntax::redact::without_tokens;
use kubebench_syntax::text::Source;

use super::plan::{Change, Plan, State};
use crate::lower::PROJECT_FILE;

/// Longer lines are lists of runs, in which digests differ anyway.
const LONGEST: usize = 200;
/// As many hex digits in a row are a digest.
const DIGEST: usize = 8;
/// As many specs without manifests are shown one by one.
const APART: usize = 3;
/// As many old and as many new lines of a difference are shown for all.
const SHOWN: usize = 4;
/// What differs where no other line does: the text of a spec or fragment changed, and nothing that runs.
const ONLY_DIGESTS: &str = "";
/// Before the spec in the manifest that holds it, to the end of the file.
const SPEC: &str = "\n  spec.yaml: |\n";

/// The fragments that are part of each spec, by its path.
pub type Parts<'a> = BTreeMap<&'a str, Vec<&'a Source>>;

/// Which sources of stale manifests have one cause.
pub(super) struct Drift<'a> {
    /// The cause of each source: the first source with the same cause.
    causes: BTreeMap<&'a str, &'a str>,
    sizes: BTreeMap<&'a str, usize>,
    /// What differs in the manifests of all sources of a cause.
    common: BTreeMap<&'a str, Vec<String>>,
    /// The fragment that brought this to all sources of a cause, where one did.
    fragments: BTreeMap<&'a str, &'a str>,
    /// The sources whose specs are not those that their manifests were compiled from.
    edited: BTreeSet<&'a str>,
    /// The sources whose manifests are missing.
    missing: BTreeSet<&'a str>,
}

impl<'a> Drift<'a> {
    pub(super) fn of(plan: &'a Plan<'_>, parts: &Parts<'a>) -> Self {
        let mut differences = BTreeMap::<&str, BTreeSet<String>>::new();
        for change in plan.changes.iter().filter(|change| change.state == State::Stale) {
            differences.entry(&change.source).or_default().extend(changed_lines(change));
        }
        for (_, lines) in differences.iter_mut().filter(|(source, lines)| **source != PROJECT_FILE && lines.is_empty())
        {
            lines.insert(ONLY_DIGESTS.to_owned());
        }
        let mut causes: BTreeMap<&str, &str> = differences.keys().map(|source| (*source, *source)).collect();
        let mut first_with = BTreeMap::<&str, &str>::new();
        for (source, line) in
            differences.iter().flat_map(|(source, lines)| lines.iter().map(move |line| (*source, line)))
        {
            let first = *first_with.entry(line).or_insert(source);
            let (one, other) = (root(&causes, first), root(&causes, source));
            causes.insert(one.max(other), one.min(other));
        }
        let causes: BTreeMap<&str, &str> = causes.keys().map(|source| (*source, root(&causes, source))).collect();
        let mut sizes = BTreeMap::new();
        let mut common = BTreeMap::<&str, BTreeSet<&String>>::new();
        for (source, lines) in &differences {
            let Some(cause) = causes.get(source) else { continue };
            *sizes.entry(*cause).or_default() += 1;
            let lines: BTreeSet<&String> = lines.iter().collect();
            // What all benchmarks share has lines of its own.
            if *source != PROJECT_FILE {
                common.entry(cause).and_modify(|common| common.retain(|line| lines.contains(line))).or_insert(lines);
            }
        }
        let fragments = common.iter().filter_map(|(cause, lines)| {
            let sources = causes.iter().filter(|(_, of)| *of == cause).map(|(source, _)| *source);
            Some((*cause, fragment(sources, lines, parts)?))
        });
        let fragments = fragments.collect();
        let common = common.into_iter().map(|(cause, lines)| (cause, lines.into_iter().cloned().collect())).collect();
        let sources = |is_one: fn(&Change<'_>) -> bool| {
            plan.changes.iter().filter(move |change| is_one(change)).map(|change| change.source.as_ref()).collect()
        };
        let (edited, missing) = (sources(holds_another_spec), sources(|change| change.state == State::Missing));
        Self { causes, sizes, common, fragments, edited, missing }
    }

    /// Returns why a stale manifest is not what it should be.
    pub(super) fn cause(&self, change: &Change<'_>) -> Cause {
        let source = change.source.as_ref();
        let cause = self.causes.get(source).copied().unwrap_or(source);
        let is_shared = self.sizes.get(cause).is_some_and(|size| *size > 1);
        let is_of_digests = self.common.get(cause).is_some_and(|lines| *lines == [ONLY_DIGESTS]);
        let fragment = self.fragments.get(cause).filter(|_| is_of_digests || self.edited.contains(source));
        let (words, place) = if let Some(fragment) = fragment {
            (format!("do not match what their specs extend, `{fragment}`"), Place::File((*fragment).to_owned()))
        } else if !is_shared {
            (format!("do not match `{source}`"), place_of_source(change))
        } else if is_of_digests || self.edited.contains(source) {
            ("do not match their specs".to_owned(), place_of_source(change))
        } else {
            let words = format!("do not match `{PROJECT_FILE}` and their specs");
            (words, Place::File(PROJECT_FILE.to_owned()))
        };
        let lines = self.common.get(cause).filter(|lines| is_shared && !lines.is_empty());
        let note = lines.map(|lines| {
            if is_of_digests {
                return "only digests of texts differ: nothing that runs".to_owned();
            }
            let (new, old): (Vec<&str>, Vec<&str>) =
                lines.iter().map(String::as_str).partition(|line| line.starts_with('+'));
            let shown: Vec<&str> = old.into_iter().take(SHOWN).chain(new.into_iter().take(SHOWN)).collect();
            format!(
                "lines that change in all of them (`--diff` shows every change):\n{}",
                without_tokens(&shown.join("\n"))
            )
        });
        Cause { key: cause.to_owned(), words, place: Some(place), note, ..of_manifests(change) }
    }
}

impl Drift<'_> {
    /// Returns why a manifest is missing. A few specs without manifests are reported separately; many are reported together.
    pub(super) fn cause_of_missing(&self, change: &Change<'_>) -> Cause {
        let is_apart = self.missing.len() <= APART;
        let place = if is_apart { place_of_source(change) } else { Place::File(PROJECT_FILE.to_owned()) };
        let key = if is_apart { change.source.to_string() } else { String::new() };
        Cause { key, place: Some(place), ..cause_of_all(change, "are missing") }
    }
}

/// Returns the fragment that all `sources` extend and that says a line which is new in the manifests of all of them.
fn fragment<'a>(
    mut sources: impl Iterator<Item = &'a str>,
    lines: &BTreeSet<&String>,
    parts: &Parts<'a>,
) -> Option<&'a str> {
    let mut shared = parts.get(sources.next()?)?.clone();
    for source in sources {
        let own = parts.get(source)?;
        shared.retain(|part| own.iter().any(|other| other.path == part.path));
    }
    let says = |text: &str, line: &&String| {
        let line = line.strip_prefix("+ ").unwrap_or_default().trim_start_matches("- ");
        let (key, value) = line.split_once(": ").unwrap_or(("", line));
        has_word(text, value.trim_matches(['"', '\''])) && has_word(text, key)
    };
    if lines.iter().all(|line| *line == ONLY_DIGESTS) && !lines.is_empty() {
        return if let [part] = shared.as_slice() { Some(part.path.as_str()) } else { None };
    }
    let found =
        shared.into_iter().find(|part| lines.iter().any(|line| line.starts_with('+') && says(&part.text, line)));
    found.map(|part| part.path.as_str())
}

/// Returns whether `word` is in a text, not as a part of a longer one; nothing is in every text.
fn has_word(text: &str, word: &str) -> bool {
    let is_apart = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
    let mut places = text.match_indices(word);
    places.any(|(start, _)| {
        let (before, after) = (text.get(..start), text.get(start + word.len()..));
        word.is_empty()
            || (is_apart(before.and_then(|text| text.chars().next_back()))
                && is_apart(after.and_then(|text| text.chars().next())))
    })
}

fn place_of_source(change: &Change<'_>) -> Place {
    change.source_span.map_or_else(|| Place::File(change.source.to_string()), Place::Span)
}

/// Returns what manifests of one state have in common, whatever they are compiled from.
pub(super) fn cause_of_all(change: &Change<'_>, words: &str) -> Cause {
    Cause { key: words.to_owned(), words: words.to_owned(), ..of_manifests(change) }
}

fn of_manifests(change: &Change<'_>) -> Cause {
    let owner = change.path.split('/').nth(1).filter(|_| change.source != PROJECT_FILE);
    Cause {
        key: String::new(),
        noun: "manifest",
        words: String::new(),
        owner: owner.map(str::to_owned),
        place: None,
        note: None,
    }
}

/// Returns the first source with the cause of `source`.
fn root<'a>(causes: &BTreeMap<&'a str, &'a str>, source: &'a str) -> &'a str {
    let mut source = source;
    while let Some(above) = causes.get(source).filter(|above| **above != source) {
        source = above;
    }
    source
}

/// Returns whether a stale manifest contains a spec that differs from its source.
fn holds_another_spec(change: &Change<'_>) -> bool {
    let spec = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        text.split_once(SPEC).map(|(_, spec)| spec.to_owned())
    };
    change.state == State::Stale
        && spec(change.old.unwrap_or_default()) != spec(change.new.unwrap_or_default().as_bytes())
}

/// Returns the lines that are only on disk, with `-`, and those that are only wanted, with `+`.
fn changed_lines(change: &Change<'_>) -> BTreeSet<String> {
    let old = String::from_utf8_lossy(change.old.unwrap_or_default());
    let new = change.new.unwrap_or_default();
    let lines = |text| str::lines(text).map(str::trim).filter(|line| tells(line)).collect::<BTreeSet<&str>>();
    let (old, new) = (lines(&old), lines(new));
    let removed = old.difference(&new).map(|line| format!("- {line}"));
    removed.chain(new.difference(&old).map(|line| format!("+ {line}"))).collect()
}

/// Returns whether a line may be the same in manifests of several benchmarks: it is short, and without a digest.
fn tells(line: &str) -> bool {
    let digests = line.split(|character: char| !character.is_ascii_hexdigit());
    line.len() <= LONGEST
        && line.contains(char::is_alphanumeric)
        && !digests.into_iter().any(|word| word.len() >= DIGEST && word.contains(|digit: char| digit.is_ascii_digit()))
}
