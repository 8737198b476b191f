use serde_json::{Value, json};

use super::{Expressions, expression, piece, within};

fn is_match(pattern: &str, text: &str) -> bool {
    jsonschema::draft7::new(&json!({"pattern": pattern})).unwrap().is_valid(&json!(text))
}

#[test]
fn expressions_name_one_value() {
    let alone = format!("^{}$", expression());
    for text in [
        "${{ matrix.batchSize }}",
        "${{matrix.a}}",
        "${{ parameters.x-y }}",
        "${{ target.name }}",
        "${{ target.values.dir }}",
        "${{ benchmark.name }}",
        "${{ benchmark.labels.a.b/c }}",
        "${{ variant.name }}",
    ] {
        assert!(is_match(&alone, text), "{text}");
    }
    for text in [
        "${{ matrix }}",
        "${{ matirx.a }}",
        "${{ matrix.a + 1 }}",
        "${{ }}",
        "${{ matrix.a",
        "matrix.a",
        "${{ target.zone }}",
    ] {
        assert!(!is_match(&alone, text), "{text}");
    }
}

#[test]
fn texts_may_have_expressions_in_them() {
    let text = format!("^{}*$", piece());
    for good in
        ["", "costs $5", "$$", "a ${{ matrix.a }} b ${{ target.name }}", "$${{ x }}", "${HOME}", "$(NAME)\n${x}"]
    {
        assert!(is_match(&text, good), "{good}");
    }
    for bad in ["${{ x }}", "a ${{ matrix.a", "${{ matrix.a }} ${{ }}"] {
        assert!(!is_match(&text, bad), "{bad}");
    }
}

#[test]
fn a_value_may_be_known_later() {
    let duration = within("^(?:[0-9]+s)$", Expressions::Allowed);
    for good in ["5s", "${{ matrix.t }}", "${{ matrix.t }}s"] {
        assert!(is_match(&duration, good), "{good}");
    }
    for bad in ["5", "${{ t }}s", "5s ", "x"] {
        assert!(!is_match(&duration, bad), "{bad}");
    }
    assert!(!is_match(&within("^(?:[0-9]+s)$", Expressions::Refused), "${{ matrix.t }}"));
}

#[test]
fn conditions_are_added_to_what_is_there() {
    let mut schema = json!({"properties": {"a": {"type": "string"}}, "required": ["a"]});
    super::merge(&mut schema, json!({"properties": {"a": {"minLength": 1}, "b": {}}}));
    let expected: Value = json!({"properties": {"a": {"type": "string", "minLength": 1}, "b": {}}, "required": ["a"]});
    assert_eq!(schema, expected);
}
