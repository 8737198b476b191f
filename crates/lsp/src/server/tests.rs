#![expect(clippy::string_slice, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use kubebench_compiler::compile::Input;
use kubebench_compiler::lower::Unreadable;
use kubebench_syntax::diag::Diagnostics;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::files::ReadCarried;

/// Files by their paths on a machine that does not exist.
#[derive(Clone, Default)]
struct Made(Arc<Mutex<BTreeMap<String, String>>>);

impl Made {
    fn get(&self, path: &str) -> Option<String> {
        self.0.lock().unwrap().get(path).cloned()
    }
}

impl Files for Made {
    fn has_project_file(&self, folder: &Path) -> bool {
        self.get(&format!("{}/kubebench.yaml", folder.display())).is_some()
    }

    fn project_file(&self, root: &Path) -> Option<Vec<u8>> {
        self.get(&format!("{}/kubebench.yaml", root.display())).map(String::into_bytes)
    }

    fn specs(&self, root: &Path, _: Option<&Input>, paths: &[String]) -> (Vec<Input>, Diagnostics) {
        let is_asked = |path: &str| paths.iter().any(|asked| path == asked || path.starts_with(&format!("{asked}/")));
        let files = self.0.lock().unwrap();
        let input = |(path, text): (&String, &String)| {
            let path = Path::new(path).strip_prefix(root).ok()?.to_str()?.to_owned();
            (is_asked(&path) && std::path::Path::new(&path).extension().is_some_and(|end| end == "yaml"))
                .then(|| Input { path, bytes: text.clone().into_bytes() })
        };
        (files.iter().filter_map(input).collect(), Diagnostics::default())
    }

    fn listed(&self, root: &Path, except: &[String]) -> Vec<String> {
        let files = self.0.lock().unwrap();
        let below = files.keys().filter_map(|path| Path::new(path).strip_prefix(root).ok()?.to_str());
        let is_left_out = |path: &&str| except.iter().any(|folder| path.starts_with(&format!("{folder}/")));
        below.filter(|path| !is_left_out(path)).map(str::to_owned).collect()
    }

    fn carried(&self, root: &Path) -> ReadCarried {
        let (files, root) = (self.clone(), root.to_owned());
        Box::new(move |path| {
            let found = files.get(&root.join(path).to_string_lossy());
            found.map(String::into_bytes).ok_or(Unreadable::Absent { beside: Vec::new() })
        })
    }
}

const PROJECT: &str = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata:\n  name: p\nspec:\n  parameters:\n    steps: 5\n  targets:\n    main:\n      namespace: bench\n      prices: {currency: EUR, cpu: 1, memory: 0}\n";
const SPEC: &str = "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata:\n  name: fio\nspec:\n  extends: [disk]\n  timeout: 1h\n  matrix:\n    axes:\n      size: [4, 8]\n  workload:\n    job:\n      command: [fio, \"--bs=${{ matrix.size }}k\", \"${{ parameters.engine }}\"]\n  metrics:\n    - from: {tool: {name: fio, file: fio.json, metrics: [read_iops]}}\n  gates:\n    - {metric: read_iops, maxRegression: 3%}\n  results: {mountInJob: true}\n";
const FRAGMENT: &str = "apiVersion: kubebench.dev/v1\nkind: Fragment\nmetadata:\n  name: disk\nspec:\n  repeats: 3\n  parameters:\n    engine: libaio\n  workload:\n    job:\n      image: registry.example/fio:3.39\n      resources: {cpu: 2, memory: 1Gi}\n";
const SUITE: &str = "apiVersion: kubebench.dev/v1\nkind: Suite\nmetadata:\n  name: nightly\nspec:\n  benchmarks: [fio]\n  results: {claim: {accessModes: [ReadWriteMany]}}\n";

struct Client {
    files: Made,
    server: Server,
    shown: BTreeMap<String, Vec<lsp_types::Diagnostic>>,
    requests: i32,
}

