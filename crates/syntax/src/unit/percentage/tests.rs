use kubebench_testing::snapshot::{assert_text, str};
use proptest::prelude::*;

use super::*;

#[test]
fn reads_and_writes_canonically() {
    for (text, fraction, canonical) in [
        ("3%", 0.03, "3%"),
        ("2.5%", 0.025, "2.5%"),
        ("2.50%", 0.025, "2.5%"),
        ("100%", 1.0, "100%"),
        ("100.000%", 1.0, "100%"),
        ("0.000001%", 0.000_000_01, "0.000001%"),
        ("007%", 0.07, "7%"),
    ] {
        let percentage = Percentage::parse(text).unwrap();
        assert_eq!(percentage.to_string(), canonical, "{text}");
        assert!((percentage.fraction() - fraction).abs() < 1e-15, "{text}");
    }
    assert!(Percentage::parse("2.5%").unwrap() < Percentage::parse("3%").unwrap());
}

#[test]
fn refusals_say_what_to_write() {
    let grammar = || str! {"write a percentage above 0 % and up to 100 %, such as `3%` or `2.5%`"};
    for (text, message, advice) in [
        ("3", str! {"`3` has no percent sign"}, str! {"write `3%`"}),
        ("0.03", str! {"`0.03` has no percent sign"}, str! {"write `3%`"}),
        ("0.035", str! {"`0.035` has no percent sign"}, str! {"write `3.5%`"}),
        (".5", str! {"`.5` has no percent sign"}, str! {"write `50%`"}),
        ("1.5", str! {"`1.5` has no percent sign"}, str! {"write `1.5%`"}),
        ("3 percent", str! {"`3 percent` has no percent sign"}, str! {"write `3%`"}),
        ("3 %", str! {"`3 %` is not a number and a percent sign"}, str! {"write `3%`"}),
        ("3,5%", str! {"`3,5%` is not a number and a percent sign"}, str! {"write `3.5%`"}),
        (".5%", str! {"`.5%` is not a number and a percent sign"}, str! {"write `0.5%`"}),
        ("5.%", str! {"`5.%` is not a number and a percent sign"}, str! {"write `5%`"}),
        ("3%%", str! {"`3%%` is not a number and a percent sign"}, str! {"write `3%`"}),
        ("-3%", str! {"`-3%` is negative"}, grammar()),
        ("0%", str! {"`0%` is not more than zero"}, grammar()),
        ("0.0%", str! {"`0.0%` is not more than zero"}, grammar()),
        ("100.1%", str! {"`100.1%` is more than `100%`"}, grammar()),
        ("4294967396%", str! {"`4294967396%` is more than `100%`"}, grammar()),
        ("0.0000001%", str! {"`0.0000001%` has more than 6 decimal places"}, str! {"round it"}),
        ("", str! {"a percentage is empty"}, grammar()),
        ("%", str! {"`%` is not a number and a percent sign"}, grammar()),
        ("much", str! {"`much` has no percent sign"}, grammar()),
    ] {
        let error = Percentage::parse(text).unwrap_err();
        assert_text(error.message, message);
        assert_text(error.help.unwrap(), advice);
    }
    assert_eq!(Percentage::parse("12.0000001%").unwrap_err().range, Some(3..10));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_canonical_form_reads_back(micropercent in 1..=100 * ONE_PERCENT) {
        let percentage = Percentage { micropercent };
        prop_assert_eq!(Percentage::parse(&percentage.to_string()).unwrap(), percentage);
    }
}
