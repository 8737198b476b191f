//! Numbers and reasons in words.

mod began;
mod next;
mod shared;

use std::collections::BTreeMap;

use super::model::{Acknowledged, Direction, GateReport, Line, NOT_SHOWN, Size, Verdict};
use crate::verdict::{Judgement, Method, Policy, Reason, SHORTEST_HISTORY, SIGNIFICANT};
use kubebench_format::result::labelled;
use kubebench_stats as stats;
use kubebench_syntax::unit::{Conversion, MetricUnit};
pub use kubebench_syntax::words::{counted, lasted, number};

pub use self::began::{NEWEST, better};
pub(crate) use self::began::{Step, began, pending, steps, sureness};
pub use self::next::next;
pub(crate) use self::next::{Range, decide, limit, limit_to_add, ranges};
pub use self::shared::shared_with;

/// What is said about results that no run made.
pub const SYNTHETIC: &str = "some results are synthetic: `kubebench mock` made them, and nothing ran";

/// Returns a reason as a word for programs.
pub(crate) fn code(reason: Reason) -> &'static str {
    match reason {
        Reason::Change => "change",
        Reason::Equivalent => "equivalent",
        Reason::Nothing => "nothingSeen",
        Reason::NotSignificant => "notSignificant",
        Reason::NotAmongSoMany => "notAmongSoMany",
        Reason::MayBeBeyond => "mayBeBeyondThreshold",
        Reason::SeenBefore => "seenBefore",
        Reason::TooFew { .. } => "tooFewSessions",
        Reason::ShortHistory { .. } => "shortHistory",
        Reason::NoDirection => "noDirection",
        Reason::Vague => "tooUncertain",
        Reason::NoScale | Reason::TooFar { .. } => "noScale",
    }
}

/// Says why a gate has nothing to evaluate.
pub fn nothing_to_evaluate(answer: &GateReport) -> String {
    match answer.lines.len() {
        0 => "no spec has a gate".to_owned(),
        1 => "the gated series has no result here".to_owned(),
        count => format!("none of the {count} gated series has a result here"),
    }
}

/// Says why a verdict is what it is, and what would decide.
pub(crate) fn reason(judgement: &Judgement, policy: Policy) -> String {
    let threshold = share(policy.threshold);
    let seen = judgement.detectable.map_or_else(String::new, |least| format!("; {}", would_have_been_detected(least)));
    let more = judgement.more.filter(|more| *more > 0);
    let more = more.map(|more| format!("; about {} should settle it", counted(more, "more session")));
    let more = more.unwrap_or_default();
    let is_from_zero = judgement.effect.is_some_and(|effect| effect.method == Method::FromZero);
    let counts = judgement.effect.map_or((0, 0), |effect| effect.counts);
    match judgement.reason {
        Reason::Change if is_from_zero => "statistically significant, from a baseline of 0".to_owned(),
        Reason::Change => format!("statistically significant, and beyond the {threshold} threshold"),
        Reason::Equivalent => format!("the whole 95 % confidence interval is within {threshold}"),
        Reason::Nothing => {
            // The interval is that of this metric alone.
            let is_alone = judgement.effect.is_some_and(|effect| effect.p <= SIGNIFICANT);
            let among = if is_alone { " among so many metrics" } else { "" };
            format!("not statistically significant{among} and within the {threshold} threshold{seen}")
        }
        Reason::NotSignificant if is_from_zero => {
            format!("above a baseline of 0, but not statistically significant{more}")
        }
        Reason::NotSignificant => {
            format!("exceeds the {threshold} threshold but is not statistically significant{more}")
        }
        Reason::NotAmongSoMany => {
            format!("significant by itself, but expected by chance among so many metrics{more}")
        }
        Reason::MayBeBeyond => {
            format!("something changed, but it is unclear whether by more than the {threshold} threshold{more}")
        }
        Reason::SeenBefore => format!(
            "exceeds the {threshold} threshold, but an earlier session was as far off and recovered; the next session decides"
        ),
        Reason::TooFew { wanted } if judgement.effect.is_none() => {
            format!("too few sessions: at least {wanted} are needed")
        }
        Reason::TooFew { wanted } => {
            let (baseline, candidate) = counts;
            format!(
                "too few sessions ({baseline} in the baseline, {candidate} in the candidate): with {wanted} in each, a \
                 difference can be significant"
            )
        }
        Reason::ShortHistory { wanted } => no_baseline(counts.0, wanted),
        Reason::NoDirection => {
            format!("it changed by more than {threshold}, but the metric has no direction")
        }
        Reason::Vague => {
            let (baseline, candidate) = counts;
            format!(
                "cannot be evaluated: too few sessions for this much noise ({baseline} in the baseline, {candidate} in \
                 the candidate){more}"
            )
        }
        Reason::TooFar { value } => {
            format!(
                "cannot be evaluated: {} is so far from the other values that a relative change is not a finite number",
                number(value)
            )
        }
        Reason::NoScale => {
            "cannot be evaluated: the baseline's median is 0 with values on both sides of it, so a relative change is \
             undefined"
                .to_owned()
        }
    }
}