impl Client {
    fn new(files: &[(&str, &str)]) -> Self {
        let made = Made::default();
        made.0.lock().unwrap().extend(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
        let params = serde_json::from_value(json!({"capabilities": {}})).unwrap();
        let server = Server::new(Box::new(made.clone()), "0.1.0", &params);
        Self { files: made, server, shown: BTreeMap::new(), requests: 0 }
    }

    fn project() -> Self {
        Self::new(&[
            ("/p/kubebench.yaml", PROJECT),
            ("/p/specs/fio.yaml", SPEC),
            ("/p/specs/disk.yaml", FRAGMENT),
            ("/p/specs/nightly.yaml", SUITE),
        ])
    }

    fn tell(&mut self, method: &str, params: Json) {
        let mut messages = self.server.handle(Notification::new(method.to_owned(), params).into());
        messages.extend(self.server.settle());
        for message in messages {
            let Message::Notification(Notification { method, params }) = message else { continue };
            assert_eq!(method, "textDocument/publishDiagnostics");
            let params: PublishDiagnosticsParams = serde_json::from_value(params).unwrap();
            self.shown.insert(params.uri.as_str().to_owned(), params.diagnostics);
        }
    }

    fn open(&mut self, path: &str, text: &str) {
        let document = json!({"uri": format!("file://{path}"), "languageId": "yaml", "version": 1, "text": text});
        self.tell("textDocument/didOpen", json!({"textDocument": document}));
    }

    fn write(&mut self, path: &str, text: &str) {
        let params = json!({
            "textDocument": {"uri": format!("file://{path}"), "version": 2},
            "contentChanges": [{"text": text}],
        });
        self.tell("textDocument/didChange", params);
    }

    fn ask(&mut self, method: &str, params: Json) -> Json {
        self.requests += 1;
        let request = Request::new(self.requests.into(), method.to_owned(), params);
        let answers = self.server.handle(request.into());
        let [Message::Response(response)] = answers.as_slice() else { panic!("{answers:?}") };
        response.response_result.clone().unwrap()
    }

    /// Opens `text` with `|` taken out, and asks about that place.
    fn ask_at(&mut self, method: &str, path: &str, marked: &str) -> Json {
        let at = marked.find('|').unwrap();
        let text = marked.replacen('|', "", 1);
        self.open(path, &text);
        let before = &text[..at];
        let line = before.matches('\n').count();
        let character = before.rsplit('\n').next().unwrap().chars().count();
        let position = json!({"line": line, "character": character});
        self.ask(method, json!({"textDocument": {"uri": format!("file://{path}")}, "position": position}))
    }

    fn complete(&mut self, path: &str, marked: &str) -> String {
        let items = self.ask_at("textDocument/completion", path, marked);
        let labels = items.as_array().into_iter().flatten().map(|item| item["label"].as_str().unwrap().to_owned());
        labels.collect::<Vec<_>>().join(" ")
    }

    fn define(&mut self, path: &str, marked: &str) -> String {
        let found = self.ask_at("textDocument/definition", path, marked);
        let (uri, start) = (&found["uri"], &found["range"]["start"]);
        uri.as_str().map_or_else(String::new, |uri| format!("{uri}:{}:{}", start["line"], start["character"]))
    }

    fn codes(&self, path: &str) -> Vec<String> {
        let code = |shown: &lsp_types::Diagnostic| match &shown.code {
            Some(lsp_types::NumberOrString::String(code)) => format!("{code}@{}", shown.range.start.line),
            other => format!("{other:?}"),
        };
        self.shown.get(&format!("file://{path}")).into_iter().flatten().map(code).collect()
    }
}

/// The spec with other text for a part of it.
fn spec(from: &str, to: &str) -> String {
    assert!(SPEC.contains(from), "{from}");
    SPEC.replacen(from, to, 1)
}

#[test]
fn findings_are_those_of_the_texts_that_are_open() {
    let mut client = Client::project();
    client.open("/p/specs/fio.yaml", SPEC);
    assert_eq!(client.codes("/p/specs/fio.yaml"), [""; 0]);
    client.write("/p/specs/fio.yaml", &spec("timeout: 1h", "timeut: 1h"));
    assert_eq!(client.codes("/p/specs/fio.yaml"), ["KB0201@6"]);
    client.write("/p/specs/fio.yaml", SPEC);
    assert_eq!(client.codes("/p/specs/fio.yaml"), [""; 0]);
    // A fragment, a suite and the project file count as they are open, and close as they are on disk.
    client.open("/p/specs/disk.yaml", &FRAGMENT.replace("engine: libaio", "motor: libaio"));
    assert_eq!(client.codes("/p/specs/fio.yaml"), ["KB0301@12"]);
    client.tell("textDocument/didClose", json!({"textDocument": {"uri": "file:///p/specs/disk.yaml"}}));
    assert_eq!(client.codes("/p/specs/fio.yaml"), [""; 0]);
    client.open("/p/specs/nightly.yaml", &SUITE.replace("[fio]", "[fia]"));
    assert_eq!(client.codes("/p/specs/nightly.yaml"), ["KB0321@5"]);
    client.open("/p/kubebench.yaml", &PROJECT.replace("spec:\n", "spec:\n  specs: [benchmarks]\n"));
    assert_eq!(client.codes("/p/specs/nightly.yaml"), [""; 0], "no longer a spec");
    client.write("/p/kubebench.yaml", &PROJECT.replace("namespace", "namspace"));
    assert_eq!(client.codes("/p/kubebench.yaml").len(), 1);
}

#[test]
fn what_changes_on_disk_is_read_when_the_client_says_so() {
    let mut client = Client::project();
    client.open("/p/specs/fio.yaml", SPEC);
    let path = "/p/specs/disk.yaml".to_owned();
    client.files.0.lock().unwrap().insert(path, FRAGMENT.replace("engine", "motor"));
    let changes = json!({"changes": [{"uri": "file:///p/specs/disk.yaml", "type": 2}]});
    client.tell("workspace/didChangeWatchedFiles", changes.clone());
    assert_eq!(client.codes("/p/specs/fio.yaml"), ["KB0301@12"]);
    client.files.0.lock().unwrap().remove("/p/specs/disk.yaml");
    client.tell("workspace/didChangeWatchedFiles", changes);
    assert_eq!(client.codes("/p/specs/fio.yaml"), ["KB0399@5"]);
}

#[test]
fn projects_are_apart_and_other_files_are_left_alone() {
    let mut client = Client::new(&[
        ("/w/one/kubebench.yaml", PROJECT),
        ("/w/two/specs/a.yaml", "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: a}\nspec: {}\n"),
        ("/w/other/specs/openapi.yaml", "openapi: 3.1.0\n"),
    ]);
    client.open("/w/one/specs/a.yaml", "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: a}\nspec: 1\n");
    client.open("/w/two/specs/a.yaml", "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: a}\nspec: [\n");
    client.open("/w/other/specs/openapi.yaml", "openapi: [\n");
    client.open("/w/one/deploy/values.yaml", "a: [\n");
    client.open("/w/values.yaml", "a: [\n");
    let shown: Vec<&String> = client.shown.iter().filter(|(_, shown)| !shown.is_empty()).map(|(uri, _)| uri).collect();
    assert_eq!(shown, ["file:///w/one/specs/a.yaml", "file:///w/two/specs/a.yaml"]);
    assert_eq!(client.complete("/w/one/deploy/values.yaml", "|"), "");
    let params =
        json!({"textDocument": {"uri": "file:///w/values.yaml"}, "options": {"tabSize": 2, "insertSpaces": true}});
    assert_eq!(client.ask("textDocument/formatting", params), Json::Null);
}

#[test]
fn files_that_a_spec_may_carry_are_offered() {
    let mut client = Client::project();
    let files =
        ["/p/scripts/bench.sh", "/p/jobs/a.yaml", "/p/generated/main/x.yaml", "/p/results/fio/r.json", "/q/other.sh"];
    client.files.0.lock().unwrap().extend(files.map(|path| (path.to_owned(), String::new())));
    let path = "/p/specs/fio.yaml";
    client.open(path, SPEC);
    let of =
        |value: &str| spec("      command:", &format!("      files: {{run.sh: {{path: {value}}}}}\n      command:"));
    assert_eq!(client.complete(path, &of("|")), "jobs/a.yaml scripts/bench.sh");
    // A file that is open and not saved yet exists, and a new file on disk once the client reports it.
    client.open("/p/scripts/new.sh", "echo");
    client.files.0.lock().unwrap().insert("/p/scripts/old.sh".to_owned(), String::new());
    assert_eq!(client.complete(path, &of("scripts/|")), "jobs/a.yaml scripts/bench.sh scripts/new.sh");
    client
        .tell("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": "file:///p/scripts/old.sh", "type": 1}]}));
    assert_eq!(client.complete(path, &of("|")), "jobs/a.yaml scripts/bench.sh scripts/new.sh scripts/old.sh");
}

