use std::sync::LazyLock;

use proptest::prelude::{ProptestConfig, Strategy, any, prop, prop_oneof, proptest};
use serde_json::{Value, json};

use super::corpus::{Random, strings};
use super::{as_key, as_value, differs_from_epoch_1, obstacle, plain, write, write_as_in_epoch_1, write_string_scalar};

const CORPUS: usize = 20_000;
static STRINGS: LazyLock<Vec<String>> = LazyLock::new(|| strings(CORPUS));

fn read(yaml: &str) -> Value {
    let options = serde_yaml::options! { budget: None };
    serde_yaml::from_str_with_options(yaml, options).unwrap_or_else(|error| panic!("{error}\n{yaml}"))
}

#[track_caller]
fn check(value: &Value, expected: &str) {
    assert_eq!(write(value), expected);
    assert_eq!(read(expected), *value);
}

#[test]
fn leading_keys_come_first_at_the_top_only() {
    check(
        &json!({
            "zeta": 1, "data": {}, "alpha": 2, "spec": {"spec": 1, "name": "x", "kind": "y2", "apiVersion": "z"},
            "metadata": {"namespace": "ml", "name": "a"}, "kind": "Job", "apiVersion": "batch/v1",
        }),
        "\
apiVersion: batch/v1
kind: Job
metadata:
  name: a
  namespace: ml
spec:
  apiVersion: z
  kind: y2
  name: x
  spec: 1
data: {}
alpha: 2
zeta: 1
",
    );
}

#[test]
fn lists_are_compact() {
    check(
        &json!({"a": [], "b": {}, "c": [{"value": "x", "name": "e", "env": [1, [2, [3]], {}, []]}, [[4], {"k": [5]}], null]}),
        "\
a: []
b: {}
c:
- env:
  - 1
  - - 2
    - - 3
  - {}
  - []
  name: e
  value: x
- - - 4
  - k:
    - 5
- null
",
    );
}

#[test]
fn numbers_are_written_as_they_are() {
    check(
        &json!([0, -1, 18_446_744_073_709_551_615_u64, i64::MIN, 1.5, -0.25, 1e300, 1e-7]),
        "- 0\n- -1\n- 18446744073709551615\n- -9223372036854775808\n- 1.5\n- -0.25\n- 1.0e+300\n- 0.0000001\n",
    );
}

#[test]
fn a_document_that_is_a_scalar_ends_in_a_newline() {
    check(&json!("text"), "text\n");
    check(&json!("no"), "\"no\"\n");
    check(&json!({}), "{}\n");
    check(&json!([]), "[]\n");
    check(&json!(null), "null\n");
    check(&json!("a\nb\n"), "|\n  a\n  b\n");
    check(&json!(" a\nb\n"), "\" a\\nb\\n\"\n");
}

#[test]
fn text_of_several_lines_is_a_literal_block() {
    check(
        &json!({"a": "x\n\n  y: z\n", "b": ["x\ny", {"k": "# x\n---\n", "l": "é\n🚀\n"}]}),
        "a: |\n  x\n\n    y: z\nb:\n- |-\n  x\n  y\n- k: |\n    # x\n    ---\n  l: |\n    é\n    🚀\n",
    );
}

#[test]
fn a_block_says_how_deep_it_is_and_how_it_ends_where_that_is_not_plain() {
    for (text, block) in [
        ("a\n\tb\n", "|\n  a\n  \tb\n"),
        ("\na", "|2-\n\n  a\n"),
        (" a\nb", "|2-\n   a\n  b\n"),
        ("  \na\n", "|2\n    \n  a\n"),
        ("\n\n a\n\n", "|2+\n\n\n   a\n\n"),
        ("a \nb", "|-\n  a \n  b\n"),
        ("a\nb ", "|-\n  a\n  b \n"),
        ("a\n \nb", "|-\n  a\n   \n  b\n"),
        ("a\n  ", "|-\n  a\n    \n"),
        ("a\n\t", "|-\n  a\n  \t\n"),
        ("a\n\n", "|+\n  a\n\n"),
        ("a\n\n\n\n", "|+\n  a\n\n\n\n"),
        ("a\n  \n\n", "|+\n  a\n    \n\n"),
        ("\n---\n...\n", "|2\n\n  ---\n  ...\n"),
        ("# a\n#\tb\n", "|\n  # a\n  #\tb\n"),
    ] {
        check(&json!({ "k": text }), &format!("k: {block}"));
        check(&json!({"k": text, "l": 1}), &format!("k: {block}l: 1\n"));
        check(&json!([text, text]), &format!("- {block}- {block}"));
        assert_eq!(obstacle(text), None, "{text:?}");
    }
    let deep = json!({"a": [[{"b": "\n\tx\n\n"}, " y\n"]], "c": {"d": {"e": " z\n"}}});
    check(&deep, "a:\n- - b: |2+\n\n      \tx\n\n  - |2\n     y\nc:\n  d:\n    e: |2\n       z\n");
    let long = format!("{}\n{}\n", "x ".repeat(5_000), "y".repeat(5_000));
    assert_eq!(write(&json!({ "k": long })).lines().count(), 3);
    assert_eq!(read(&write(&json!({ "k": long }))), json!({ "k": long }));
}