/// Says that a series has too few earlier sessions for a baseline.
pub(crate) fn no_baseline(sessions: usize, wanted: usize) -> String {
    let known = match sessions {
        0 => "no earlier session".to_owned(),
        _ => format!("only {}", counted(sessions, "earlier session")),
    };
    if sessions < SHORTEST_HISTORY {
        format!(
            "{known}; with {SHORTEST_HISTORY}, significant regressions of twice the threshold fail the gate; with \
             {wanted}, those of the threshold do"
        )
    } else {
        format!("{known}; with {wanted}, significant regressions of the threshold fail the gate")
    }
}

/// Says which regression would have been seen.
pub(crate) fn would_have_been_detected(least: f64) -> String {
    format!("a regression of {} or more would have been detected with 90 % probability", about(least))
}

/// Returns a share from a file as a percentage without a sign, to three digits: `2 %`, `0.35 %`.
pub fn share(share: f64) -> String {
    percentage(share, 3)
}

/// Returns a share that was measured, to two digits: `4.1 %`, `17 %`.
pub fn about(share: f64) -> String {
    percentage(share, 2)
}

fn percentage(share: f64, digits: usize) -> String {
    let percent = share.abs() * 100.0;
    if percent >= 1000.0 {
        return "over 1000 %".to_owned();
    }
    let whole = if percent < 1.0 {
        0
    } else if percent < 10.0 {
        1
    } else {
        2
    };
    let decimals = digits.saturating_sub(whole);
    let text = format!("{percent:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} %")
}

/// A change by more than this share is said as a multiple.
const MANY: f64 = 3.0;

/// Returns a change with its sign, to the digits that its interval supports: `−8.0 %`; a large one as a multiple: `81 × as high`.
pub fn change(change: f64, interval: Option<(f64, f64)>) -> String {
    if change > MANY {
        return format!("{} × as high", multiple(change, interval));
    }
    format!("{} %", signed(change, digits(interval)))
}

/// Returns the interval of a change, as the change is said: `[−8.4, −7.6]`.
pub fn interval(change: f64, interval: (f64, f64)) -> String {
    if change > MANY {
        let end = |share: f64| multiple(share, Some(interval));
        return format!("[{}, {}]", end(interval.0), end(interval.1));
    }
    let digits = digits(Some(interval));
    format!("[{}, {}]", signed(interval.0, digits), signed(interval.1, digits))
}

/// Returns how many times as high a value is that changed by a share, to the digits that the interval supports.
fn multiple(share: f64, interval: Option<(f64, f64)>) -> String {
    let digits = match interval.map(|(low, high)| high - low) {
        Some(width) if width >= 5.0 => 0,
        Some(width) if width < 0.1 => 2,
        _ => 1,
    };
    match 1.0 + share {
        times if times >= 1000.0 => "over 1000".to_owned(),
        times => format!("{times:.digits$}"),
    }
}

