//! What several pages say the same way.

use maud::{Markup, html};

use super::super::chart::{Chart, Finding, Hit, What};
use super::super::paths::relative;
use super::super::plot::spark::spark;
use super::super::site::Site;
use kubebench_format::result::labelled;
use kubebench_results::compare::model::{LevelChange, SeriesHistory, Size, Turn, Verdict};
use kubebench_results::compare::words::{self, Scaled};
use kubebench_syntax::text::reorders;

/// The maximum number of letters of a name or a text that somebody wrote, where it is one of many.
const SHORT: usize = 120;
/// The maximum number of letters of a sentence of ours, in which names of others may be.
const SENTENCE: usize = 600;

/// Returns text, cut where it is long: a name of a megabyte is a name on a page, too.
pub(super) fn cut(text: &str) -> String {
    cut_after(text, SHORT)
}

/// Returns what a gate or a comparison says, which is cut only where a name in it is very long.
pub(super) fn sentence(text: &str) -> String {
    cut_after(text, SENTENCE)
}

fn cut_after(text: &str, most: usize) -> String {
    if !text.is_empty() && text.trim().is_empty() {
        return "(blank)".to_owned();
    }
    // What turns the direction of text would turn numbers that follow, too; other control characters are of no page.
    let is_order = |letter: char| reorders(letter) || letter.is_control() && !letter.is_whitespace();
    let mut short: String =
        text.chars().take(most).map(|letter| if is_order(letter) { '\u{fffd}' } else { letter }).collect();
    if text.chars().nth(most).is_some() {
        short.push('…');
    }
    short
}

/// Returns a metric with its labels.
pub(super) fn metric(history: &SeriesHistory) -> String {
    cut(&labelled(&history.metric, &history.labels))
}

/// Returns the hardware in a few words.
pub(super) fn hardware(history: &SeriesHistory) -> String {
    cut(&words::hardware(&history.environment))
}

/// Draws a time that a script may say relative to now.
pub(super) fn time(at: &str) -> Markup {
    html! { time datetime=(at) { (words::day(at)) } }
}

/// Draws when a regression began.
pub(super) fn since(finding: &Finding<'_>) -> Markup {
    html! { time datetime=(finding.since) { (finding.when()) } }
}

/// Draws a commit, as a link where there is one.
pub(super) fn commit(site: &Site<'_>, commit: &str) -> Markup {
    let short = cut(words::short(commit));
    html! {
        @if let Some(link) = site.request.links.commit(commit) { a href=(link) { code { (short) } } }
        @else { code { (short) } }
    }
}

/// Draws the commits among which the cause is, and how to find it.
pub(super) fn range(site: &Site<'_>, after: Option<&str>, commit_: Option<&str>) -> Markup {
    html! {
        @match (after, commit_) {
            (Some(after), Some(commit)) if after != commit => {
                @let log = format!("git log {}..{}", words::short(after), words::short(commit));
                @if let Some(link) = site.request.links.range(after, commit) { a href=(link) { code { (log) } } }
                @else { code { (log) } }
                "; to find it: "
                code { "git bisect start " (words::short(commit)) " " (words::short(after)) }
            }
            (_, Some(commit)) => { "commit " (self::commit(site, commit)) }
            _ => {}
        }
    }
}

/// Returns the verdict of a chart as a mark that needs no color.
pub(super) fn verdict_of(chart: &Chart<'_>) -> Option<Markup> {
    Some(verdict(chart.verdict()?, chart.word()?))
}

/// Returns a verdict, in these words, as a mark that needs no color.
pub(super) fn verdict(verdict: Verdict, said: &str) -> Markup {
    let (class, sign) = match verdict {
        // Accepted, or within limits: no change was looked for.
        Verdict::NoChangeSeen if said != verdict.words() => ("calm", "✓"),
        Verdict::Regressed => ("bad", "▼"),
        // Nothing is decided: no color.
        Verdict::Pending => ("calm", "▽"),
        Verdict::Invalid | Verdict::Missing => ("bad", "✕"),
        Verdict::Incomparable | Verdict::Inconclusive => ("warn", "?"),
        Verdict::New => ("calm", "+"),
        Verdict::Improved => ("good", "▲"),
        Verdict::NoChangeSeen => ("calm", "~"),
        Verdict::Unchanged => ("calm", "="),
    };
    html! { span class={ "verdict " (class) } { span aria-hidden="true" { (sign) " " } (said) } }
}

