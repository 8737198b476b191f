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
    for (text, message, advice) in [
        ("90", "`90` has no unit", "write `90s`"),
        ("500ms", "`500ms` is finer than a second; durations are whole seconds", "write `1s`"),
        ("1500ms", "`1500ms` is finer than a second; durations are whole seconds", "write `2s`"),
        ("1.5h", "`1.5h` has a fraction; durations are whole numbers", "write `1h30m`"),
        ("2H", "`H` is not a unit of time", "write `2h`"),
        ("5 min", "`5 min` has white space in it", "write `5m`"),
        ("2 hours 30 minutes", "`2 hours 30 minutes` has white space in it", "write `2h30m`"),
        ("1w", "`w` is not a unit of time", "write `7d`"),
        ("1h 30m", "`1h 30m` has white space in it", "write `1h30m`"),
        ("30m1h", "`30m1h` does not name its units from large to small, each once", "write `1h30m`"),
        ("1h1h", "`1h1h` does not name its units from large to small, each once", "write `2h`"),
        ("1h30", "`30` in `1h30` has no unit", GRAMMAR),
        ("-5m", "`-5m` is negative", GRAMMAR),
        ("PT2H", "`PT2H` does not start with a number", GRAMMAR),
        ("", "a duration is empty", GRAMMAR),
        ("0", "`0` is no time at all", "write at least `1s`"),
        ("0s", "`0s` is no time at all", "write at least `1s`"),
        ("0h0m", "`0h0m` is no time at all", "write at least `1s`"),
        ("3651d", "`3651d` is longer than ten years", "write at most `3650d`"),
        ("99999999999999999999999h", "`99999999999999999999999h` is longer than ten years", "write at most `3650d`"),
        ("18446744073709551615d", "`18446744073709551615d` is longer than ten years", "write at most `3650d`"),
    ] {
        let error = Duration::parse(text).unwrap_err();
        assert_eq!((error.message.as_str(), error.help.as_deref()), (message, Some(advice)), "{text}");
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