#[test]
fn completion_knows_the_schema_and_the_names_around() {
    let mut client = Client::project();
    let path = "/p/specs/fio.yaml";
    let mut has = |from: &str, to: &str, expected: &[&str], not: &[&str]| {
        let found = client.complete(path, &spec(from, to));
        let found: Vec<&str> = found.split(' ').collect();
        assert!(expected.iter().all(|label| found.contains(label)), "{to}: {found:?}");
        assert!(!not.iter().any(|label| found.contains(label)), "{to}: {found:?}");
    };
    has("  timeout: 1h\n", "  |\n", &["timeout", "repeats", "variants"], &["matrix", "gates"]);
    has("  timeout: 1h\n", "  tim|: 1h\n", &["timeout"], &["matrix"]);
    has("    job:\n", "    |\n    job:\n", &[], &["pytorchJob", "mpiJob", "job"]);
    has("    job:\n", "    jo|b:\n", &["pytorchJob", "job"], &[]);
    has("matrix.size", "|", &["matrix.size", "parameters.engine", "project.parameters.steps", "target.name"], &[]);
    has("matrix.size }}k\"", "matrix.|", &["matrix.size"], &[]);
    has("[disk]", "[|]", &["disk"], &["fio"]);
    has("  timeout: 1h\n", "  targets: [|]\n", &["main"], &[]);
    has("metric: read_iops", "metric: |", &["read_iops"], &[]);
    has("metrics: [read_iops]", "metrics: [|]", &["read_iops", "write_iops"], &[]);
    has("name: fio, file", "name: |, file", &["fio", "nccl-tests", "vllm-serve-stdout"], &[]);
    has("kind: Benchmark", "kind: |", &["Benchmark", "Suite", "Fragment"], &["Project", "Ack"]);
    has("matrix.size", "|", &[], &["variant.name"]);
    has("  timeout: 1h\n", "  variants: [{name: a}]\n  timeout: ${{ | }}\n", &["variant.name"], &[]);
    has("  timeout: 1h\n", "  checks:\n    |\n", &["metric", "finite"], &["timeout"]);
    has("  timeout: 1h\n", "  targets:\n    |\n", &["main"], &[]);
    has("  gates:\n", "  gates:\n    |\n", &["metric", "min"], &[]);
    has("    job:\n", "    pytorchJob:\n      nprocPerNode: |\n", &["auto", "gpu", "cpu"], &[]);
    let resources = ["requests", "limits", "cpu", "memory", "ephemeral-storage", "nvidia.com/gpu"];
    has("      command", "      resources:\n        |\n      command", &resources, &[]);
    has("      command", "      resources: {cpu: 1, |}\n      command", &["memory"], &["cpu"]);
    has("      command", "      resources: {limits: {|}}\n      command", &["nvidia.com/gpu"], &["requests"]);
    has("      command", "      files:\n        a.sh:\n          |\n      command", &["path"], &[]);
    has("  timeout: 1h\n", "  lints:\n    |\n", &["KB0411"], &["KB0201"]);
    has("    - {metric: read_iops, maxRegression: 3%}\n", "    - |\n", &["metric", "maxRegression"], &[]);
    has("3%}", "3%, |}", &["min", "max"], &["metric", "maxRegression"]);
    assert_eq!(client.complete("/p/specs/nightly.yaml", &SUITE.replace("[fio]", "[|]")), "fio");
    assert_eq!(client.complete("/p/specs/nightly.yaml", &SUITE.replace("[fio]", "[{benchmark: fio, needs: [|")), "fio");
    let roles = "    pytorchJob:\n      master: {}\n      worker: {replicas: 3}\n      command";
    let log = "    - {name: x, from: {log: {pattern: x, role: |}}}\n    - from";
    let text = spec("    - from", log).replace("    job:\n      command", roles);
    let found = client.complete(path, &text);
    assert_eq!(found, "master worker");
    let lints = PROJECT.replace("spec:\n", "spec:\n  lints:\n    |\n");
    assert!(client.complete("/p/kubebench.yaml", &lints).starts_with("KB0115 "));
}

