//! JSON documents as tools leave them: several in a row, after other text, with `NaN`, or cut off.
//!
//! Python and C++ print `NaN` and `Infinity`, which JSON does not have; they become texts here, and [`number`] reads them
//! back, so that a value that is not finite is never mistaken for a missing one, or for 0.

use std::borrow::Cow;

use super::series::{Reading, Sample};
use kubebench_syntax::invariant::Invariant as _;
use serde_json::{Deserializer, Value};

/// What is wrong with a text in which no document begins.
pub(crate) const NO_DOCUMENT: &str = "there is no JSON document";

/// The maximum nesting that is repaired; the reader itself refuses deeper documents.
const MAX_DEPTH: usize = 128;

/// The documents in a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Documents {
    /// The documents, in order; if the last was cut off, as much of it as there is.
    pub values: Vec<Value>,
    /// What is wrong with the text, for people.
    pub flaw: Option<String>,
}

impl Documents {
    /// Returns the last document that is what a tool writes, or else the last of all: after a restart there are two.
    pub(crate) fn last(mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        let found = self.values.iter().rposition(is_it).unwrap_or(self.values.len().saturating_sub(1));
        self.values.drain(..).nth(found).unwrap_or_default()
    }
}

/// After this many documents that end with the text, their lines are not searched for another.
const MAX_EARLY_ENDS: u32 = 8;

/// Reads every document in `text`; lines between them that begin no document are passed over.
pub(crate) fn documents(text: &str) -> Documents {
    documents_from(text, 1)
}

/// Reads every document in `text`, whose first line has the number `first`.
pub(crate) fn documents_from(text: &str, first: usize) -> Documents {
    let text = with_quoted_non_finite(text);
    let mut found = Documents::default();
    let mut rest = text.trim_start();
    let line_of = |rest: &str| {
        first + text.get(..text.len() - rest.len()).expected("what precedes the rest").matches('\n').count()
    };
    // The content of a document that ended early, until another one follows.
    let mut cut: Option<&str> = None;
    let mut early_ends = 0;
    while !rest.is_empty() {
        // What is indented is part of another document, or of prose.
        if !starts_a_document(rest.as_bytes()) || rest.starts_with(char::is_whitespace) {
            rest = after_line(rest);
            continue;
        }
        let mut stream = Deserializer::from_str(rest).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                found.values.push(value);
                rest = rest.get(stream.byte_offset()..).expected("the end of a document").trim_start();
                cut = None;
            }
            Some(Err(error)) => {
                if error.is_eof() {
                    cut = cut.or(Some(rest));
                    early_ends += 1;
                }
                // Lines are counted for the first flaw alone: a log may have a million.
                found.flaw.get_or_insert_with(|| {
                    let line = line_of(rest);
                    if error.is_eof() {
                        let last = first + text.trim_end().lines().count().saturating_sub(1);
                        return format!(
                            "the document that begins at line {line} ends early, at line {last}, and the rest is \
                             missing; run the tool again, let it finish, and make sure that its disk is not full"
                        );
                    }
                    let reason = error.to_string();
                    let reason = reason.split_once(" at line ").map_or(reason.as_str(), |(reason, _)| reason);
                    format!("line {} is not JSON: {reason}", line + error.line().saturating_sub(1))
                });
                rest = after_line(rest);
                // Each of them read all that follows.
                if early_ends == MAX_EARLY_ENDS {
                    break;
                }
            }
            None => break,
        }
    }
    found.values.extend(cut.and_then(fixed));
    if found.values.is_empty() && found.flaw.is_none() {
        found.flaw = Some(NO_DOCUMENT.to_owned());
    }
    found
}

/// Returns true when `text` begins as JSON does: `[` also begins the prefixes of launchers, and `{'` what Python prints.
pub(crate) fn starts_a_document(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    match text.split_first() {
        Some((b'{', rest)) => matches!(rest.trim_ascii_start().first(), Some(b'"' | b'}') | None),
        Some((b'[', rest)) => matches!(rest.trim_ascii_start().first(), Some(b'{' | b'[' | b']' | b'"')),
        _ => false,
    }
}

/// Returns the document in `text`: from the first line that begins with `{` or `[`, after warnings that came first.
pub(crate) fn document_in(text: &str) -> &str {
    let mut from = 0;
    for line in text.split_inclusive('\n') {
        let rest = text.get(from..).expected("the start of a line");
        // What is indented is part of another document, or of prose.
        if line.starts_with('{') || line.starts_with('[') && starts_a_document(rest.as_bytes()) {
            return rest;
        }
        from += line.len();
    }
    text
}

/// Returns the number that `value` is, also one that is not finite.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(word) => non_finite(word),
        _ => None,
    }
}

