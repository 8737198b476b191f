//! A client of the language server that has nothing but the protocol.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::support::project::Folder;

/// A server at work, and what it shows.
pub(super) struct Client {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    root: PathBuf,
    shown: BTreeMap<String, Vec<Value>>,
    requests: i64,
}

impl Client {
    /// Starts a server for an editor that has `folder` open.
    pub(super) fn start(folder: &Folder) -> Self {
        let mut server =
            folder.command(&["lsp", "--stdio"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (server.stdin.take(), BufReader::new(server.stdout.take().unwrap()));
        let root = fs::canonicalize(folder.path()).unwrap();
        let mut client = Self { server, input, output, root, shown: BTreeMap::new(), requests: 0 };
        let capabilities = json!({
            "general": {"positionEncodings": ["utf-32", "utf-8", "utf-16"]},
            "workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}},
        });
        let root = client.uri("");
        let answer =
            client.request("initialize", &json!({"processId": null, "rootUri": root, "capabilities": capabilities}));
        assert_eq!(answer["capabilities"]["positionEncoding"], "utf-8");
        client.tell("initialized", &json!({}));
        client
    }

    pub(super) fn id(&self) -> u32 {
        self.server.id()
    }

    fn uri(&self, path: &str) -> String {
        // Folders of tests have no letter that an address spells otherwise.
        let path = if path.is_empty() { self.root.clone() } else { self.root.join(path) };
        format!("file://{}", path.display())
    }

    /// The findings of each file that has some.
    pub(super) fn shown(&self) -> impl Iterator<Item = (String, &Vec<Value>)> {
        let shown = self.shown.iter().filter(|(_, findings)| !findings.is_empty());
        shown.map(|(uri, findings)| {
            let path = Path::new(uri.strip_prefix("file://").unwrap());
            (path.strip_prefix(&self.root).unwrap().to_str().unwrap().to_owned(), findings)
        })
    }

    /// Opens a file as it is on disk.
    pub(super) fn open(&mut self, path: &str) {
        let text = fs::read_to_string(self.root.join(path)).unwrap();
        let document = json!({"uri": self.uri(path), "languageId": "yaml", "version": 1, "text": text});
        self.tell("textDocument/didOpen", &json!({"textDocument": document}));
        self.settled(path);
    }

    /// Replaces with `text` what is between two positions.
    pub(super) fn edit(&mut self, path: &str, from: (u32, u32), to: (u32, u32), text: &str) {
        let position = |(line, character)| json!({"line": line, "character": character});
        let change = json!({"range": {"start": position(from), "end": position(to)}, "text": text});
        let document = json!({"uri": self.uri(path), "version": 2});
        self.tell("textDocument/didChange", &json!({"textDocument": document, "contentChanges": [change]}));
        self.settled(path);
    }

    /// Says that a file changed on disk.
    pub(super) fn changed(&mut self, path: &str) {
        let changes = json!({"changes": [{"uri": self.uri(path), "type": 2}]});
        self.tell("workspace/didChangeWatchedFiles", &changes);
        self.settled("specs/a.yaml");
    }

    /// Waits until what was sent is evaluated: findings come before the hints, which come out of the compiler as well.
    fn settled(&mut self, path: &str) {
        let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}});
        self.ask("textDocument/inlayHint", path, json!({"range": range}));
    }

    /// Asks about a document.
    pub(super) fn ask(&mut self, method: &str, path: &str, mut params: Value) -> Value {
        params["textDocument"] = json!({"uri": self.uri(path)});
        self.request(method, &params)
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.receive().expect("an answer");
            if message["id"] == id && message.get("method").is_none() {
                return message["result"].clone();
            }
            self.take(&message);
        }
    }

    fn take(&mut self, message: &Value) {
        if message["method"] == "textDocument/publishDiagnostics" {
            let uri = message["params"]["uri"].as_str().unwrap().to_owned();
            self.shown.insert(uri, message["params"]["diagnostics"].as_array().unwrap().clone());
        } else if let (Some(id), Some(_)) = (message.get("id"), message.get("method")) {
            self.send(&json!({"jsonrpc": "2.0", "id": id, "result": null}));
        }
    }

    fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let input = self.input.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        input.flush().unwrap();
    }

    fn receive(&mut self) -> Option<Value> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            match line.trim_end().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut text = vec![0; length];
        self.output.read_exact(&mut text).unwrap();
        Some(serde_json::from_slice(&text).unwrap())
    }

    /// Ends the server as the protocol says, which it does without a fault.
    pub(super) fn end(mut self) {
        self.request("shutdown", &Value::Null);
        self.tell("exit", &Value::Null);
        self.input = None;
        while self.receive().is_some() {}
        assert!(self.server.wait().unwrap().success());
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}
