//! What people read of lines that were made by hand: whatever a gate finds, it fits its room and contradicts nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::super::model::{
    Direction, GateReport, Kind, LevelChange, Line, NO_SESSION, OpenChange, Outcome, SessionValue, Sessions, Size,
    Turn, Verdict,
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
        neighbors: BTreeSet::new(),
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
        first: None,
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
        weakened: Vec::new(),
        left_out: Vec::new(),
        signatures: None,
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
    // A change the other way is not one.
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
    // What fails the gate is not folded away.
    let comment = markdown_gated(&known, &Subject::default(), &NoAddresses);
    let above = comment.split("<details>").next().unwrap();
    assert!(above.contains("**Open on main: 1 regression, 2 series without a value**\n\n- `speed`"), "{comment}");
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

fn printed(lines: Vec<Line>, detail: Detail) -> String {
    human_gated(&answer(lines, Outcome::Failed), View { width: 100, detail })
}

fn commented(lines: Vec<Line>) -> String {
    markdown_gated(&answer(lines, Outcome::Failed), &Subject::default(), &NoAddresses)
}

fn of_case(case: usize, change: f64) -> Line {
    Line {
        case: format!("size-{case}"),
        case_name: format!("size={case}"),
        change: Some(change),
        interval: Some((change - 0.01, change + 0.01)),
        ..line(Verdict::Regressed, "change")
    }
}

/// Since when, in how many sessions, which way is better, how sure, and what to do next.
#[test]
fn a_fresh_regression_has_three_lines() {
    assert_eq!(
        printed(vec![line(Verdict::Regressed, "change")], Detail::Short).lines().take(3).collect::<Vec<_>>(),
        [
            "regressed: train [size=1], speed: −10.0 % [−12.0, −8.0]",
            "  since 2026-03-01 (c), in the newest session: 100 -> 90 images/s (higher is better); adjusted",
            "    p = 0.002, 3 % threshold",
        ]
    );
    let without_commits = Line { baseline: Sessions::default(), ..line(Verdict::Regressed, "change") };
    let text = printed(vec![without_commits], Detail::Short);
    assert!(text.contains("  next: fix it, or accept it:\n        kubebench ack train --metric speed"), "{text}");
    let named =
        GateReport { candidate: "c".to_owned(), ..answer(vec![line(Verdict::Regressed, "change")], Outcome::Failed) };
    let text = human_gated(&named, View { width: 100, detail: Detail::Short });
    assert!(text.contains("since 2026-03-01 (c), seen in 1 session: "), "{text}");
    // Earlier sessions may have passed the limit too.
    let text = printed(vec![line(Verdict::Regressed, "belowMin")], Detail::Short);
    assert!(text.contains("\n  on 2026-03-01 (c), in the newest session: 100 -> 90 images/s"), "{text}");
    let comment = commented(vec![line(Verdict::Regressed, "change")]);
    let said = "(higher is better, adjusted p = 0.002) since 2026-03-01 (`c`), in the newest session";
    assert!(comment.contains(said), "{comment}");
}

