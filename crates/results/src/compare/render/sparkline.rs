//! A history on a terminal: a line that one sees at a glance, and what happened on it.

use std::collections::BTreeSet;

use super::super::model::{History, LevelChange, SeriesHistory, Turn};
use super::super::words::{self, Scaled};
use super::human::rest;
use super::{clean_ack, plain};
use kubebench_format::result::labelled;
use kubebench_stats as stats;
use kubebench_syntax::invariant::Invariant as _;

/// The steps of a spark line.
const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The maximum width of a sparkline; more sessions share them.
const WIDTH: usize = 80;

/// The maximum number of open regressions that are listed.
const OPEN: usize = 20;

/// Returns what `history` prints; `last` sessions of each series are listed. What is open is last, where a terminal shows it.
pub fn history(answer: &History, last: usize) -> String {
    let mut text = String::new();
    for history in &answer.series {
        series(&mut text, &clean(history), last);
        text.push('\n');
    }
    rest(&mut text, &answer.notes, &answer.left_out);
    open(&mut text, answer);
    text
}

/// Lists the regressions that are open, the largest first, and counts those of series that are not shown.
fn open(text: &mut String, answer: &History) {
    let mut open: Vec<(&SeriesHistory, &LevelChange)> = answer.series.iter().filter_map(opened).collect();
    let size = |(history, change): &(&SeriesHistory, &LevelChange)| history.open_size.unwrap_or_else(|| change.size());
    let share =
        |of: &(&SeriesHistory, &LevelChange)| size(of).change.map_or(f64::INFINITY, |share| stats::ln_1p(share).abs());
    open.sort_by(|one, other| share(other).total_cmp(&share(one)));
    text.push_str(&match open.len() {
        0 if answer.series.is_empty() => String::new(),
        0 => "no regression is open in what is shown\n".to_owned(),
        1 => "1 regression is open:\n".to_owned(),
        count => format!("{count} regressions are open, the largest first:\n"),
    });
    for of in open.iter().take(OPEN) {
        let (history, change) = (clean(of.0), of.1);
        let case = if history.case_name.is_empty() { String::new() } else { format!(" [{}]", history.case_name) };
        let commit = change.commit.as_deref().map_or_else(String::new, |known| format!(" ({})", words::short(known)));
        text.push_str(&format!(
            "  {}{case}, {}: {} since {}{commit}\n",
            history.benchmark,
            labelled(&history.metric, &history.labels),
            words::size(size(of), history.unit.as_deref()),
            words::day(&change.since)
        ));
    }
    if open.len() > OPEN {
        text.push_str(&format!("  and {} more\n", open.len() - OPEN));
    }
    text.push_str(&match answer.open_elsewhere {
        0 => String::new(),
        1 => "1 more is open in a metric that is not shown: `--all` shows it\n".to_owned(),
        count => format!("{count} more are open in metrics that are not shown: `--all` shows them\n"),
    });
}

/// Returns the change of a series that is open.
fn opened(history: &SeriesHistory) -> Option<(&SeriesHistory, &LevelChange)> {
    let open = history.open.as_ref()?;
    history.changes.iter().find(|change| change.session == *open).map(|change| (history, change))
}