/// Reads a value where a number is expected: a number, also as a text. `null` is a value that is not finite: what writes JSON
/// without `NaN` writes it in its place.
pub(crate) fn reading(value: &Value) -> Reading {
    let place = Sample::of(f64::NAN);
    match value {
        Value::Number(number) => Reading::of(place, number.as_f64().ok_or_else(|| format!("`{number}` is too large"))),
        Value::String(text) => Reading::of_text(place, text),
        Value::Null => Reading::of(place, Err("`null` is not a number".to_owned())),
        Value::Bool(flag) => Reading::of(place, Err(format!("`{flag}` is not a number"))),
        Value::Array(_) => Reading::of(place, Err("a list is not a number".to_owned())),
        Value::Object(_) => Reading::of(place, Err("an object is not a number".to_owned())),
    }
}

/// Reads the members of an object of statistics in which `null` is what was not measured.
pub(crate) fn given(object: &Value) -> impl Iterator<Item = (&str, Reading)> {
    readings(object).filter(|(key, _)| object.get(key).is_some_and(|value| !value.is_null()))
}

/// Reads the members of an object of statistics, all of which are `null` where nothing was measured. One that is `null` among
/// others is not finite.
pub(crate) fn measured(object: &Value) -> impl Iterator<Item = (&str, Reading)> {
    let is_empty = given(object).next().is_none();
    readings(object).filter(move |_| !is_empty)
}

/// Reads the members of an object of statistics: numbers, values in place of numbers, and no lists or objects.
pub(crate) fn readings(object: &Value) -> impl Iterator<Item = (&str, Reading)> {
    let members = object.as_object().into_iter().flatten();
    let is_value = |value: &Value| !(value.is_array() || value.is_object() || value.is_boolean());
    members.filter(move |(_, value)| is_value(value)).map(|(key, value)| (key.as_str(), reading(value)))
}

/// Returns the elements of the list under `key`; none when there is no list.
pub(crate) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Returns true if a text under `value` is named like a secret, or contains one on a command line.
pub(crate) fn holds_secret(value: &Value) -> bool {
    const WORDS: [&str; 6] = ["api_key", "api-key", "apikey", "authorization", "password", "secret"];
    let names_one = |text: &str| {
        let text = text.to_ascii_lowercase();
        WORDS.iter().any(|word| text.contains(word))
    };
    match value {
        Value::String(text) => names_one(text),
        Value::Array(items) => items.iter().any(holds_secret),
        Value::Object(members) => members.iter().any(|(key, member)| {
            let is_given = member.as_str().is_some_and(|text| !text.is_empty());
            is_given && names_one(key) || holds_secret(member)
        }),
        _ => false,
    }
}

fn after_line(text: &str) -> &str {
    text.split_once('\n').map_or("", |(_, rest)| rest)
}

fn non_finite(word: &str) -> Option<f64> {
    let bare = word.strip_prefix('-').unwrap_or(word);
    let known = ["nan", "inf", "infinity"].iter().any(|known| bare.eq_ignore_ascii_case(known));
    known.then(|| word.parse().ok()).flatten()
}

/// Puts quotes around the words outside strings that mean numbers that are not finite.
fn with_quoted_non_finite(text: &str) -> Cow<'_, str> {
    let mut quoted = String::new();
    let mut copied = 0;
    let mut in_string = false;
    let mut escaped = false;
    let mut word = None;
    for (at, byte) in text.bytes().enumerate().chain([(text.len(), b' ')]) {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.') {
            word.get_or_insert(at);
            continue;
        }
        if let Some(from) = word.take()
            && let Some(found) = text.get(from..at).filter(|found| non_finite(found).is_some())
        {
            quoted.push_str(text.get(copied..from).expected("what precedes a word"));
            quoted.push('"');
            quoted.push_str(found);
            quoted.push('"');
            copied = at;
        }
        in_string = byte == b'"';
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    quoted.push_str(text.get(copied..).expected("what follows a word"));
    Cow::Owned(quoted)
}