#[test]
fn what_no_block_holds_is_quoted_and_named() {
    for (text, character) in [
        ("\ta\nb\n", '\t'),
        ("\t\na", '\t'),
        ("\ta\r\nb", '\r'),
        ("a\r\nb", '\r'),
        ("a\n\u{a0}", '\u{a0}'),
        ("a\n\u{85}", '\u{85}'),
        ("a\n\u{feff}", '\u{feff}'),
        ("\u{feff}a\nb", '\u{feff}'),
        ("a\n\u{2028}", '\u{2028}'),
        ("a\n\u{2029}", '\u{2029}'),
        ("a\n\u{7f}", '\u{7f}'),
        ("a\n\u{1b}[0m", '\u{1b}'),
        ("a\n\0", '\0'),
        ("a\n\u{202e}b", '\u{202e}'),
        ("a\n\u{200b}b", '\u{200b}'),
        ("a\n\u{fffe}", '\u{fffe}'),
    ] {
        assert_is_quoted(text);
        assert_eq!(obstacle(text), Some(character), "{text:?}");
    }
    // One line, and nothing to read: nothing would be clearer for being a block.
    for text in ["a\u{1b}b", "a\rb", "\t", "\n", "\n\n", " \n\t\n"] {
        assert_is_quoted(text);
        assert_eq!(obstacle(text), None, "{text:?}");
    }
}

#[track_caller]
fn assert_is_quoted(text: &str) {
    let written = write(&json!({ "k": text }));
    assert!(written.starts_with("k: \"") && written.ends_with("\"\n"), "{written}");
    assert_eq!(written.lines().count(), 1, "{written}");
}

#[test]
fn every_text_of_several_lines_without_an_obstacle_is_as_many_lines() {
    let mut blocks = 0;
    for text in STRINGS.iter().filter(|text| text.contains('\n') && !text.trim_matches([' ', '\t', '\n']).is_empty()) {
        let written = write(&json!({ "k": text }));
        if obstacle(text).is_some() {
            assert_is_quoted(text);
        } else {
            blocks += 1;
            assert_eq!(written.matches('\n').count(), 1 + text.strip_suffix('\n').unwrap_or(text).split('\n').count());
        }
    }
    assert!(blocks > 1_000, "{blocks}");
}

/// What epoch 1 wrote is part of digests and of immutable objects: it has these bytes for good.
#[test]
fn what_epoch_1_quoted_is_quoted_in_its_form() {
    for text in ["\na", " a\nb", "a \nb", "a\nb ", "a\n\n", "a\n\tb", "\n\ta\nb", "a\n \nb", "a\nb\t", "a\t\nb"] {
        let value = json!({ "k": text });
        let written = write_as_in_epoch_1(&value);
        assert_eq!(written.lines().count(), 1, "{written}");
        assert_eq!(read(&written), value);
        assert!(differs_from_epoch_1(&value) && differs_from_epoch_1(&json!([1, [{"a": [text]}]])), "{text:?}");
    }
    for text in ["a\nb", "a\n\n  b\n", "a\r\nb", "\ta\nb", "\n", "a\tb", "a"] {
        let value = json!({ "k": text });
        assert_eq!(write_as_in_epoch_1(&value), write(&value));
        assert!(!differs_from_epoch_1(&value), "{text:?}");
    }
    for text in STRINGS.iter() {
        let value = json!({ "k": [text] });
        assert_eq!(differs_from_epoch_1(&value), write_as_in_epoch_1(&value) != write(&value), "{text:?}");
        assert_eq!(read(&write_as_in_epoch_1(&value)), value);
    }
}

#[test]
fn scalars_that_readers_disagree_on_are_quoted_as_values_and_as_keys() {
    for text in [
        "",
        "~",
        "null",
        "y",
        "N",
        "yes",
        "NO",
        "on",
        "Off",
        "true",
        "False",
        "0",
        "012",
        "0o7",
        "0b1",
        "0x1F",
        "1_000",
        ".5",
        "1.",
        "1e3",
        ".inf",
        "-.INF",
        ".nan",
        "1:30",
        "190:20:30.15",
        "2026-01-01",
        "2026-01-01T00:00:00Z",
        "=",
        "<<",
        "---",
        "...",
        "!x",
        "&a",
        "*a",
        "- a",
        "? a",
        "%a",
        "@a",
        "`a",
        "# a",
        "a # b",
        "a: b",
        "a:",
        " a",
        "a ",
        "a\tb",
        "\0",
        "\u{feff}",
    ] {
        let written = write(&json!({ text: text }));
        assert!(written.starts_with('"') && written.ends_with("\"\n"), "{written}");
    }
}