/// One metric that got worse in several cases at once is one block, and one row.
#[test]
fn cases_that_got_worse_together_are_one() {
    let lines: Vec<Line> = (1..5_u8).map(|case| of_case(case.into(), -0.1 - f64::from(case) / 100.0)).collect();
    let text = printed(lines.clone(), Detail::Short);
    assert_eq!(text.matches("regressed: ").count(), 1, "{text}");
    assert!(text.starts_with("regressed: train [size=4], speed: −14.0 %"), "{text}");
    assert!(text.contains("\n  also in 3 more cases: −11.0 to −13.0 % (size=3; size=2; size=1)\n"), "{text}");
    assert!(text.contains("gate failed: 4 regressed"), "{text}");
    assert_eq!(printed(lines.clone(), Detail::Full).matches("regressed: ").count(), 4);
    let comment = commented(lines.clone());
    assert_eq!(comment.matches(" got worse: ").count(), 1, "{comment}");
    assert!(comment.contains("\n  - Also in 3 more cases: −11.0 to −13.0 % (size=3; size=2; size=1)\n"), "{comment}");
    let two = printed(lines.iter().take(2).cloned().collect(), Detail::Short);
    assert!(two.contains("\n  also in 1 more case: −11.0 % [−12.0, −10.0] (size=1)\n"), "{two}");
    // In addition to what is new, what is known has rows.
    let known = lines.iter().map(|line| Line { on_default: true, ..line.clone() });
    let text = printed(known.chain([of_case(9, -0.5)]).collect(), Detail::Short);
    assert!(text.contains("CHANGE            SINCE       BETTER  SERIES\n"), "{text}");
    assert!(text.contains("\n−11.0 to −14.0 %  2026-03-01  higher  train, speed, 4 cases\n"), "{text}");
    // Another day, another metric, another gate of the same case, or no size: not the same.
    let other = |change: &dyn Fn(&mut Line)| {
        let mut other = of_case(1, -0.11);
        change(&mut other);
        printed(vec![of_case(2, -0.2), other, of_case(1, -0.12)], Detail::Short).matches("regressed: ").count()
    };
    assert_eq!(other(&|line| line.case = "size-3".to_owned()), 1);
    assert_eq!(other(&|_| {}), 2, "two gates of a case");
    assert_eq!(other(&|line| line.metric = "loss".to_owned()), 2);
    assert_eq!(other(&|line| line.open = Some(open("2026-02-01", None, -0.1, (-0.2, -0.05)))), 2);
    assert_eq!(other(&|line| line.candidate.sessions = vec![session("new", "2026-03-02", Some("c"))]), 2);
    assert_eq!(other(&|line| line.reason = "belowMin".to_owned()), 2);
}

/// A long name costs no other row its interval.
#[test]
fn intervals_stay_beside_long_names() {
    let known = |at: usize, case: &str| Line {
        benchmark: format!("train-{at}"),
        case_name: case.to_owned(),
        on_default: true,
        ..line(Verdict::Regressed, "change")
    };
    let long = "documents=1024, words=2048, precision=bf16, optimizer=adamw, scheduler=cosine";
    let lines = vec![line(Verdict::Regressed, "change"), known(1, "size=1"), known(2, long)];
    let text = printed(lines.clone(), Detail::Short);
    assert_eq!(text.matches("−10.0 % [−12.0, −8.0]  2026-03-01  higher  train-").count(), 2, "{text}");
    assert!(text.contains('…'), "{text}");
    let narrow = human_gated(&answer(lines, Outcome::Failed), View { width: 40, detail: Detail::Short });
    assert!(narrow.contains("\n−10.0 %  train-1"), "{narrow}");
}

#[test]
fn improvements_are_counted_and_the_largest_are_named() {
    let improved = |at: usize, change: f64| Line {
        benchmark: format!("train-{at}"),
        change: Some(change),
        interval: None,
        ..line(Verdict::Improved, "change")
    };
    let one = printed(vec![line(Verdict::Regressed, "change"), improved(1, 0.1)], Detail::Short);
    assert!(one.contains("\n1 series improved: speed of train-1 +10.0 %\n"), "{one}");
    let mut lines: Vec<Line> = (1..8_u8).map(|at| improved(at.into(), f64::from(at) / 10.0)).collect();
    lines.push(line(Verdict::Regressed, "change"));
    let many = printed(lines.clone(), Detail::Short).replace("\n  ", " ");
    let named = "speed of train-7 +70.0 %, speed of train-6 +60.0 %, speed of train-5 +50.0 %";
    assert!(many.contains(&format!("\n7 series improved; the largest changes: {named}\n")), "{many}");
    let comment = commented(lines);
    assert!(comment.contains(&format!("; 7 improved, the largest changes: {named}.")), "{comment}");
    let none = printed(vec![line(Verdict::Regressed, "change")], Detail::Short);
    assert!(!none.contains("improved"), "{none}");
}

