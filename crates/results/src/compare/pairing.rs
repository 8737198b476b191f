//! Which benchmarks of two sides are compared with each other, where labels are: one toolkit's with another's.

use std::collections::BTreeMap;

use super::side::Side;
use crate::dataset::{Dataset, Partition};
use kubebench_syntax::unit::moment;

/// The partitions of one case, by benchmark.
pub(super) type Benchmarks = BTreeMap<String, Vec<Partition>>;
/// The same while they are being paired.
type Left<'a> = BTreeMap<&'a str, &'a [Partition]>;

/// What belongs together.
pub(super) struct Paired<'a> {
    /// Baseline and candidate.
    pub(super) pairs: Vec<(&'a [Partition], &'a [Partition])>,
    /// What has nothing on the other side, or it is unknown what.
    pub(super) left: [Left<'a>; 2],
}

/// Pairs the benchmarks of two sides: of one name, else by their other labels and their names without the label's value, else by
/// one of these where it distinguishes them. One on each side are a pair unless their labels contradict each other.
pub(super) fn pairs<'a>(dataset: &Dataset, sides: [&Side; 2], benchmarks: [&'a Benchmarks; 2]) -> Paired<'a> {
    let mut left =
        benchmarks.map(|side| side.iter().map(|(name, of)| (name.as_str(), of.as_slice())).collect::<Left<'_>>());
    let mut paired = Vec::new();
    let is_single = left.iter().all(|side| side.len() == 1);
    let labels = |partitions: &[Partition]| other_labels(dataset, sides, partitions);
    let name = |_: usize, name: &str, _: &[Partition]| Some(name.to_owned());
    let stem = |side: usize, name: &str, _: &[Partition]| Some(stem(sides.get(side).copied(), name));
    let labelled = |_: usize, _: &str, of: &[Partition]| {
        let labels = labels(of);
        (!labels.is_empty()).then(|| format!("{labels:?}"))
    };
    let both = |side: usize, name: &str, of: &[Partition]| Some(format!("{:?} {}", labels(of), stem(side, name, of)?));
    let single = |_: usize, _: &str, _: &[Partition]| is_single.then(String::new);
    let contradict = |[ours, theirs]: [&[Partition]; 2]| {
        let (ours, theirs) = (labels(ours), labels(theirs));
        ours.iter().any(|(name, value)| theirs.get(name).is_some_and(|other| other != value))
    };
    let keys: [&Key<'_>; 5] = [&name, &both, &stem, &labelled, &single];
    for key in keys {
        let [ours, theirs] = [0, 1].map(|side| unique(key, side, left.get(side)));
        for (key, first) in ours {
            let Some(second) = theirs.get(&key) else { continue };
            let found = left[0].get(first).copied().zip(left[1].get(second).copied());
            let Some((one, other)) = found.filter(|(one, other)| !contradict([one, other])) else { continue };
            paired.push((one, other));
            left[0].remove(first);
            left[1].remove(second);
        }
    }
    Paired { pairs: paired, left }
}

/// What a benchmark of a side is known by.
type Key<'k> = dyn Fn(usize, &str, &[Partition]) -> Option<String> + 'k;

/// Returns the names of the benchmarks whose keys no other one of their side has.
fn unique<'a>(key: &Key<'_>, side: usize, left: Option<&Left<'a>>) -> BTreeMap<String, &'a str> {
    let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, of) in left.into_iter().flatten() {
        if let Some(key) = key(side, name, of) {
            found.entry(key).or_default().push(name);
        }
    }
    let one = |(key, names): (String, Vec<&'a str>)| match names.as_slice() {
        [name] => Some((key, *name)),
        _ => None,
    };
    found.into_iter().filter_map(one).collect()
}

/// Returns the labels of a benchmark but for those that are compared.
fn other_labels(dataset: &Dataset, sides: [&Side; 2], partitions: &[Partition]) -> BTreeMap<String, String> {
    let is_asked = |name: &str| sides.iter().any(|side| matches!(side, Side::Label(asked, _) if asked == name));
    let newest = partitions.iter().map(|partition| partition.newest(dataset));
    let newest = newest.max_by(|one, other| moment(&one.started_at).cmp(moment(&other.started_at)));
    let labels = newest.map(|row| dataset.subject(row).labels.clone()).unwrap_or_default();
    labels.into_iter().filter(|(name, _)| !is_asked(name)).collect()
}

/// Returns a name without the value of the label: `train` of `train-torch` where torch is asked for.
fn stem(side: Option<&Side>, name: &str) -> String {
    match side {
        Some(Side::Label(_, value)) => {
            format!("-{name}-").replace(&format!("-{}-", value.to_lowercase()), "-").trim_matches('-').to_owned()
        }
        _ => name.to_owned(),
    }
}
