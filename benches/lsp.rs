//! How long the language server takes from a change to its findings, with a whole `validate` of the same project next to it.
//!
//! `cargo bench --bench lsp` makes a project of 1,000 specs, 300 of which extend one fragment, 100 carry a script and 50 are in a suite, and
//! prints percentiles. A change is answered when the answer to a request that was sent after it has come, with all findings before it.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a benchmark does I/O and prints")]
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a benchmark that cannot run ends")]
#![expect(clippy::cast_precision_loss, reason = "sizes and times are far below 2^52")]

mod process;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use process::{files, median, megabytes, run};
use serde_json::{Value, json};

const SPECS: usize = 1_000;
const CHANGES: usize = 200;
const RUNS: usize = 7;

fn main() {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let root = scratch.path();
    write_project(root);
    println!("{SPECS} specs, {:.1} MB; {} threads", megabytes(&files(root)), rayon::current_num_threads());
    let validate = median(RUNS, || {
        run(Command::new(env!("CARGO_BIN_EXE_kubebench")).args(["-q", "validate"]).current_dir(root), 0)
    });
    row("validate, whole process (median)", &[validate.time], None);

    let mut editor = Editor::start(root);
    let opened = editor.open("specs/bench-7.yaml");
    row("the first file is opened", &[opened], None);
    let texts = |path: &str| fs::read_to_string(root.join(path)).expect("a readable spec");
    let mut sets: Vec<(&str, Vec<Duration>)> = Vec::new();
    for (name, path, from, to) in [
        ("a value of a spec", "specs/bench-7.yaml", "repeats: 3", "repeats: 4"),
        ("a mistake in a spec", "specs/bench-7.yaml", "repeats: 3", "repeat: 3"),
        ("a bracket that is not closed", "specs/bench-7.yaml", "[64, 128]", "[64, 128"),
        ("the name of a spec", "specs/bench-7.yaml", "name: bench-7", "name: bench-x"),
        ("a spec that carries a script", "specs/bench-1.yaml", "repeats: 3", "repeats: 4"),
        ("a suite of 50", "specs/suite.yaml", "bench-49", "bench-51"),
        ("a fragment of 300 specs", "specs/fragment.yaml", "repeats: 3", "repeats: 5"),
        ("the project file", "kubebench.yaml", "namespace: bench", "namespace: benches"),
    ] {
        editor.open(path);
        let (one, other) = (texts(path), texts(path).replacen(from, to, 1));
        assert_ne!(one, other, "{path} has no {from}");
        let changes = if path.starts_with("specs/bench") { CHANGES } else { CHANGES / 10 };
        let times = (0..changes).map(|number| editor.write(path, if number % 2 == 0 { &other } else { &one }));
        sets.push((name, times.collect()));
        editor.write(path, &one);
    }
    println!("\n{:<34} {:>9} {:>9} {:>9}   to validate", "from a change to its findings", "p50", "p95", "most");
    for (name, times) in &sets {
        row(name, times, Some(validate.time));
    }
    // A person types in specs: those are what the goal is about.
    let typed: Vec<Duration> = sets.iter().take(5).flat_map(|(_, times)| times.iter().copied()).collect();
    row("all changes of specs", &typed, Some(validate.time));
    let (server, whole) = (editor.peak() as f64 / 1024.0, validate.peak as f64 / 1024.0);
    println!("peak memory of the server: {server:.1} MB; of validate: {whole:.1} MB");
}

fn row(name: &str, times: &[Duration], validate: Option<Duration>) {
    let mut times = times.to_vec();
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
    match validate {
        None => println!("{name:<34} {:>6.1} ms", at(50)),
        Some(validate) => println!(
            "{name:<34} {:>6.1} ms {:>6.1} ms {:>6.1} ms   {:.3}",
            at(50),
            at(95),
            at(100),
            at(95) / 1e3 / validate.as_secs_f64()
        ),
    }
}

/// A server and its client.
struct Editor {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    root: String,
    requests: i64,
}

