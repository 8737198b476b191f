//! What people read of lines that were made by hand: whatever a gate finds, it fits its room and contradicts nothing.

use std::collections::BTreeMap;

use super::super::model::{
    Direction, GateReport, Kind, Line, NO_SESSION, OpenChange, Outcome, SessionValue, Sessions, Size, Verdict,
};
use super::super::words;
use super::parts::{Parts, Places, Standing};
use super::{Detail, NoAddresses, Subject, View, human_gated, markdown_gated};

fn session(id: &str, started_at: &str, commit: Option<&str>) -> SessionValue {
    SessionValue {
        session: id.to_owned(),
        started_at: started_at.to_owned(),
        commit: commit.map(str::to_owned),
        value: 90.0,
        results: Vec::new(),
    }
}

/// A line of a metric that is better higher, whose candidate is the session `new` of the commit `c`.
fn line(verdict: Verdict, reason: &str) -> Line {
    let target = ("target".to_owned(), "gpu-eu".to_owned());
    Line {
        benchmark: "train".to_owned(),
        baseline_benchmark: None,
        case: "size-1".to_owned(),
        case_name: "size=1".to_owned(),
        environment: BTreeMap::from([target]),
        metric: "speed".to_owned(),
        labels: BTreeMap::new(),
        unit: Some("images/s".to_owned()),
        direction: Direction::Higher,
        kind: Kind::Primary,
        verdict,
        reason: reason.to_owned(),
        message: format!("message of {reason}"),
        change: Some(-0.1),
        interval: Some((-0.12, -0.08)),
        p: Some(0.001),
        adjusted_p: Some(0.002),
        method: None,
        threshold: 0.03,
        detectable: Some(0.04),
        more_sessions: None,
        next_run: None,
        correlation: None,
        baseline: Sessions {
            median: Some(100.0),
            sessions: vec![session("old", "2026-01-01", Some("a"))],
            ..Sessions::default()
        },
        candidate: Sessions {
            median: Some(90.0),
            sessions: vec![session("new", "2026-03-01", Some("c"))],
            ..Sessions::default()
        },
        open: None,
        acks: Vec::new(),
        notes: Vec::new(),
        unreachable: 0,
        on_default: false,
        synthetic: false,
    }
}

fn open(since: &str, commit: Option<&str>, change: f64, interval: (f64, f64)) -> OpenChange {
    OpenChange {
        session: "first".to_owned(),
        since: since.to_owned(),
        commit: commit.map(str::to_owned),
        after: Some("a".to_owned()),
        sessions: 9,
        measured: 9,
        size: Some(Size { change: Some(change), interval: Some(interval), levels: (100.0, 100.0 * (1.0 + change)) }),
        steps: Vec::new(),
        further: None,
    }
}

fn answer(lines: Vec<Line>, outcome: Outcome) -> GateReport {
    GateReport {
        outcome,
        baseline: "branch:main".to_owned(),
        only_new: false,
        candidate: "the newest session".to_owned(),
        results: None,
        origin: None,
        as_of: None,
        lines,
        left_out: Vec::new(),
        notes: Vec::new(),
    }
}

#[test]
fn no_interval_contradicts_its_verdict() {
    let shown = |line: &Line| words::shown(line).map(|size| (size.change.unwrap(), size.interval.is_some()));
    assert_eq!(shown(&line(Verdict::Regressed, "change")), Some((-0.1, true)));
    let with = |verdict, reason: &str, change, interval| Line {
        change: Some(change),
        interval: Some(interval),
        ..line(verdict, reason)
    };
    // An interval with 0 in it, or with an end at 0, is no regression's.
    assert_eq!(shown(&with(Verdict::Regressed, "open", -0.05, (-0.2, 0.03))), Some((-0.05, false)));
    assert_eq!(shown(&with(Verdict::Regressed, "open", -0.05, (-0.2, 0.0))), Some((-0.05, false)));
    // A change the other way is none at all.
    assert_eq!(shown(&with(Verdict::Regressed, "open", 0.0, (-0.96, 24.9))), None);
    assert_eq!(shown(&with(Verdict::Regressed, "open", 0.05, (0.01, 0.09))), None);
    assert_eq!(shown(&with(Verdict::Improved, "change", 0.05, (0.01, 0.09))), Some((0.05, true)));
    assert_eq!(shown(&with(Verdict::Improved, "change", 0.05, (-0.01, 0.09))), Some((0.05, false)));
    let lower = Line { direction: Direction::Lower, ..with(Verdict::Regressed, "change", 0.05, (0.01, 0.09)) };
    assert_eq!(shown(&lower), Some((0.05, true)));
    // What is inconclusive, or did not change, says all.
    assert_eq!(shown(&with(Verdict::Inconclusive, "notSignificant", -0.1, (-0.3, 0.1))), Some((-0.1, true)));
    // What the newest session does not show has no size; what passed a limit is no change.
    assert_eq!(shown(&with(Verdict::Pending, "notShown", 0.001, (-0.02, 0.02))), None);
    assert_eq!(shown(&line(Verdict::Pending, "firstHit")), Some((-0.1, true)));
    assert_eq!(shown(&line(Verdict::Regressed, "aboveMax")), None);
    // Of an open change all of its sessions are meant, whatever the newest one says.
    let open = Some(open("2026-02-01", Some("b"), -0.08, (-0.09, -0.07)));
    assert_eq!(shown(&Line { open, ..with(Verdict::Regressed, "open", 0.01, (-0.05, 0.07)) }), Some((-0.08, true)));
    for one in
        [with(Verdict::Regressed, "open", 0.0, (-0.96, 24.9)), with(Verdict::Regressed, "open", -0.05, (-0.2, 0.03))]
    {
        let answer = answer(vec![one], Outcome::Failed);
        for text in [
            human_gated(&answer, View { width: 100, detail: Detail::Short }),
            markdown_gated(&answer, &Subject::default(), &NoAddresses),
        ] {
            assert!(!text.contains("[−") && !text.contains("0.0 %"), "{text}");
        }
    }
}

