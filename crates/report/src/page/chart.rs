//! One metric of one case: its plot, and next to it in words what the plot shows.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::super::chart::{self, Chart};
use super::super::paths::{self, relative};
use super::super::plot::trend::{Dot, Event, Mark, Standing, Trend};
use super::super::site::{Benchmark, Site};
use super::parts::{self, Said};
use kubebench_results::compare::model::{Acknowledged, LevelChange, SeriesHistory, SessionValue, Turn};
use kubebench_results::compare::words;
use kubebench_results::dataset::{MetricKey, series};

/// The maximum number of marked changes of hardware or software, the newest ones.
const MOST_MARKS: usize = 40;
/// The maximum number of changes below a plot; all are on the page of changes.
const MOST_REPORTED: usize = 8;

/// What distinguishes the series of a benchmark: case, hardware, metric.
type Key = (String, BTreeMap<String, String>, MetricKey);

/// The values of runs, session by session, by series.
pub(super) struct Runs {
    by_series: BTreeMap<Key, Vec<Vec<f64>>>,
}

impl Runs {
    /// Looks up the values of the runs of a benchmark.
    pub(super) fn of(site: &Site<'_>, benchmark: &Benchmark<'_>) -> Self {
        let mut by_series = BTreeMap::new();
        for partition in &benchmark.partitions {
            let facts: BTreeMap<String, String> =
                partition.facts.iter().map(|(fact, value)| ((*fact).to_owned(), value.clone())).collect();
            for series in series(site.request.dataset, partition) {
                let key = (partition.case.clone(), facts.clone(), series.metric);
                by_series.insert(key, series.points.into_iter().map(|point| point.runs).collect());
            }
        }
        Self { by_series }
    }

