use kubebench_testing::snapshot::{assert_text, str};
use proptest::prelude::*;

use super::*;

fn help(text: &str) -> String {
    Duration::parse(text).unwrap_err().help.unwrap()
}

#[test]
fn reads_and_writes_canonically() {
    for (text, seconds, canonical) in [
        ("1s", 1, "1s"),
        ("90s", 90, "1m30s"),
        ("2h", 7_200, "2h"),
        ("1h30m", 5_400, "1h30m"),
        ("1d", 86_400, "1d"),
        ("24h", 86_400, "1d"),
        ("1d2h3m4s", 93_784, "1d2h3m4s"),
        ("0h5m", 300, "5m"),
        ("007s", 7, "7s"),
        ("3650d", 315_360_000, "3650d"),
    ] {
        let duration = Duration::parse(text).unwrap();
        assert_eq!((duration.seconds(), duration.to_string().as_str()), (seconds, canonical), "{text}");
    }
}

#[test]
fn refusals_say_what_to_write() {
    let grammar = || str! {"write whole numbers with the units `d`, `h`, `m`, `s`, such as `90s`, `2h` or `1h30m`"};
    for (text, message, advice) in [
        ("90", str! {"`90` has no unit"}, str! {"write `90s`"}),
        ("500ms", str! {"`500ms` is finer than a second; durations are whole seconds"}, str! {"write `1s`"}),
        ("1500ms", str! {"`1500ms` is finer than a second; durations are whole seconds"}, str! {"write `2s`"}),
        ("1.5h", str! {"`1.5h` has a fraction; durations are whole numbers"}, str! {"write `1h30m`"}),
        ("2H", str! {"`H` is not a unit of time"}, str! {"write `2h`"}),
        ("5 min", str! {"`5 min` has white space in it"}, str! {"write `5m`"}),
        ("2 hours 30 minutes", str! {"`2 hours 30 minutes` has white space in it"}, str! {"write `2h30m`"}),
        ("1w", str! {"`w` is not a unit of time"}, str! {"write `7d`"}),
        ("1h 30m", str! {"`1h 30m` has white space in it"}, str! {"write `1h30m`"}),
        ("30m1h", str! {"`30m1h` does not name its units from large to small, each once"}, str! {"write `1h30m`"}),
        ("1h1h", str! {"`1h1h` does not name its units from large to small, each once"}, str! {"write `2h`"}),
        ("1h30", str! {"`30` in `1h30` has no unit"}, grammar()),
        ("-5m", str! {"`-5m` is negative"}, grammar()),
        ("PT2H", str! {"`PT2H` does not start with a number"}, grammar()),
        ("", str! {"a duration is empty"}, grammar()),
        ("0", str! {"`0` is zero"}, str! {"write at least `1s`"}),
        ("0s", str! {"`0s` is zero"}, str! {"write at least `1s`"}),
        ("0h0m", str! {"`0h0m` is zero"}, str! {"write at least `1s`"}),
        ("3651d", str! {"`3651d` is longer than ten years"}, str! {"write at most `3650d`"}),
        (
            "99999999999999999999999h",
            str! {"`99999999999999999999999h` is longer than ten years"},
            str! {"write at most `3650d`"},
        ),
        (
            "18446744073709551615d",
            str! {"`18446744073709551615d` is longer than ten years"},
            str! {"write at most `3650d`"},
        ),
    ] {
        let error = Duration::parse(text).unwrap_err();
        assert_text(error.message, message);
        assert_text(error.help.unwrap(), advice);
    }
    assert_eq!(help("99999999999999999999999"), GRAMMAR);
}

#[test]
fn refusals_point_at_the_unit() {
    assert_eq!(Duration::parse("1h30x").unwrap_err().range, Some(4..5));
    assert_eq!(Duration::parse("2.5h").unwrap_err().range, Some(1..2));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_canonical_form_reads_back(seconds in 1..=LONGEST) {
        let text = Duration(seconds).to_string();
        prop_assert_eq!(Duration::parse(&text).unwrap().seconds(), seconds, "{}", text);
    }

    #[test]
    fn order_is_the_order_of_seconds(a in 1..=LONGEST, b in 1..=LONGEST) {
        prop_assert_eq!(Duration(a).cmp(&Duration(b)), a.cmp(&b));
    }
}

#[test]
fn spellings_of_other_programs_are_guessed() {
    for (text, meant) in [
        ("1.5 secs", "2s"),
        ("2 seconds", "2s"),
        ("1.5 days", "1d12h"),
        ("1 Day", "1d"),
        ("2 weeks", "14d"),
        ("3 Minutes", "3m"),
        ("2 hrs", "2h"),
        ("1500 msec", "2s"),
        ("3650 days", "3650d"),
    ] {
        assert_eq!(help(text), format!("write `{meant}`"), "{text}");
    }
    // Ten years are the most.
    assert!(help("3651 days").starts_with("write whole numbers"));
    assert_eq!(Duration::DAY.seconds(), 86_400);
}