/// Returns a change with its interval, where there is one: `−8.0 % [−8.4, −7.6]`.
pub fn estimate(share: f64, bounds: Option<(f64, f64)>) -> String {
    let change = change(share, bounds);
    bounds.map_or_else(|| change.clone(), |bounds| format!("{change} {}", interval(share, bounds)))
}

/// Returns how large a change is: in values, where the level before was 0.
pub fn size(size: Size, unit: Option<&str>) -> String {
    let by_values = || {
        let [before, after] = values([size.levels.0, size.levels.1], unit);
        format!("from {before} to {after}")
    };
    size.change.map_or_else(by_values, |change| estimate(change, size.interval))
}

/// The same without its interval.
pub fn amount(size: Size, unit: Option<&str>) -> String {
    size.change.map_or_else(|| self::size(size, unit), |share| change(share, size.interval))
}

/// Says who accepted a change, until when and why.
pub(crate) fn accepted(ack: &Acknowledged) -> String {
    let until = ack.expires.as_ref().map_or_else(String::new, |day| format!(" until {day}"));
    let up_to = ack.max_change.map_or_else(String::new, |share| format!(" up to {}", self::share(share)));
    let state = if ack.expired { "was accepted" } else { "accepted" };
    format!("{state} by {}{up_to}{until}: {} ({})", ack.by, ack.reason, ack.file)
}

/// Beyond this, how many times as much it is says nothing.
const MOST: f64 = 100.0;

fn signed(share: f64, digits: usize) -> String {
    let text = format!("{:.digits$}", share.abs() * 100.0);
    let is_zero = text.chars().all(|letter| matches!(letter, '0' | '.'));
    match share {
        share if share > MOST => format!("over +{:.0}", MOST * 100.0),
        _ if is_zero => text,
        share if share < 0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

/// An interval that is wide by tens of percent supports no decimals, one by hundredths of a percent two.
fn digits(interval: Option<(f64, f64)>) -> usize {
    match interval.map(|(low, high)| high - low) {
        Some(width) if width >= 0.2 => 0,
        Some(width) if width < 0.002 => 2,
        _ => 1,
    }
}

/// Returns a value with its unit, to four digits, with the prefix of its size: `1.447 Mtokens/s`.
pub fn value(value: f64, unit: Option<&str>) -> String {
    Scaled::of(value, unit).value(value)
}

/// Returns a value in the unit of its metric, as limits of a spec are written.
pub(crate) fn in_unit(value: f64, unit: Option<&str>) -> String {
    Scaled { unit: unit.map(str::to_owned), conversion: None }.value(value)
}

/// Returns values with one unit, as they are compared: `980 ms -> 12500 ms`.
pub fn values<const N: usize>(values: [f64; N], unit: Option<&str>) -> [String; N] {
    let scaled = Scaled::of_all(values.into_iter(), unit);
    values.map(|value| scaled.value(value))
}

/// Returns what a value was and is, with the unit once: `980 -> 12500 ms`.
pub(crate) fn from_to(before: f64, after: f64, unit: Option<&str>) -> String {
    let scaled = Scaled::of_all([before, after].into_iter(), unit);
    format!("{} -> {}", number(scaled.convert(before)), scaled.value(after))
}

/// A unit with the prefix with which values of a size are short. For people only: data has values in the unit of the metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaled {
    unit: Option<String>,
    conversion: Option<Conversion>,
}

impl Scaled {
    /// Returns the unit for values of the size of `value`; the unit itself, where it is not known or the value is short in it.
    pub fn of(value: f64, unit: Option<&str>) -> Self {
        let found = unit.and_then(|unit| MetricUnit::known(unit)?.readable(value));
        let (conversion, unit) = match found {
            Some((conversion, text)) => (Some(conversion), Some(text)),
            None => (None, unit.map(str::to_owned)),
        };
        Self { unit, conversion }
    }

    /// Returns the unit for values that are compared: that of the largest.
    pub fn of_all(values: impl Iterator<Item = f64>, unit: Option<&str>) -> Self {
        Self::of(values.fold(0.0, |size, value| value.abs().max(size)), unit)
    }

    /// Returns what it is called.
    pub fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }

    /// Returns a value in it.
    pub fn convert(&self, value: f64) -> f64 {
        self.conversion.map_or(value, |conversion| conversion.convert(value))
    }

    /// Returns a value in it, with it.
    pub fn value(&self, value: f64) -> String {
        let number = number(self.convert(value));
        match &self.unit {
            Some(unit) => format!("{number} {unit}"),
            None => number,
        }
    }
}