/// A comment that failed does not say that there are no regressions, and the noisiest series does not speak for all.
#[test]
fn what_did_not_get_worse_contradicts_nothing() {
    let fine = |detectable: f64| Line { detectable: Some(detectable), ..line(Verdict::Unchanged, "equivalent") };
    let comment = commented(vec![line(Verdict::Regressed, "change"), fine(0.02), fine(0.04), fine(0.38)]);
    assert!(
        !comment.contains("No regressions") && comment.contains("No regression was found in 3 other series."),
        "{comment}"
    );
    let least = "The smallest regression that would have been detected with 90 % probability: 4 % in the median series, 38 % in the noisiest one.";
    assert!(comment.contains(least), "{comment}");
    let known = Line { on_default: true, ..line(Verdict::Regressed, "change") };
    assert!(!commented(vec![known, fine(0.02)]).contains("No regressions"));
    let calm = markdown_gated(&answer(vec![fine(0.04)], Outcome::Passed), &Subject::default(), &NoAddresses);
    let said =
        "No regressions in 1 series. A regression of 4 % or more would have been detected with 90 % probability.";
    assert!(calm.contains(said), "{calm}");
}

#[test]
fn one_p_value_is_shown_and_named() {
    let with = |p, adjusted_p| Line { p, adjusted_p, ..line(Verdict::Regressed, "change") };
    let said = |p, adjusted| words::sureness(&with(p, adjusted));
    assert_eq!(said(Some(0.0023), Some(0.0061)).as_deref(), Some("adjusted p = 0.0061"));
    assert_eq!(said(Some(0.0023), Some(0.0023)).as_deref(), Some("p = 0.0023"));
    assert_eq!(said(Some(0.0023), None).as_deref(), Some("p = 0.0023"));
    assert_eq!(said(None, None), None);
    for text in [
        printed(vec![with(Some(0.0023), Some(0.0061))], Detail::Short),
        commented(vec![with(Some(0.0023), Some(0.0061))]),
    ] {
        assert!(text.contains("p = 0.0061") && !text.contains("0.0023"), "{text}");
    }
    let method = Some("tPredictionInterval".to_owned());
    let full = printed(vec![Line { method, ..with(Some(0.0023), Some(0.0061)) }], Detail::Full);
    assert!(full.contains("adjusted p = 0.0061, unadjusted p = 0.0023"), "{full}");
}

/// Each step of an open change has its date, commit and size.
#[test]
fn steps_are_named_with_their_sizes() {
    let first = Size { change: Some(-0.056), interval: Some((-0.066, -0.047)), levels: (100.0, 94.4) };
    let step = LevelChange {
        session: "second".to_owned(),
        since: "2026-02-10".to_owned(),
        turn: Turn::Worse,
        commit: Some("e".to_owned()),
        after: Some("d".to_owned()),
        change: Some(-0.078),
        interval: Some((-0.087, -0.067)),
        levels: (94.4, 87.0),
    };
    let with = |count: usize| {
        let steps = (0..count).map(|at| LevelChange { since: format!("2026-02-1{at}"), ..step.clone() }).collect();
        let open = open("2026-02-01", Some("b"), -0.13, (-0.14, -0.12));
        let open = OpenChange { measured: 3, first: Some(first), steps, ..open };
        Line { open: Some(open), ..line(Verdict::Regressed, "open") }
    };
    let text = printed(vec![with(1)], Detail::Short);
    assert!(text.contains("since 2026-02-01 (b), in 2 steps, 3 sessions at the current level"), "{text}");
    let full = printed(vec![with(1)], Detail::Full);
    let steps = "  step of 2026-02-01 (b): −5.6 % [−6.6, −4.7]\n  step of 2026-02-10 (e): −7.8 % [−8.7, −6.7]\n";
    assert!(full.contains(steps), "{full}");
    let comment = commented(vec![with(1)]);
    let steps = "  - Steps: 2026-02-01 (`b`) **−5.6 %** [−6.6, −4.7]; 2026-02-10 (`e`) **−7.8 %** [−8.7, −6.7]\n";
    assert!(comment.contains(steps), "{comment}");
    let comment = commented(vec![with(5)]);
    let steps = comment.lines().find(|line| line.contains("Steps: ")).unwrap();
    assert!(
        steps.contains("2026-02-01") && steps.contains("2026-02-14") && steps.ends_with("; 3 more between them"),
        "{steps}"
    );
    let single = printed(vec![with(0)], Detail::Full) + &commented(vec![with(0)]);
    assert!(!single.to_lowercase().contains("step"), "{single}");
}

