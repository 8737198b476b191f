use serde_json::json;

use super::*;

#[test]
fn what_no_tool_names_has_a_name() {
    let read = |metric: serde_json::Value| {
        let file = json!({"schemaVersion": 1, "benchmark": "x", "metrics": [metric], "checks": []});
        Rules::read(&file.to_string()).map(|rules| rules.metrics.len())
    };
    assert_eq!(read(json!({"name": "t", "from": {"duration": "run"}})), Ok(1));
    assert_eq!(read(json!({"from": {"tool": {"name": "fio"}}})), Ok(1));
    assert_eq!(read(json!({"from": {"duration": "run"}})), Err("a metric has no name".to_owned()));
}
