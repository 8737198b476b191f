//! Reads the schema for people: what a field is, what is under it, and where an unexpected field belongs.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::inline::inline;
use kubebench_syntax::diag::did_you_mean;
use kubebench_syntax::invariant::Invariant as _;

/// Returns `schema` with its references followed, outer words winning over inner ones.
pub(super) fn resolve(root: &Value, schema: &Value) -> Value {
    let mut merged = Map::new();
    let inner = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| reference.strip_prefix('#'))
        .and_then(|pointer| root.pointer(pointer));
    let parts = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
    for part in inner.into_iter().chain(parts) {
        if let Value::Object(part) = resolve(root, part) {
            merged.extend(part);
        }
    }
    for (key, value) in schema.as_object().into_iter().flatten() {
        if key != "$ref" && key != "allOf" {
            merged.insert(key.clone(), value.clone());
        }
    }
    Value::Object(merged)
}

/// The paths under which each field is a property, within reach of a person who looks for its place.
#[derive(Debug, Default)]
pub(super) struct Homes {
    by_field: BTreeMap<String, Vec<Vec<String>>>,
}

impl Homes {
    /// Returns the homes of all fields of the schema `root`.
    pub(super) fn of(root: &Value) -> Self {
        let mut homes = Self::default();
        homes.search(root, &resolve(root, root), &mut Vec::new());
        homes
    }

    /// Says under which paths `field` is a property, when the few that are nearest to the top are certain.
    pub(super) fn home_of(&self, field: &str) -> Option<String> {
        const MOST: usize = 2;
        let paths = self.by_field.get(field)?;
        let nearest = paths.iter().map(Vec::len).min()?;
        let paths: Vec<String> = paths.iter().filter(|path| path.len() == nearest).map(|path| place(path)).collect();
        (paths.len() <= MOST).then(|| paths.join(" or "))
    }

    fn search(&mut self, root: &Value, schema: &Value, path: &mut Vec<String>) {
        if path.len() > 4 {
            return;
        }
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if !path.is_empty() {
                self.by_field.entry(name.clone()).or_default().push(path.clone());
            }
            path.push(name.clone());
            self.search(root, &resolve(root, property), path);
            path.pop();
        }
        if schema.get("properties").is_some() {
            return;
        }
        // The values of a mapping of names, and the elements of a list.
        for (keyword, step) in [("additionalProperties", ".NAME"), ("items", "[]")] {
            let below = schema.get(keyword).filter(|below| below.is_object()).map(|below| resolve(root, below));
            let Some(below) = below.filter(|below| below.get("properties").is_some()) else { continue };
            let Some(last) = path.pop() else { return };
            path.push(format!("{last}{step}"));
            self.search(root, &below, path);
            path.pop();
            path.push(last);
        }
    }
}

/// Says what a field is below: `under `spec`` or `in an element of `spec.gates``.
fn place(path: &[String]) -> String {
    let path = path.join(".");
    match path.strip_suffix("[]") {
        Some(list) => format!("in an element of `{list}`"),
        None => format!("under `{path}`"),
    }
}

/// How deep a field is looked for: below that the parts of pods begin.
const DEEPEST: usize = 6;

/// Returns the paths that end with `end`, those of one level together and the ones nearest to the top first.
pub fn paths_to(root: &Value, end: &[&str]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut level = vec![(Vec::new(), resolve(root, root))];
    for _ in 0..DEEPEST {
        let mut below = Vec::new();
        for (above, schema) in &level {
            for (name, property) in
                holder(root, schema).get("properties").and_then(Value::as_object).into_iter().flatten()
            {
                let path: Vec<String> = above.iter().chain([name]).cloned().collect();
                let is_end = |(step, asked): (&String, &&str)| step == asked;
                if path.len() >= end.len() && path.iter().rev().zip(end.iter().rev()).all(is_end) {
                    found.push(path.clone());
                }
                below.push((path, resolve(root, property)));
            }
        }
        level = below;
    }
    found
}

/// Returns the description of the field at `path` (`spec.matrix`), as `kubectl explain` would print it, or the
/// part of the path that does not exist together with the names that do.
///
/// Elements (`args[0]`) and the keys that people choose (`targets.gpu-eu`) may be named or left out.
pub fn explain(root: &Value, kind: &str, path: &[&str]) -> Result<String, (String, Vec<String>)> {
    let mut schema = resolve(root, root);
    let mut rest = path;
    while let [step, after @ ..] = rest {
        rest = after;
        let (name, is_element) = step.split_once('[').map_or((*step, false), |(name, _)| (name, true));
        let holder = holder(root, &schema);
        let properties = holder.get("properties").and_then(Value::as_object);
        let values = values(root, &schema);
        schema = match (properties.and_then(|properties| properties.get(name)), values) {
            (Some(property), _) => resolve(root, property),
            (None, Some(values)) if is_chosen(name, properties) => {
                if properties.is_none() && !is_list(&values) {
                    // A chosen key may hold dots: the rest of the path is one.
                    rest = &[];
                }
                values
            }
            (None, _) => {
                let known = properties.into_iter().flatten().map(|(name, _)| name.clone()).collect();
                return Err((name.to_owned(), known));
            }
        };
        if is_element && !is_list(&schema) {
            return Err(((*step).to_owned(), Vec::new()));
        }
        if is_element {
            schema = resolve(root, schema.get("items").unwrap_or(&Value::Null));
        }
    }
    Ok(page(root, kind, path, &schema))
}

