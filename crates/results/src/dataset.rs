//! All results that were committed, as rows: what the commands that read results need of each file, equal parts kept once.
//!
//! `disk::dataset` reads the files and keeps the rows in a cache; nothing here touches a disk.

mod identity;
mod partition;
mod row;
mod series;
mod session;
mod table;
mod units;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use identity::{CurrentRules, Doubt, settle};
use kubebench_attestation::Signature;
use kubebench_format::result::v1::{Environment, Image, Metadata, Provenance};
pub(crate) use partition::FACTS;
pub use partition::{Facts, Partition, partitions};
pub(crate) use row::Definition;
pub use row::{Extract, Now, Row};
pub(crate) use series::series_of;
pub use series::{MetricKey, Point, Series, series};
pub use session::Session;
use table::Table;
pub(crate) use units::NewestUnits;

/// Results, in the order of their paths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dataset {
    rows: Vec<Row>,
    subjects: Table<Metadata>,
    origins: Table<Provenance>,
    environments: Table<Environment>,
    definitions: Table<Definition>,
    /// The results that a change brings, by digest, with their benchmarks: they may be evaluated, and others are not compared with them.
    brought: BTreeMap<String, String>,
}

/// The form in which an dataset is kept: the same, with the parts as texts.
#[derive(Debug, Serialize)]
pub(crate) struct KeptOf<'a> {
    rows: &'a [Row],
    subjects: &'a [String],
    origins: &'a [String],
    environments: &'a [String],
    definitions: &'a [String],
}

/// The same as it is read back.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kept {
    rows: Vec<Row>,
    subjects: Vec<String>,
    origins: Vec<String>,
    environments: Vec<String>,
    definitions: Vec<String>,
}

impl Dataset {
    /// Adds a result; the caller adds them in the order of paths.
    pub fn add(&mut self, extract: Extract) {
        let Extract { mut row, subject, origin, environment, metrics } = extract;
        row.subject = self.subjects.id(&subject);
        row.origin = self.origins.id(&origin);
        row.environment = self.environments.id(&environment);
        row.metrics = metrics.into_iter().map(|(of, value)| (self.definitions.id(&of), value)).collect();
        self.rows.push(row);
    }

    /// Adds a row of another dataset.
    pub fn adopt(&mut self, mut row: Row, from: &Self) {
        row.subject = self.subjects.adopt(row.subject, &from.subjects);
        row.origin = self.origins.adopt(row.origin, &from.origins);
        row.environment = self.environments.adopt(row.environment, &from.environments);
        for (definition, _) in &mut row.metrics {
            *definition = self.definitions.adopt(*definition, &from.definitions);
        }
        self.rows.push(row);
    }

    /// Returns the results.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the places of the results that are wanted.
    pub fn places(&self, wanted: impl Fn(&Row) -> bool) -> BTreeSet<usize> {
        self.rows.iter().enumerate().filter(|(_, row)| wanted(row)).map(|(at, _)| at).collect()
    }

    /// Returns what was run.
    pub fn subject(&self, row: &Row) -> &Metadata {
        self.subjects.get(row.subject)
    }

    /// Returns what it was made from.
    pub fn origin(&self, row: &Row) -> &Provenance {
        self.origins.get(row.origin)
    }

    /// Returns what it ran on; what changes from run to run, such as the load before it, is left out.
    pub fn environment(&self, row: &Row) -> &Environment {
        self.environments.get(row.environment)
    }

