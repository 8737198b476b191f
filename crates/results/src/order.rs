//! The order of the values of an axis, and of the cases that they make: the one place that decides it.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use kubebench_format::result::plain_number;

/// How the values of one axis are ordered: as numbers where each of them is spelled as a plain number, else as versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisOrder {
    /// `0.5 < 8 < 16`
    Numbers,
    /// `3.8 < 3.9 < 3.10`, `v1.2 < v1.10`
    Versions,
}

impl AxisOrder {
    /// Returns the order of an axis that has these values.
    pub fn of<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let are_numbers = values.into_iter().all(|value| plain_number(value).is_some());
        if are_numbers { Self::Numbers } else { Self::Versions }
    }

    /// Returns the number that a value is, on an axis of numbers.
    pub fn number(self, value: &str) -> Option<f64> {
        plain_number(value).filter(|_| self == Self::Numbers)
    }

    /// Compares two values of the axis; those with different spellings are never equal.
    pub fn compare(self, one: &str, other: &str) -> Ordering {
        match (self.number(one), self.number(other)) {
            (Some(one), Some(other)) => one.total_cmp(&other),
            _ => by_parts(one, other),
        }
    }

    /// Returns the values in their order.
    pub fn sorted<'a>(values: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
        let mut values: Vec<&str> = values.into_iter().collect();
        let order = Self::of(values.iter().copied());
        values.sort_by(|one, other| order.compare(one, other));
        values
    }
}

/// Sorts what is of cases, by benchmark and then axis by axis: `case` returns the benchmark, and the case as shown to people. What is of
/// the same case stays in its order.
pub fn sort_by_case<T>(all: &mut [T], case: impl for<'a> Fn(&'a T) -> (&'a str, &'a str)) {
    let order = CaseOrder::of(all.iter().map(&case));
    all.sort_by(|one, other| order.compare(case(one), case(other)));
}

/// How the values of each axis of each benchmark are ordered.
#[derive(Default)]
struct CaseOrder {
    axes: BTreeMap<String, BTreeMap<String, AxisOrder>>,
}

impl CaseOrder {
    fn of<'a>(cases: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut order = Self::default();
        for (benchmark, name) in cases {
            let of_benchmark = order.axes.entry(benchmark.to_owned()).or_default();
            for (axis, value) in parts(name) {
                let own = of_benchmark.entry(axis.to_owned()).or_insert(AxisOrder::Numbers);
                if plain_number(value).is_none() {
                    *own = AxisOrder::Versions;
                }
            }
        }
        order
    }

    fn compare(&self, one: (&str, &str), other: (&str, &str)) -> Ordering {
        one.0.cmp(other.0).then_with(|| self.compare_names(one.0, one.1, other.1))
    }

    fn compare_names(&self, benchmark: &str, one: &str, other: &str) -> Ordering {
        let axes = self.axes.get(benchmark);
        let (mut ours, mut theirs) = (parts(one), parts(other));
        loop {
            return match (ours.next(), theirs.next()) {
                (Some((axis, value)), Some((name, other))) => {
                    let order = axes.and_then(|axes| axes.get(axis)).copied().unwrap_or(AxisOrder::Versions);
                    match axis.cmp(name).then_with(|| order.compare(value, other)) {
                        Ordering::Equal => continue,
                        unequal => unequal,
                    }
                }
                (ours, theirs) => ours.is_some().cmp(&theirs.is_some()).then_with(|| one.cmp(other)),
            };
        }
    }
}

/// Returns the axes of the name of a case with their values; a name that has none is a value of its own.
fn parts(name: &str) -> impl Iterator<Item = (&str, &str)> {
    name.split(", ").map(|part| part.split_once('=').unwrap_or(("", part)))
}

/// Compares digits as numbers and all else as text.
fn by_parts(one: &str, other: &str) -> Ordering {
    let (mut ours, mut theirs) = (runs(one), runs(other));
    loop {
        return match (ours.next(), theirs.next()) {
            (Some(run), Some(other)) => match compare_runs(run, other) {
                Ordering::Equal => continue,
                unequal => unequal,
            },
            // `3` and `03` are two values.
            (ours, theirs) => ours.is_some().cmp(&theirs.is_some()).then_with(|| one.cmp(other)),
        };
    }
}

fn compare_runs(one: &str, other: &str) -> Ordering {
    let is_number = |run: &str| run.starts_with(|letter: char| letter.is_ascii_digit());
    if !is_number(one) || !is_number(other) {
        return one.cmp(other);
    }
    let [one, other] = [one, other].map(|digits| digits.trim_start_matches('0'));
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

/// Splits a text into digits and what is between them.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_digits = rest.chars().next()?.is_ascii_digit();
        let end = rest.find(|letter: char| letter.is_ascii_digit() != is_digits).unwrap_or(rest.len());
        let (run, tail) = rest.split_at(end);
        rest = tail;
        Some(run)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(order: AxisOrder, expected: &[&str]) {
        assert_eq!(AxisOrder::of(expected.iter().copied()), order, "{expected:?}");
        assert_eq!(AxisOrder::sorted(expected.iter().rev().copied()), expected);
    }

    #[test]
    fn plain_numbers_are_ordered_as_numbers() {
        check(AxisOrder::Numbers, &["-16", "0.00001", "0.25", "0.5", "8", "16", "64", "128"]);
        check(AxisOrder::Numbers, &["3.1", "3.8", "3.9"]);
    }

    #[test]
    fn what_else_there_is_is_ordered_as_versions() {
        check(AxisOrder::Versions, &["3.1", "3.8", "3.9", "3.10", "3.11"]);
        check(AxisOrder::Versions, &["v1", "v1-beta", "v1.2", "v1.10", "v2"]);
        check(AxisOrder::Versions, &["0x10", "1e3", "12.0"]);
        check(AxisOrder::Versions, &["9007199254740992", "9007199254740993"]);
        check(AxisOrder::Versions, &["false", "true"]);
        check(AxisOrder::Versions, &["03", "3", "3a"]);
        check(AxisOrder::Versions, &["py", "py3", "py3.9", "py3.10", "ä"]);
    }

    #[test]
    fn cases_are_ordered_axis_by_axis() {
        let cases = [
            ("a", "default"),
            ("py", "lr=0.25, python=3.9"),
            ("py", "lr=0.25, python=3.10"),
            ("py", "lr=0.5, python=3.9"),
            ("train", "batch=8"),
            ("train", "batch=64"),
            ("train", "batch=64, lr=1"),
        ];
        let mut sorted = cases;
        sorted.reverse();
        sort_by_case(&mut sorted, |case| *case);
        assert_eq!(sorted, cases);
    }
}