#[test]
fn words_that_every_reader_takes_for_text_are_plain() {
    for text in [
        "a",
        "batch/v1",
        "--lr=0.1",
        "$(NAME)",
        "registry:5000/a:1",
        "10.0.0.1:80",
        "v1",
        "100m",
        "nvidia.com/gpu",
        "é",
    ] {
        assert_eq!(write(&json!({ "k": text })), format!("k: {text}\n"));
    }
}

#[test]
fn a_scalar_for_a_message_is_one_line_that_may_be_anywhere() {
    for (text, expected) in [
        ("yes", "\"yes\""),
        ("", "\"\""),
        ("abc", "abc"),
        ("a b", "a b"),
        ("1_000", "\"1_000\""),
        ("a,b", "\"a,b\""),
        ("a:b", "\"a:b\""),
        ("[a", "\"[a\""),
        ("?a", "\"?a\""),
        (".", "\".\""),
        ("a\nb\n", "\"a\\nb\\n\""),
        ("é", "\"é\""),
        ("---", "\"---\""),
        ("--a", "--a"),
        ("say \"hi\"", "\"say \\\"hi\\\"\""),
        ("\u{85}", "\"\\N\""),
    ] {
        assert_eq!(write_string_scalar(text), expected);
    }
    for text in STRINGS.iter() {
        let scalar = write_string_scalar(text);
        assert!(!scalar.contains('\n'), "{scalar}");
        assert_eq!(read(&format!("k: [{scalar}, 1, {scalar}]\n")), json!({"k": [text, 1, text]}), "{scalar}");
    }
}

#[test]
fn adversarial_strings_are_read_back_equal_as_values() {
    let value: Value =
        STRINGS.iter().cloned().enumerate().map(|(n, text)| (format!("k{n}"), Value::from(text))).collect();
    assert_eq!(read(&write(&value)), value);
    let list = Value::Array(STRINGS.iter().cloned().map(Value::from).collect());
    assert_eq!(read(&write(&list)), list);
}

#[test]
fn adversarial_strings_are_read_back_equal_as_keys() {
    let value: Value = STRINGS.iter().cloned().map(|text| (text, Value::from("v"))).collect();
    assert_eq!(read(&write(&value)), value);
    let nested = json!({"a": [value], "b": {"c": value}});
    assert_eq!(read(&write(&nested)), nested);
}

#[test]
fn only_lines_of_blocks_end_in_a_blank() {
    let mut random = Random(7);
    let list: Vec<Value> = STRINGS
        .iter()
        .filter(|text| !text.contains('\n') || obstacle(text).is_some())
        .map(|text| json!({text.as_str(): [text, {STRINGS[random.below(CORPUS)].as_str(): 1}]}))
        .collect();
    let written = write(&Value::Array(list));
    for line in written.split('\n') {
        assert!(!line.ends_with([' ', '\t', '\r']), "{line:?}");
    }
    assert!(written.ends_with('\n') && !written.ends_with("\n\n"));
}

#[test]
fn what_is_plain_at_a_glance_is_plain_to_the_serializer() {
    let mut random = Random(11);
    let pieces = [
        "a", "e", "0", "7", "1e", ".", "-", "--", "_", ":", " ", "/", "$(X)", "no", "Inf", "x", "Mi", "m", "+", "=",
        "y",
    ];
    let assembled =
        (0..CORPUS).map(|_| (0..=random.below(5)).map(|_| pieces[random.below(pieces.len())]).collect::<String>());
    let mut surely = 0;
    for text in STRINGS.iter().cloned().chain(assembled) {
        if plain::is_surely_plain(&text) {
            surely += 1;
            assert_eq!(as_value(&text).as_deref(), Some(text.as_str()));
        }
        if plain::is_surely_plain_key(&text) {
            surely += 1;
            assert_eq!(as_key(&text).as_deref(), Some(text.as_str()));
        }
        if plain::is_integer(&text) {
            assert_eq!(as_value(&text), Some(format!("\"{text}\"")));
        }
    }
    assert!(surely > 1_000, "{surely}");
}

#[test]
fn nothing_unquoted_ends_a_document_or_hides_characters() {
    let value = json!({"---key": "--- value", "a\u{202e}b": "x\u{202e}y", "\u{ad}": 1});
    check(&value, "\"---key\": \"--- value\"\n\"a\\u202Eb\": \"x\\u202Ey\"\n\"\\u00AD\": 1\n");
}

fn value() -> impl Strategy<Value = Value> {
    let text = || prop_oneof![any::<String>(), "[a-z \n:#-]{0,12}", (0..CORPUS).prop_map(|n| STRINGS[n].clone())];
    let leaf = prop_oneof![
        4 => text().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => proptest::num::f64::NORMAL.prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..5).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_value_is_read_back_equal(value in value()) {
        proptest::prop_assert_eq!(read(&write(&value)), value);
    }
}
