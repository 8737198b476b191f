//! What several pages say the same way.

use maud::{Markup, html};

use super::super::chart::{Chart, Finding, What};
use super::super::paths::relative;
use super::super::site::Site;
use kubebench_format::result::labelled;
use kubebench_results::compare::model::{Direction, LevelChange, SeriesHistory, Turn, Verdict};
use kubebench_results::compare::words;
use kubebench_syntax::text::reorders;

/// So many letters of a text that somebody wrote stand where it is one of many.
const SHORT: usize = 120;

/// Returns text, cut where it is long: a name of a megabyte is a name on a page, too.
pub(super) fn cut(text: &str) -> String {
    if !text.is_empty() && text.trim().is_empty() {
        return "(blank)".to_owned();
    }
    // What turns the direction of text would turn numbers that follow, too; other control characters are of no page.
    let is_order = |letter: char| reorders(letter) || letter.is_control() && !letter.is_whitespace();
    let mut short: String =
        text.chars().take(SHORT).map(|letter| if is_order(letter) { '\u{fffd}' } else { letter }).collect();
    if text.chars().nth(SHORT).is_some() {
        short.push('…');
    }
    short
}

/// Returns a metric with its labels.
pub(super) fn metric(told: &SeriesHistory) -> String {
    cut(&labelled(&told.metric, &told.labels))
}

/// Returns the hardware in a few words.
pub(super) fn hardware(told: &SeriesHistory) -> String {
    cut(&words::hardware(&told.environment))
}

/// Draws a time that a script may say relative to now.
pub(super) fn time(at: &str) -> Markup {
    html! { time datetime=(at) { (words::day(at)) } }
}

fn since(finding: &Finding<'_>) -> Markup {
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
        // Accepted, or within limits: nobody looked for a change.
        Verdict::NoChangeSeen if said != verdict.words() => ("calm", "✓"),
        Verdict::Regressed => ("bad", "▼"),
        Verdict::Pending => ("warn", "▽"),
        Verdict::Invalid | Verdict::Missing => ("bad", "✕"),
        Verdict::Incomparable | Verdict::Inconclusive => ("warn", "?"),
        Verdict::Improved => ("good", "▲"),
        Verdict::NoChangeSeen => ("calm", "~"),
        Verdict::Unchanged => ("calm", "="),
    };
    html! { span class={ "verdict " (class) } { span aria-hidden="true" { (sign) " " } (said) } }
}

/// Returns what a turn is called.
pub(super) fn turn(change: &LevelChange, chart: &Chart<'_>) -> (&'static str, &'static str) {
    match change.turn {
        Turn::Worse if change.is_back_in_part(chart.told.direction) => ("warn", "came back in part"),
        Turn::Worse if chart.open() == Some(change.session.as_str()) => ("bad", "worse, open"),
        Turn::Worse if chart.told.open.as_ref() == Some(&change.session) => match chart.verdict() {
            Some(Verdict::Pending) => ("warn", "worse, waits for a second session"),
            Some(Verdict::Inconclusive) => ("warn", "worse, undecided"),
            _ => ("calm", "worse, over"),
        },
        Turn::Worse => ("calm", "worse, over"),
        Turn::Accepted => ("calm", "worse, accepted"),
        Turn::Better => ("good", "better"),
        Turn::Back => ("good", "back"),
        Turn::Neither => ("calm", "moved"),
    }
}

/// Returns which way is better, as a phrase.
pub(super) fn better(direction: Direction) -> &'static str {
    match direction {
        Direction::Higher => "higher is better",
        Direction::Lower => "lower is better",
        Direction::None => "neither way is better",
    }
}

/// Says of a change for the worse what a colleague would: what, by how much, since when, where, how sure.
pub(super) fn finding(site: &Site<'_>, from: &str, finding: &Finding<'_>) -> Markup {
    let told = finding.chart.told;
    html! {
        a href=(relative(from, &finding.chart.place())) { strong { (told.benchmark) } }
        @if !told.case_name.is_empty() { " (" (cut(&told.case_name)) ")" }
        ": " (metric(told)) " "
        @match finding.what {
            What::Level(change, interval) => {
                strong.bad { (words::change(change, interval)) }
                @if let Some(interval) = interval { " " (words::interval(interval)) }
                " since " (since(finding))
            }
            What::Limit(message) => { strong.bad { (cut(message)) } " in the session of " (since(finding)) }
        }
        @if let Some(commit) = finding.commit { " (" (self::commit(site, commit)) ")" }
        @if let Some(limit) = finding.limit { ", and " strong.bad { (cut(limit)) } }
        " on " (hardware(told)) "; "
        (sure(finding)) "."
    }
}

/// Says the same in a line of text.
pub(crate) fn finding_words(finding: &Finding<'_>) -> String {
    let told = finding.chart.told;
    let case = if told.case_name.is_empty() { String::new() } else { format!(" ({})", cut(&told.case_name)) };
    let what = match finding.what {
        What::Level(change, interval) => format!("{} since", words::estimate(change, interval)),
        What::Limit(message) => format!("{} in the session of", cut(message)),
    };
    let commit = finding.commit.map_or_else(String::new, |commit| format!(" ({})", words::short(commit)));
    let limit = finding.limit.map_or_else(String::new, |limit| format!(", and {}", cut(limit)));
    format!(
        "{}{case}: {} {what} {}{commit}{limit} on {}; {}.",
        told.benchmark,
        metric(told),
        finding.when(),
        hardware(told),
        sure(finding)
    )
}

fn sure(finding: &Finding<'_>) -> String {
    let sessions = match finding.sessions {
        1 => "1 session shows it".to_owned(),
        count => format!("{} show it", words::seen(count, finding.measured)),
    };
    let sessions = if finding.is_aside() { format!("{sessions}, not of the default branch") } else { sessions };
    match finding.what {
        _ if finding.is_pending() => format!("{sessions}, a second one of the same revision decides"),
        What::Limit(_) => "a limit, whatever the noise".to_owned(),
        What::Level(_, Some(_)) => format!("{sessions}, 95 % sure of the range"),
        What::Level(_, None) => sessions,
    }
}

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
    use super::cut;

    #[test]
    fn text_of_others_is_short_seen_and_turns_nothing() {
        assert_eq!(cut("speed"), "speed");
        assert_eq!(cut(""), "");
        assert_eq!(cut(" \t"), "(blank)");
        assert_eq!(cut("a\u{202e}b\u{2067}"), "a\u{fffd}b\u{fffd}");
        assert_eq!(cut(&"x".repeat(1000)).chars().count(), 121);
    }
}
