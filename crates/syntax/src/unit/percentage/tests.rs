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
    for (text, message, advice) in [
        ("3", "`3` has no percent sign", "write `3%`"),
        ("0.03", "`0.03` has no percent sign", "write `3%`"),
        ("0.035", "`0.035` has no percent sign", "write `3.5%`"),
        (".5", "`.5` has no percent sign", "write `50%`"),
        ("1.5", "`1.5` has no percent sign", "write `1.5%`"),
        ("3 percent", "`3 percent` has no percent sign", "write `3%`"),
        ("3 %", "`3 %` is not a number and a percent sign", "write `3%`"),
        ("3,5%", "`3,5%` is not a number and a percent sign", "write `3.5%`"),
        (".5%", "`.5%` is not a number and a percent sign", "write `0.5%`"),
        ("5.%", "`5.%` is not a number and a percent sign", "write `5%`"),
        ("3%%", "`3%%` is not a number and a percent sign", "write `3%`"),
        ("-3%", "`-3%` is negative", GRAMMAR),
        ("0%", "`0%` is not more than zero", GRAMMAR),
        ("0.0%", "`0.0%` is not more than zero", GRAMMAR),
        ("100.1%", "`100.1%` is more than `100%`", GRAMMAR),
        ("4294967396%", "`4294967396%` is more than `100%`", GRAMMAR),
        ("0.0000001%", "`0.0000001%` has more than 6 decimal places", "round it"),
        ("", "a percentage is empty", GRAMMAR),
        ("%", "`%` is not a number and a percent sign", GRAMMAR),
        ("much", "`much` has no percent sign", GRAMMAR),
    ] {
        let error = Percentage::parse(text).unwrap_err();
        assert_eq!((error.message.as_str(), error.help.as_deref()), (message, Some(advice)), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_canonical_form_reads_back(micropercent in 1..=100 * ONE_PERCENT) {
        let percentage = Percentage { micropercent };
        prop_assert_eq!(Percentage::parse(&percentage.to_string()).unwrap(), percentage);
    }
}
