//! Pareto fronts: which cases are the best where two metrics pull apart.

use std::collections::{BTreeMap, BTreeSet};

use super::cell::Cell;
use super::model::{Direction, Front, FrontMetric, FrontPoint, Kind};
use super::ratio;

/// The cases of a benchmark on the same hardware, and whether nothing ran.
type Place<'a> = (&'a str, BTreeMap<String, String>, bool);

/// One case with both metrics.
struct Point<'a, 'c> {
    both: [&'c Cell<'a>; 2],
    medians: [f64; 2],
}

/// Returns the fronts of every benchmark.
pub(super) fn fronts(cells: &[Cell<'_>], asked: Option<(&str, &str)>) -> Vec<Front> {
    let mut places: BTreeMap<Place<'_>, Vec<&Cell<'_>>> = BTreeMap::new();
    for cell in cells {
        let place = (cell.history.benchmark.as_str(), cell.kinds.clone(), cell.history.synthetic);
        places.entry(place).or_default().push(cell);
    }
    places.into_iter().filter_map(|(place, cells)| front(place, &cells, asked)).collect()
}

fn front(place: Place<'_>, cells: &[&Cell<'_>], asked: Option<(&str, &str)>) -> Option<Front> {
    let (benchmark, environment, synthetic) = place;
    let metrics = metrics(cells, asked)?;
    let mut cases: BTreeMap<&str, [Option<&Cell<'_>>; 2]> = BTreeMap::new();
    let mut notes = BTreeSet::new();
    for cell in cells {
        for (at, metric) in metrics.iter().enumerate().filter(|(_, metric)| is_of(cell, metric)) {
            let Some(kept) = cases.entry(&cell.history.case).or_default().get_mut(at) else { continue };
            let (best, other) = match kept {
                Some(known) if known.rank() >= cell.rank() => (*known, Some(*cell)),
                Some(known) => (*cell, Some(*known)),
                None => (*cell, None),
            };
            *kept = Some(best);
            notes.extend(other.map(|_| {
                format!("{} ran on different numbers of machines; the newest of {} counts", name(cell), metric.name)
            }));
        }
    }
    let mut points: Vec<Point<'_, '_>> = Vec::new();
    for both in cases.values() {
        match both {
            [Some(first), Some(second)] => {
                let medians = [first, second].map(|cell| cell.estimate().value);
                points.push(Point { both: [first, second], medians });
            }
            [Some(one), None] | [None, Some(one)] => {
                notes.insert(format!("{} has only one of the two metrics", name(one)));
            }
            [None, None] => {}
        }
    }
    if points.len() < 2 {
        return None;
    }
    let mut made: Vec<FrontPoint> = points.iter().map(|point| placed(point, &points, &metrics)).collect();
    let [first, second] = metrics;
    let best = |point: &FrontPoint| {
        if first.direction == Direction::Higher { -point.values.0.value } else { point.values.0.value }
    };
    made.sort_by(|one, other| {
        let is_dominated = |point: &FrontPoint| !point.dominated_by.is_empty();
        is_dominated(one)
            .cmp(&is_dominated(other))
            .then(best(one).total_cmp(&best(other)))
            .then_with(|| one.case.cmp(&other.case))
    });
    Some(Front {
        benchmark: benchmark.to_owned(),
        environment,
        metrics: (first, second),
        points: made,
        notes: notes.into_iter().collect(),
        synthetic,
    })
}

fn name(cell: &Cell<'_>) -> String {
    if cell.history.case_name.is_empty() { cell.history.benchmark.clone() } else { cell.history.case_name.clone() }
}

fn is_of(cell: &Cell<'_>, metric: &FrontMetric) -> bool {
    cell.metric() == metric.name && cell.history.unit == metric.unit && cell.history.direction == metric.direction
}

/// Returns the two metrics: those that were asked for, else the primary ones where there is one of each direction. A name alone
/// means the one metric of that name, and one that has several directions means none; of several units the newest counts.
fn metrics(cells: &[&Cell<'_>], asked: Option<(&str, &str)>) -> Option<[FrontMetric; 2]> {
    let mut known: Vec<(FrontMetric, Kind, &str)> = Vec::new();
    let mut newest_first: Vec<&&Cell<'_>> =
        cells.iter().filter(|cell| cell.history.direction != Direction::None).collect();
    newest_first.sort_by(|one, other| other.until().cmp(one.until()));
    for cell in newest_first {
        let metric =
            FrontMetric { name: cell.metric(), unit: cell.history.unit.clone(), direction: cell.history.direction };
        let is_same = |other: &FrontMetric| other.name == metric.name && other.direction == metric.direction;
        if !known.iter().any(|(other, ..)| is_same(other)) {
            known.push((metric, cell.history.kind, &cell.history.metric));
        }
    }
    let only = |wanted: &dyn Fn(&(FrontMetric, Kind, &str)) -> bool| {
        let mut found = known.iter().filter(|metric| wanted(metric));
        found.next().filter(|_| found.next().is_none()).map(|(metric, ..)| metric.clone())
    };
    let pair = if let Some((first, second)) = asked {
        let named =
            |name: &str| only(&|(metric, ..)| metric.name == name).or_else(|| only(&|(.., short)| *short == name));
        [named(first)?, named(second)?]
    } else {
        let primary = |direction| only(&|(metric, kind, _)| *kind == Kind::Primary && metric.direction == direction);
        [primary(Direction::Lower)?, primary(Direction::Higher)?]
    };
    (pair[0] != pair[1]).then_some(pair)
}

/// The maximum number of cases named as better than another one.
const MOST_NAMED: usize = 5;

/// Says which points are better than this one.
fn placed(point: &Point<'_, '_>, all: &[Point<'_, '_>], metrics: &[FrontMetric; 2]) -> FrontPoint {
    let (mut dominated_by, mut perhaps_by) = (Vec::new(), Vec::new());
    for other in all.iter().filter(|other| !std::ptr::eq(*other, point)) {
        let gains: Vec<f64> = gains(point, other, metrics).collect();
        let is_no_worse = gains.iter().all(|gain| *gain >= 0.0);
        if !is_no_worse || gains.iter().all(|gain| *gain == 0.0) {
            continue;
        }
        let case = other.both[0].history.case.clone();
        let is_sure = || (0..2).all(|at| is_better(point, other, metrics, at));
        if gains.iter().all(|gain| *gain > 0.0) && is_sure() {
            dominated_by.push(case);
            if dominated_by.len() == MOST_NAMED {
                // The question is answered, and each answer costs a test.
                break;
            }
        } else {
            perhaps_by.push(case);
        }
    }
    let [first, second] = point.both;
    FrontPoint {
        case: first.history.case.clone(),
        case_name: first.history.case_name.clone(),
        values: (first.estimate(), second.estimate()),
        sessions: (first.level.len(), second.level.len()),
        dominated_by,
        perhaps_by,
    }
}

/// Returns how much better `other` is in each metric, by the medians.
fn gains(point: &Point<'_, '_>, other: &Point<'_, '_>, metrics: &[FrontMetric; 2]) -> impl Iterator<Item = f64> {
    let signs = metrics.each_ref().map(|metric| if metric.direction == Direction::Lower { -1.0 } else { 1.0 });
    let differences = point.medians.into_iter().zip(other.medians).map(|(own, theirs)| theirs - own);
    differences.zip(signs).map(|(difference, sign)| difference * sign)
}

/// Returns whether `other` is better in one metric beyond the noise: the whole interval of 95 % around the difference says so.
fn is_better(point: &Point<'_, '_>, other: &Point<'_, '_>, metrics: &[FrontMetric; 2], at: usize) -> bool {
    let cells = point.both.get(at).zip(other.both.get(at)).zip(metrics.get(at));
    let interval = cells.and_then(|((own, theirs), metric)| {
        let effect = ratio::effect(own, theirs)?;
        Some((ratio::interval(&effect).ok()?, metric.direction))
    });
    match interval {
        Some(((low, _), Direction::Higher)) => low > 0.0,
        Some(((_, high), Direction::Lower)) => high < 0.0,
        _ => false,
    }
}
