//! Groups: cases that are equal but for the axis, a row for each of its values.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::Request;
use super::axis::Axis;
use super::cell::Cell;
use super::cost;
use super::model::{Direction, Estimate, Group, Kind, Row};
use super::ratio::{self, Ratio};
use crate::compare::words;
use crate::order::{AxisOrder, sort_by_case};
use kubebench_format::result::plain;
use kubebench_syntax::invariant::Invariant as _;

/// What cells have in common that are compared, unless something else keeps them apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place<'a> {
    benchmark: &'a str,
    /// The other parameters, as text.
    params: String,
    metric: String,
}

/// What nevertheless keeps cells apart, in words that people read.
type Facts = BTreeMap<String, String>;

/// The cells of a place that may be compared, by the value of the axis; several where one case ran on different machines.
type Values<'a, 'c> = BTreeMap<String, Vec<&'c Cell<'a>>>;

/// Returns the groups, and what was not compared.
pub(super) fn groups(request: Request<'_>, cells: &[Cell<'_>]) -> (Vec<Group>, Vec<String>) {
    let axis = request.axis;
    let is_wanted = |cell: &&Cell<'_>| {
        if request.metrics.is_empty() {
            cell.history.kind == Kind::Primary
        } else {
            request.metrics.iter().any(|metric| metric.has(&cell.history.metric, &cell.history.labels))
        }
    };
    let mut benchmarks: BTreeMap<&str, Vec<(&Cell<'_>, Json)>> = BTreeMap::new();
    let mut without: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for cell in cells.iter().filter(is_wanted) {
        if let Some(value) = axis.value(cell) {
            benchmarks.entry(&cell.history.benchmark).or_default().push((cell, value));
        } else {
            without.entry(&cell.history.benchmark).or_default().insert(&cell.history.case_name);
        }
    }
    let (mut groups, mut notes) = (Vec::new(), BTreeSet::new());
    for (benchmark, cells) in benchmarks {
        of_benchmark(request, benchmark, &cells, &mut groups, &mut notes);
        if let Some(cases) = without.get(benchmark) {
            notes.insert(off_axis(benchmark, axis.name(), cases));
        }
    }
    (groups, notes.into_iter().collect())
}

/// Says which cases of a benchmark have no value of the axis.
fn off_axis(benchmark: &str, axis: &str, cases: &BTreeSet<&str>) -> String {
    const MOST: usize = 3;
    let named: Vec<&str> = cases.iter().copied().filter(|name| !name.is_empty()).take(MOST).collect();
    let more = if cases.len() > named.len() && !named.is_empty() { ", …" } else { "" };
    let which = if named.is_empty() { String::new() } else { format!(" ({}{more})", named.join("; ")) };
    let count = cases.len();
    format!(
        "{count} {} of {benchmark}{which} ran without a known {axis}, and {} not compared",
        if count == 1 { "case" } else { "cases" },
        if count == 1 { "is" } else { "are" }
    )
}