#[test]
fn what_completion_writes_fits_its_place() {
    let mut client = Client::project();
    let path = "/p/specs/fio.yaml";
    let mut first = |from: &str, to: &str| {
        let items = client.ask_at("textDocument/completion", path, &spec(from, to));
        items[0]["textEdit"]["newText"].as_str().unwrap().to_owned()
    };
    assert_eq!(first("${{ matrix.size }}k", "${{ |"), "matrix.size }}");
    assert_eq!(first("${{ matrix.size }}k", "${{ mat| }}k"), "matrix.size");
    assert_eq!(first("  timeout: 1h\n", "  targets:\n    |\n"), "- main");
    assert_eq!(first("    - {metric: read_iops, maxRegression: 3%}\n", "    |\n"), "- metric: ");
    assert_eq!(first("    - {metric: read_iops, maxRegression: 3%}\n", "    - |\n"), "metric: ");
}

#[test]
fn definitions_are_where_something_is_declared() {
    let mut client = Client::project();
    let path = "/p/specs/fio.yaml";
    client.files.0.lock().unwrap().insert("/p/run.sh".to_owned(), "true".to_owned());
    let mut at = |from: &str, to: &str| client.define(path, &spec(from, to));
    assert_eq!(at("matrix.size", "matrix.si|ze"), "file:///p/specs/fio.yaml:9:6");
    assert_eq!(at("parameters.engine", "parameters.|engine"), "file:///p/specs/disk.yaml:7:4");
    assert_eq!(at("parameters.engine", "project.parameters.|steps"), "file:///p/kubebench.yaml:6:4");
    assert_eq!(at("[disk]", "[di|sk]"), "file:///p/specs/disk.yaml:3:8");
    assert_eq!(at("metric: read_iops", "metric: |read_iops"), "file:///p/specs/fio.yaml:14:57");
    assert_eq!(at("  timeout: 1h\n", "  targets: [mai|n]\n"), "file:///p/kubebench.yaml:8:4");
    assert_eq!(at("      command", "      files: {a: {path: ru|n.sh}}\n      command"), "file:///p/run.sh:0:0");
    assert_eq!(at("      command", "      files: {a: {path: ../|run.sh}}\n      command"), "");
    assert_eq!(at("[disk]", "[no|ne]"), "");
    assert_eq!(
        client.define("/p/specs/nightly.yaml", &SUITE.replace("[fio]", "[f|io]")),
        "file:///p/specs/fio.yaml:3:8"
    );
}