    fn get(&self, history: &SeriesHistory) -> &[Vec<f64>] {
        let metric =
            MetricKey { name: history.metric.clone(), labels: history.labels.clone(), unit: history.unit.clone() };
        let key = (history.case.clone(), history.environment.clone(), metric);
        self.by_series.get(&key).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Draws a chart as a page at `from` shows it, which knows it by `anchor`.
pub(super) fn draw(site: &Site<'_>, from: &str, anchor: &str, chart: &Chart<'_>, runs: &Runs) -> Markup {
    let history = chart.history;
    let data = |ending: &str| relative(from, &paths::data(&history.benchmark, &history.case, ending));
    html! {
        section.chart id=(anchor) {
            h3 {
                (parts::metric(history))
                @if let Some(verdict) = parts::verdict_of(chart) { " " (verdict) }
            }
            p.facts {
                (history.unit.as_deref().map_or_else(|| "no unit".to_owned(), parts::cut)) ", " (words::better(history.direction).unwrap_or("neither way is better")) " · on "
                a href=(relative(from, &paths::environment(&history.environment))) { (parts::hardware(history)) }
                @if history.synthetic { " · " strong.warn { "synthetic" } }
            }
            (story(site, from, chart))
            (trend(anchor, chart, runs).draw())
            @if let Some((_, low, high)) = band(chart, &chart.levels()) {
                @let [low, high] = words::values([low, high], history.unit.as_deref());
                p.more { "Band: ± " (words::share(history.threshold)) " around the baseline, " (parts::cut(&low)) " to " (parts::cut(&high)) "." }
            }
            (parts::links(anchor, &parts::metric(history), &[("CSV", data("csv")), ("JSON", data("json"))]))
        }
    }
}

/// Says what one sees in the plots of a page.
pub(super) fn legend() -> Markup {
    html! {
        p.more {
            "Dots: sessions, at the median of their runs (small dots). Strong line: the level. Green band: ± threshold around the baseline. "
            "Red vertical line: an open regression; dashed ones: resolved and other changes. Dots on the axis: changes of software. "
            "Hollow dots: other branches and outliers, which are excluded. A broken y-axis does not begin at 0."
        }
    }
}

/// Says what there is to say of a series.
fn story(site: &Site<'_>, from: &str, chart: &Chart<'_>) -> Markup {
    let history = chart.history;
    let finding = chart.finding();
    html! {
        @if let Some(finding) = &finding {
            p.open { (parts::finding(site, from, finding, Said::Series)) }
            @if finding.commit.is_some() { p.next { "Look at " (parts::range(site, finding.after, finding.commit)) } }
        } @else if let Some(line) = chart.line() {
            p { (parts::sentence(&words::sentence_case(&line.message))) "." }
        }
        @let open = chart.open();
        // The headline says when the open one began; how large its first step was, its steps say.
        @let is_reported = |change: &&LevelChange| Some(change.session.as_str()) == open && history.compound().is_none();
        @let others = history.changes.iter().rev().filter(|change| !is_reported(change));
        @let changes: Vec<&LevelChange> = others.take(MOST_REPORTED).collect();
        @let acks = chart.acks();
        @if !changes.is_empty() || !acks.is_empty() || history.drift.is_some() || history.correlation.is_some() {
            ul.events {
                @for change in changes {
                    @let (class, turned) = parts::turn(change, history, chart);
                    li { (parts::time(&change.since)) " " strong class=(class) { (turned) } ": "
                        (words::size(change.size(), history.unit.as_deref()))
                        @if change.commit.is_some() { "; " (parts::range(site, change.after.as_deref(), change.commit.as_deref())) } }
                }
                @for ack in acks { li { (acknowledged(ack)) } }
                @if let Some(drift) = history.drift {
                    li { "Drifts by about " (words::change(drift.per_session * drift.sessions as f64, None)) " over the last "
                        (drift.sessions) " sessions (" (words::probability(drift.p)) ")." }
                }
                @if let Some(correlation) = history.correlation {
                    li { "Sessions are autocorrelated (lag 1: " (format!("{correlation:.1}"))
                        "), so the effective sample size is smaller." }
                }
            }
        }
    }
}

/// Says who accepted a change, and why.
pub(super) fn acknowledged(ack: &Acknowledged) -> Markup {
    html! {
        strong { (if ack.expired { "Was accepted" } else { "Accepted" }) } " by " (parts::cut(&ack.by))
        @if let Some(share) = ack.max_change { " up to " (words::share(share)) }
        @if let Some(day) = &ack.expires { " until " (day) } ": " (parts::cut(&ack.reason)) " (" code { (parts::cut(&ack.file)) } ")"
    }
}

fn trend<'a>(anchor: &'a str, chart: &'a Chart<'_>, runs: &'a Runs) -> Trend<'a> {
    let history = chart.history;
    let before: usize = chart.replaced.iter().map(|history| history.sessions.len()).sum();
    let mut sessions = Vec::new();
    let mut marks = Vec::new();
    let mut levels = Vec::new();
    for replaced in &chart.replaced {
        let first = sessions.len();
        marks.extend(changes(replaced, chart, first));
        levels.extend(chart::levels(replaced).into_iter().map(|(from, to, level)| (first + from, first + to, level)));
        sessions.extend(dots(replaced, runs.get(replaced), Standing::Replaced));
        let next = sessions.len();
        marks.push(Mark {
            at: next,
            event: Event::Hardware,
            label: "hardware".to_owned(),
            title: format!("other hardware from here on; before: {}", parts::hardware(replaced)),
        });
    }
    sessions.extend(dots(history, runs.get(history), Standing::Current));
    let place = |session: &str| history.sessions.iter().position(|own| own.session == session);
    marks.extend(changes(history, chart, before));
    let accepted = chart.acks().into_iter().filter_map(|ack| Some((ack, place(ack.session.as_deref()?)?)));
    let accepted: Vec<Mark> = accepted.map(|(ack, at)| accepted_mark(ack, before + at)).collect();
    let skipped = history.environment_changes.len().saturating_sub(MOST_MARKS);
    for change in history.environment_changes.iter().skip(skipped) {
        if let Some(at) = place(&change.session) {
            let title = format!("{}: {} -> {}", change.fact, parts::cut(&change.before), parts::cut(&change.after));
            marks.push(Mark { at: before + at, event: Event::Environment, label: String::new(), title });
        }
    }
    marks.extend(accepted);
    let own = chart.levels();
    let band = band(chart, &own).map(|(from, low, high)| (before + from, low, high));
    let unit = history.unit.as_deref().map(parts::cut);
    let shown = |value: f64| words::value(value, unit.as_deref());
    let description = format!(
        "{}; {}, the newest at {}.",
        words::counted(history.sessions.len(), "session"),
        words::counted(own.len(), "level"),
        own.last().map_or_else(|| "no value".to_owned(), |(_, _, level)| shown(*level))
    );
    levels.extend(own.into_iter().map(|(from, to, level)| (before + from, before + to, level)));
    Trend {
        id: anchor,
        title: format!(
            "{} of {} {} over its sessions",
            parts::metric(history),
            history.benchmark,
            parts::cut(&history.case_name)
        ),
        description,
        unit: history.unit.as_deref(),
        sessions,
        levels,
        band,
        marks,
    }
}

fn dots<'a>(history: &'a SeriesHistory, runs: &'a [Vec<f64>], standing: Standing) -> impl Iterator<Item = Dot<'a>> {
    history.sessions.iter().enumerate().map(move |(at, session)| Dot {
        at: &session.started_at,
        label: label(history, session),
        median: session.value,
        runs: runs.get(at).map(Vec::as_slice).unwrap_or_default(),
        standing: if history.aside.contains(&session.session) { Standing::Aside } else { standing },
    })
}

fn label(history: &SeriesHistory, session: &SessionValue) -> String {
    let time = session.started_at.get(..16).unwrap_or(&session.started_at).replace('T', " ");
    let commit = session.commit.as_deref().map_or_else(String::new, |commit| format!(" · {}", words::short(commit)));
    let aside = history.outside(session).map_or_else(String::new, |why| format!(" · {why}"));
    let shared = words::shared_with(&session.neighbors)
        .map_or_else(String::new, |with| format!(" · {}", parts::sentence(&with)));
    format!("{time}{commit} · {}{aside}{shared}", words::value(session.value, history.unit.as_deref()))
}

/// Marks the changes of a series, which is that of a chart or one that it replaced, and whose first session is at a place.
fn changes<'a>(history: &'a SeriesHistory, chart: &'a Chart<'_>, first: usize) -> impl Iterator<Item = Mark> + 'a {
    history.changes.iter().filter_map(move |change| {
        let at = history.sessions.iter().position(|session| session.session == change.session)?;
        Some(mark(change, history, chart, first + at))
    })
}