/// Returns a p value as people write it.
pub fn probability(p: f64) -> String {
    if p < 0.0001 { "p < 0.0001".to_owned() } else { format!("p = {}", number((p * 1e4).round() / 1e4)) }
}

/// Returns the hardware in a few words: what is not the same everywhere by default.
pub fn hardware(environment: &BTreeMap<String, String>) -> String {
    let order = ["gpu", "cpu", "driver", "instanceType", "target"];
    let said = order.iter().filter_map(|fact| environment.get(*fact).map(|value| (*fact, value)));
    let words = said.map(|(fact, value)| match fact {
        "driver" => format!("driver {value}"),
        "target" => format!("target {value}"),
        _ => value.clone(),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Returns the benchmark, or both where two are compared.
pub(crate) fn benchmark(line: &Line) -> String {
    match &line.baseline_benchmark {
        Some(baseline) => format!("{baseline} -> {}", line.benchmark),
        None => line.benchmark.clone(),
    }
}

/// Returns the metric with its labels.
pub fn metric(line: &Line) -> String {
    labelled(&line.metric, &line.labels)
}

/// Returns the verdict of a line for people: what was accepted, or keeps its limits, was seen to be so.
pub fn verdict(line: &Line) -> &'static str {
    match line.reason.as_str() {
        "accepted" => "accepted",
        "withinLimits" => "within limits",
        "fixedBaseline" if line.verdict == Verdict::NoChangeSeen => "within limits",
        _ => line.verdict.words(),
    }
}

/// Returns the change that a line is about: of an open one that of all its sessions. Without its interval where that says something else
/// than the verdict, as that of a few sessions far apart does; nothing where the change itself does, and where only a limit was passed.
pub fn shown(line: &Line) -> Option<Size> {
    let size = line.open.as_ref().and_then(|open| open.size).or_else(|| line.size())?;
    let is_worse = match line.verdict {
        Verdict::Regressed | Verdict::Pending => true,
        Verdict::Improved => false,
        _ => return Some(size),
    };
    let is_limit = || line.open.is_none() && limit(line).is_some_and(|_| line.reason != "fixedBaseline");
    if line.reason == NOT_SHOWN || is_limit() {
        return None;
    }
    let is_as_said = |share: f64| match line.direction {
        Direction::Higher => (share < 0.0) == is_worse && share != 0.0,
        Direction::Lower => (share > 0.0) == is_worse && share != 0.0,
        Direction::None => share != 0.0,
    };
    let interval = size.interval.filter(|(low, high)| is_as_said(*low) && is_as_said(*high));
    let change = size.change.unwrap_or(size.levels.1 - size.levels.0);
    is_as_said(change).then_some(Size { interval, ..size })
}

/// Returns the change of a line in a table: `~` where it is noise.
pub fn effect(line: &Line) -> String {
    let Some(size) = shown(line) else { return "–".to_owned() };
    let shown = self::size(size, line.unit.as_deref());
    if is_noise(line) { format!("~ {shown}") } else { shown }
}

/// Returns how far the change of a line goes: half as much is as far as twice as much; a limit that was passed is larger than any.
pub(crate) fn distance(line: &Line) -> f64 {
    match shown(line).map(|size| size.change) {
        Some(Some(change)) if change > -1.0 => stats::ln_1p(change).abs(),
        Some(_) => f64::MAX,
        None if limit(line).is_some() => f64::INFINITY,
        None => 0.0,
    }
}

/// Returns whether a change is noise: not significant, or within the threshold. What was accepted is not, nor what limits alone judge, nor
/// what is significant and beyond the threshold, and inconclusive for another reason.
pub fn is_noise(line: &Line) -> bool {
    let is_passed = matches!(line.reason.as_str(), "accepted" | "withinLimits" | "fixedBaseline");
    let is_beyond = matches!(line.reason.as_str(), "seenBefore" | "noDirection");
    matches!(line.verdict, Verdict::NoChangeSeen | Verdict::Unchanged | Verdict::Inconclusive)
        && !is_passed
        && !is_beyond
}

/// Returns whether a series shows too little for its calm to mean anything: not even half of its value, or twice of it, would have been seen.
pub fn is_blind(line: &Line) -> bool {
    let least = if line.direction == Direction::Lower { 1.0 } else { 0.5 };
    // What is not even looked for is no matter of the sessions.
    let is_asked = line.threshold < least && line.verdict != Verdict::Improved;
    is_asked && line.detectable.is_some_and(|detectable| detectable >= least)
}

/// Says what the change of a line is of, where it is not that of the two medians next to it.
pub fn of_differences(lines: &[Line]) -> Option<&'static str> {
    let is_shift = |line: &Line| {
        let method = line.method.as_deref().and_then(of_name);
        line.change.is_some()
            && matches!(method, Some(Method::Ranks | Method::RanksApproximate | Method::Correlated | Method::Pairs))
    };
    lines.iter().any(is_shift).then_some(
        "a change is the median of all differences between sessions, which may differ from the difference of the two \
         medians",
    )
}

/// Returns a method in words.
pub(crate) fn method(name: &str) -> &'static str {
    of_name(name).map_or("", Method::words)
}

