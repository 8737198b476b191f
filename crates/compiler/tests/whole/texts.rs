//! Texts of several lines are as many lines of the tree, and a ConfigMap that cannot change keeps its name and its bytes.

use kubebench_compiler::compile::Compilation;
use kubebench_syntax::digest::Digest;
use kubebench_testing::snapshot::{Snapshot, assert_text, str};
use serde_json::Value;

use crate::compiled::{compile, errors};

/// A script as people write it: tabs, a blank at the end of a line, a blank first line, an indented line, newlines at the end.
const SCRIPT: &str = "\n  # before \nif true; then\n\techo 1\t\nfi\n\n\n";

fn benchmark(fields: &str) -> Compilation {
    let spec = format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: base}}\nspec:\n  timeout: 1h\n  {fields}\n  \
         metrics: [{{name: s, unit: s, better: lower, primary: true, from: {{duration: run}}}}]\n"
    );
    let compilation = compile(&[("specs/a.yaml", &spec), ("scripts/x.sh", SCRIPT)]);
    assert_eq!(errors(&compilation), [""; 0], "{fields}");
    compilation
}

fn job(command: &Value, more: &str) -> String {
    format!(
        "workload: {{job: {{image: 'r.example/a@sha256:d7ab393d3a3e0a75d6a914d3cbe61866d3a1ca1a19e38311835094b3e11a58ef', \
         resources: {{cpu: 1, memory: 1Gi}}, command: {command}{more}}}}}"
    )
}

fn body<'a>(compilation: &'a Compilation, file: &str) -> &'a str {
    compilation.tree.get(&format!("default/base/{file}")).unwrap_or_else(|| panic!("{file}")).body()
}

/// The name of the immutable ConfigMap, in itself and in its Workflow.
fn config_name(compilation: &Compilation) -> String {
    let read = |file: &str| -> Value { serde_yaml::from_str(body(compilation, file)).unwrap() };
    let name = read("config.yaml")["metadata"]["name"].as_str().unwrap().to_owned();
    let parameters = read("workflow.yaml")["spec"]["arguments"]["parameters"].clone();
    let config = parameters.as_array().unwrap().iter().find(|parameter| parameter["name"] == "config").unwrap();
    assert_eq!(config["value"], name.as_str());
    name
}

/// The lines of `text` without their indentation, which is that of its place.
fn holds_lines(text: &str, script: &str) {
    let mut lines = text.lines();
    for line in script.lines().filter(|line| !line.is_empty()) {
        assert!(lines.any(|found| found.trim_start_matches(' ') == line.trim_start_matches(' ')), "{line:?}: {text}");
    }
}

#[test]
fn scripts_are_lines_in_every_manifest() {
    let compilation =
        benchmark(&job(&serde_json::json!(["sh", "-c", SCRIPT]), ", files: {x.sh: {path: scripts/x.sh}}"));
    for file in ["config.yaml", "rules.yaml", "files.yaml"] {
        holds_lines(body(&compilation, file), SCRIPT);
    }
    let files: Value = serde_yaml::from_str(body(&compilation, "files.yaml")).unwrap();
    assert_eq!(files["data"]["x.sh"], SCRIPT);
    let config: Value = serde_yaml::from_str(body(&compilation, "config.yaml")).unwrap();
    let list: Value = serde_json::from_str(config["data"]["runs.json"].as_str().unwrap()).unwrap();
    let case = list["runs"][0]["case"].as_str().unwrap();
    let job: Value = serde_yaml::from_str(config["data"][format!("{case}.yaml")].as_str().unwrap()).unwrap();
    assert_eq!(job["spec"]["template"]["spec"]["containers"][0]["command"][2], SCRIPT);
}

