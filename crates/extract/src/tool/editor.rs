//! What the schema for editors contains of tools: the names of their metrics.

use serde_json::{Value, json};

use super::{TOOLS, Tool, form};

/// Returns what is added to the schema of `from: {tool: …}`.
pub fn schema() -> Value {
    json!({"allOf": TOOLS.iter().map(metrics_of).collect::<Vec<_>>()})
}

fn metrics_of(tool: &Tool) -> Value {
    let names: Vec<String> =
        (tool.metrics)().iter().flat_map(|metric| metric.names()).map(|name| form::pattern(&name)).collect();
    let items = json!({
        "pattern": format!(r"^(?:{})(?:\{{[^\x00]*\}})?$|\$\{{\{{", names.join("|")),
        "patternErrorMessage": format!("`kubebench explain tool.{}` lists its metrics.", tool.name),
    });
    json!({
        "if": {"required": ["name"], "properties": {"name": {"const": tool.name}}},
        "then": {"properties": {"metrics": {"items": items}}},
    })
}

#[cfg(test)]
mod tests {
    use super::{TOOLS, form};

    #[test]
    fn patterns_take_what_forms_take() {
        for tool in TOOLS {
            for name in (tool.metrics)().iter().flat_map(|metric| metric.names()) {
                let pattern = regex::Regex::new(&format!("^(?:{})$", form::pattern(&name))).unwrap();
                let filled = name
                    .replace("{N}", "99.9")
                    .replace("{location}", "p99")
                    .replace(['{', '}'], "")
                    .split('|')
                    .next()
                    .unwrap()
                    .to_owned();
                let mut tried = vec![
                    filled,
                    name.replace("{location}", "mean"),
                    name.clone(),
                    format!("{name}_"),
                    "zzz".to_owned(),
                ];
                tried.extend((tool.metrics)().iter().map(|metric| metric.name.replace("{N}", "1")));
                for text in tried {
                    assert_eq!(pattern.is_match(&text), form::fits(&name, &text), "{} {name} {text}", tool.name);
                }
            }
        }
    }
}