fn of_name(name: &str) -> Option<Method> {
    Method::ALL.into_iter().find(|method| method.name() == name)
}

/// How the note begins that neighboring sessions are similar.
pub(crate) const AUTOCORRELATED: &str = "sessions are autocorrelated";

/// Says where a regression is that began before the candidate, by the name of the baseline: `already on main` where it decides
/// nothing, else `open on main`.
pub(crate) fn already(answer: &GateReport) -> String {
    let how = if answer.only_new { "already" } else { "open" };
    match answer.baseline.split_once(':') {
        Some(("branch", name)) => format!("{how} on {name}"),
        Some((_, name)) => format!("{how} in {name}"),
        None => "already open".to_owned(),
    }
}

/// Says in how many sessions an open change was seen: all of them are of the level that its size is of, or only the newest ones.
pub fn seen(sessions: usize, measured: usize) -> String {
    if measured < sessions {
        format!("{} at the current level, regressed for {sessions}", counted(measured, "session"))
    } else {
        format!("seen in {}", counted(sessions, "session"))
    }
}

/// What is said of an open change of which nothing else is known.
pub(crate) const UNRESOLVED: &str = "not resolved or acknowledged";

/// Says what is special about an open change: which acknowledgement does not reach, and how much worse the candidate is than it.
pub(crate) fn state(line: &Line) -> String {
    let further = line.open.as_ref().and_then(|open| open.further).map(|size| further(size, line.unit.as_deref()));
    let exceeded = line.message.split_once("; ").filter(|_| line.reason == "open").map(|(_, state)| state);
    let exceeded = exceeded.and_then(|state| state.split("; ").next()).filter(|state| *state != UNRESOLVED);
    exceeded.map(str::to_owned).into_iter().chain(further).map(|said| format!("; {said}")).collect()
}