fn series(text: &mut String, history: &SeriesHistory, last: usize) {
    let case = if history.case_name.is_empty() { String::new() } else { format!(" [{}]", history.case_name) };
    let better = words::better(history.direction).map_or_else(String::new, |better| format!(", {better}"));
    let unit = history.unit.as_deref().map_or_else(String::new, |unit| format!(", {unit}"));
    text.push_str(&format!(
        "{}{case} {}{unit}{better}\n",
        history.benchmark,
        labelled(&history.metric, &history.labels)
    ));
    let on: Vec<String> = history.environment.iter().map(|(fact, value)| format!("{fact} {value}")).collect();
    let replaced = if history.replaced { "; newer sessions ran elsewhere" } else { "" };
    text.push_str(&format!("  on {}{replaced}\n", on.join(", ")));
    if history.synthetic {
        text.push_str(&format!("  {}\n", words::SYNTHETIC));
    }
    drawing(text, history);
    for change in &history.changes {
        let what = match change.turn {
            Turn::Worse if change.is_back_in_part(history.direction) => "partially recovered",
            Turn::Worse if history.open.as_ref() == Some(&change.session) => "worse, open",
            Turn::Worse if history.is_step_of_open(change) => "worse again, part of the open regression",
            Turn::Worse if history.is_of_pending(change) => "worse, pending",
            Turn::Worse => "worse, resolved",
            Turn::Accepted => "worse, accepted",
            Turn::Better => "better",
            Turn::Back => "recovered",
            Turn::Neither => "below threshold",
        };
        let commit = match (&change.after, &change.commit) {
            (Some(after), Some(commit)) if after != commit => {
                format!(", git log {}..{}", words::short(after), words::short(commit))
            }
            (_, Some(commit)) => format!(", commit {}", words::short(commit)),
            _ => String::new(),
        };
        let size = change.size();
        let compound = history.compound().filter(|_| history.open.as_ref() == Some(&change.session));
        let compound = compound.map_or_else(String::new, |size| {
            format!("; {} with its later steps", words::size(size, history.unit.as_deref()))
        });
        text.push_str(&format!(
            "  {} {what}: {} since session {}{commit}{compound}\n",
            change.since,
            words::size(size, history.unit.as_deref()),
            change.session
        ));
    }
    if let Some(pending) = &history.pending {
        text.push_str(&format!("  pending: {}\n", words::pending(pending, history.unit.as_deref(), history.threshold)));
    }
    for change in &history.environment_changes {
        text.push_str(&format!("  {} {} changed: {} -> {}\n", change.since, change.fact, change.before, change.after));
    }
    if let Some(drift) = history.drift {
        let total = words::change(drift.per_session * drift.sessions as f64, None);
        text.push_str(&format!(
            "  drifts: about {total} over the last {} sessions ({})\n",
            drift.sessions,
            words::probability(drift.p)
        ));
    }
    if let Some(correlation) = history.correlation {
        text.push_str(&format!(
            "  sessions are autocorrelated (lag 1: {correlation:.1}), so the effective sample size is smaller\n"
        ));
    }
    text.extend(history.acks.iter().map(|ack| format!("  {}\n", words::accepted(ack))));
    let scaled = Scaled::of_all(history.sessions.iter().map(|session| session.value), history.unit.as_deref());
    for session in history.sessions.iter().skip(history.sessions.len().saturating_sub(last)) {
        let commit = session.commit.as_deref().map_or("-", words::short);
        let aside = history.outside(session).map_or_else(String::new, |why| format!("  {why}"));
        let shared =
            words::shared_with(&session.neighbors).map_or_else(String::new, |with| format!("  {}", plain(&with)));
        text.push_str(&format!(
            "    {}  {}  {:<10}  {}  {}{aside}{shared}\n",
            session.started_at,
            session.session,
            commit,
            scaled.value(session.value),
            words::counted(session.results.len(), "run")
        ));
    }
}

/// Returns a series whose texts a terminal can show.
fn clean(history: &SeriesHistory) -> SeriesHistory {
    let mut history = history.clone();
    let texts = [&mut history.case_name, &mut history.metric].into_iter().chain(history.unit.as_mut());
    let facts = history.environment_changes.iter_mut().flat_map(|change| [&mut change.before, &mut change.after]);
    texts.chain(history.environment.values_mut()).chain(facts).for_each(|text| *text = plain(text));
    history.labels = history.labels.iter().map(|(name, value)| (plain(name), plain(value))).collect();
    history.acks.iter_mut().for_each(clean_ack);
    history
}

/// Draws the whole series as a line, says what its columns are and how high the level is, and marks where levels changed.
fn drawing(text: &mut String, history: &SeriesHistory) {
    let values: Vec<f64> = history.sessions.iter().map(|session| session.value).collect();
    let by = values.len().div_ceil(WIDTH).max(1);
    let shown: Vec<f64> = values.chunks(by).map(|own| stats::quantile(own.iter().copied(), 0.5)).collect();
    let low = shown.iter().copied().fold(f64::INFINITY, f64::min);
    let high = shown.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let columns = if by > 1 { format!(", a column is the median of {by}") } else { String::new() };
    let own: Vec<f64> = history.level().into_iter().map(|session| session.value).collect();
    let scaled = Scaled::of_all([low, high].into_iter(), history.unit.as_deref());
    let level = if own.is_empty() {
        String::new()
    } else {
        format!("; level {}", scaled.value(stats::quantile(own.into_iter(), 0.5)))
    };
    let (from, to) = (words::number(scaled.convert(low)), scaled.value(high));
    let sessions = words::counted(values.len(), "session");
    text.push_str(&format!("  {}  {sessions}{columns}, {from} … {to}{level}\n", spark(&shown, low, high)));
    let place = |session: &str| history.sessions.iter().position(|own| own.session == session);
    let changed: BTreeSet<usize> =
        history.changes.iter().filter_map(|change| place(&change.session)).map(|at| at / by).collect();
    if let Some(last) = changed.last() {
        let marks: String = (0..=*last).map(|at| if changed.contains(&at) { '^' } else { ' ' }).collect();
        text.push_str(&format!("  {marks} the level changed\n"));
    }
}

fn spark(shown: &[f64], low: f64, high: f64) -> String {
    let step = |value: &f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of eight steps")]
        let step = ((value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0) * 7.0).round() as usize;
        STEPS.get(if high > low { step } else { 3 }).copied().expected("one of eight steps")
    };
    shown.iter().map(step).collect()
}