#[test]
fn what_is_significant_and_beyond_the_threshold_is_no_noise() {
    for (reason, is_noise) in
        [("notSignificant", true), ("notAmongSoMany", true), ("seenBefore", false), ("noDirection", false)]
    {
        assert_eq!(words::is_noise(&line(Verdict::Inconclusive, reason)), is_noise, "{reason}");
    }
}

/// What was just said of the worst that is inconclusive is not said again.
#[test]
fn the_table_repeats_nothing() {
    let doubtful =
        |at: usize| Line { benchmark: format!("train-{at}"), ..line(Verdict::Inconclusive, "notSignificant") };
    let text = printed((0..3).map(doubtful).collect(), Detail::Short);
    let counts = [0, 1, 2].map(|at| text.matches(&format!("train-{at}")).count());
    assert_eq!(counts, [1, 1, 1], "{text}");
    assert!(!printed(vec![doubtful(0)], Detail::Short).contains("BENCHMARK"));
}

#[test]
fn what_matters_comes_first_and_commands_are_code() {
    let lines = vec![line(Verdict::Regressed, "change"), line(Verdict::Inconclusive, "notSignificant")];
    let answer = GateReport { notes: vec![words::SYNTHETIC.to_owned()], ..answer(lines, Outcome::Failed) };
    let subject = Subject { folder: "perf/net/".to_owned(), name: None };
    let comment = markdown_gated(&answer, &subject, &NoAddresses);
    let mut shown = comment.lines().skip(1);
    assert_eq!(shown.next(), Some("### ❌ Kubebench gate of `perf/net` failed"));
    let note = "⚠️ Some results are synthetic: `kubebench mock` made them, and nothing ran.";
    assert_eq!((shown.next(), shown.next()), (Some(""), Some(note)), "{comment}");
    assert_eq!(comment.matches("synthetic").count(), 1, "{comment}");
    let (above, folded) = comment.split_once("<details>").unwrap();
    assert!(above.contains("got worse") && !above.contains('⚪'), "{comment}");
    assert!(folded.starts_with("<summary>Inconclusive or new</summary>\n\n- ⚪ "), "{comment}");
    assert!(folded.contains("fix it, or accept it: `kubebench ack train --metric speed "), "{comment}");
}

#[test]
fn what_a_sentence_quotes_is_code() {
    assert_eq!(super::prose("run `a|b` or <x> `open"), "run `a|b` or &lt;x&gt; \\`open");
    assert_eq!(super::prose("`a`"), "`a`");
}

#[test]
fn nothing_ends_a_span_of_code() {
    assert_eq!(super::code_span("a:1"), "`a:1`");
    assert_eq!(super::code_span("a`b``c"), "```a`b``c```");
    assert_eq!(super::code_span("`a`"), "`` `a` ``");
    assert_eq!(super::code_span(" a"), "`  a `");
    assert_eq!(super::code_span("a\nb"), "`a b`");
    assert_eq!(super::code_span(""), "`\"\"`");
    assert_eq!(super::code_cell("a|b"), "`a\\|b`");
    assert_eq!(super::code_cell("a\\|b"), "`a\u{2216}\\|b`");
}
