//! How the latencies of the newest session are distributed: by its samples, by percentiles that were measured, or why not at all.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::super::chart::Chart;
use super::super::paths::{self, relative};
use super::super::plot::quantiles::{Curve, Quantiles};
use super::super::site::{Benchmark, Case, Site};
use super::parts;
use kubebench_results::compare::model::{Direction, SeriesHistory, SessionValue};
use kubebench_stats as stats;
use kubebench_syntax::unit::{Conversion, MetricUnit};

/// Fewer samples than this have no distribution to look at.
const LEAST: usize = 20;
/// The maximum number of distributions on a page.
const MOST: usize = 6;
/// The ending of their numbers.
pub(crate) const DATA: &str = "latency.csv";

/// Draws the distributions of a case, as its page at `from` shows them.
pub(super) fn latency(site: &Site<'_>, from: &str, benchmark: &Benchmark<'_>, case: &Case<'_>) -> Markup {
    let plots = distributions(site, case);
    html! {
        section aria-labelledby="latency" {
            h2 id="latency" { "How latencies are distributed" }
            @if plots.is_empty() {
                p { "Not shown: no metric in a unit of time kept " (LEAST) " samples, and none is named after its \
                     percentiles (p50, p99)." }
            } @else {
                p.more { "By share of samples, or by measured percentiles with straight lines between them; the highest percentiles "
                    "are stretched. The stronger line is the newest session"
                    @if plots.iter().any(|plot| plot.curves.len() > 1) { ", the other one the last before the open change" } "." }
                @for plot in plots.iter().take(MOST) {
                    section.chart id=(plot.id) {
                        h3 id={ (plot.id) "-h" } { (plot.title) }
                        (plot.draw())
                        (parts::links(&plot.id, &plot.title, &[("CSV", relative(from, &paths::data(benchmark.name, case.id, DATA)))]))
                    }
                }
                @if plots.len() > MOST { p { (plots.len() - MOST) " more metrics are not drawn; the CSV has them." } }
            }
        }
    }
}

/// Returns the distributions of a case: by samples, and of metrics without them by their percentiles.
pub(crate) fn distributions<'a>(site: &Site<'_>, case: &Case<'a>) -> Vec<Quantiles<'a>> {
    let sampled = case.charts.iter().filter_map(|chart| Some((chart.history, samples(site, chart)?)));
    let (sampled, mut all): (Vec<&SeriesHistory>, Vec<Quantiles<'a>>) = sampled.unzip();
    let known: BTreeSet<Base<'_>> = sampled.into_iter().map(|history| base(&history.metric, history)).collect();
    all.extend(percentiles(case).into_iter().filter(|(base, _)| !known.contains(base)).map(|(_, plot)| plot));
    all
}

/// Returns the results whose samples are drawn: of the newest session, and of the last one before an open change.
pub fn sampled(history: &SeriesHistory) -> Vec<&String> {
    if !is_time(history) || history.replaced {
        return Vec::new();
    }
    let newest = history.sessions.last();
    newest.into_iter().chain(before_open(history)).flat_map(|session| &session.results).collect()
}

fn before_open(history: &SeriesHistory) -> Option<&SessionValue> {
    let open = history.open.as_ref()?;
    let at = history.sessions.iter().position(|session| session.session == *open)?;
    history.sessions.get(at.checked_sub(1)?)
}

fn is_time(history: &SeriesHistory) -> bool {
    history.unit.as_deref().is_some_and(|unit| MetricUnit::of(unit).is_time()) && history.direction == Direction::Lower
}

/// Returns how samples that were recorded in `unit` are shown next to the values of a series.
fn conversion(unit: Option<&str>, history: &SeriesHistory) -> Option<Conversion> {
    let [recorded, shown] = [unit, history.unit.as_deref()].map(MetricUnit::of_metric);
    recorded.conversion_to(&shown)
}

fn samples<'a>(site: &Site<'_>, chart: &Chart<'a>) -> Option<Quantiles<'a>> {
    let history = chart.history;
    let of = |session: &SessionValue, label: &str| {
        let mut all: Vec<f64> = Vec::new();
        for metrics in session.results.iter().filter_map(|path| site.request.samples.get(path)) {
            let own = metrics.iter().filter(|metric| metric.name == history.metric && metric.labels == history.labels);
            for (metric, conversion) in
                own.filter_map(|metric| Some((metric, conversion(metric.unit.as_deref(), history)?)))
            {
                let values = metric.samples.iter().copied().flatten().map(|value| conversion.convert(value));
                all.extend(values.filter(|value| value.is_finite()));
            }
        }
        all.sort_by(f64::total_cmp);
        (all.len() >= LEAST).then(|| Curve { label: format!("{label}, {} samples", all.len()), points: points(&all) })
    };
    let newest = history.sessions.last().filter(|_| is_time(history))?;
    let newest = of(newest, "newest session")?;
    let before = before_open(history).and_then(|session| of(session, "last session before the open change"));
    let id = format!("{}-latency", chart.anchor);
    let curves = before.into_iter().chain([newest]).collect();
    Some(Quantiles { id, title: parts::metric(history), unit: history.unit.as_deref(), curves })
}

/// Returns the points of a curve, closer where it is steep; `sorted` holds at least one value.
fn points(sorted: &[f64]) -> Vec<(f64, f64)> {
    let reached = 1.0 - 1.0 / sorted.len() as f64;
    let shares = (0..=40).map(|at| f64::from(at) / 40.0 * 0.9);
    let tail = [0.92, 0.94, 0.96, 0.97, 0.98, 0.985, 0.99, 0.995, 0.999, 0.9995, 0.9999];
    let shares = shares.chain(tail).filter(|share| *share <= reached).chain([reached]);
    let value = |share: f64| stats::quantile(sorted.iter().copied(), share);
    let mut points: Vec<(f64, f64)> = shares.map(|share| (share, value(share))).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    points
}

/// What percentiles are of: a name without the percentile, other labels, the hardware, and the unit.
type Base<'a> = (String, Vec<(&'a String, &'a String)>, String, Option<&'a str>);

