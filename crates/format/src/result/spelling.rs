//! Values of the matrix as the spec spells them. `3.10` is another version than `3.1`, and JSON has one number for both.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::v1::Metadata;

/// Returns a value of a parameter as people write it: a text without quotes.
pub fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the number that `text` spells as every program would print it: `8`, `-16`, `0.5`. Of `3.10`, `12.0`, `1e3`, `0x10`, and of
/// digits that no double can represent, it returns none: they are known by their text alone.
pub fn plain_number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite() && number.to_string() == text)
}

/// Returns the values of a case as the spec spells them: a number stays one where JSON spells it in the same way, and is text elsewhere.
///
/// `values` has lost the spelling of numbers; `name`, the case as shown to people, has that of all values.
pub fn spelled(values: &BTreeMap<String, Json>, name: &str) -> BTreeMap<String, Json> {
    values.iter().map(|(axis, value)| (axis.clone(), spelled_value(axis, value, name))).collect()
}

impl Metadata {
    /// Returns the parameters as the spec spells them, also those of results that were written before spellings were kept.
    pub fn spelled_params(&self) -> BTreeMap<String, Json> {
        spelled(&self.params, &self.case_name)
    }
}

fn spelled_value(axis: &str, value: &Json, name: &str) -> Json {
    let Some(number) = value.as_f64() else { return value.clone() };
    let of_axis = |part: &'_ str| part.strip_prefix(axis)?.strip_prefix('=').map(str::to_owned);
    let mut spellings: Vec<String> =
        name.split(", ").filter_map(of_axis).filter(|text| text.parse() == Ok(number)).collect();
    spellings.dedup();
    // A text that holds `, axis=` may look like another spelling.
    let [spelling] = spellings.as_slice() else { return value.clone() };
    let recorded = value.to_string();
    let is_same = plain_number(spelling).is_some() && recorded == **spelling;
    if is_same { value.clone() } else { Json::String(spelling.clone()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plain_numbers_are_those_with_one_spelling() {
        for (text, number) in [("8", 8.0), ("0", 0.0), ("-16", -16.0), ("0.5", 0.5), ("0.00001", 1e-5), ("3.9", 3.9)] {
            assert_eq!(plain_number(text), Some(number), "{text}");
        }
        let others = [
            "3.10",
            "12.0",
            "1e3",
            "0x10",
            ".5",
            "5.",
            "+5",
            "010",
            "1_000",
            "",
            "inf",
            "NaN",
            "v1",
            "9007199254740993",
            "2026-11-25",
            "true",
        ];
        for text in others {
            assert_eq!(plain_number(text), None, "{text}");
        }
    }

    #[track_caller]
    fn check(value: Json, name: &str, expected: Json) {
        let values = BTreeMap::from([("x".to_owned(), value)]);
        assert_eq!(spelled(&values, name), BTreeMap::from([("x".to_owned(), expected)]), "{name}");
    }

    #[test]
    fn the_name_of_a_case_has_every_spelling() {
        check(json!(3.1), "x=3.10", json!("3.10"));
        check(json!(3.1), "a=1, x=3.10, y=2", json!("3.10"));
        check(json!(3.1), "x=3.1", json!(3.1));
        check(json!(12.0), "x=12.0", json!("12.0"));
        check(json!(0), "x=-0", json!("-0"));
        check(json!(1e-7), "x=0.0000001", json!("0.0000001"));
        check(json!(9_007_199_254_740_993_i64), "x=9007199254740993", json!("9007199254740993"));
        check(json!(64), "x=64", json!(64));
        check(json!("1e3"), "x=1e3", json!("1e3"));
        check(json!(true), "x=true", json!(true));
    }

    #[test]
    fn a_name_that_says_nothing_of_a_number_changes_nothing() {
        check(json!(3.1), "default", json!(3.1));
        check(json!(3.1), "x=3.2", json!(3.1));
        check(json!(3.1), "xx=3.10", json!(3.1));
        check(json!(3.1), "a=b, x=3.100, x=3.10", json!(3.1));
    }
}