    /// Iterates over what a result measured.
    pub fn metrics<'a>(&'a self, row: &'a Row) -> impl Iterator<Item = (&'a Definition, Option<f64>)> {
        row.metrics.iter().map(|(definition, value)| (self.definitions.get(*definition), *value))
    }

    /// Says which metrics of `benchmark` were recorded under names that they do not have any more, where their results do not give the
    /// new ones, and others have those.
    pub fn breaks(&self, benchmark: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let rows = || self.rows.iter().filter(|row| self.subject(row).benchmark == benchmark);
        let is_there = |now: &Now| {
            let is_it = |definition: &Definition| {
                definition.name == now.name && now.labels.iter().any(|label| definition.labels.contains_key(label))
            };
            rows().flat_map(|row| self.metrics(row)).any(|(definition, _)| is_it(definition))
        };
        let mut counts: BTreeMap<(&str, &Now, &str), usize> = BTreeMap::new();
        for row in rows() {
            let old = self.metrics(row).filter_map(|(definition, _)| Some((definition, definition.now.as_ref()?)));
            let names: BTreeSet<(&str, &Now)> = old
                .filter(|(definition, now)| is_wanted(&definition.name) || is_wanted(&now.name))
                .map(|(definition, now)| (definition.name.as_str(), now))
                .collect();
            for (name, now) in names {
                *counts.entry((name, now, row.recorder.as_str())).or_default() += 1;
            }
        }
        let said = |((name, now, version), count): ((&str, &Now, &str), usize)| {
            let labels: Vec<String> = now.labels.iter().map(|label| format!("`{label}`")).collect();
            let (labels, s) = (labels.join(", "), if now.labels.len() == 1 { "" } else { "s" });
            let results = if count == 1 { "result has" } else { "results have" };
            format!(
                "{count} {results} the metric `{name}` of {benchmark} under the name that {version} gave it: its name \
                 is now `{}`, with the label{s} {labels}, which these results lack, so they form a separate series",
                now.name
            )
        };
        counts.into_iter().filter(|((_, now, _), _)| is_there(now)).map(said).collect()
    }

    /// Returns what keeps a result apart from others.
    pub fn facts(&self, row: &Row) -> Facts {
        partition::facts(self, row)
    }

    /// Returns the same without how many machines there were of each kind.
    pub(crate) fn kinds(&self, row: &Row) -> Facts {
        partition::kinds(self, row)
    }

    /// Returns what distinguishes revisions of what was measured: what ran with which images, however often it was asked for.
    /// Programs of a machine are of the commit.
    pub(crate) fn revision(&self, row: &Row) -> (String, Option<&str>, Vec<(String, String)>) {
        let origin = self.origin(row);
        let ran = origin.workload_digest.as_ref().unwrap_or(&origin.run_digest).clone();
        let image = |image: &Image| (image.role.clone(), image.observed.as_ref().unwrap_or(&image.declared).clone());
        let is_pinned = self.environment(row).cluster.engine != "process";
        let commit = origin.commit.as_deref().filter(|_| !is_pinned);
        (ran, commit, self.environment(row).images.iter().map(image).collect())
    }

    /// Gives results of targets that have other names now these names.
    pub fn rename_targets(&mut self, names: &BTreeMap<String, String>) {
        for row in &mut self.rows {
            let subject = self.subjects.get(row.subject);
            if let Some(name) = names.get(&subject.target) {
                row.subject = self.subjects.id(&Metadata { target: name.clone(), ..subject.clone() });
            }
        }
    }

    /// Notes which results a change brings, which its base does not have.
    pub fn note_brought(&mut self, is_brought: impl Fn(&Row) -> bool) {
        let brought = self.rows.iter().filter(|row| is_brought(row));
        self.brought = brought.map(|row| (row.digest.clone(), self.subject(row).benchmark.clone())).collect();
    }

    /// Forgets that a change brings results that are elsewhere too.
    pub fn note_known(&mut self, digests: &BTreeSet<String>) {
        self.brought.retain(|digest, _| !digests.contains(digest));
    }

    /// Takes the better of two signatures for results that are in two places, where one of them may have no envelope.
    pub fn note_signatures(&mut self, elsewhere: &Self) {
        let is_signed = |row: &&Row| matches!(row.signature, Some(Signature::Signed { .. }));
        let signed: BTreeMap<&str, &Option<Signature>> =
            elsewhere.rows.iter().filter(is_signed).map(|row| (row.digest.as_str(), &row.signature)).collect();
        for row in self.rows.iter_mut().filter(|row| !is_signed(&&**row)) {
            if let Some(signature) = signed.get(row.digest.as_str()) {
                row.signature.clone_from(signature);
            }
        }
    }

    /// Gives results that a change brings a session of their own where theirs is one of these.
    fn part_sessions(&mut self, sessions: &BTreeSet<String>) {
        for row in self.rows.iter_mut().filter(|row| self.brought.contains_key(&row.digest)) {
            while sessions.contains(&row.session) {
                row.session.push_str("-brought");
            }
        }
    }

    /// Returns whether a change brings a result.
    pub fn is_brought(&self, row: &Row) -> bool {
        self.brought.contains_key(&row.digest)
    }

    /// Iterates over the benchmarks of the results that a change brings, whether these count or not.
    pub fn brought(&self) -> impl Iterator<Item = &str> {
        self.brought.values().map(String::as_str)
    }

    /// Leaves out the rows for which `keep` says no.
    pub fn retain(&mut self, keep: impl Fn(&Row) -> bool) {
        self.rows.retain(keep);
    }

    /// Takes the rows out; what they refer to stays.
    pub(crate) fn take_rows(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.rows)
    }

    /// Returns the form in which it is kept.
    pub(crate) fn to_kept(&self) -> KeptOf<'_> {
        KeptOf {
            rows: &self.rows,
            subjects: self.subjects.texts(),
            origins: self.origins.texts(),
            environments: self.environments.texts(),
            definitions: self.definitions.texts(),
        }
    }

    /// Reads the form in which it was kept; nothing where that is damaged.
    pub(crate) fn of_kept(kept: Kept) -> Option<Self> {
        let dataset = Self {
            rows: kept.rows,
            subjects: Table::of_texts(kept.subjects)?,
            origins: Table::of_texts(kept.origins)?,
            environments: Table::of_texts(kept.environments)?,
            definitions: Table::of_texts(kept.definitions)?,
            brought: BTreeMap::new(),
        };
        let is_whole = |row: &Row| {
            dataset.subjects.has(row.subject)
                && dataset.origins.has(row.origin)
                && dataset.environments.has(row.environment)
                && row.metrics.iter().all(|(definition, _)| dataset.definitions.has(*definition))
        };
        dataset.rows.iter().all(is_whole).then_some(dataset)
    }
}
