//! Partitions: results that may be compared with each other, because the same case ran on the same hardware.

use std::collections::{BTreeMap, BTreeSet};

use super::session::Session;
use super::{Dataset, Row};
use kubebench_format::result::v1::{Environment, Node, Status};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::unit::moment;

/// The facts that keep results apart.
pub(crate) const FACTS: [&str; 6] = ["target", "engine", "cpu", "gpu", "driver", "instanceType"];

/// What keeps results apart, by fact, unless the project says `compareAcross`; one that does not apply is left out.
pub type Facts = BTreeMap<&'static str, String>;

/// The sessions of one case on one kind of hardware.
#[derive(Clone, Debug)]
pub struct Partition {
    pub benchmark: String,
    /// The identity of the case.
    pub case: String,
    /// What it ran on.
    pub facts: Facts,
    /// Its sessions, the oldest first: by time, or as `compare::sequences` arranges them.
    pub sessions: Vec<Session>,
}

/// Groups the rows at `chosen` places; `across` are the facts that do not keep results apart.
///
/// A run that failed before it had a machine says nothing of its hardware: it goes with its session, or with what the case ran on
/// before.
pub fn partitions(dataset: &Dataset, chosen: impl Iterator<Item = usize>, across: &BTreeSet<String>) -> Vec<Partition> {
    let mut known: BTreeMap<u32, Facts> = BTreeMap::new();
    let mut groups: BTreeMap<(&str, &str, Facts), BTreeMap<&str, Vec<usize>>> = BTreeMap::new();
    let mut unplaced: Vec<(usize, &Row)> = Vec::new();
    let mut placed: BTreeMap<Ran<'_>, Vec<(&Row, Facts)>> = BTreeMap::new();
    let rows: Vec<(usize, &Row)> = chosen.filter_map(|at| Some((at, dataset.rows().get(at)?))).collect();
    let lost: BTreeSet<Ran<'_>> =
        rows.iter().filter(|(_, row)| has_no_machine(dataset, row)).map(|(_, row)| ran(dataset, row)).collect();
    for (at, row) in rows {
        if has_no_machine(dataset, row) {
            unplaced.push((at, row));
            continue;
        }
        let mut facts = known.entry(row.environment).or_insert_with(|| facts_of(dataset.environment(row))).clone();
        let subject = dataset.subject(row);
        facts.insert("target", subject.target.clone());
        facts.retain(|fact, _| !across.contains(*fact));
        if lost.contains(&ran(dataset, row)) {
            placed.entry(ran(dataset, row)).or_default().push((row, facts.clone()));
        }
        let key = (subject.benchmark.as_str(), subject.case.as_str(), facts);
        groups.entry(key).or_default().entry(&row.session).or_default().push(at);
    }
    for (at, row) in unplaced {
        let others = placed.get(&ran(dataset, row)).map(Vec::as_slice).unwrap_or_default();
        let nearness =
            |other: &Row| (other.session == row.session, moment(&other.started_at) <= moment(&row.started_at));
        let near = others.iter().max_by_key(|(other, _)| (nearness(other), moment(&other.started_at)));
        let facts = near.map_or_else(
            || {
                let mut facts = facts(dataset, row);
                facts.retain(|fact, _| !across.contains(*fact));
                facts
            },
            |(_, facts)| facts.clone(),
        );
        let subject = dataset.subject(row);
        let key = (subject.benchmark.as_str(), subject.case.as_str(), facts);
        groups.entry(key).or_default().entry(&row.session).or_default().push(at);
    }
    let partition = |((benchmark, case, facts), sessions): ((&str, &str, Facts), BTreeMap<&str, Vec<usize>>)| {
        let mut sessions: Vec<Session> =
            sessions.into_iter().map(|(id, rows)| Session::new(dataset, id, rows)).collect();
        sessions.sort_by(|one, other| one.begun().cmp(&other.begun()));
        Partition { benchmark: benchmark.to_owned(), case: case.to_owned(), facts, sessions }
    };
    groups.into_iter().map(partition).collect()
}

