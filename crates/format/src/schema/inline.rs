//! Values of a schema, such as examples, as people write them: YAML on one line.

use serde_json::Value;

use kubebench_syntax::yaml::write_string_scalar;

/// Returns the value on one line.
pub(super) fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            // Sorted here, whatever the order of the map: a dependency may enable `serde_json`'s `preserve_order`.
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| name.as_str());
            let fields = fields.into_iter().map(|(name, value)| format!("{}: {}", scalar(name), inline(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// Single quotes leave the backslashes of a pattern as they are.
fn scalar(text: &str) -> String {
    let is_pattern = text.contains('\\') && !text.contains(['\'', '\n', '\r', '\t']);
    if is_pattern { format!("'{text}'") } else { write_string_scalar(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_as_yaml_that_people_write() {
        let value =
            json!({"log": {"pattern": r"a, b: (?P<value>\S+)", "roles": ["worker", "a, b"], "index": 0, "of": "no"}});
        assert_eq!(
            inline(&value),
            r#"{log: {index: 0, of: "no", pattern: 'a, b: (?P<value>\S+)', roles: [worker, "a, b"]}}"#
        );
    }
}
