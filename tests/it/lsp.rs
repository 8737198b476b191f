//! `kubebench lsp` as an editor meets it: by its standard input and output, with the files of a disk.

mod client;
mod oracle_editor;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::project::{Folder, mixed_files};
use client::Client;

const PROJECT: &str =
    "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {targets: {main: {namespace: bench}}}\n";

fn spec(name: &str, more: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata:\n  name: {name}\nspec:\n  timeout: 1h\n{more}  workload:\n    job: {{image: 'registry.example/a:1', command: [run], resources: {{cpu: 1, memory: 1Gi}}}}\n  metrics: [{{name: seconds, better: lower, primary: true, from: {{duration: run}}}}]\n"
    )
}

/// Findings by path: code, line and column, from 1.
type Findings = BTreeMap<String, Vec<(String, u64, u64)>>;

fn of_validate(folder: &Folder) -> Findings {
    let output = folder.run(&["validate", "--output-format", "json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut found = Findings::new();
    for finding in answer["diagnostics"].as_array().unwrap() {
        let number = |key: &str| finding["start"][key].as_u64().unwrap_or(1);
        let path = finding["path"].as_str().unwrap().to_owned();
        let code = finding["code"].as_str().unwrap().to_owned();
        found.entry(path).or_default().push((code, number("line"), number("column")));
    }
    for all in found.values_mut() {
        all.sort();
    }
    found
}

fn of_client(client: &Client) -> Findings {
    let mut found = Findings::new();
    for (path, findings) in client.shown() {
        for finding in findings {
            let at = &finding["range"]["start"];
            let number = |key: &str| at[key].as_u64().unwrap() + 1;
            let code = finding["code"].as_str().unwrap().to_owned();
            found.entry(path.clone()).or_default().push((code, number("line"), number("character")));
        }
    }
    for all in found.values_mut() {
        all.sort();
    }
    found
}

#[test]
fn an_editor_sees_what_validate_says() {
    let mut files: Vec<(String, String)> = mixed_files();
    files.push(("specs/slips.yaml".to_owned(), spec("slips", "  repeat: 3\n  targets: [nowhere]\n")));
    files.push((
        "specs/broken.yaml".to_owned(),
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: [\n".to_owned(),
    ));
    files.push(("specs/notes.yml.txt".to_owned(), "nothing".to_owned()));
    files.push(("specs/data.json".to_owned(), "{}".to_owned()));
    let folder = Folder::with(files);
    let mut client = Client::start(&folder);
    client.open("specs/slips.yaml");
    let expected = of_validate(&folder);
    assert!(expected.len() >= 3, "{expected:?}");
    assert_eq!(of_client(&client), expected);
    client.end();
}

#[test]
fn a_file_with_a_name_that_no_spec_has_is_a_finding_when_it_is_opened() {
    for path in ["specs/B.YAML", "specs/c.json"] {
        let files = [("kubebench.yaml", PROJECT.to_owned()), ("specs/a.yaml", spec("a", "")), (path, "{}".to_owned())];
        let folder = Folder::with(files);
        let mut client = Client::start(&folder);
        client.open(path);
        let found = of_client(&client);
        assert_eq!(found.get(path).map(Vec::as_slice), Some(&[("KB0115".to_owned(), 1, 1)][..]), "{found:?}");
        assert_eq!(found, of_validate(&folder));
        client.end();
    }
}

#[test]
fn what_is_typed_counts_before_it_is_saved() {
    let folder = Folder::with([
        ("kubebench.yaml", PROJECT.to_owned()),
        ("specs/a.yaml", spec("a", "")),
        (
            "specs/s.yaml",
            "apiVersion: kubebench.dev/v1\nkind: Suite\nmetadata: {name: s}\nspec: {benchmarks: [a]}\n".to_owned(),
        ),
    ]);
    let mut client = Client::start(&folder);
    client.open("specs/a.yaml");
    assert_eq!(of_client(&client), Findings::new());
    // The name is in line 4.
    client.edit("specs/a.yaml", (3, 8), (3, 9), "b");
    let codes: Vec<String> =
        of_client(&client).remove("specs/s.yaml").unwrap().into_iter().map(|(code, ..)| code).collect();
    assert_eq!(codes, ["KB0321"]);
    client.edit("specs/a.yaml", (3, 8), (3, 9), "a");
    assert_eq!(of_client(&client), Findings::new());
    // A file that another program writes.
    folder.write("specs/c.yaml", "kind: [");
    client.changed("specs/c.yaml");
    assert_eq!(of_client(&client).into_keys().collect::<Vec<_>>(), ["specs/c.yaml"]);
    client.end();
}

#[test]
fn it_completes_in_the_middle_of_a_word() {
    let folder = Folder::with([("kubebench.yaml", PROJECT.to_owned()), ("specs/a.yaml", spec("a", "  war\n"))]);
    let mut client = Client::start(&folder);
    client.open("specs/a.yaml");
    let items = client.ask("textDocument/completion", "specs/a.yaml", json!({"position": {"line": 6, "character": 5}}));
    let item = items.as_array().unwrap().iter().find(|item| item["label"] == "warmups").unwrap();
    assert_eq!(item["textEdit"]["newText"], "warmups: ");
    assert_eq!(item["textEdit"]["range"]["start"], json!({"line": 6, "character": 2}));
    client.end();
}

/// Linux says of a process which others it started, and what it has open.
#[cfg(target_os = "linux")]
#[test]
fn it_starts_no_program_and_opens_no_connection() {
    let folder = Folder::with([("kubebench.yaml", PROJECT.to_owned()), ("specs/a.yaml", spec("a", ""))]);
    let mut client = Client::start(&folder);
    client.open("specs/a.yaml");
    client.edit("specs/a.yaml", (3, 8), (3, 9), "b");
    let process = format!("/proc/{}", client.id());
    for task in std::fs::read_dir(format!("{process}/task")).unwrap() {
        let children = std::fs::read_to_string(task.unwrap().path().join("children")).unwrap_or_default();
        assert_eq!(children.trim(), "");
    }
    for open in std::fs::read_dir(format!("{process}/fd")).unwrap() {
        let place = std::fs::read_link(open.unwrap().path()).unwrap_or_default();
        assert!(!place.to_string_lossy().starts_with("socket:"), "{place:?}");
    }
    client.end();
}

#[cfg(unix)]
#[test]
fn no_link_leads_out_of_the_project() {
    let outside = Folder::with([("secret.sh", "echo secret")]);
    let more = "  workload: {job: {files: {a: {path: a.sh}}, image: 'r.example/a:1', command: [sh, a], resources: {cpu: 1, memory: 1Gi}}}\n";
    let text = spec("a", "");
    let text = format!("{}{more}", text.split("  workload").next().unwrap());
    let folder = Folder::with([("kubebench.yaml", PROJECT.to_owned()), ("specs/a.yaml", text)]);
    std::os::unix::fs::symlink(outside.path().join("secret.sh"), folder.path().join("a.sh")).unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.path().join("specs/more")).unwrap();
    let mut client = Client::start(&folder);
    client.open("specs/a.yaml");
    let found = of_client(&client);
    assert_eq!(found, of_validate(&folder));
    assert!(found.values().flatten().any(|(code, ..)| code == "KB0340"), "{found:?}");
    let at = json!({"position": {"line": 6, "character": 39}});
    assert_eq!(client.ask("textDocument/definition", "specs/a.yaml", at), Value::Null);
    client.end();
}
