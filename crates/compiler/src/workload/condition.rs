//! What must hold of an object, in the syntax of `kubectl wait --for`: `condition=Type[=Status]` or `jsonpath={…}[=value]`.

use jsonpath_rust::parser::model::JpQuery;
use jsonpath_rust::parser::parse_json_path;
use jsonpath_rust::query::js_path_process;
use serde_json::Value as Json;

use kubebench_contract::text_at;

/// Something that holds of an object or does not.
#[derive(Clone, Debug)]
pub(super) struct Condition(Asked);

#[derive(Clone, Debug)]
enum Asked {
    /// An element of `status.conditions` has this status.
    Condition { kind: String, status: String },
    /// The node at the path exists, and has this value where one is given.
    Path { path: Box<JpQuery>, value: Option<String> },
}

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    /// What is wrong with it, for people.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if let Some(condition) = text.strip_prefix("condition=") {
            let (kind, status) = condition.split_once('=').unwrap_or((condition, "True"));
            if kind.is_empty() || status.is_empty() {
                return Err("a condition has a type, as in `condition=Complete`".to_owned());
            }
            return Ok(Self(Asked::Condition { kind: kind.to_lowercase(), status: status.to_lowercase() }));
        }
        let Some(rest) = text.strip_prefix("jsonpath=") else {
            return Err("it begins with neither `condition=` nor `jsonpath=`".to_owned());
        };
        let rest = rest.trim_matches('\'');
        let (path, value) = match rest.strip_prefix('{') {
            Some(braced) => {
                let (path, after) = braced.split_once('}').ok_or("the `{` of the path has no `}`")?;
                let value = after.trim_start_matches('\'').strip_prefix('=');
                if value.is_none() && !after.trim_matches('\'').is_empty() {
                    return Err(format!("`{after}` follows the path: a value comes after `=`"));
                }
                (path, value)
            }
            None => rest.split_once('=').map_or((rest, None), |(path, value)| (path, Some(value))),
        };
        let rooted = if path.starts_with('$') { path.to_owned() } else { format!("${path}") };
        let query = parse_json_path(&rooted).map_err(|_unreadable| format!("`{path}` is not a JSONPath"))?;
        let value = value.map(|value| value.trim_matches(['\'', '"']).to_owned());
        Ok(Self(Asked::Path { path: Box::new(query), value }))
    }

    /// Returns whether it is true of `object`.
    pub(super) fn holds(&self, object: &Json) -> bool {
        match &self.0 {
            Asked::Condition { .. } => self.condition(object).is_some(),
            Asked::Path { path, value } => {
                // A path that cannot be evaluated on this object finds nothing in it.
                let Ok(found) = js_path_process(path, object) else { return false };
                let mut found = found.into_iter().map(jsonpath_rust::query::QueryRef::val);
                match (found.next(), found.next(), value) {
                    (Some(one), None, Some(wanted)) => text_of(one) == *wanted,
                    (Some(one), None, None) => !text_of(one).is_empty(),
                    // Several values, as none, say nothing.
                    _ => false,
                }
            }
        }
    }

    /// Returns the reason and the message that the object gives for it, as far as it does.
    pub(super) fn why(&self, object: &Json) -> (String, String) {
        let said = self.condition(object);
        let field = |at: &str| said.map(|condition| text_at(condition, at)).unwrap_or_default().to_owned();
        let or = |found: String, at: &str| if found.is_empty() { text_at(object, at).to_owned() } else { found };
        (or(field("/reason"), "/status/reason"), or(field("/message"), "/status/message"))
    }

    fn condition<'a>(&self, object: &'a Json) -> Option<&'a Json> {
        let Asked::Condition { kind, status } = &self.0 else { return None };
        let conditions = object.pointer("/status/conditions").and_then(Json::as_array)?;
        let is = |condition: &Json, at: &str, wanted: &str| text_at(condition, at).to_lowercase() == wanted;
        conditions.iter().find(|condition| is(condition, "/type", kind) && is(condition, "/status", status))
    }
}

/// Returns a value as people compare it.
fn text_of(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::Condition;

    fn holds(text: &str, object: &Json) -> bool {
        Condition::parse(text).unwrap().holds(object)
    }

    #[test]
    fn conditions_hold_as_kubectl_waits_for_them() {
        let object = json!({"status": {
            "phase": "Succeeded", "ready": 3, "empty": "",
            "conditions": [{"type": "Ready", "status": "True", "reason": "Fine", "message": "all is well"},
                           {"type": "Failed", "status": "False"}],
        }});
        for (text, wanted) in [
            ("condition=Ready", true),
            ("condition=ready=true", true),
            ("condition=Failed", false),
            ("condition=Failed=False", true),
            ("condition=Absent=Unknown", false),
            ("jsonpath={.status.phase}=Succeeded", true),
            ("jsonpath='{.status.phase}'=Succeeded", true),
            ("jsonpath='{.status.phase}=Succeeded'", true),
            ("jsonpath=.status.phase=Succeeded", true),
            ("jsonpath={.status.phase}=Failed", false),
            ("jsonpath={.status.ready}=3", true),
            ("jsonpath={.status.ready}", true),
            ("jsonpath={.status.empty}", false),
            ("jsonpath={.status.absent}", false),
            ("jsonpath={.status.conditions[*].type}=Ready", false),
            ("jsonpath={.status.conditions[?(@.type==\"Ready\")].reason}=Fine", true),
            ("jsonpath={.status.conditions[0].status}=True", true),
        ] {
            assert_eq!(holds(text, &object), wanted, "{text}");
            assert!(!holds(text, &Json::Null), "{text}");
        }
        assert_eq!(
            Condition::parse("condition=Ready").unwrap().why(&object),
            ("Fine".to_owned(), "all is well".to_owned())
        );
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        for text in [
            "",
            "Ready",
            "condition=",
            "condition=Ready=",
            "jsonpath={.a",
            "jsonpath={.a}b",
            "jsonpath={..[}",
            "create",
            "delete",
        ] {
            assert!(Condition::parse(text).is_err(), "{text}");
        }
    }
}