#[test]
fn hover_explains() {
    let mut client = Client::project();
    let path = "/p/specs/fio.yaml";
    let mut at = |from: &str, to: &str| {
        let found = client.ask_at("textDocument/hover", path, &spec(from, to));
        found["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    let timeout = at("  timeout: 1h", "  time|out: 1h");
    assert!(timeout.starts_with("`timeout`: duration"), "{timeout}");
    assert!(timeout.contains("\n\n```yaml\ntimeout: "), "{timeout}");
    assert!(timeout.ends_with("/docs/reference/fields-of-a-spec.md)"), "{timeout}");
    assert!(at("      command", "      com|mand").contains("`command`: list of"));
    assert!(at("kind: Benchmark", "kind: Bench|mark").contains("- `Fragment`: What several"));
    let resource = at("      command", "      resources: {nvidia.com/|gpu: 1}\n      command");
    assert!(resource.contains("GPUs of NVIDIA"), "{resource}");
    let metric = at("[read_iops]", "[read|_iops]");
    assert!(
        metric.contains("read_iops: ")
            && at("metric: read_iops", "metric: read|_iops").contains(metric.trim_matches('`').lines().nth(1).unwrap()),
        "{metric}"
    );
    assert!(at("matrix.size", "mat|rix.size").contains("matrix.size: [4, 8]"));
    assert!(at("name: fio, file", "name: f|io, file").contains("versions read"));
    assert!(at("metric: read_iops", "metric: read_|iops").contains("specs/fio.yaml"));
}

#[test]
fn fixes_and_the_layout_are_edits() {
    let mut client = Client::project();
    let path = "/p/specs/fio.yaml";
    let text = spec("size: [4, 8]", "size: [4,   yes]");
    client.open(path, &text);
    let params = json!({
        "textDocument": {"uri": "file:///p/specs/fio.yaml"},
        "range": {"start": {"line": 9, "character": 0}, "end": {"line": 9, "character": 30}},
        "context": {"diagnostics": []},
    });
    let actions = client.ask("textDocument/codeAction", params);
    let edit = &actions[0]["edit"]["changes"]["file:///p/specs/fio.yaml"][0];
    assert_eq!(edit["newText"], "\"yes\"", "{actions}");
    assert_eq!(actions[0]["title"], "Replace by `\"yes\"`");
    assert_eq!(actions[0]["isPreferred"], true);
    assert_eq!(actions[1]["kind"], "source.fixAll");
    client.write(path, &SPEC.replace("size: [4, 8]", "size: [4,   8]"));
    let params =
        json!({"textDocument": {"uri": "file:///p/specs/fio.yaml"}, "options": {"tabSize": 2, "insertSpaces": true}});
    let edits = client.ask("textDocument/formatting", params);
    assert_eq!(edits[0]["newText"], "      size: [4, 8]\n", "{edits}");
}

/// Returns the titles of the actions of a spec with other text for a part of it, each with the text after it; `*` marks a preferred one.
fn actions(client: &mut Client, text: &str) -> Vec<(String, String)> {
    let path = "/p/specs/fio.yaml";
    client.open(path, text);
    let params = json!({
        "textDocument": {"uri": format!("file://{path}")},
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}},
        "context": {"diagnostics": []},
    });
    let found = client.ask("textDocument/codeAction", params);
    let of = |action: &Json| {
        let mut document = Document::new(text, Encoding::Utf16);
        let edits: Vec<lsp_types::TextEdit> =
            serde_json::from_value(action["edit"]["changes"][format!("file://{path}")].clone()).unwrap();
        let change = |edit: lsp_types::TextEdit| lsp_types::TextDocumentContentChangeEvent {
            range: Some(edit.range),
            range_length: None,
            text: edit.new_text,
        };
        document.change(edits.into_iter().map(change).collect());
        let mark = if action["isPreferred"] == json!(true) { "*" } else { "" };
        (format!("{mark}{}", action["title"].as_str().unwrap()), document.text().to_owned())
    };
    found.as_array().unwrap().iter().map(of).collect()
}

