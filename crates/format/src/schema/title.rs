//! Names of the parts of a schema in words: editors that find no title show the name of a type.

use serde_json::Value;

/// Returns a schema for editors whose definitions have titles.
pub fn with_titles(mut schema: Value) -> Value {
    for (name, definition) in schema.get_mut("definitions").and_then(Value::as_object_mut).into_iter().flatten() {
        let Some(definition) = definition.as_object_mut() else { continue };
        definition.entry("title").or_insert_with(|| words(name).into());
    }
    schema
}

/// Returns the words of a name: `ToolSource` is a `tool source`.
fn words(name: &str) -> String {
    /// Words that distinguish a definition from another of the same thing.
    const PARTS: [&str; 2] = ["PartOf", "Whole"];
    /// Names that are not words of specs.
    const OURS: [(&str, &str); 8] = [
        ("BenchmarkSpec", "spec"),
        ("Dns1123Label", "name"),
        ("Dns1123Subdomain", "name"),
        ("EnvValue", "value of a variable"),
        ("ImageRef", "image"),
        ("KeyRef", "key of an object"),
        ("RoleBlock", "role"),
        ("StepJob", "job of a step"),
    ];
    let name = PARTS.iter().find_map(|part| name.strip_prefix(part)).unwrap_or(name);
    let name = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    if let Some((_, ours)) = OURS.iter().find(|(known, _)| known.trim_end_matches(char::is_numeric) == name) {
        return (*ours).to_owned();
    }
    let mut words = String::new();
    let mut before = ' ';
    for letter in name.chars() {
        if letter.is_uppercase() && before.is_lowercase() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
        before = letter;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_have_titles_in_words() {
        for (name, expected) in
            [("ToolSource", "tool source"), ("PartOfStepJob2", "job of a step"), ("MPIJob", "mpijob")]
        {
            assert_eq!(words(name), expected);
        }
        let schema = serde_json::json!({"definitions": {"ToolSource": {}, "B": {"title": "a b"}}});
        let titled = with_titles(schema);
        assert_eq!(titled.pointer("/definitions/ToolSource/title"), Some(&Value::from("tool source")));
        assert_eq!(titled.pointer("/definitions/B/title"), Some(&Value::from("a b")));
    }
}