#[test]
fn what_is_on_the_default_branch_already() {
    let all = [Verdict::Regressed, Verdict::Missing, Verdict::Invalid].map(|verdict| line(verdict, "change"));
    let there = all.clone().map(|line| Line { on_default: true, ..line });
    let (own, known) = (answer(all.to_vec(), Outcome::Failed), answer(there.to_vec(), Outcome::Failed));
    let (parts, others) = (Parts::of(&own.lines), Parts::of(&known.lines));
    assert_eq!((parts.worse.len(), parts.failing.len(), parts.known.len()), (1, 2, 0));
    assert_eq!((others.worse.len(), others.failing.len(), others.known.len()), (0, 0, 1));
    assert_eq!(others.known_failing.len(), 2);
    let only_new = GateReport { only_new: true, outcome: Outcome::Passed, ..known };
    let comment = markdown_gated(&only_new, &Subject::default(), &NoAddresses);
    assert!(comment.contains("**No new regression.**") && !comment.contains("fails"), "{comment}");
    assert!(
        comment.contains("<summary>Already on main: 1 regression, 2 series without a value</summary>"),
        "{comment}"
    );
}

#[test]
fn what_the_default_branch_never_ran_is_neutral() {
    let answer = answer(vec![line(Verdict::New, NO_SESSION)], Outcome::Passed);
    let comment = markdown_gated(&answer, &Subject::default(), &NoAddresses);
    assert!(comment.contains("### ⚪ ") && !comment.contains("passed"), "{comment}");
    let text = human_gated(&answer, View { width: 100, detail: Detail::Short });
    assert!(text.ends_with("nothing to compare with yet: 1 new\n"), "{text}");
}

#[test]
fn what_was_not_decided_is_no_pass() {
    let standing = |lines: Vec<Line>, outcome| {
        let answer = answer(lines, outcome);
        Parts::of(&answer.lines).standing(&answer)
    };
    let (fine, open) = (|| line(Verdict::Unchanged, "equivalent"), || line(Verdict::Inconclusive, "notSignificant"));
    assert_eq!(standing(vec![fine()], Outcome::Passed), Standing::Passed);
    assert_eq!(standing(vec![fine(), fine(), open()], Outcome::Passed), Standing::Passed);
    assert_eq!(standing(vec![fine(), open()], Outcome::Passed), Standing::Inconclusive);
    assert_eq!(standing(vec![open()], Outcome::Passed), Standing::Inconclusive);
    assert_eq!(standing(vec![line(Verdict::Missing, NO_SESSION)], Outcome::Passed), Standing::Inconclusive);
    let blind = Line { detectable: Some(0.6), ..line(Verdict::NoChangeSeen, "nothingSeen") };
    assert_eq!(standing(vec![blind], Outcome::Passed), Standing::Inconclusive);
    let pending = || line(Verdict::Pending, "notShown");
    assert_eq!(standing(vec![fine(), fine(), pending()], Outcome::Passed), Standing::Pending);
    assert_eq!(standing(vec![fine(), pending()], Outcome::Failed), Standing::Failed);
    for (lines, mark) in [(vec![open()], "⚪"), (vec![pending(), fine()], "⚪"), (vec![fine()], "✅")] {
        let answer = answer(lines, Outcome::Passed);
        let comment = markdown_gated(&answer, &Subject::default(), &NoAddresses);
        let heading = comment.lines().nth(1).unwrap();
        assert!(heading.starts_with(&format!("### {mark} ")), "{heading}");
        let text = human_gated(&answer, View { width: 100, detail: Detail::Short });
        assert_eq!((heading.contains("passed"), text.contains("passed")), (mark == "✅", mark == "✅"), "{text}");
    }
}