/// What ran where: benchmark, case, target and engine.
type Ran<'a> = (&'a str, &'a str, &'a str, &'a str);

fn ran<'a>(dataset: &'a Dataset, row: &Row) -> Ran<'a> {
    let subject = dataset.subject(row);
    (&subject.benchmark, &subject.case, &subject.target, &dataset.environment(row).cluster.engine)
}

/// Returns whether a run ended without a machine: its job was never created. Numbers of an unknown machine stay by themselves.
fn has_no_machine(dataset: &Dataset, row: &Row) -> bool {
    row.status != Status::Succeeded && dataset.environment(row).nodes.is_empty()
}

impl Partition {
    /// Returns when the session began that began last.
    pub(crate) fn last_begun(&self) -> Option<&str> {
        self.sessions.iter().map(|session| moment(&session.started_at)).max()
    }

    /// Returns the first row of the newest session.
    pub fn newest<'a>(&self, dataset: &'a Dataset) -> &'a Row {
        let newest = self.sessions.last().and_then(|session| session.rows.first());
        newest.and_then(|at| dataset.rows().get(*at)).expected("a partition of rows of this dataset")
    }
}

/// Returns what keeps a result apart from others.
pub(super) fn facts(dataset: &Dataset, row: &Row) -> Facts {
    let mut facts = facts_of(dataset.environment(row));
    facts.insert("target", dataset.subject(row).target.clone());
    facts
}

/// Returns the same without how many machines there were of each kind.
pub(super) fn kinds(dataset: &Dataset, row: &Row) -> Facts {
    let mut facts = facts_by(dataset.environment(row), |said| {
        said.iter().map(String::as_str).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
    });
    facts.insert("target", dataset.subject(row).target.clone());
    facts
}

/// Returns the hardware in words that people know it by: models and counts, the driver without its patch level, the type of instance.
fn facts_of(environment: &Environment) -> Facts {
    facts_by(environment, counted)
}

fn facts_by(environment: &Environment, together: impl Fn(&[String]) -> String) -> Facts {
    let mut facts = Facts::from([("engine", environment.cluster.engine.clone())]);
    let mut put = |fact: &'static str, of: &dyn Fn(&Node) -> Option<String>| {
        let said: Vec<String> = environment.nodes.iter().filter_map(of).collect();
        if !said.is_empty() {
            facts.insert(fact, together(&said));
        }
    };
    if environment.nodes.iter().all(|node| node.gpus.is_empty()) {
        put("cpu", &cpu);
    } else {
        put("gpu", &gpu);
        put("driver", &driver);
    }
    put("instanceType", &|node| node.instance_type.clone());
    facts
}

fn cpu(node: &Node) -> Option<String> {
    let model = node.cpu_model.as_deref().or(node.arch.as_deref())?;
    Some(node.cpu_count.map_or_else(|| model.to_owned(), |count| format!("{count} × {model}")))
}

fn gpu(node: &Node) -> Option<String> {
    let mut gpus: Vec<String> = node.gpus.iter().map(|gpu| format!("{} × {}", gpu.count, gpu.product)).collect();
    gpus.sort();
    (!gpus.is_empty()).then(|| gpus.join(" + "))
}

fn driver(node: &Node) -> Option<String> {
    let short = |driver: &String| driver.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
    let drivers: BTreeSet<String> = node.gpus.iter().filter_map(|gpu| gpu.driver.as_ref()).map(short).collect();
    (!drivers.is_empty()).then(|| drivers.into_iter().collect::<Vec<_>>().join(", "))
}

/// Returns what the machines have, equal ones counted, in an order that does not depend on theirs.
fn counted(said: &[String]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for text in said {
        *counts.entry(text).or_default() += 1;
    }
    let words = counts.into_iter().map(|(text, count)| match count {
        1 => text.to_owned(),
        _ => format!("{count} nodes of {text}"),
    });
    words.collect::<Vec<_>>().join(", ")
}