fn of_benchmark(
    request: Request<'_>,
    benchmark: &str,
    cells: &[(&Cell<'_>, Json)],
    groups: &mut Vec<Group>,
    notes: &mut BTreeSet<String>,
) {
    let axis = request.axis.name();
    let spellings: BTreeSet<String> = cells.iter().map(|(_, value)| plain(value)).collect();
    let all = AxisOrder::sorted(spellings.iter().map(String::as_str));
    let order = AxisOrder::of(all.iter().copied());
    let number = |value: &&str| Some(((*value).to_owned(), order.number(value)?));
    let numbers: BTreeMap<String, f64> = all.iter().filter(|_| request.axis.may_count()).filter_map(number).collect();
    let mut places: BTreeMap<Place<'_>, BTreeMap<Facts, Values<'_, '_>>> = BTreeMap::new();
    for (cell, value) in cells {
        let place = Place { benchmark, params: text(&others(request.axis, cell)), metric: cell.metric() };
        let facts = facts(request, cell, !numbers.is_empty());
        let values = places.entry(place).or_default().entry(facts).or_default();
        values.entry(plain(value)).or_default().push(cell);
    }
    let before = groups.len();
    let mut lonely = BTreeSet::new();
    let mut places: Vec<_> = places.into_iter().collect();
    sort_by_case(&mut places, |(place, _)| (place.benchmark, &place.params));
    for (place, apart) in &places {
        let compared: Vec<_> = apart.iter().filter(|(_, values)| values.len() > 1).collect();
        for (facts, values) in &compared {
            let mut group = Making { request, order, numbers: &numbers, facts, values }.group();
            let missing = all.iter().filter(|value| !values.contains_key(**value));
            group.notes.extend(missing.map(|value| missed(axis, value, facts, apart)));
            groups.push(group);
        }
        if !compared.is_empty() {
            continue;
        }
        let seen: BTreeSet<&String> = apart.values().flat_map(BTreeMap::keys).collect();
        match apart.iter().next() {
            Some((first, _)) if seen.len() > 1 => {
                let others = apart.keys().skip(1).flat_map(|other| differences(first, other)).collect::<BTreeSet<_>>();
                let others = others.into_iter().collect::<Vec<_>>().join("; ");
                notes.insert(format!(
                    "`{}` of {benchmark}{} is not compared by {axis}: {others}",
                    place.metric,
                    bracketed(&place.params)
                ));
            }
            _ => drop(lonely.insert((place.params.clone(), AxisOrder::sorted(seen.into_iter().map(String::as_str))))),
        }
    }
    if let [only] = all.as_slice() {
        notes.insert(format!("{benchmark} has results only for {axis}={only}: nothing to compare"));
    } else if groups.len() == before && !lonely.is_empty() {
        let moving = moving(request.axis, cells);
        let why = if moving.is_empty() { String::new() } else { format!(": {} changes with it", moving.join(", ")) };
        notes.insert(format!("no two cases of {benchmark} differ only in {axis}{why}"));
    } else {
        notes.extend(lonely.into_iter().map(|(params, values)| {
            format!("{benchmark}{} has results only for {axis}={}", bracketed(&params), values.join(", "))
        }));
    }
}

/// A group on the way.
struct Making<'a, 'g> {
    request: Request<'g>,
    order: AxisOrder,
    numbers: &'g BTreeMap<String, f64>,
    facts: &'g Facts,
    values: &'g Values<'a, 'g>,
}

impl Making<'_, '_> {
    fn group(&self) -> Group {
        let mut notes = Vec::new();
        let mut chosen: Vec<(&String, &Cell<'_>)> = Vec::new();
        for (value, cells) in self.values {
            let Some(newest) = cells.iter().max_by_key(|cell| cell.rank()) else { continue };
            chosen.push((value, newest));
            let others = cells.iter().filter(|cell| !std::ptr::eq(**cell, *newest));
            notes.extend(others.map(|other| {
                let on = said(&other.history.environment, &newest.history.environment);
                format!("{}={value} also ran on {on}, until {}: not used", self.axis(), other.until())
            }));
        }
        let is_numeric = !self.numbers.is_empty();
        chosen.sort_by(|(one, _), (other, _)| self.order.compare(one, other));
        let asked = self.request.base;
        let base = asked
            .map_or(chosen.first().copied(), |name| chosen.iter().find(|(value, _)| value.as_str() == name).copied());
        if let (Some(asked), None) = (asked, base) {
            notes.push(format!(
                "there is no result of {}={asked} here, so there is nothing to compare the others with",
                self.axis()
            ));
        }
        if let (Some((name, _)), false) = (base, is_numeric) {
            // The base first; the others stay in their order.
            chosen.sort_by_key(|(value, _)| *value != name);
        }
        let rows: Vec<Row> = chosen.iter().map(|(value, cell)| self.row(value, cell, base)).collect();
        let currencies: BTreeSet<&str> =
            rows.iter().filter_map(|row| Some(row.cost.as_ref()?.currency.as_str())).collect();
        if currencies.len() > 1 {
            let all = currencies.into_iter().collect::<Vec<_>>().join(" and ");
            notes.push(format!("costs are in {all}, and cannot be compared"));
        }
        let (_, first) = chosen.first().expected("a group of at least two values");
        let history = first.history;
        let shared = |name: &str| chosen.iter().all(|(_, cell)| cell.history.environment.contains_key(name));
        let environment = self.facts.iter().filter(|(fact, _)| shared(fact));
        Group {
            benchmark: history.benchmark.clone(),
            params: others(self.request.axis, first),
            environment: environment.map(|(fact, value)| (fact.clone(), value.clone())).collect(),
            metric: history.metric.clone(),
            labels: history.labels.clone(),
            unit: history.unit.clone(),
            direction: history.direction,
            kind: history.kind,
            numeric: is_numeric,
            base: base.map(|(value, _)| value.clone()),
            rows,
            notes,
            synthetic: history.synthetic,
        }
    }

    fn axis(&self) -> &str {
        self.request.axis.name()
    }

    fn row(&self, value: &str, cell: &Cell<'_>, base: Option<(&String, &Cell<'_>)>) -> Row {
        let Estimate { value: median, interval } = cell.estimate();
        let mut notes = notes(cell);
        let is_base = base.is_some_and(|(name, _)| name == value);
        let Ratio { estimate: ratio, method, note } = match base {
            Some((_, base)) if !is_base => ratio::ratio(base, cell),
            _ => Ratio::default(),
        };
        notes.extend(note);
        let speedup = ratio.and_then(|ratio| ratio::speedup(ratio, cell.history.direction));
        let efficiency = speedup.zip(base).and_then(|(speedup, (name, base))| {
            let times = self.times(value, cell, name, base).unwrap_or_else(|why| {
                notes.extend(why);
                0.0
            });
            ratio::efficiency(speedup, times).filter(|_| times > 0.0)
        });
        if let Some((name, base)) = base.filter(|_| !is_base) {
            let is_apart = words::day(cell.until()) < words::day(base.since())
                || words::day(base.until()) < words::day(cell.since());
            if is_apart {
                notes.push(format!(
                    "measured from {} to {}, {}={name} from {} to {}: what changed in between is part of the ratio",
                    words::day(cell.since()),
                    words::day(cell.until()),
                    self.axis(),
                    words::day(base.since()),
                    words::day(base.until())
                ));
            }
            let differing = said(&cell.history.environment, &base.history.environment);
            let is_fact = matches!(self.request.axis, Axis::Fact(_)) || !self.request.allowed.is_empty();
            if is_fact && !differing.is_empty() {
                notes.push(format!("on {differing}"));
            }
        }
        let cost = cost::cost(self.request.dataset, cell).unwrap_or_else(|why| {
            notes.push(why);
            None
        });
        Row {
            value: value.to_owned(),
            number: self.numbers.get(value).copied(),
            case: cell.history.case.clone(),
            case_name: cell.history.case_name.clone(),
            environment: cell.history.environment.clone(),
            sessions: cell.level.len(),
            runs: cell.runs.iter().map(Vec::len).sum(),
            since: cell.since().to_owned(),
            until: cell.until().to_owned(),
            median,
            interval,
            ratio,
            speedup,
            efficiency,
            method: method.map(str::to_owned),
            cost,
            open: cell.history.open.clone(),
            notes,
        }
    }

    /// Returns how many times as many machines the axis says that there are; nothing where it counts none, and why where that surprises.
    ///
    /// Only of rates: it is unknown whether what took a time was the same work.
    fn times(&self, value: &str, cell: &Cell<'_>, base: &str, of_base: &Cell<'_>) -> Result<f64, Option<String>> {
        let (Some(first), Some(second)) = (self.numbers.get(base), self.numbers.get(value)) else { return Err(None) };
        let machines = |cell: &Cell<'_>| {
            let row = cell.runs.last()?.first()?;
            row.accelerators.filter(|count| *count > 0).or(row.pods.map(u64::from))
        };
        let has_more = machines(cell).zip(machines(of_base)).is_some_and(|(own, base)| own != base);
        if cell.history.direction != Direction::Higher || !(has_more || is_count(self.axis())) {
            return Err(None);
        }
        if *first <= 0.0 || *second <= 0.0 {
            return Err(Some("no efficiency: the axis is not above 0".to_owned()));
        }
        if cost::is_of_each(&cell.history.metric, cell.history.unit.as_deref()) {
            return Err(Some("no efficiency: the metric is per machine, so its ratio is the efficiency".to_owned()));
        }
        Ok(second / first)
    }
}

/// Returns whether a parameter is by its name one that counts what works, such as `numWorkers` or `gpusPerNode`.
pub fn is_count(name: &str) -> bool {
    const COUNTED: [&str; 18] = [
        "accelerator",
        "core",
        "cpu",
        "device",
        "executor",
        "gpu",
        "host",
        "instance",
        "machine",
        "node",
        "pod",
        "proce",
        "processe",
        "rank",
        "replica",
        "server",
        "thread",
        "worker",
    ];
    let mut words: Vec<String> = Vec::new();
    for letter in name.chars() {
        match letter {
            '_' | '-' | '.' => words.push(String::new()),
            letter if letter.is_uppercase() => words.push(letter.to_lowercase().collect()),
            letter => match words.last_mut() {
                Some(word) => word.push(letter),
                None => words.push(letter.to_string()),
            },
        }
    }
    let of_what =
        words.iter().take_while(|word| *word != "per").filter(|word| !matches!(word.as_str(), "count" | "number"));
    of_what.last().is_some_and(|word| COUNTED.contains(&word.trim_end_matches('s')))
}

/// Says what a reader has to know of a cell.
fn notes(cell: &Cell<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if cell.history.replaced {
        notes.push("newer sessions of this case ran elsewhere".to_owned());
    }
    if cell.history.open.is_some() {
        notes.push("it regressed, and the regression is not accepted".to_owned());
    }
    if let Some(correlation) = cell.history.correlation {
        notes.push(format!("neighboring sessions are correlated ({correlation:.1}): intervals may be too narrow"));
    }
    notes
}

/// Returns what keeps a cell apart from others of its place.
fn facts(request: Request<'_>, cell: &Cell<'_>, is_numeric: bool) -> Facts {
    let history = cell.history;
    let hardware = if is_numeric { &cell.kinds } else { &history.environment };
    let is_distinguished =
        |fact: &String| !request.axis.implied().contains(&fact.as_str()) && !request.allowed.contains(fact);
    let mut facts: Facts = hardware
        .iter()
        .filter(|(fact, _)| is_distinguished(fact))
        .map(|(fact, said)| (fact.clone(), said.clone()))
        .collect();
    facts.insert(UNIT.to_owned(), history.unit.clone().unwrap_or_else(|| "none".to_owned()));
    let direction = match history.direction {
        Direction::Higher => "higher is better",
        Direction::Lower => "lower is better",
        Direction::None => "none",
    };
    facts.insert("direction".to_owned(), direction.to_owned());
    facts.insert("kind of result".to_owned(), if history.synthetic { "synthetic" } else { "real" }.to_owned());
    facts
}

/// The name of what no hardware can make equal.
const UNIT: &str = "unit";

/// Says why a value is not in a group with these facts.
fn missed(axis: &str, value: &str, facts: &Facts, apart: &BTreeMap<Facts, Values<'_, '_>>) -> String {
    let elsewhere = apart.iter().find(|(_, values)| values.contains_key(value));
    elsewhere.map_or_else(
        || format!("there is no result of {axis}={value}"),
        |(other, _)| format!("{axis}={value} is not compared: {}", differences(facts, other).join("; ")),
    )
}

/// Says in what two differ, and how to compare them nevertheless.
fn differences(one: &Facts, other: &Facts) -> Vec<String> {
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let said = |facts: &Facts, name: &String| facts.get(name).cloned().unwrap_or_else(|| "nothing".to_owned());
    let differing = names.into_iter().filter(|name| one.get(*name) != other.get(*name));
    let words = differing.map(|name| {
        let allow = if crate::dataset::FACTS.contains(&name.as_str()) {
            format!(" (--allow {name} compares them anyway)")
        } else {
            String::new()
        };
        format!("{name} is {} and {}{allow}", said(one, name), said(other, name))
    });
    words.collect()
}

/// Says what differs in hardware from another, in its own words.
fn said(own: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> String {
    let differing = own.iter().filter(|(fact, value)| other.get(*fact) != Some(value));
    differing.map(|(fact, value)| format!("{fact} {value}")).collect::<Vec<_>>().join(", ")
}

/// Returns the parameters that are not the axis.
fn others(axis: &Axis, cell: &Cell<'_>) -> BTreeMap<String, Json> {
    let is_axis = |name: &str| matches!(axis, Axis::Parameter(own) if own == name);
    let others = cell.params.iter().filter(|(name, _)| !is_axis(name));
    others.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Returns the parameters that have several values in addition to the axis.
fn moving(axis: &Axis, cells: &[(&Cell<'_>, Json)]) -> Vec<String> {
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, value) in cells.iter().flat_map(|(cell, _)| others(axis, cell)) {
        values.entry(name).or_default().insert(plain(&value));
    }
    values.into_iter().filter(|(_, values)| values.len() > 1).map(|(name, _)| name).collect()
}

/// Returns parameters as people read them.
pub(super) fn text(params: &BTreeMap<String, Json>) -> String {
    let pairs = params.iter().map(|(name, value)| format!("{name}={}", plain(value)));
    pairs.collect::<Vec<_>>().join(", ")
}

fn bracketed(params: &str) -> String {
    if params.is_empty() { String::new() } else { format!(" [{params}]") }
}