fn base<'a>(name: &str, history: &'a SeriesHistory) -> Base<'a> {
    let labels = history.labels.iter().filter(|(name, _)| *name != "quantile").collect();
    (name.to_owned(), labels, parts::hardware(history), history.unit.as_deref())
}

/// Returns the curves of metrics that are called by their percentiles, and what these are of.
fn percentiles<'a>(case: &Case<'a>) -> Vec<(Base<'a>, Quantiles<'a>)> {
    let mut groups: BTreeMap<Base<'a>, Vec<(f64, f64)>> = BTreeMap::new();
    for history in case.charts.iter().map(|chart| chart.history).filter(|history| is_time(history)) {
        if let (Some((name, share)), Some(newest)) = (percentile(history), history.sessions.last()) {
            groups.entry(base(&name, history)).or_default().push((share, newest.value));
        }
    }
    let curve = |(base, mut points): (Base<'a>, Vec<(f64, f64)>)| {
        let (name, labels, hardware, unit) = &base;
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let labels: String = labels.iter().map(|(name, value)| format!(", {name}={value}")).collect();
        let title = format!("{name}{labels}, on {hardware}");
        let id = format!("{}-latency", paths::slug(&format!("{title} {}", unit.unwrap_or_default())));
        let curves = vec![Curve { label: "newest session, by its percentiles".to_owned(), points }];
        let plot = Quantiles { id, title: parts::cut(&title), unit: *unit, curves };
        (base, plot)
    };
    groups.into_iter().filter(|(_, points)| points.len() > 1).map(curve).collect()
}

/// Returns what a metric is a percentile of, and which: `ttft_p99_ms`, or the label `quantile="0.99"`.
fn percentile(history: &SeriesHistory) -> Option<(String, f64)> {
    if let Some(share) = history.labels.get("quantile").and_then(|text| text.parse::<f64>().ok()) {
        return (0.0..1.0).contains(&share).then(|| (history.metric.clone(), share));
    }
    let is_cut = |letter: char| matches!(letter, '_' | '-' | '.' | ' ');
    let part = history.metric.split(is_cut).find_map(|part| Some((part, share_of(part)?)));
    let (part, share) = part?;
    let base: Vec<&str> = history.metric.split(is_cut).filter(|own| *own != part).collect();
    Some((base.join("-"), share))
}

fn share_of(part: &str) -> Option<f64> {
    if part == "median" {
        return Some(0.5);
    }
    let digits = part.strip_prefix('p')?;
    // After two digits only nines may follow: p999, and not p256, which is a curve.
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits.len() == 2 || (3..=5).contains(&digits.len()) && digits.starts_with("99"));
    let number: f64 = is_number.then(|| digits.parse().ok())??;
    let power = i32::try_from(digits.len()).ok()?;
    Some(number / 10_f64.powi(power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_known_by_their_names() {
        let share = |part: &str| share_of(part).map(|share| (share * 1e5).round() / 1e5);
        assert_eq!(share("p50"), Some(0.5));
        assert_eq!(share("p99"), Some(0.99));
        assert_eq!(share("p999"), Some(0.999));
        assert_eq!(share("median"), Some(0.5));
        for other in ["p", "p5", "pages", "99", "p100", "p256", "p123456"] {
            assert_eq!(share(other), None, "{other}");
        }
    }
}