/// Reads a document that was cut off up to its last member or element that is whole. A list of numbers is whole or
/// nothing: what is counted or averaged over a part of it would be wrong.
fn fixed(text: &str) -> Option<Value> {
    // Behind what is whole, and what closes what is open there.
    type Whole = (usize, Vec<char>);
    let mut open: Vec<char> = Vec::new();
    let mut whole: Option<Whole> = None;
    // The part that was complete before the open list, while that contains neither lists nor objects.
    let mut before_list: Option<Option<Whole>> = None;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                before_list = (byte == b'[').then(|| whole.clone());
                open.push(if byte == b'{' { '}' } else { ']' });
                whole = Some((at + 1, open.clone()));
            }
            b'}' | b']' => {
                before_list = None;
                open.pop();
                whole = Some((at + 1, open.clone()));
            }
            b',' => whole = Some((at, open.clone())),
            _ => {}
        }
        if open.len() > MAX_DEPTH {
            return None;
        }
    }
    let (end, open) = before_list.unwrap_or(whole)?;
    let mut closed = text.get(..end)?.to_owned();
    closed.extend(open.iter().rev());
    serde_json::from_str(&closed).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{documents, documents_from, holds_secret, number};

    #[test]
    fn several_documents_with_text_around_them() {
        let found = documents("warning\n{\"a\": 1}\n{\"a\": 2} {\"a\": 3}\ndone\n[[4]]\n");
        assert_eq!(found.values, [json!({"a": 1}), json!({"a": 2}), json!({"a": 3}), json!([[4]])]);
        assert_eq!(found.flaw, None);
    }

    #[test]
    fn what_is_indented_is_part_of_something_else() {
        let found = documents("[1] loading\n{'a': 1}\n  {\"part\": 1}\n[\n  {\"a\": 1}\n]\n  {\"part\": 2}");
        assert_eq!(found.values, [json!([{"a": 1}]), json!({"part": 2})]);
    }

    #[test]
    fn secrets() {
        let cases = [
            (json!({"api_key": null, "a": [{"tokens": "7"}]}), false),
            (json!({"a": [{"API_KEY": "made up"}]}), true),
            (json!({"env": {"DB_PASSWORD": ""}}), false),
            (json!({"command": "aiperf --api-key made-up"}), true),
        ];
        for (value, holds) in cases {
            assert_eq!(holds_secret(&value), holds, "{value}");
        }
    }

    #[test]
    fn numbers_that_json_does_not_have() {
        let found = documents(r#"{"a": NaN, "b": [-Infinity, inf], "c": "NaN, \" Infinity", "d": -nan}"#);
        let value = found.last(|_| true);
        assert!(number(&value["a"]).is_some_and(f64::is_nan));
        assert_eq!(number(&value["b"][0]), Some(f64::NEG_INFINITY));
        assert_eq!(number(&value["b"][1]), Some(f64::INFINITY));
        assert_eq!(value["c"], "NaN, \" Infinity");
        assert_eq!(number(&value["c"]), None);
        assert!(number(&value["d"]).is_some_and(f64::is_nan));
    }

    #[test]
    fn a_document_that_was_cut_off_keeps_what_is_whole() {
        let cases = [
            (r#"{"a": 1, "b": {"c": 2, "d": 34"#, json!({"a": 1, "b": {"c": 2}})),
            (r#"{"a": 1, "b": [1, 2"#, json!({"a": 1})),
            (r#"{"a": {"c": 1, "b": [1, 2"#, json!({"a": {"c": 1}})),
            (r#"{"a": [{"b": 1}, {"b": 2}, {"b"#, json!({"a": [{"b": 1}, {"b": 2}, {}]})),
            (r#"{"a": [[1, 2], [3, 4"#, json!({"a": [[1, 2]]})),
            (r#"{"a": {"b": 1}"#, json!({"a": {"b": 1}})),
            (r#"{"a": 1, "b"#, json!({"a": 1})),
            (r#"{"a": 1, "b, c": "{ "#, json!({"a": 1})),
            ("{", json!({})),
        ];
        for (text, value) in cases {
            let found = documents(text);
            assert_eq!(found.values, [value], "{text}");
            assert!(found.flaw.is_some_and(|flaw| flaw.contains("begins at line 1 ends early, at line 1,")), "{text}");
        }
    }

    #[test]
    fn the_document_of_the_last_run_counts() {
        let last = |text: &str| {
            let found = documents_from(text, 5);
            (found.flaw.clone(), found.last(|value| value.get("a").is_some()))
        };
        assert_eq!(last("{\"a\": 1}\n{\"a\": 2}\n{\"b\": 3}\n"), (None, json!({"a": 2})));
        let (flaw, value) = last("{\n \"a\": 1,\n \"c\": [0,\n{\n \"a\": 2\n}\n");
        assert_eq!(value, json!({"a": 2}));
        assert!(flaw.unwrap().contains("begins at line 5 ends early, at line 10,"));
        let (flaw, value) = last("{\n \"a\": 1,\n{\n \"a\": 2,\n \"x\": 1");
        assert_eq!((flaw.unwrap().as_str(), value), ("line 7 is not JSON: key must be a string", json!({"a": 2})));
    }

    #[test]
    fn what_is_no_json() {
        for text in ["", "no JSON", "{a: 1}", "{\"a\": 1,}"] {
            let found = documents(text);
            assert!(found.flaw.is_some(), "{text}");
            assert!(found.values.is_empty(), "{text}");
        }
        let broken = documents("{\"a\": 1,\n \"b\": \n{\"a\": 2}\n{\"a\": 3}\n");
        assert_eq!(broken.values, [json!({"a": 2}), json!({"a": 3})]);
        assert!(broken.flaw.is_some());
    }
}
