//! Findings with one cause, which are shown as one: a thousand specs with the same mistake are one thing to fix.
//!
//! Documents for programs stay complete, and name the group of each finding.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::{Diagnostic, Place, Severity, render};
use crate::digest::Digest;
use crate::text::SourceMap;
use crate::words::counted;

/// As many findings with the same message are shown one by one.
const IN_FULL: usize = 3;
/// With more messages that differ only in what they quote, one of them is shown for all.
const MESSAGES: usize = 10;
/// How many names or places are listed before the others are counted.
const LISTED: usize = 10;
/// How many hex digits a group's id has.
const ID_LENGTH: usize = 16;

/// What findings of one code have in common, where more than their message says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Distinguishes the causes of one code.
    pub key: String,
    /// What has the mistake, such as `manifest`.
    pub noun: &'static str,
    /// What is wrong with several of them, such as `are missing`.
    pub words: String,
    /// Whose it is: the name of a benchmark.
    pub owner: Option<String>,
    /// Where to look, if that is known.
    pub place: Option<Place>,
    /// What else there is to say about all of them.
    pub note: Option<String>,
}

/// Findings with one cause, in their order.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// The same in every report of the same findings.
    pub id: String,
    members: Vec<&'a Diagnostic>,
    /// How many findings there are of its kind, whatever they quote.
    of_kind: usize,
    /// Whether the members have one message.
    is_one_message: bool,
}

/// A finding that is shown, perhaps for others as well.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) finding: Diagnostic,
    /// How many findings it is shown for.
    pub(super) count: usize,
    /// How many findings there are of its kind.
    pub(super) of_kind: usize,
}

/// What groups never mix.
type Kind<'a> = (&'static str, Severity, Option<&'a str>, String);

/// Returns the groups of findings, each at the place of its first one.
pub fn groups(sorted: &[Diagnostic]) -> Vec<Group<'_>> {
    let kinds: Vec<Kind<'_>> = sorted.iter().map(kind).collect();
    let mut messages = BTreeMap::<&Kind<'_>, BTreeSet<&str>>::new();
    let mut sizes = BTreeMap::<&Kind<'_>, usize>::new();
    for (kind, finding) in kinds.iter().zip(sorted) {
        messages.entry(kind).or_default().insert(&finding.message);
        *sizes.entry(kind).or_default() += 1;
    }
    let mut places = BTreeMap::<(&Kind<'_>, &str), usize>::new();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (kind, finding) in kinds.iter().zip(sorted) {
        let mixes = finding.cause.is_some() || messages.get(kind).is_some_and(|messages| messages.len() > MESSAGES);
        let message = if mixes { "" } else { finding.message.as_str() };
        let place = *places.entry((kind, message)).or_insert(groups.len());
        if let Some(group) = groups.get_mut(place) {
            group.members.push(finding);
            continue;
        }
        groups.push(Group {
            id: id(kind, message),
            members: vec![finding],
            of_kind: sizes.get(kind).copied().unwrap_or(1),
            is_one_message: !mixes,
        });
    }
    groups
}

/// Returns the id of each finding's group.
pub(super) fn ids(findings: &[Diagnostic]) -> Vec<String> {
    let mut of_findings = BTreeMap::new();
    for group in groups(findings) {
        for member in &group.members {
            of_findings.insert(std::ptr::from_ref::<Diagnostic>(member), group.id.clone());
        }
    }
    findings.iter().filter_map(|finding| of_findings.remove(&std::ptr::from_ref(finding))).collect()
}

/// Returns how many findings there are of the kind of each.
pub(super) fn frequencies(findings: &[Diagnostic]) -> Vec<usize> {
    let kinds: Vec<Kind<'_>> = findings.iter().map(kind).collect();
    let mut sizes = BTreeMap::<&Kind<'_>, usize>::new();
    for kind in &kinds {
        *sizes.entry(kind).or_default() += 1;
    }
    kinds.iter().map(|kind| sizes.get(kind).copied().unwrap_or(1)).collect()
}

/// Returns what people are shown: few findings as they are, many with one cause as one, and those after all others, the rarest first.
pub(super) fn shown(sorted: &[Diagnostic], sources: &SourceMap) -> Vec<Shown> {
    let mut shown: Vec<Shown> = groups(sorted).iter().flat_map(|group| group.shown(sources)).collect();
    shown.sort_by_key(|shown| if shown.count == 1 { 0 } else { shown.count });
    shown
}

/// Says where findings are that are shown as fewer: `in 3 manifests`, `at 5 places`.
pub fn extent<'d>(findings: impl Iterator<Item = &'d Diagnostic>, sources: &SourceMap) -> String {
    let findings: Vec<&Diagnostic> = findings.collect();
    let files: BTreeSet<&str> = findings.iter().map(|finding| finding.path(sources)).collect();
    if files.len() == 1 {
        return format!("at {}", counted(findings.len(), "place"));
    }
    let nouns: BTreeSet<&str> =
        findings.iter().map(|finding| finding.cause.as_ref().map_or("file", |cause| cause.noun)).collect();
    let noun = nouns.first().filter(|_| nouns.len() == 1).copied().unwrap_or("file");
    format!("in {}", counted(files.len(), noun))
}