/// Returns what a turn of a series is called, which is that of a chart or one that it replaced.
pub(super) fn turn(change: &LevelChange, history: &SeriesHistory, chart: &Chart<'_>) -> (&'static str, &'static str) {
    let is_of_open = history.open.as_ref() == Some(&change.session) || history.is_step_of_open(change);
    match change.turn {
        Turn::Worse if change.is_back_in_part(history.direction) => ("calm", "partially recovered"),
        Turn::Worse if is_of_open && (chart.is_stale || !std::ptr::eq(history, chart.history)) => {
            ("calm", "worse, not measured any more")
        }
        Turn::Worse if chart.open() == Some(change.session.as_str()) => ("bad", "worse, open"),
        Turn::Worse if chart.is_open(change) => ("bad", "worse again, part of the open regression"),
        Turn::Worse if is_of_open => match chart.verdict() {
            Some(Verdict::Pending) => ("calm", "worse, pending"),
            Some(Verdict::Inconclusive) => ("warn", "worse, inconclusive"),
            _ => ("calm", "worse, resolved"),
        },
        Turn::Worse if history.is_of_pending(change) => ("calm", "worse, pending"),
        Turn::Worse => ("calm", "worse, resolved"),
        Turn::Accepted => ("calm", "worse, accepted"),
        Turn::Better => ("good", "better"),
        Turn::Back => ("good", "recovered"),
        Turn::Neither => ("calm", "below threshold"),
    }
}

/// What a reader of a sentence knows already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Nothing,
    /// When it began.
    Beginning,
    /// When it began, and on what hardware.
    BeginningAndPlace,
    Benchmark,
    /// The benchmark and the case.
    Case,
    Series,
}

/// Says of a regression what a colleague would: what, by how much, since when, where, how sure.
pub(super) fn finding(site: &Site<'_>, from: &str, finding: &Finding<'_>, said: Said) -> Markup {
    let history = finding.chart.history;
    let place = relative(from, &finding.chart.place());
    let is_begun = matches!(said, Said::Beginning | Said::BeginningAndPlace);
    html! {
        @match said {
            Said::Series => {}
            Said::Benchmark | Said::Case => {
                a href=(place) { strong { (metric(history)) } }
                @if said == Said::Benchmark && !history.case_name.is_empty() { " (" (cut(&history.case_name)) ")" }
                ": "
            }
            Said::Nothing | Said::Beginning | Said::BeginningAndPlace => {
                a href=(place) { strong { (history.benchmark) } }
                @if !history.case_name.is_empty() { " (" (cut(&history.case_name)) ")" }
                ": " (metric(history)) " "
            }
        }
        @if let Some(not_shown) = finding.not_shown() {
            (sentence(not_shown))
            @if finding.is_of_newest() { ". Newest session: " (amount(finding)) }
        } @else {
            @match finding.what {
                What::Level(..) => { (amount(finding)) @if said != Said::Series { (toward(history)) } @if !is_begun { " since " (since(finding)) } }
                What::Limit(message) => { strong.bad { (sentence(message)) } " in the session of " (since(finding)) }
            }
            @if !is_begun && let Some(commit) = finding.commit { " (" (self::commit(site, commit)) ")" }
            @if let Some(limit) = finding.limit { ", and " strong.bad { (sentence(limit)) } }
        }
        @if !matches!(said, Said::Series | Said::BeginningAndPlace) { (if finding.not_shown().is_some() { ", on " } else { " on " }) (hardware(history)) }
        @if finding.not_shown().is_none() { "; " (sure(finding)) }
        "."
    }
}

/// Says how large a regression is, with the confidence interval.
pub(super) fn amount(finding: &Finding<'_>) -> Markup {
    html! {
        @match finding.what {
            What::Level(size) => (sized(size, finding.chart.history, if finding.is_pending() { "calm" } else { "bad" })),
            What::Limit(message) => strong.bad { (sentence(message)) },
        }
    }
}

/// Says how large a change of a series is, with the confidence interval.
pub(super) fn sized(size: Size, history: &SeriesHistory, class: &str) -> Markup {
    html! {
        @if let Some(change) = size.change {
            strong class=(class) { (words::change(change, size.interval)) }
            @if let Some(bounds) = size.interval { " " (words::interval(change, bounds)) }
        } @else {
            strong class=(class) { (words::size(size, history.unit.as_deref())) }
        }
    }
}

/// Says next to a change which way is better, where something says so.
pub(super) fn toward(history: &SeriesHistory) -> Markup {
    html! { @if let Some(better) = words::better(history.direction) { " " small { "(" (better) ")" } } }
}

/// Says what the newest session alone shows: that it is worse, or better.
pub(super) fn newest(hit: &Hit<'_>) -> (&'static str, &'static str) {
    if hit.verdict == Verdict::Improved {
        ("good", "better in the newest session")
    } else {
        ("bad", "worse in the newest session")
    }
}