#[test]
fn what_a_finding_says_to_write_is_an_action() {
    let mut client = Client::project();
    let mut check = |from: &str, wrong: &str, title: &str, right: &str| {
        let found = actions(&mut client, &spec(from, wrong));
        let action = found.iter().find(|(known, _)| known == title);
        assert_eq!(action.map(|(_, text)| text.as_str()), Some(spec(from, right).as_str()), "{wrong}: {found:?}");
        assert!(!found.iter().any(|(title, _)| title.starts_with("Apply")), "{wrong}: {found:?}");
    };
    check("timeout: 1h", "timeuot: 1h", "Replace by `timeout`", "timeout: 1h");
    check("timeout: 1h", "timeout: 30", "Replace by `30s`", "timeout: 30s");
    check("timeout: 1h", "timeout: 30min", "Replace by `30m`", "timeout: 30m");
    check("maxRegression: 3%", "maxRegression: 5 %", "Replace by `5%`", "maxRegression: 5%");
    check("name: fio\n", "name: Fio_Test\n", "Replace by `fio-test`", "name: fio-test\n");
    check("metric: read_iops", "metric: read_iosp", "Replace by `read_iops`", "metric: read_iops");
    check("[disk]", "[dist]", "Replace by `disk`", "[disk]");
    check("matrix.size", "matrix.sise", "Replace by `${{ matrix.size }}`", "matrix.size");
    check("kind: Benchmark", "kind: Benchmrk", "Replace by `Benchmark`", "kind: Benchmark");
    check(
        "from: {tool: {name: fio, file: fio.json, metrics: [read_iops]}}",
        "from: {tool: fio}",
        "Replace by `{name: fio}`",
        "from: {tool: {name: fio}}",
    );
    check("  timeout: 1h", "  timeout:1h", "Replace by `: `", "  timeout: 1h");
    let resources =
        |part: &str| format!("      resources: {{requests: {{cpu: 1}}, {part}: {{cpu: 1}}}}\n      command");
    check("      command", &resources("limit"), "Replace by `limits`", &resources("limits"));
    // A habit of Kubernetes is no slip.
    let containers = spec("      command", "      containers: [{image: a}]\n      command");
    let found = actions(&mut client, &containers);
    assert!(!found.iter().any(|(title, _)| title.contains("container")), "{found:?}");
}

