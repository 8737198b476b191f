//! Regressions of one metric that began together in several cases: the worst is shown in full, the others in one line below it.

use std::collections::BTreeMap;

use super::super::model::{Line, Size};
use super::super::words;
use super::named;
use super::parts::Places;

/// Lines of one metric of a benchmark, on the same hardware and since the same day and commit.
#[derive(Debug)]
pub(super) struct Alike<'a> {
    pub(super) worst: &'a Line,
    /// The others, the worst first.
    pub(super) others: Vec<&'a Line>,
}

/// Groups similar lines; they are sorted, the worst first.
pub(super) fn alike<'a>(lines: &[&'a Line], candidate: &str) -> Vec<Alike<'a>> {
    let mut places = BTreeMap::new();
    let mut found: Vec<Alike<'_>> = Vec::new();
    for line in lines.iter().copied() {
        let began = words::began(line, candidate);
        // What has no size, or something to say of its own, is alone.
        let key = began.filter(|_| words::shown(line).is_some()).map(|began| {
            let names = (words::benchmark(line), words::metric(line), words::hardware(&line.environment));
            (names, words::day(began.at), began.commit, words::state(line), words::limit(line).map(|_| &line.case))
        });
        let known = key.and_then(|key| {
            let at = *places.entry(key).or_insert(found.len());
            found.get_mut(at)
        });
        // Gates of one case against several baselines are no several cases.
        match known.filter(|known| known.lines().all(|other| other.case != line.case)) {
            Some(known) => known.others.push(line),
            None => found.push(Alike::one(line)),
        }
    }
    found
}

impl<'a> Alike<'a> {
    /// Returns a line that is alone.
    pub(super) fn one(line: &'a Line) -> Self {
        Self { worst: line, others: Vec::new() }
    }

    /// Returns all, the worst first.
    fn lines(&self) -> impl Iterator<Item = &'a Line> {
        [self.worst].into_iter().chain(self.others.iter().copied())
    }

    /// Returns how many lines they are.
    pub(super) fn count(&self) -> usize {
        self.others.len() + 1
    }

    /// Says of the others by how much they got worse, and names some.
    pub(super) fn also(&self, places: &Places) -> Option<String> {
        let count = self.others.len();
        let names: Vec<String> = self.others.iter().map(|line| places.case(line)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let cases = words::counted(count, "more case");
        (count > 0).then(|| format!("also in {cases}: {} ({})", range(&self.others), named(&names)))
    }

    /// Returns by how much all of them got worse; of one, with its interval.
    pub(super) fn change(&self) -> String {
        range(&self.lines().collect::<Vec<_>>())
    }

    /// Names them: of several, the metric and how many cases.
    pub(super) fn name(&self, places: &Places) -> String {
        match self.count() {
            1 => places.name(self.worst),
            count => format!("{}, {count} cases", places.metric(self.worst)),
        }
    }
}

/// Returns from how much to how much lines got worse, which are sorted: `−26.1 to −35.7 %`; of one, with its interval.
fn range(lines: &[&Line]) -> String {
    let amount = |line: &Line| {
        words::shown(line).map(|size| words::amount(Size { interval: None, ..size }, line.unit.as_deref()))
    };
    match lines {
        [one] => words::effect(one),
        [most, .., least] => match (amount(least), amount(most)) {
            (Some(least), Some(most)) if least != most => {
                let least = if most.ends_with(" %") { least.trim_end_matches(" %") } else { &least };
                format!("{least} to {most}")
            }
            (least, most) => most.or(least).unwrap_or_default(),
        },
        [] => String::new(),
    }
}