/// Says the same in a line of text.
pub(crate) fn finding_words(finding: &Finding<'_>) -> String {
    let history = finding.chart.history;
    let case = if history.case_name.is_empty() { String::new() } else { format!(" ({})", cut(&history.case_name)) };
    if let (Some(not_shown), What::Level(size)) = (finding.not_shown(), finding.what) {
        let newest = words::size(size, history.unit.as_deref());
        let newest = if finding.is_of_newest() { format!(". Newest session: {newest}") } else { String::new() };
        let (metric, not_shown, hardware) = (metric(history), sentence(not_shown), hardware(history));
        return format!("{}{case}: {metric} {not_shown}{newest}, on {hardware}.", history.benchmark);
    }
    let what = match finding.what {
        What::Level(size) => format!("{} since", words::size(size, history.unit.as_deref())),
        What::Limit(message) => format!("{} in the session of", sentence(message)),
    };
    let commit = finding.commit.map_or_else(String::new, |commit| format!(" ({})", words::short(commit)));
    let limit = finding.limit.map_or_else(String::new, |limit| format!(", and {}", sentence(limit)));
    let bounds = match finding.what {
        What::Level(Size { interval: Some(_), .. }) => "; brackets are the 95 % confidence interval",
        What::Level(_) | What::Limit(_) => "",
    };
    format!(
        "{}{case}: {} {what} {}{commit}{limit} on {}; {}{bounds}.",
        history.benchmark,
        metric(history),
        finding.when(),
        hardware(history),
        sure(finding)
    )
}

fn sure(finding: &Finding<'_>) -> String {
    let seen = if finding.measured < finding.sessions {
        format!(
            "{} at the current level, regressed for {}",
            words::counted(finding.measured, "session"),
            finding.sessions
        )
    } else {
        format!("seen in {}", words::counted(finding.sessions, "session"))
    };
    let seen = if finding.is_aside() { format!("{seen}, not of the default branch") } else { seen };
    let further = |size| words::size(size, finding.chart.history.unit.as_deref());
    let further = finding.further().map(|size| format!("; the newest session is a further {}", further(size)));
    let seen = seen + &further.unwrap_or_default();
    match (finding.what, finding.pending()) {
        (_, Some(why)) => format!("{seen}; pending: {}", sentence(why)),
        (What::Limit(_), None) => "a limit, regardless of noise".to_owned(),
        (What::Level(..), None) => seen,
    }
}

/// Returns what distinguishes a series from another one of its metric: the case, else the hardware.
pub(super) fn apart(history: &SeriesHistory, other: &SeriesHistory) -> String {
    if history.case == other.case { hardware(history) } else { cut(&history.case_name) }
}

/// Draws what a series did, and its newest level; of a change that its verdict is about, the level before and after it.
pub(super) fn level(chart: &Chart<'_>) -> Markup {
    let unit = chart.history.unit.as_deref().map(cut);
    html! {
        (spark(chart)) " "
        @if let Some(Size { levels: (before, after), .. }) = chart.changed() {
            @let scaled = Scaled::of_all([before, after].into_iter(), unit.as_deref());
            span.number { (words::number(scaled.convert(before))) " → " (scaled.value(after)) }
        } @else if let Some(level) = chart.level() { span.number { (words::value(level, unit.as_deref())) } }
    }
}

/// Says what one sees in a small drawing, and next to it.
pub(super) const SPARK: &str = "Level: the newest one; for a regression or an improvement, before → after. Sparklines: \
     the thin line shows all sessions, the strong line the level; a vertical line is a change of level, red for a \
     current regression.";

/// Draws a link to a plot, and links to its numbers.
pub(super) fn links(anchor: &str, title: &str, data: &[(&str, String)]) -> Markup {
    html! {
        p.more {
            a href={ "#" (anchor) } aria-label={ "Link to " (title) } { "Link" }
            @for (name, place) in data { " · " a href=(place) aria-label={ (name) " of " (title) } { (name) } }
        }
    }
}

/// Draws a table that scrolls by itself where there is no room, and that a keyboard reaches then.
pub(super) fn table(caption: &str, head: &[&str], rows: &[Markup]) -> Markup {
    html! {
        div.wide tabindex="0" role="region" aria-label=(caption) {
            table {
                caption { (caption) }
                thead { tr { @for name in head { th scope="col" { (name) } } } }
                tbody { @for row in rows { (row) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{cut, sentence};

    #[test]
    fn text_of_others_is_short_seen_and_turns_nothing() {
        assert_eq!(cut("speed"), "speed");
        assert_eq!(cut(""), "");
        assert_eq!(cut(" \t"), "(blank)");
        assert_eq!(cut("a\u{202e}b\u{2067}"), "a\u{fffd}b\u{fffd}");
        assert_eq!(cut(&"x".repeat(1000)).chars().count(), 121);
        assert_eq!(sentence(&"x".repeat(1000)).chars().count(), 601);
    }
}