#[test]
fn all_certain_fixes_keep_the_line_ends_and_leave_none() {
    let mut client = Client::project();
    let text = spec("size: [4, 8]", "size: [yes, no]").replace("timeout: 1h", "timeuot: 1h").replace('\n', "\r\n");
    client.open("/p/specs/fio.yaml", &text);
    let params = json!({
        "textDocument": {"uri": "file:///p/specs/fio.yaml"},
        "range": {"start": {"line": 9, "character": 0}, "end": {"line": 9, "character": 30}},
        "context": {"diagnostics": [], "only": ["source.fixAll"]},
    });
    let actions = client.ask("textDocument/codeAction", params);
    let edit = &actions[0]["edit"]["changes"]["file:///p/specs/fio.yaml"][0];
    assert_eq!(edit["newText"], "      size: [\"yes\", \"no\"]\r\n", "{actions}");
}

#[test]
fn a_field_of_a_fragment_is_removed_where_another_is_wanted() {
    let mut client = Client::project();
    client.open(
        "/p/specs/fio.yaml",
        &spec("    job:\n      command", "    pytorchJob:\n      worker: {}\n      command"),
    );
    let shown = &client.shown["file:///p/specs/fio.yaml"];
    let found = shown.iter().find(|shown| shown.code == Some(lsp_types::NumberOrString::String("KB0207".to_owned())));
    let message = found.map_or("", |found| found.message.as_str());
    assert!(message.contains("`job` is from specs/disk.yaml:10; write `job: null` to remove it"), "{shown:?}");
}

