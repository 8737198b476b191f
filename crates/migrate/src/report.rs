//! The report of a migration, for people and for programs.

use serde_json::{Value as Json, json};

use super::{File, Line, Migration, Outcome};
use kubebench_syntax::text::SourceMap;

/// Where a new spec would be, and what became of it.
#[derive(Clone, Debug)]
pub struct Written {
    /// The name of the benchmark.
    pub name: String,
    /// The path of the spec.
    pub path: String,
    /// What became of it, in a word.
    pub state: &'static str,
}

/// Writes the report for people: a block for each file, a line for each value.
pub fn human(migration: &Migration, written: &[Written]) -> String {
    let mut text = String::new();
    for file in &migration.files {
        let to: Vec<&str> =
            written.iter().filter(|spec| file.benchmarks.contains(&spec.name)).map(|spec| spec.path.as_str()).collect();
        text.push_str(&file.path);
        if !to.is_empty() {
            text.push_str(&format!(" -> {}", to.join(", ")));
        }
        if to.is_empty() && file.lines.iter().any(|line| line.outcome != Outcome::Dropped) {
            text.push_str(" -> no spec");
        }
        text.push('\n');
        let paths: Vec<String> = file.lines.iter().map(Line::path).collect();
        let width = paths.iter().map(|path| path.chars().count()).max().unwrap_or_default().min(60);
        for (line, path) in file.lines.iter().zip(&paths) {
            let number = position(line, &migration.sources).0;
            text.push_str(&format!("{number:>5}  {:<7}  {path:<width$}  {}\n", line.outcome.name(), line.said));
        }
        text.push('\n');
    }
    if !migration.advice.is_empty() {
        text.push_str("left to do:\n");
        for advice in &migration.advice {
            text.push_str(&format!("  - {advice}\n"));
        }
        text.push('\n');
    }
    text
}

/// Returns the report for programs.
pub fn json(migration: &Migration, written: &[Written]) -> Json {
    let files: Vec<Json> = migration.files.iter().map(|file| of_file(file, &migration.sources)).collect();
    let specs: Vec<Json> =
        written.iter().map(|spec| json!({"name": spec.name, "path": spec.path, "state": spec.state})).collect();
    json!({"schemaVersion": 1, "files": files, "specs": specs, "leftToDo": migration.advice})
}

fn of_file(file: &File, sources: &SourceMap) -> Json {
    let lines: Vec<Json> = file
        .lines
        .iter()
        .map(|line| {
            let (number, column) = position(line, sources);
            json!({
                "line": number, "column": column, "document": line.document, "path": line.path(),
                "outcome": line.outcome.name(), "said": line.said,
            })
        })
        .collect();
    json!({"path": file.path, "benchmarks": file.benchmarks, "lines": lines})
}

fn position(line: &Line, sources: &SourceMap) -> (usize, usize) {
    let at = sources.get(line.place.source).map(|source| source.position(line.place.start as usize));
    at.map_or((1, 1), |at| (at.line, at.column))
}

/// Returns how many lines of all files have which outcome: `12 kept, 3 changed`.
pub fn counts(migration: &Migration) -> String {
    let count = |outcome: Outcome| {
        migration.files.iter().flat_map(|file| &file.lines).filter(|line| line.outcome == outcome).count()
    };
    let words = Outcome::ALL.map(|outcome| format!("{} {}", count(outcome), outcome.name()));
    words.join(", ")
}