/// The API server refuses other bytes under the name of an immutable ConfigMap: what is written otherwise than in epoch 1
/// has another name, and what is not has the same bytes. The digest, and with it the Workflow, is the same either way.
#[test]
fn a_config_map_that_reads_otherwise_has_another_name() {
    let is = |command: Value, expected: (&str, &str)| {
        let compilation = benchmark(&job(&command, ""));
        let name = config_name(&compilation);
        let digest = compilation.benchmarks[0].identity.digest.short();
        let suffix = name.strip_prefix(&format!("base-{digest}")).unwrap();
        let data: Value = serde_yaml::from_str::<Value>(body(&compilation, "config.yaml")).unwrap()["data"].clone();
        assert_eq!((suffix, Digest::of(data.to_string()).short().as_str()), expected, "{command}");
        assert!(body(&compilation, "workflow.yaml").contains(&format!("name: base-{digest}-r1\n")));
    };
    is(serde_json::json!(["a"]), ("", "b0046216"));
    is(serde_json::json!(["sh", "-c", "a\nb\n"]), ("", "0911a1e3"));
    is(serde_json::json!(["sh", "-c", "a\r\nb\n"]), ("", "49fa3939"));
    is(serde_json::json!(["sh", "-c", "a\n\tb\n"]), ("-2", "ea97e8ab"));
}

/// One run more is one line more.
#[test]
fn runs_are_a_line_each() {
    let runs = |values: &str| {
        let fields = format!(
            "repeats: 2\n  matrix: {{axes: {{size: {values}}}}}\n  {}",
            job(&serde_json::json!(["a", "${{ matrix.size }}"]), "")
        );
        let compilation = benchmark(&fields);
        body(&compilation, "workflow.yaml").lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let [two, three] = ["[1, 2]", "[1, 2, 3]"].map(runs);
    assert_eq!(three.len(), two.len() + 2, "{three:#?}");
    let rest: Vec<&String> = three.iter().skip_while(|line| !line.contains("- name: runs")).collect();
    let runs: Vec<&str> =
        rest.iter().take_while(|line| !line.contains("- name: session")).map(|line| line.as_str()).collect();
    assert_text(
        format!("{}\n", runs.join("\n")),
        str! {[r#"
    - name: runs
      value: |
        [
        "size-1-6b327e0d-r1",
        "size-2-e97097ba-r1",
        "size-3-1187f385-r1",
        "size-1-6b327e0d-r2",
        "size-2-e97097ba-r2",
        "size-3-1187f385-r2"
        ]

"#]},
    );
}

fn messages(fields: &str) -> Vec<String> {
    let compilation = benchmark(fields);
    let found = compilation.diagnostics.iter().filter(|fault| fault.code.id == "KB0439");
    found.map(|fault| format!("{}; {}", fault.message, fault.help.as_deref().unwrap())).collect()
}

#[test]
fn a_text_that_cannot_be_lines_is_named_where_it_is() {
    let is = |text: &str, expected: Snapshot| {
        let spec = job(&serde_json::json!(["sh", "-c", text]), "");
        let found = messages(&spec.replace('\u{2028}', "\\u2028").replace('\u{202e}', "\\u202e"));
        assert_eq!(found.len(), 1, "{text:?}: {found:?}");
        assert_text(&found[0], expected);
    };
    is(
        "a\r\nb\r\n",
        str! {[r#"the manifests show this text as one line, because it contains a carriage return (U+000D); write `\n` for `\r\n`, or the lines in a block (`|`)"#]},
    );
    is(
        "printf '\u{1b}[0m'\nb\n",
        str! {[r#"the manifests show this text as one line, because it contains a control character (U+001B); write it as the program's own escape, such as `\033` in `printf`"#]},
    );
    is(
        "a\u{2028}b\nc",
        str! {"the manifests show this text as one line, because it contains a Unicode line break (U+2028); write a line feed instead"},
    );
    is(
        "a\u{202e}b\nc",
        str! {"the manifests show this text as one line, because it contains an invisible character (U+202E); remove it, or write it as an escape of the program's language: it is invisible"},
    );
    is(
        "\ta\nb",
        str! {"the manifests show this text as one line, because it contains a tab at its beginning; begin the text with a line that does not start with a tab, such as an empty one"},
    );
    for sound in [SCRIPT, "a\rb", "\u{1b}", "\n", "a\nb", "é\n日本\n🚀"] {
        assert_eq!(messages(&job(&serde_json::json!(["sh", "-c", sound]), "")), [""; 0], "{sound:?}");
    }
    assert_eq!(messages(&format!("description: \"a\\r\\nb\"\n  {}", job(&serde_json::json!(["a"]), ""))).len(), 1);
}
