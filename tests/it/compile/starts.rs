//! `plan` and `list` say when schedules start next.

use serde_json::Value;

use crate::support::project::{Folder, assert_yes};

fn spec(name: &str, schedule: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: {name}}}\nspec:\n{schedule}  timeout: 1h\n  workload:\n    job: {{image: 'r.example/a:1', command: [a], resources: {{cpu: 1, memory: 1Gi}}}}\n  metrics: [{{name: seconds, unit: s, better: lower, primary: true, from: {{duration: run}}}}]\n"
    )
}

fn folder() -> Folder {
    let weekly = spec("weekly", "  schedule: {cron: '0 3 * * 1', timezone: Europe/Berlin}\n");
    Folder::with([("specs/weekly.yaml", weekly.as_str()), ("specs/once.yaml", spec("once", "").as_str())])
}

#[test]
fn the_next_starts_are_after_now_and_in_order() {
    let folder = folder();
    for command in ["plan", "list"] {
        let before = kubebench_host::machine::second();
        let output = folder.run(&[command, "--output-format", "json"]);
        assert_yes(&output);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let of = |name: &str| {
            let rows = answer["benchmarks"].as_array().unwrap();
            rows.iter().find(|row| row["name"] == name).unwrap()["schedule"].clone()
        };
        assert_eq!(of("once"), Value::Null, "{command}");
        let schedule = of("weekly");
        assert_eq!((&schedule["cron"], &schedule["timezone"]), (&"0 3 * * 1".into(), &"Europe/Berlin".into()));
        let utc: Vec<&str> =
            schedule["next"].as_array().unwrap().iter().map(|start| start["utc"].as_str().unwrap()).collect();
        assert_eq!(utc.len(), 3, "{command}");
        assert!(utc.is_sorted() && *utc[0] > *before, "{before} {utc:?}");
        for start in schedule["next"].as_array().unwrap() {
            let (local, utc) = (start["local"].as_str().unwrap(), start["utc"].as_str().unwrap());
            let summer = local.ends_with(" 03:00 CEST") && utc.ends_with("T01:00:00Z");
            let winter = local.ends_with(" 03:00 CET") && utc.ends_with("T02:00:00Z");
            assert!(summer || winter, "{local} {utc}");
        }
        let text = String::from_utf8(folder.run(&[command]).stdout).unwrap();
        assert!(text.contains("\nSTARTS NEXT"), "{text}");
        assert!(utc.iter().all(|utc| text.contains(utc)), "{text}");
    }
}
