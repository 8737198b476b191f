//! Which elements of two lists are the same one: by a name where they have one, else by what stays of the lists.

use std::collections::BTreeSet;
use std::ops::Range;

use super::fields::{Of, is_same};
use super::written::exact;
use crate::extend::merge;
use kubebench_syntax::yaml::{Node, Value};

/// A list of scalars that is longer is compared element by element.
const SHORT_LIST: usize = 60;
/// The maximum number of pairs of elements that are compared: what differs between longer lists is one change.
const MOST_PAIRS: usize = 1_000_000;
/// The fields by which elements are known.
const IDENTITIES: [&str; 4] = ["name", "metric", "benchmark", "mountPath"];

/// How the elements of two lists belong together.
pub(super) enum Pairs {
    /// Each has a name, in this field.
    Named(&'static str, Vec<String>),
    /// These differ.
    Items(Vec<Item>),
    /// The lists are one value.
    Whole,
}

/// An element that differs: of both lists, or several one after another that only one of them has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Item {
    /// Where it is in the list of the base, or would be.
    base: usize,
    /// Where it is now, or would be.
    head: usize,
    of: Sides,
    /// How many elements it is.
    count: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sides {
    Base,
    Head,
    Both,
}

impl Item {
    /// Returns the index of the element, or where it would be.
    pub(super) fn place(self, of: Of) -> usize {
        if of == Of::Base { self.base } else { self.head }
    }

    /// Returns whether the list contains it.
    pub(super) fn is_in(self, of: Of) -> bool {
        self.of == Sides::Both || (self.of == Sides::Base) == (of == Of::Base)
    }

    /// Returns the index that people know, or the first and the last: where it is now, or was.
    pub(super) fn shown(self) -> String {
        let first = if self.of == Sides::Base { self.base } else { self.head };
        if self.count == 1 { first.to_string() } else { format!("{first}-{}", first + self.count - 1) }
    }

    /// Returns where all of its elements are in a list.
    pub(super) fn range(self, list: &[Node], of: Of) -> Range<usize> {
        let first = self.place(of).min(list.len());
        first..(first + self.count).min(list.len())
    }

    /// Returns whether it is several elements.
    pub(super) fn is_several(self) -> bool {
        self.count > 1
    }

    pub(super) fn of(self, list: &[Node], of: Of) -> Option<&Node> {
        list.get(self.place(of)).filter(|_| self.is_in(of))
    }

    /// Returns the element before it.
    pub(super) fn ahead(self, list: &[Node], of: Of) -> Option<&Node> {
        list.get(self.place(of).checked_sub(1)?)
    }
}

/// Returns how the elements of two lists that differ belong together.
pub(super) fn pairs(before: &[Node], now: &[Node]) -> Pairs {
    if let Some((field, names)) = IDENTITIES.iter().find_map(|field| Some((*field, names(before, now, field)?))) {
        return Pairs::Named(field, names);
    }
    let is_scalar = |node: &Node| !matches!(node.value, Value::Seq(_) | Value::Map(_));
    let is_short = |list: &[Node]| list.iter().map(|item| exact(item).len() + ", ".len()).sum::<usize>() <= SHORT_LIST;
    if before.iter().chain(now).all(is_scalar) && is_short(before) && is_short(now) {
        return Pairs::Whole;
    }
    items(before, now).map_or(Pairs::Whole, Pairs::Items)
}

/// Returns what a field calls an element. A check of the whole run is called by its only field, such as `restarts`.
pub(super) fn identity<'n>(item: &'n Node, field: &str) -> Option<&'n str> {
    merge::name(item, field)
}

/// Returns the names of the elements of two lists, where each has one and those of both lists have one order.
fn names(before: &[Node], now: &[Node], field: &str) -> Option<Vec<String>> {
    let names = |list: &[Node]| -> Option<Vec<String>> {
        let names: Vec<String> =
            list.iter().map(|item| identity(item, field).map(str::to_owned)).collect::<Option<_>>()?;
        let distinct: BTreeSet<&String> = names.iter().collect();
        (distinct.len() == names.len()).then_some(names)
    };
    before.iter().chain(now).find(|item| item.get(field).is_some())?;
    let (before, now) = (names(before)?, names(now)?);
    let shared = |own: &[String], other: &[String]| -> Vec<String> {
        own.iter().filter(|name| other.contains(name)).cloned().collect()
    };
    if shared(&before, &now) != shared(&now, &before) {
        return None;
    }
    let added = now.iter().filter(|name| !before.contains(name)).cloned();
    Some(before.iter().cloned().chain(added).collect())
}

/// Returns the elements outside of a longest common subsequence. Between two elements that stay, those that went and those that came are
/// taken to be the same ones, in order.
fn items(before: &[Node], now: &[Node]) -> Option<Vec<Item>> {
    let ahead = before.iter().zip(now).take_while(|(old, new)| is_same(old, new)).count();
    let (before, now) = (before.get(ahead..)?, now.get(ahead..)?);
    let behind = before.iter().rev().zip(now.iter().rev()).take_while(|(old, new)| is_same(old, new)).count();
    let (before, now) = (before.get(..before.len() - behind)?, now.get(..now.len() - behind)?);
    if before.len().saturating_mul(now.len()) > MOST_PAIRS {
        return None;
    }
    let mut found = Vec::new();
    let (mut old, mut new) = (0, 0);
    let ends = (before.len(), now.len());
    for (next_old, next_new) in common(before, now).into_iter().chain([ends]) {
        let (went, came) = (next_old - old, next_new - new);
        let item = |index: usize, of: Sides, count: usize| {
            let (base, head) = (old + index.min(went), new + index.min(came));
            Item { base: ahead + base, head: ahead + head, of, count }
        };
        let both = went.min(came);
        found.extend((0..both).map(|index| item(index, Sides::Both, 1)));
        found.extend((went > both).then(|| item(both, Sides::Base, went - both)));
        found.extend((came > both).then(|| item(both, Sides::Head, came - both)));
        (old, new) = (next_old + 1, next_new + 1);
    }
    Some(found)
}

/// Returns the places of a longest common subsequence in both lists.
fn common(before: &[Node], now: &[Node]) -> Vec<(usize, usize)> {
    let width = now.len() + 1;
    let same = |old: usize, new: usize| before.get(old).zip(now.get(new)).is_some_and(|(old, new)| is_same(old, new));
    // How long it is for what is left of both lists from each place.
    let mut lengths = vec![0_usize; (before.len() + 1) * width];
    let at = |lengths: &[usize], old: usize, new: usize| lengths.get(old * width + new).copied().unwrap_or_default();
    for old in (0..before.len()).rev() {
        for new in (0..now.len()).rev() {
            let longest = if same(old, new) {
                at(&lengths, old + 1, new + 1) + 1
            } else {
                at(&lengths, old + 1, new).max(at(&lengths, old, new + 1))
            };
            if let Some(place) = lengths.get_mut(old * width + new) {
                *place = longest;
            }
        }
    }
    let mut found = Vec::new();
    let (mut old, mut new) = (0, 0);
    while old < before.len() && new < now.len() {
        if same(old, new) {
            found.push((old, new));
            (old, new) = (old + 1, new + 1);
        } else if at(&lengths, old + 1, new) >= at(&lengths, old, new + 1) {
            old += 1;
        } else {
            new += 1;
        }
    }
    found
}