/// Returns the nearest schema at or below `schema` that has fields.
fn holder(root: &Value, schema: &Value) -> Value {
    let mut holder = schema.clone();
    while holder.get("properties").is_none() {
        match holder.get("items").or_else(|| holder.get("additionalProperties")).filter(|next| next.is_object()) {
            Some(next) => holder = resolve(root, next),
            None => break,
        }
    }
    holder
}

/// Returns the schema of the values of a mapping with keys that people choose.
fn values(root: &Value, schema: &Value) -> Option<Value> {
    let values = schema.get("additionalProperties").filter(|values| values.is_object());
    Some(resolve(root, values.filter(|_| schema.get("properties").is_none())?))
}

fn is_list(schema: &Value) -> bool {
    schema.get("items").is_some()
}

/// Returns whether `name` is a key that its author chose, rather than a misspelled one of `properties`.
fn is_chosen(name: &str, properties: Option<&Map<String, Value>>) -> bool {
    did_you_mean(name, properties.into_iter().flatten().map(|(name, _)| name.as_str())).is_none()
}

fn page(root: &Value, kind: &str, path: &[&str], schema: &Value) -> String {
    let full: Vec<&str> = std::iter::once(kind).chain(path.iter().copied()).collect();
    let mut page = format!("{} <{}>\n", full.join("."), type_of(root, schema));
    if let Some(description) = schema.get("description").and_then(Value::as_str) {
        page.push_str(&format!("\n  {}\n", one_line(description)));
    }
    for (key, title) in [("enum", "Values"), ("default", "Default"), ("examples", "Examples")] {
        // Words come before the form that other values have.
        match schema.get(key).or_else(|| schema.pointer(&format!("/anyOf/0/{key}"))) {
            Some(Value::Array(values)) if key != "default" => {
                page.push_str(&format!("\n{title}: {}\n", values.iter().map(inline).collect::<Vec<_>>().join(", ")));
            }
            Some(value) => page.push_str(&format!("\n{title}: {}\n", inline(value))),
            None => {}
        }
    }
    let values = values(root, schema);
    let holder = if schema.get("properties").is_some() {
        schema.clone()
    } else {
        let items = schema.get("items").map(|items| resolve(root, items));
        items.or_else(|| values.clone()).unwrap_or(Value::Null)
    };
    let required: Vec<&str> =
        holder.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = holder.get("properties").and_then(Value::as_object);
    if let Some(properties) = properties.filter(|properties| !properties.is_empty()) {
        page.push_str(if values.is_some() { "\nFields of each value:\n" } else { "\nFields:\n" });
        for (name, property) in properties {
            let property = resolve(root, property);
            let mark = if required.contains(&name.as_str()) { " (required)" } else { "" };
            page.push_str(&format!("  {name} <{}>{mark}\n", type_of(root, &property)));
            if let Some(description) = property.get("description").and_then(Value::as_str) {
                page.push_str(&format!("      {}\n", one_line(description)));
            }
        }
    }
    page
}

pub(super) fn type_of(root: &Value, schema: &Value) -> String {
    if let Some(format) = schema.get("format").and_then(Value::as_str) {
        return format.to_owned();
    }
    let lookup = schema.get("pattern").is_some();
    let name = |name: &Value| name.as_str().expected("types by their names").to_owned();
    match schema.get("type") {
        Some(Value::Array(types)) => {
            types.iter().map(name).filter(|name| !(lookup && name == "string")).collect::<Vec<_>>().join("|")
        }
        Some(Value::String(one)) if one == "array" => {
            let items =
                schema.get("items").map_or_else(|| "any".to_owned(), |items| type_of(root, &resolve(root, items)));
            format!("list of {items}")
        }
        Some(Value::String(one)) if one == "object" && schema.get("properties").is_none() => values(root, schema)
            .map_or_else(|| "mapping".to_owned(), |values| format!("mapping of {}", type_of(root, &values))),
        Some(one) => name(one),
        None => match schema.pointer("/anyOf/0/type") {
            Some(one) => name(one),
            None => "any".to_owned(),
        },
    }
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::Homes;
    use serde_json::json;

    #[test]
    fn a_field_has_a_home_in_mappings_of_names_and_in_lists() {
        let gate = json!({"properties": {"min": {}, "metric": {}}});
        let target = json!({"properties": {"tolerations": {}, "pods": {"properties": {"labels": {}}}}});
        let schema = json!({"properties": {
            "metadata": {"properties": {"name": {}, "labels": {}}},
            "spec": {"properties": {
                "gates": {"items": gate},
                "targets": {"additionalProperties": target},
                "defaults": {"properties": {"metric": {}}},
            }},
        }});
        let homes = Homes::of(&schema);
        for (field, home) in [
            ("gates", Some("under `spec`")),
            ("min", Some("in an element of `spec.gates`")),
            ("tolerations", Some("under `spec.targets.NAME`")),
            ("labels", Some("under `metadata`")),
            ("metric", Some("under `spec.defaults` or in an element of `spec.gates`")),
            ("nothing", None),
        ] {
            assert_eq!(homes.home_of(field).as_deref(), home, "{field}");
        }
    }
}
