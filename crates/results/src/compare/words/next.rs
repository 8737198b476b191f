//! What to do about a line: the commands that find the commit, and the decision that a person has to make.

use super::super::model::{Direction, Line, NOT_SHOWN, OTHER_UNIT, OpenChange, Size, Verdict};
use super::super::side::CLUSTER;
use super::{code, day, metric, short};
use crate::verdict::{Method, Reason};
use kubebench_syntax::text::shell_word;

/// The commits between which a change, or a later step of an open one, began.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Range<'a> {
    /// The commit of the last session before it.
    pub(crate) after: &'a str,
    /// The commit of its first session.
    pub(crate) commit: &'a str,
    /// Of a later step of an open change, when it began and how large it is.
    pub(crate) step: Option<(&'a str, Size)>,
    /// The unit of the metric.
    unit: Option<&'a str>,
}

impl Range<'_> {
    /// Returns what it is of, where that is a later step.
    pub(crate) fn of(&self) -> Option<String> {
        let (since, size) = self.step?;
        Some(format!("the step of {}, {}", day(since), super::size(size, self.unit)))
    }

    /// Returns the command that shows the commits.
    pub(crate) fn log(&self) -> String {
        format!("git log {}..{}", short(self.after), short(self.commit))
    }

    /// Returns the command that begins to look for the one.
    pub(crate) fn bisect(&self) -> String {
        format!("git bisect start {} {}", short(self.commit), short(self.after))
    }
}

/// Says how to accept what begins with a session, or what is open now.
fn accept(line: &Line, session: Option<&str>, results: Option<&str>) -> String {
    // What is accepted from the same session has a file, which accepts it no more, or not as much.
    let first = session.or(line.open.as_ref().map(|open| open.session.as_str()));
    let of_open = |open: &OpenChange| open.size.map_or((None, None), |size| (size.change, size.interval));
    let (change, bounds) = line.open.as_ref().map_or((line.change, line.interval), of_open);
    // No bound reaches further than 100 %, and none is a share of 0.
    let is_beyond = |share: Option<f64>| share.is_none_or(|share| share >= 1.0);
    let same = || line.acks.iter().filter(|ack| first.is_some() && ack.session.as_deref() == first);
    if let Some(known) = same().find(|ack| !ack.expired).or_else(|| same().next()) {
        let what = match known.expired {
            true => "give it a later `expires`",
            false if is_beyond(change) => "remove its `maxChange`",
            false => "raise its `maxChange`",
        };
        return format!("fix it, or accept it in {}: {what}, and send the file for review", known.file);
    }
    let from = session.map_or_else(String::new, |session| format!(" --from {}", shell_word(session)));
    let results = results.map_or_else(String::new, |folder| format!(" --results {}", shell_word(folder)));
    let bound = match (is_beyond(change), bounds.is_some_and(|(_, high)| high >= 1.0)) {
        (true, _) => " --max-change any",
        (false, true) => " --max-change 100%",
        (false, false) => "",
    };
    format!(
        "fix it, or accept it: kubebench ack {} --metric {} --case {}{from}{bound}{results} --by YOU --reason WHY",
        line.benchmark,
        shell_word(&line.metric),
        shell_word(&line.case)
    )
}

/// Returns what to do about a line of the results in a folder; of the project's, where none is named.
pub fn next(line: &Line, results: Option<&str>) -> Vec<String> {
    let mut next = Vec::new();
    for range in ranges(line) {
        let of = range.of().map_or_else(String::new, |of| format!("{of}: "));
        next.extend([range.log(), range.bisect()].map(|command| format!("{of}{command}")));
    }
    next.extend(decide(line, results));
    next
}

/// Returns the commits among which a gate found a change, and those of each later step of an open one.
pub(crate) fn ranges(line: &Line) -> Vec<Range<'_>> {
    match &line.open {
        Some(OpenChange { after, commit, steps, .. }) => {
            let first = range(line, after.as_ref(), commit.as_ref(), None);
            let later = steps.iter().filter_map(|step| {
                range(line, step.after.as_ref(), step.commit.as_ref(), Some((step.since.as_str(), step.size())))
            });
            first.into_iter().chain(later).collect()
        }
        None if line.verdict == Verdict::Regressed && line.adjusted_p.is_some() => {
            let (before, first) = (line.baseline.sessions.last(), line.candidate.sessions.first());
            let [after, commit] = [before, first].map(|session| session.and_then(|session| session.commit.as_ref()));
            range(line, after, commit, None).into_iter().collect()
        }
        None => Vec::new(),
    }
}

