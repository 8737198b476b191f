//! Which results are exported: one for each run, and by default those that count.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::Format;
use crate::dataset::{CurrentRules, Dataset, Doubt, NewestUnits, Row, settle};
use kubebench_attestation::Counted;
use kubebench_format::result::BenchmarkResult;
use kubebench_format::result::v1::{Metric, Status};
use kubebench_syntax::unit::{MetricUnit, moment};

/// Runs that are left out unless they are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extra {
    /// Warm-ups.
    Warmup,
    /// Runs that did not succeed.
    Invalid,
    /// Results that do not count for want of a signature.
    Unsigned,
}

impl Passed {
    /// Returns it in words; nothing where nothing was skipped.
    pub fn words(&self) -> Option<String> {
        let counts = [
            (self.warmups, "warm-ups (`--include warmup`)"),
            (self.invalid, "runs that did not succeed (`--include invalid`)"),
            (self.unsigned, "results that are not signed as `requireSigned` demands (`--include unsigned`)"),
            (self.readings, "other readings of runs whose logs were read again"),
            (self.earlier, "runs of earlier sessions"),
        ];
        let words: Vec<String> =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{what}: {count}")).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

impl Extra {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Warmup, Self::Invalid, Self::Unsigned];

    /// Returns its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Warmup => "warmup",
            Self::Invalid => "invalid",
            Self::Unsigned => "unsigned",
        }
    }
}

/// How many results were skipped, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Warm-ups.
    pub warmups: usize,
    /// Runs that did not succeed.
    pub invalid: usize,
    /// Results that do not count for want of a signature.
    pub unsigned: usize,
    /// Other readings of a run whose logs were read again.
    pub readings: usize,
    /// Runs of sessions before the last one.
    pub earlier: usize,
}

/// What is exported.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    /// The paths of results, sorted.
    pub paths: BTreeSet<String>,
    /// What was skipped.
    pub passed: Passed,
    /// What is wrong with others.
    pub doubts: Vec<Doubt>,
    /// In which units their newest ones are.
    newest: NewestUnits,
}

impl Chosen {
    /// Returns a result as `format` takes it: where one name has the values of several results, they are in one unit, that which
    /// `of_spec` says or else that of the newest result.
    pub fn in_one_unit<'r>(
        &self,
        format: Format,
        of_spec: impl Fn(&Metric) -> Option<MetricUnit>,
        result: &'r BenchmarkResult,
    ) -> Cow<'r, BenchmarkResult> {
        if format.is_as_recorded() {
            return Cow::Borrowed(result);
        }
        self.newest.convert(result, of_spec)
    }
}

/// Chooses among the results of a dataset those that `counted` takes; `current` are the rules that specs have now.
pub fn choose(
    mut dataset: Dataset,
    counted: Counted,
    current: &dyn Fn() -> CurrentRules,
    format: Format,
    extras: &[Extra],
) -> Chosen {
    let found = dataset.rows().len();
    if !extras.contains(&Extra::Unsigned) {
        dataset.retain(|row| counted.refuses(row.signature.as_ref()).is_none());
    }
    let all = dataset.rows().len();
    let doubts = settle(&mut dataset, current);
    let doubtful = doubts.iter().flat_map(Doubt::paths).collect::<BTreeSet<_>>().len();
    let mut passed =
        Passed { unsigned: found - all, readings: all - doubtful - dataset.rows().len(), ..Passed::default() };
    let mut chosen: Vec<&Row> = Vec::new();
    for row in dataset.rows() {
        // A warm-up that failed needs both.
        if row.warmup && !extras.contains(&Extra::Warmup) {
            passed.warmups += 1;
        } else if row.status != Status::Succeeded && !extras.contains(&Extra::Invalid) {
            passed.invalid += 1;
        } else {
            chosen.push(row);
        }
    }
    if format.is_summary() {
        let before = chosen.len();
        chosen = of_last_sessions(&dataset, &chosen);
        passed.earlier = before - chosen.len();
    }
    let newest = if format.is_as_recorded() { NewestUnits::default() } else { dataset.newest_units() };
    Chosen { paths: chosen.into_iter().map(|row| row.path.clone()).collect(), passed, doubts, newest }
}

/// Keeps the runs of the session that began a run last, of each case on each target.
fn of_last_sessions<'a>(dataset: &'a Dataset, rows: &[&'a Row]) -> Vec<&'a Row> {
    let mut last: BTreeMap<(&str, &str, &str), (&str, &str)> = BTreeMap::new();
    for row in rows {
        let begun = (moment(&row.started_at), row.session.as_str());
        let newest = last.entry(place(dataset, row)).or_insert(begun);
        *newest = begun.max(*newest);
    }
    let session = |row: &Row| last.get(&place(dataset, row)).map(|(_, session)| *session);
    rows.iter().filter(|row| session(row) == Some(row.session.as_str())).copied().collect()
}

fn place<'a>(dataset: &'a Dataset, row: &Row) -> (&'a str, &'a str, &'a str) {
    let subject = dataset.subject(row);
    (&subject.benchmark, &subject.case, &subject.target)
}