impl Editor {
    fn start(root: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubebench"));
        let command = command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().expect("a language server");
        let input = server.stdin.take().expect("an input");
        let output = BufReader::new(server.stdout.take().expect("an output"));
        let root = fs::canonicalize(root).expect("a folder").to_string_lossy().into_owned();
        let mut editor = Self { server, input, output, root, requests: 0 };
        let watches = json!({"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}}});
        editor.request("initialize", &json!({"processId": null, "rootUri": null, "capabilities": watches}));
        editor.tell("initialized", &json!({}));
        editor
    }

    fn open(&mut self, path: &str) -> Duration {
        let text = fs::read_to_string(format!("{}/{path}", self.root)).expect("a readable file");
        let document = json!({"uri": self.uri(path), "languageId": "yaml", "version": 1, "text": text});
        self.timed("textDocument/didOpen", path, &json!({"textDocument": document}))
    }

    fn write(&mut self, path: &str, text: &str) -> Duration {
        let document = json!({"uri": self.uri(path), "version": 2});
        let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
        self.timed("textDocument/didChange", path, &params)
    }

    fn timed(&mut self, method: &str, path: &str, params: &Value) -> Duration {
        let start = Instant::now();
        self.tell(method, params);
        // Hints come out of the compiler, after the findings.
        let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}});
        self.request("textDocument/inlayHint", &json!({"textDocument": {"uri": self.uri(path)}, "range": range}));
        start.elapsed()
    }

    fn uri(&self, path: &str) -> String {
        format!("file://{}/{path}", self.root)
    }

    fn peak(&self) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/status", self.server.id())).unwrap_or_else(|_| String::new());
        let line = text.lines().find(|line| line.starts_with("VmHWM"));
        line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
    }

    fn request(&mut self, method: &str, params: &Value) {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        while self.receive()["id"] != id {}
    }

    fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("a server that reads");
        self.input.flush().expect("a server that reads");
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).expect("a server that writes");
            match line.trim_end().strip_prefix("Content-Length: ") {
                Some(count) => length = count.parse().expect("a length"),
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        let mut text = vec![0; length];
        self.output.read_exact(&mut text).expect("a whole message");
        serde_json::from_slice(&text).expect("a message")
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

fn write_project(root: &Path) {
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a written file");
    };
    let document = |kind: &str, name: &str, spec: &str| {
        format!("apiVersion: kubebench.dev/v1\nkind: {kind}\nmetadata:\n  name: {name}\nspec:\n{spec}")
    };
    let of_project = "  lints: {KB0417: \"off\"}\n  targets:\n    main: {namespace: bench}\n";
    write("kubebench.yaml", &document("Project", "bench", of_project));
    write("specs/fragment.yaml", &document("Fragment", "shared", "  repeats: 3\n  timeout: 1h\n"));
    let members: Vec<String> = (0..50).map(|index| format!("bench-{index}")).collect();
    write("specs/suite.yaml", &document("Suite", "all", &format!("  benchmarks: [{}]\n", members.join(", "))));
    write("scripts/run.sh", "#!/bin/sh\nexec run \"$1\"\n");
    for index in 0..SPECS {
        let timing =
            if index % 10 < 3 && index != 1 { "  extends: [shared]\n" } else { "  repeats: 3\n  timeout: 1h\n" };
        let command = if index % 10 == 1 {
            "files: {run.sh: {path: scripts/run.sh}}\n      command: [sh, run.sh, \"${{ matrix.size }}\"]"
        } else {
            "command: [fio, --rw=randread, \"--bs=${{ matrix.size }}k\"]"
        };
        let spec = format!(
            "  description: Generated for the speed benchmark\n{timing}  matrix:\n    axes: {{size: [64, 128]}}\n  workload:\n    job:\n      image: registry.example/fio:3.39\n      {command}\n      resources: {{cpu: 4, memory: 8Gi}}\n  metrics:\n    - name: throughput\n      unit: samples/s\n      better: higher\n      primary: true\n      from: {{log: {{pattern: 'throughput: (?P<value>\\S+)'}}}}\n  gates:\n    - {{metric: throughput, maxRegression: 3%}}\n"
        );
        write(&format!("specs/bench-{index}.yaml"), &document("Benchmark", &format!("bench-{index}"), &spec));
    }
}