fn range<'a>(
    line: &'a Line,
    after: Option<&'a String>,
    commit: Option<&'a String>,
    step: Option<(&'a str, Size)>,
) -> Option<Range<'a>> {
    Some(Range { after: after?, commit: commit?, step, unit: line.unit.as_deref() })
        .filter(|range| short(range.after) != short(range.commit))
}

/// Returns what of its spec refuses a line, or will; acknowledgements are about levels, and so about none of these.
pub(crate) fn limit(line: &Line) -> Option<&'static str> {
    match line.reason.as_str() {
        _ if !matches!(line.verdict, Verdict::Regressed | Verdict::Pending) => None,
        "belowMin" => Some("`min`"),
        "aboveMax" => Some("`max`"),
        "fixedBaseline" => Some("the `value` of its baseline"),
        _ => None,
    }
}

/// Returns what a person has to decide about a line. What only differs from another case is nothing to accept.
pub(crate) fn decide(line: &Line, results: Option<&str>) -> Vec<String> {
    let limit = limit(line).filter(|_| line.verdict == Verdict::Regressed);
    let mut next: Vec<String> = limit
        .map(|what| {
            let metric = metric(line);
            format!(
                "fix it, or change {what} for `{metric}` in the spec of {}: `ack` does not apply to limits",
                line.benchmark
            )
        })
        .into_iter()
        .collect();
    if line.reason == OTHER_UNIT {
        next.push(format!(
            "`kubebench reparse` reads the kept logs again by the current spec of {}; or change `unit` and limits in \
             the spec to the unit of the results",
            line.benchmark
        ));
    }
    if line.verdict == Verdict::Pending || line.reason == "seenBefore" {
        let decides = if line.reason == NOT_SHOWN { "helps to decide" } else { "decides" };
        // In a cluster, what has succeeded runs again by another `run` alone.
        let is_local = line.environment.get("engine").is_some_and(|engine| engine != CLUSTER);
        let how = if is_local {
            format!("run {} again with `kubebench run`: another session", line.benchmark)
        } else {
            let run = line.next_run.map_or_else(|| "`run:` increased by 1".to_owned(), |run| format!("`run: {run}`"));
            format!("write {run} into the spec of {} to start another session, which", line.benchmark)
        };
        next.push(format!("{how} {decides}"));
    } else if let Some(open) = &line.open {
        // Of several levels, the newest one is accepted: `ack` knows where it begins.
        next.push(accept(line, Some(open.session.as_str()).filter(|_| open.measured == open.sessions), results));
    } else if limit.is_none()
        && line.verdict == Verdict::Regressed
        && line.adjusted_p.is_some()
        && let Some(session) = line.candidate.sessions.first()
    {
        next.push(accept(line, Some(&session.session), results));
    }
    next
}

/// Returns the limit that decides at once where earlier sessions cannot, since a change from 0 is no share.
pub(crate) fn limit_to_add(line: &Line) -> Option<String> {
    let is_from_zero = line.method.as_deref() == Some(Method::FromZero.name());
    let is_without_scale = line.reason == code(Reason::NoScale) && line.baseline.median == Some(0.0);
    if line.verdict != Verdict::Inconclusive || !(is_from_zero || is_without_scale) {
        return None;
    }
    let side = if line.direction == Direction::Higher { "min" } else { "max" };
    Some(format!(
        "add {{metric: {}, {side}: 0}} to the gates of {}, which decides at once",
        flow_scalar(&metric(line)),
        line.benchmark
    ))
}

/// Returns text as a value between the braces of YAML.
fn flow_scalar(text: &str) -> String {
    let is_plain = text.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter));
    // JSON is YAML.
    if is_plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}
