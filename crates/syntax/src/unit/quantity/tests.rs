use kubebench_testing::snapshot::{assert_text, str};
use proptest::prelude::*;

use super::*;

fn canonical(text: &str) -> String {
    Quantity::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).canonical()
}

/// Texts that the API server reads as something other than what is written, which we refuse.
fn is_refused_on_purpose(text: &str, error: &UnitError) -> bool {
    let has_no_digit =
        !text.split(|c: char| c.is_ascii_alphabetic()).next().unwrap().contains(|c: char| c.is_ascii_digit());
    (text.starts_with('-') && error.message.contains("negative"))
        || (has_no_digit && error.message.contains("does not start with a number"))
        || error.message.contains("finer than a billionth")
        || error.message.contains("more than a quantity can hold")
}

/// The judge is apimachinery itself: testdata/vectors/main.go.
#[test]
fn agrees_with_kubernetes() {
    let (mut accepted, mut refused, mut on_purpose) = (0, 0, 0);
    for line in include_str!("../testdata/quantity.tsv").lines().filter(|line| !line.starts_with("# ")) {
        let columns: Vec<&str> = line.split('\t').collect();
        match (columns.as_slice(), Quantity::parse(columns[0])) {
            ([_, "ok", canonical], Ok(quantity)) => {
                assert_eq!(quantity.canonical(), *canonical, "{line}");
                accepted += 1;
            }
            ([_, "err"], Err(_)) => refused += 1,
            ([text, "ok", _], Err(error)) => {
                assert!(is_refused_on_purpose(text, &error), "{line}: {error}");
                on_purpose += 1;
            }
            (_, verdict) => panic!("{line}: {verdict:?}"),
        }
    }
    println!("{accepted} accepted, {refused} refused, {on_purpose} refused on purpose");
    assert!(accepted > 150 && refused > 30 && on_purpose > 30, "{accepted} {refused} {on_purpose}");
}

/// The fine and the large end, where a slip of the classes above would hide.
#[test]
fn refuses_exactly_what_cannot_be_held() {
    for text in [
        "1n",
        "0.5u",
        "0.0009765625Ki",
        "9223372036854775807",
        "7Ei",
        "9E",
        "9.223372036854775807E",
        "0e99999999999",
        "0.3Gi",
    ] {
        assert!(Quantity::parse(text).is_ok(), "{text}");
    }
    for (text, end) in
        [("0.1n", "(`1n`)"), ("1e-10", "(`1n`)"), ("0.0000000001", "(`1n`)"), ("1e-99999999999", "(`1n`)")]
            .into_iter()
            .chain([
                ("9223372036854775808", "(2^63-1)"),
                ("8Ei", "(2^63-1)"),
                ("10E", "(2^63-1)"),
                ("1e99999999999", "(2^63-1)"),
            ])
    {
        let error = Quantity::parse(text).unwrap_err();
        assert!(error.message.ends_with(end), "{text}: {error}");
    }
    assert_eq!(canonical(&format!("1{}e-60", "0".repeat(61))), "10e0".replace("e0", ""));
    assert_eq!(canonical("0.0009765625Ki"), "1");
    // With more digits than fit, what is finer than a billionth is distinguished from what is too large by the place of the first digit.
    for (exponent, end) in [("", "(2^63-1)"), ("e-18", "(2^63-1)"), ("e-19", "(`1n`)"), ("e-60", "(`1n`)")] {
        let error = Quantity::parse(&format!("{}{exponent}", "9".repeat(40))).unwrap_err();
        assert!(error.message.ends_with(end), "{exponent}: {error}");
    }
    for text in ["1e", "1e+", "1e-x", "1ex"] {
        assert!(Quantity::parse(text).unwrap_err().message.contains("is not a suffix"), "{text}");
    }
    assert!(Quantity::parse(&"9".repeat(400)).is_err());
    assert!(Quantity::parse(&format!("0.{}", "9".repeat(400))).is_err());
}

#[test]
fn canonical_forms_of_the_documentation() {
    for (text, expected) in [
        ("1024Mi", "1Gi"),
        ("1000m", "1"),
        ("0.5", "500m"),
        ("1.5Gi", "1536Mi"),
        ("1023.5Ki", "1048064"),
        ("0.3Gi", "322122547200m"),
        ("0Gi", "0"),
    ] {
        assert_eq!(canonical(text), expected, "{text}");
    }
}