/// Says how much worse a candidate is than the newest sessions of an open change.
pub(crate) fn further(size: Size, unit: Option<&str>) -> String {
    let side = if size.levels.1 < size.levels.0 { "below" } else { "above" };
    format!("this candidate is a further {} {side} these sessions", self::size(size, unit))
}

/// Returns the day of a time.
pub fn day(time: &str) -> &str {
    time.get(..10).unwrap_or(time)
}

/// Returns the branch, tag or revision that a baseline is of: `main` of `branch:main`.
pub fn branch(baseline: &str) -> &str {
    baseline.split_once(':').map_or(baseline, |(_, name)| name)
}

/// Returns the first digits of a commit.
pub fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

/// Returns a side as columns are headed: a commit by its first digits.
pub fn side(name: &str) -> String {
    let is_commit = |name: &str| name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    match name.strip_prefix("rev:") {
        Some(commit) if is_commit(commit) => format!("rev:{}", short(commit)),
        None if is_commit(name) => short(name).to_owned(),
        _ => name.to_owned(),
    }
}

/// Returns words as the beginning of a sentence.
pub fn sentence_case(words: &str) -> String {
    let is_path = words.split([' ', ':']).next().is_some_and(|first| first.contains('/'));
    if is_path {
        return words.to_owned();
    }
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::{about, estimate, share, value, values};

    #[test]
    fn values_have_the_prefix_of_their_size() {
        for (number, unit, shown) in [
            (1_347_000.0, Some("tokens/s"), "1.347 Mtokens/s"),
            (62_880_000.0, Some("ns"), "62.88 ms"),
            (5.053e10, Some("ns"), "50.53 s"),
            (0.0123, Some("s"), "12.3 ms"),
            (12_340.0, Some("s"), "12340 s"),
            (-62_880_000.0, Some("ns"), "−62.88 ms"),
            (17_179_869_184.0, Some("B"), "17.18 GB"),
            (40_960.0, Some("MiB"), "40 GiB"),
            (9_999.0, Some("images/s"), "9999 images/s"),
            (0.0, Some("ns"), "0 ns"),
            // Of what is not known, a prefix may mean something else.
            (1_347_000.0, Some("rows/s"), "1347000 rows/s"),
            (1_347_000.0, None, "1347000"),
            (90_000.0, Some("min"), "90000 min"),
        ] {
            assert_eq!(value(number, unit), shown);
        }
        assert_eq!(values([980.0, 12_500.0], Some("ms")), ["0.98 s", "12.5 s"]);
    }

    #[test]
    fn large_changes_are_multiples() {
        assert_eq!(estimate(0.42, Some((0.38, 0.46))), "+42.0 % [+38.0, +46.0]");
        assert_eq!(estimate(3.0, None), "+300.0 %");
        assert_eq!(estimate(79.18, Some((75.1, 84.2))), "80 × as high [76, 85]");
        assert_eq!(estimate(3.97, Some((3.95, 4.01))), "4.97 × as high [4.95, 5.01]");
        assert_eq!(estimate(3.5, Some((0.1, 5e6))), "4 × as high [1, over 1000]");
        assert_eq!(estimate(-0.987, None), "−98.7 %");
    }

    #[test]
    fn limits_are_shown_as_they_were_written_and_measured_shares_to_two_digits() {
        let limits = [
            (0.0004, "0.04 %"),
            (0.0025, "0.25 %"),
            (0.02, "2 %"),
            (0.035, "3.5 %"),
            (0.125, "12.5 %"),
            (1.0, "100 %"),
        ];
        for (limit, shown) in limits {
            assert_eq!(share(limit), shown);
        }
        for (measured, shown) in [(0.000_412, "0.04 %"), (0.0412, "4.1 %"), (0.1728, "17 %"), (18.33, "over 1000 %")] {
            assert_eq!(about(measured), shown);
        }
    }
}