fn mark(change: &LevelChange, history: &SeriesHistory, chart: &Chart<'_>, at: usize) -> Mark {
    let (_, turned) = parts::turn(change, history, chart);
    let event = match change.turn {
        Turn::Worse if change.is_back_in_part(history.direction) => Event::Better,
        Turn::Worse if chart.is_open(change) => Event::Open,
        Turn::Worse | Turn::Accepted | Turn::Neither => Event::Resolved,
        Turn::Better | Turn::Back => Event::Better,
    };
    let unit = history.unit.as_deref();
    let size =
        change.change.map_or_else(|| words::size(change.size(), unit), |share| words::change(share, change.interval));
    let commit = change.commit.as_deref().map_or_else(String::new, |commit| format!(", {}", words::short(commit)));
    let title = format!("{turned}: {size} since {}{commit}", change.since);
    Mark { at, event, label: size, title }
}

fn accepted_mark(ack: &Acknowledged, at: usize) -> Mark {
    let (label, until) = match &ack.expires {
        Some(day) if ack.expired => ("accepted", format!(" until {day}, which has passed")),
        Some(day) => ("✓ accepted", format!(" until {day}")),
        None => ("✓ accepted", String::new()),
    };
    let title = format!("accepted by {}{until}: {}", parts::cut(&ack.by), parts::cut(&ack.reason));
    Mark { at, event: Event::Accepted, label: label.to_owned(), title }
}

/// Returns the band in which nothing has changed that matters: around the level before an open change, or the newest one.
fn band(chart: &Chart<'_>, levels: &[(usize, usize, f64)]) -> Option<(usize, f64, f64)> {
    let history = chart.history;
    let open = chart.open().and_then(|open| history.sessions.iter().position(|session| session.session == open));
    let known = levels.iter().rev().find(|(from, _, _)| open.is_none_or(|open| *from < open))?;
    let (from, _, level) = *known;
    let room = 1.0 + history.threshold;
    let (one, other) = (level * room, level / room);
    (one.is_finite() && level != 0.0).then(|| (from, one.min(other), one.max(other)))
}