#[test]
fn compares_by_value() {
    let read = |text| Quantity::parse(text).unwrap();
    assert_eq!(read("1Gi"), read("1073741824"));
    assert_eq!(read("1e3"), read("1k"));
    assert_ne!(read("1"), read("1k"));
    assert_eq!(Quantity::gibibytes(3), read("3Gi"));
    assert_eq!(read("1536Mi").to_string(), "1536Mi");
    assert!(read("6Gi").is_multiple_of(&read("2Gi")) && !read("5Gi").is_multiple_of(&read("2Gi")));
    assert!(read("1G") < read("1Gi"));
    assert!(read("999999999n") < read("1"));
    assert!(read("8").is_integer() && read("1000m").is_integer() && !read("100m").is_integer());
    for (text, expected) in [("100m", 0.1), ("1.5Gi", 1_610_612_736.0), ("1n", 1e-9), ("0", 0.0)] {
        assert_eq!(read(text).as_f64().to_bits(), f64::to_bits(expected), "{text}");
    }
}

#[test]
fn refusals_say_what_to_write() {
    let grammar = || {
        str! {"write a number with one of the suffixes `m k M G T P E Ki Mi Gi Ti Pi Ei`, such as `500m`, `4` or `32Gi`"}
    };
    for (text, message, advice, range) in [
        (
            "32GB",
            str! {"`GB` is not a suffix of a quantity"},
            str! {"write `32Gi` (powers of 1024) or `32G` (powers of 1000)"},
            2..4,
        ),
        ("32gi", str! {"`gi` is not a suffix of a quantity"}, str! {"write `32Gi`"}, 2..4),
        ("32GiB", str! {"`GiB` is not a suffix of a quantity"}, str! {"write `32Gi`"}, 2..5),
        (
            "1K",
            str! {"`K` is not a suffix of a quantity"},
            str! {"write `1Ki` (powers of 1024) or `1k` (powers of 1000)"},
            1..2,
        ),
        ("1 Gi", str! {"`1 Gi` has white space in it"}, str! {"write `1Gi`"}, 1..4),
        ("8 cores", str! {"`8 cores` has white space in it"}, str! {"write `8`"}, 1..7),
        ("1,5Gi", str! {"`,5Gi` is not a suffix of a quantity"}, str! {"write `1.5Gi`"}, 1..5),
        ("1_000", str! {"`_000` is not a suffix of a quantity"}, str! {"write `1000`"}, 1..5),
        ("-1", str! {"`-1` is negative"}, str! {"write an amount of zero or more"}, 0..1),
        ("Gi", str! {"`Gi` does not start with a number"}, grammar(), 0..2),
        ("1.2.3", str! {"`1.2.3` has two decimal points"}, grammar(), 0..5),
        ("two", str! {"`two` does not start with a number"}, grammar(), 0..3),
        ("+.", str! {"`+.` does not start with a number"}, grammar(), 0..2),
        ("+..5", str! {"`+..5` does not start with a number"}, grammar(), 0..4),
        ("+1.2.3", str! {"`+1.2.3` has two decimal points"}, grammar(), 1..6),
        (
            "+1GB",
            str! {"`GB` is not a suffix of a quantity"},
            str! {"write `+1Gi` (powers of 1024) or `+1G` (powers of 1000)"},
            2..4,
        ),
    ] {
        let error = Quantity::parse(text).unwrap_err();
        assert_eq!(error.range, Some(range), "{text}");
        assert_text(error.message, message);
        assert_text(error.help.unwrap(), advice);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_canonical_form_reads_back(nano in 0..=LARGEST, zeros in 0u32..27, style in 0..3) {
        let style = [Style::Binary, Style::Decimal, Style::Exponent][usize::try_from(style).unwrap()];
        let unit = 10_u128.pow(zeros);
        let quantity = Quantity { nano: nano / unit * unit, style };
        let again = Quantity::parse(&quantity.canonical()).unwrap();
        prop_assert_eq!(again, quantity);
        if style != Style::Binary {
            prop_assert_eq!(again.canonical(), quantity.canonical());
        }
    }

    #[test]
    fn binary_suffixes_read_back(count in 1u64..8_000, power in 0usize..5) {
        let text = format!("{count}{}", BINARY[power].0);
        let quantity = Quantity::parse(&text).unwrap();
        prop_assert_eq!(quantity.nano, u128::from(count) * (1 << BINARY[power].1) * NANO);
        prop_assert_eq!(Quantity::parse(&quantity.canonical()).unwrap(), quantity);
    }
}