#[test]
fn symbols_and_hints() {
    let mut client = Client::project();
    client.open("/p/specs/fio.yaml", SPEC);
    let document = json!({"uri": "file:///p/specs/fio.yaml"});
    let symbols = client.ask("textDocument/documentSymbol", json!({"textDocument": document}));
    let names = |symbols: &Json| -> Vec<String> {
        symbols.as_array().unwrap().iter().map(|symbol| symbol["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&symbols), ["apiVersion", "kind", "metadata", "spec"]);
    assert_eq!(
        names(&symbols[3]["children"]),
        ["extends", "timeout", "matrix", "workload", "metrics", "gates", "results"]
    );
    assert_eq!(names(&symbols[3]["children"][5]["children"]), ["read_iops"]);
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let hints = client.ask("textDocument/inlayHint", json!({"textDocument": document, "range": range}));
    assert_eq!(hints[0]["label"], "6 runs, 6.0 h, 12.00 EUR", "{hints}");
    assert_eq!(hints[0]["position"], json!({"line": 3, "character": 11}));
}

/// Asks everything about a text, at a place.
fn ask_all(client: &mut Client, path: &str, text: &str, position: &Json) {
    let document = json!({"uri": format!("file://{path}")});
    client.write(path, text);
    let range = json!({"start": {"line": 0, "character": 0}, "end": position});
    for method in ["completion", "hover", "definition"] {
        client.ask(&format!("textDocument/{method}"), json!({"textDocument": document, "position": position}));
    }
    client.ask("textDocument/documentSymbol", json!({"textDocument": document}));
    client.ask(
        "textDocument/formatting",
        json!({"textDocument": document, "options": {"tabSize": 2, "insertSpaces": true}}),
    );
    client.ask("textDocument/inlayHint", json!({"textDocument": document, "range": range}));
    client.ask(
        "textDocument/codeAction",
        json!({"textDocument": document, "range": range, "context": {"diagnostics": []}}),
    );
}

fn end_of(text: &str) -> Json {
    let last = text.rsplit('\n').next().unwrap_or_default();
    json!({"line": text.matches('\n').count(), "character": last.encode_utf16().count()})
}

#[test]
fn every_prefix_of_every_document_is_survived() {
    let mut client = Client::project();
    for (path, text) in [
        ("specs/fio.yaml", SPEC),
        ("specs/disk.yaml", FRAGMENT),
        ("specs/nightly.yaml", SUITE),
        ("kubebench.yaml", PROJECT),
    ] {
        let path = format!("/p/{path}");
        client.open(&path, text);
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            ask_all(&mut client, &path, &text[..end], &end_of(&text[..end]));
        }
        client.write(&path, text);
    }
    assert!(client.shown.values().all(Vec::is_empty), "{:?}", client.shown);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_edits_are_survived(edits in prop::collection::vec((any::<prop::sample::Index>(), 0..12_usize, "[a-z:{}\\[\\]\"'|>#$\u{e9}\u{1f600} \n\r-]{0,4}"), 1..12)) {
        let mut client = Client::project();
        let path = "/p/specs/fio.yaml";
        client.open(path, SPEC);
        let mut text = SPEC.to_owned();
        for (at, length, new) in edits {
            let place = |text: &str, at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap();
            let start = place(&text, at.index(text.len() + 1));
            let end = place(&text, start + length).max(start);
            let lines = Lines::of(&text, Encoding::Utf16);
            let range = lines.range(&text, start..end);
            client.tell("textDocument/didChange", json!({
                "textDocument": {"uri": format!("file://{path}"), "version": 2},
                "contentChanges": [{"range": range, "text": new}],
            }));
            text.replace_range(start..end, &new);
            text = text.replace("\r\n", "\n");
            prop_assert_eq!(client.server.documents[Path::new(path)].text(), &text);
            ask_all(&mut client, path, &text.clone(), &json!(range.start));
        }
    }
}
