//! What holds for every unit: no text makes a parser panic, every error can be shown, every correction is accepted.

use proptest::prelude::*;

use super::*;

type Reader = fn(&str) -> Result<(), UnitError>;

fn readers() -> [(&'static str, Reader); 15] {
    [
        ("duration", |text| Duration::parse(text).map(drop)),
        ("quantity", |text| Quantity::parse(text).map(drop)),
        ("percentage", |text| Percentage::parse(text).map(drop)),
        ("cron", |text| Cron::parse(text).map(drop)),
        ("time zone", |text| TimeZone::parse(text).map(drop)),
        ("image", |text| ImageRef::parse(text).map(drop)),
        ("DNS-1035 label", |text| Dns1035Label::parse(text).map(drop)),
        ("DNS-1123 label", |text| Dns1123Label::parse(text).map(drop)),
        ("DNS-1123 subdomain", |text| Dns1123Subdomain::parse(text).map(drop)),
        ("label key", |text| LabelKey::parse(text).map(drop)),
        ("label value", |text| LabelValue::parse(text).map(drop)),
        ("env name", |text| EnvName::parse(text).map(drop)),
        ("resource name", |text| ResourceName::parse(text).map(drop)),
        ("ConfigMap key", |text| ConfigMapKey::parse(text).map(drop)),
        ("parameter name", |text| ParameterName::parse(text).map(drop)),
    ]
}

/// The first literal of a help that begins "write `…`", unless it is one example of many.
fn proposal(help: &str) -> Option<&str> {
    let (literal, after) = help.strip_prefix("write `")?.split_once('`')?;
    let is_whole = after.is_empty() || after.starts_with(" (") || after.starts_with(": a domain");
    is_whole.then_some(literal)
}

fn judge(text: &str) {
    for (kind, read) in readers() {
        let Err(error) = read(text) else { continue };
        assert!(!error.message.is_empty() && !error.message.ends_with('.'), "{kind} {text:?}: {error:?}");
        assert!(!error.message.contains(char::is_control), "{kind} {text:?}: {error:?}");
        if let Some(range) = error.range.clone() {
            assert!(text.get(range.clone()).is_some(), "{kind} {text:?}: {range:?} is not a slice");
            assert!(!range.is_empty() || text.is_empty(), "{kind} {text:?}: {range:?} shows nothing");
        }
        assert!(error.help.is_some(), "{kind} {text:?} has no help: {error:?}");
        let Some(proposed) = error.help.as_deref().and_then(proposal) else { continue };
        let is_part = matches!(kind, "image" | "cron") && !error.message.contains(" fields");
        if !is_part && !proposed.contains('…') {
            let verdict = read(proposed);
            let is_plain = kind == "resource name" && !proposed.contains('/');
            assert!(is_plain || verdict.is_ok(), "{kind} {text:?} proposes {proposed:?}: {verdict:?}");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "it takes many minutes there")]
fn errors_can_be_shown_for_any_hand_picked_text() {
    for text in [
        "",
        " ",
        "-",
        "+",
        ".",
        "..",
        "/",
        "@",
        ":",
        "%",
        "`",
        "é",
        "1é",
        "é1",
        "a\u{202e}b",
        "\0",
        "1h\n",
        "a/é",
        "é/a",
        "//",
        "1e",
        "@every ",
        "@every é",
    ] {
        judge(text);
    }
    judge(&"9".repeat(5_000));
    judge(&"a".repeat(5_000));
    judge(&"a/".repeat(5_000));
    judge(&"1h".repeat(5_000));
}

#[test]
fn quotes_are_short_and_visible() {
    assert_eq!(quoted("a\n\u{202e}b"), "`a\\n\\u{202e}b`");
    assert_eq!(quoted(&"x".repeat(61)), format!("`{}…`", "x".repeat(60)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn errors_can_be_shown_for_any_text(text in any::<String>()) {
        judge(&text);
    }

    #[test]
    fn errors_can_be_shown_for_likely_text(text in "[-+]?[0-9]{0,4}[.,]?[0-9]{0,3} ?[a-zA-Zé%µ/@:_*-]{0,6}[0-9./: -]{0,4}[A-Za-z]{0,3}") {
        judge(&text);
    }
}