#[test]
fn equal_rows_are_one() {
    let absent = |benchmark: usize, case: usize, metric: &str| Line {
        benchmark: format!("bench-{benchmark}"),
        case: format!("case-{case}"),
        case_name: format!("case={case}"),
        metric: metric.to_owned(),
        ..line(Verdict::Missing, NO_SESSION)
    };
    let lines: Vec<Line> =
        (0..83).flat_map(|at| ["speed", "loss"].map(|metric| absent(at % 22, at / 22, metric))).collect();
    let parts = Parts::of(&lines);
    let said: Vec<[String; 2]> = parts.failing.iter().map(|group| group.sentence(&Places::of(&lines))).collect();
    assert_eq!(
        said,
        [["missing: 83 cases of 22 benchmarks have no result on gpu-eu", "bench-0; bench-1; bench-10 and 19 more"]]
    );
}

#[test]
fn a_target_is_named_where_it_tells_rows_apart() {
    let on = |target: &str, cpu: &str| Line {
        environment: BTreeMap::from(
            [("target", target), ("cpu", cpu)].map(|(fact, value)| (fact.to_owned(), value.to_owned())),
        ),
        ..line(Verdict::Regressed, "change")
    };
    let names = |lines: &[Line]| lines.iter().map(|line| Places::of(lines).name(line)).collect::<Vec<_>>();
    assert_eq!(names(&[on("eu", "x")]), ["train [size=1], speed"]);
    assert_eq!(names(&[on("eu", "x"), on("us", "x")]), ["train [size=1] on eu, speed", "train [size=1] on us, speed"]);
    let one = names(&[on("eu", "x"), on("eu", "y")]);
    assert_eq!(one, ["train [size=1] on x, target eu, speed", "train [size=1] on y, target eu, speed"]);
}

/// Whatever the lines are, what is printed fits the terminal, and the worst is first and last.
#[test]
fn what_is_printed_fits_the_terminal() {
    let verdicts = [
        (Verdict::Regressed, "change"),
        (Verdict::Regressed, "open"),
        (Verdict::Regressed, "belowMin"),
        (Verdict::Pending, "notShown"),
        (Verdict::Invalid, "noValidRun"),
        (Verdict::Missing, NO_SESSION),
        (Verdict::Incomparable, "otherUnit"),
        (Verdict::Inconclusive, "notSignificant"),
        (Verdict::Inconclusive, "tooFewSessions"),
        (Verdict::Improved, "change"),
        (Verdict::NoChangeSeen, "nothingSeen"),
        (Verdict::Unchanged, "equivalent"),
    ];
    let many = (0..40).flat_map(|at| verdicts.map(|verdict| (at, verdict)));
    let lines: Vec<Line> = many
        .map(|(at, (verdict, reason))| Line {
            benchmark: format!("a-benchmark-{at}"),
            case_name: format!("documents={at}, words=1024, precision=bf16"),
            change: Some(-0.05 - f64::from(at) / 100.0),
            message: format!(
                "a message of several words, which is about {reason} and is longer than one line of a terminal"
            ),
            notes: vec![format!("a note of several words that is the same for many lines and about number {}", at % 3)],
            ..line(verdict, reason)
        })
        .collect();
    for (count, outcome) in [(lines.len(), Outcome::Failed), (24, Outcome::Failed), (0, Outcome::Passed)] {
        let answer = answer(lines.iter().take(count).cloned().collect(), outcome);
        for width in [40, 60, 80, 100, 200] {
            for detail in [Detail::Short, Detail::Full] {
                let text = human_gated(&answer, View { width, detail });
                for one in text.lines() {
                    assert!(one.chars().count() <= width, "{width} {detail:?}: {one}");
                }
            }
        }
        if count == lines.len() {
            let text = human_gated(&answer, View { width: 100, detail: Detail::Short });
            assert!(text.starts_with("regressed: a-benchmark-") && text.lines().count() < 200, "{text}");
            let last = text.lines().last().unwrap();
            assert!(last.starts_with("gate failed: 120 regressed (speed of a-benchmark-"), "{last}");
        }
    }
}
