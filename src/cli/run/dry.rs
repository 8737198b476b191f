//! What a run would start, without starting it.

use anyhow::Result;

use super::Ordered;
use kubebench_executor::local::{self, Containers, Folders, Given, Process};
use kubebench_executor::run::Request;
use kubebench_host::terminal;
use kubebench_syntax::redact::{Redactor, names_a_secret};
use kubebench_syntax::text::plain_lines;

/// Prints the processes of every selected run, one case once.
pub(super) fn print(request: &Request<'_>) -> Result<()> {
    let benchmark = &request.compiled.benchmark;
    let mut text = String::new();
    let mut port = 29_500;
    for case in &benchmark.cases {
        let runs: Vec<&str> =
            request.runs.iter().filter(|run| run.case == case.id).map(|run| run.id.as_str()).collect();
        if runs.is_empty() {
            continue;
        }
        text.push_str(&format!("{} ({}), runs {}\n", case.name, case.id, runs.join(" ")));
        let here =
            [".kubebench/experiments".to_owned(), format!("{}-RUN", benchmark.name), ".kubebench/data".to_owned()];
        let [root, id, data] = here;
        let (folders, containers) = request.views(Folders::new(root, id, data));
        // What the engine's client itself is given says nothing of the run, and may hold credentials.
        let containers = containers.map(|containers| Containers { client: Ordered::new(), ..containers });
        let mut given = Given {
            base: &Ordered::new(),
            secrets: &request.secrets,
            containers: containers.as_ref(),
            folders: &folders,
            namespace: &benchmark.target.namespace,
            ports: &mut || {
                port += 1;
                port
            },
        };
        let redactor = Redactor::new(request.secrets.values());
        for process in local::plan(case, &mut given).processes {
            describe(&process, &redactor, &mut text);
        }
    }
    terminal::print(&plain_lines(&text))
}

fn describe(process: &Process, redactor: &Redactor, text: &mut String) {
    let words: Vec<String> = process.argv.iter().map(|word| quoted(&redactor.text(word))).collect();
    text.push_str(&format!("  {}-{}: {}\n", process.role, process.index, words.join(" ")));
    for (name, value) in &process.env {
        let value = if names_a_secret(name) { "[redacted]".to_owned() } else { quoted(&redactor.text(value)) };
        text.push_str(&format!("    {name}={value}\n"));
    }
}

/// Writes a word as a shell would read it back.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,@%+".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