impl Group<'_> {
    /// Returns the level of its findings.
    pub fn severity(&self) -> Option<Severity> {
        self.members.first().map(|finding| finding.severity)
    }

    /// Returns how many findings people are shown of it.
    pub fn printed(&self) -> usize {
        if self.is_shown_as_one() { 1 } else { self.members.len() }
    }

    fn is_shown_as_one(&self) -> bool {
        let has_cause = self.members.first().is_some_and(|finding| finding.cause.is_some());
        self.members.len() > if has_cause { 1 } else { IN_FULL }
    }

    fn shown(&self, sources: &SourceMap) -> Vec<Shown> {
        let Some((first, others)) = self.members.split_first() else { return Vec::new() };
        let as_it_is = |finding: &Diagnostic| Shown { finding: finding.clone(), count: 1, of_kind: self.of_kind };
        let merged = match &first.cause {
            _ if !self.is_shown_as_one() => None,
            Some(cause) => Some(self.of_cause(first, cause)),
            None => Some(self.of_message(first, others, sources)),
        };
        match merged {
            Some(finding) => vec![Shown { finding, count: self.members.len(), of_kind: self.of_kind }],
            None => self.members.iter().map(|member| as_it_is(member)).collect(),
        }
    }

    fn of_cause(&self, first: &Diagnostic, cause: &Cause) -> Diagnostic {
        let causes = || self.members.iter().filter_map(|member| member.cause.as_ref());
        let owners: BTreeSet<&str> = causes().filter_map(|cause| cause.owner.as_deref()).collect();
        let counts = counted(self.members.len(), cause.noun);
        let mut merged = Diagnostic { related: Vec::new(), notes: Vec::new(), ..first.clone() };
        let owned = match (owners.first(), owners.len()) {
            (Some(owner), 1) => format!(" of `{owner}`"),
            (_, 0) => String::new(),
            (_, number) => format!(" of {}", counted(number, "benchmark")),
        };
        merged.message = format!("{counts}{owned} {}", cause.words);
        if let Some(place) = &cause.place {
            merged.place = place.clone();
        }
        if self.members.len() <= LISTED || owners.is_empty() {
            let paths = self.members.iter().filter_map(|member| match &member.place {
                Place::File(path) => Some(path.as_str()),
                Place::Span(_) | Place::Line(..) => None,
            });
            merged.notes.push(format!("{}: {}", counted(self.members.len(), "file"), first_listed(paths)));
        }
        if owners.len() > 1 {
            merged.notes.push(format!("{}: {}", counted(owners.len(), "benchmark"), first_listed(owners)));
        }
        merged.notes.extend(first.notes.iter().cloned());
        merged.notes.extend(cause.note.clone());
        merged
    }

    fn of_message(&self, first: &Diagnostic, others: &[&Diagnostic], sources: &SourceMap) -> Diagnostic {
        let mut merged = first.clone();
        let number = others.len();
        merged.notes.push(if self.is_one_message {
            let places: Vec<String> = others.iter().map(|other| render::place(other, sources)).collect();
            format!(
                "the same in {}: {}",
                counted(number, "more place"),
                first_listed(places.iter().map(String::as_str))
            )
        } else {
            let mut text = format!("{} of this kind", counted(number, "more finding"));
            for other in others.iter().take(LISTED) {
                let place = render::place(other, sources);
                text.push_str(&format!("\n{place}: {}", render::on_one_line(&other.message)));
            }
            if number > LISTED {
                text.push_str(&format!("\nand {} more; `--output-format concise` lists all", number - LISTED));
            }
            text
        });
        merged
    }
}

/// Returns what a finding shares with all that have its cause.
fn kind(finding: &Diagnostic) -> Kind<'_> {
    let cause = finding.cause.as_ref().map(|cause| cause.key.as_str());
    let words = if cause.is_some() { String::new() } else { without_quotes(&finding.message) };
    (finding.code.id, finding.severity, cause, words)
}

fn id(kind: &Kind<'_>, message: &str) -> String {
    let (code, severity, cause, words) = kind;
    let mut digest = Digest::of_fields([code, severity.name(), cause.unwrap_or_default(), words, message]).hex();
    digest.truncate(ID_LENGTH);
    digest
}

/// Returns a message without what it quotes and without its numbers.
fn without_quotes(message: &str) -> String {
    let outside = message.split('`').step_by(2);
    outside.collect::<Vec<_>>().join("`").chars().filter(|character| !character.is_ascii_digit()).collect()
}

/// Returns the first names in words, and how many others there are.
pub fn first_listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let first = render::listed(names.iter().copied().take(LISTED));
    match names.len().saturating_sub(LISTED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
