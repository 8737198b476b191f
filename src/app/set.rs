//! New values in a spec, a suite or the project file, for scripts and bots.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, anyhow, bail};

use super::files;
use super::project::{Project, Texts};
use super::start::{Start, VERSION};
use super::templates::schema_of;
use kubebench_compiler::compile::{Compilation, Input, Workspace};
use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_format::schema::{DocumentKind, explain};
use kubebench_host::fs;
use kubebench_syntax::diag::render::on_one_line;
use kubebench_syntax::diag::{Diagnostics, Severity, did_you_mean};
use kubebench_syntax::text::{Source, SourceId, SourceMap};
use kubebench_syntax::yaml::edit::{self, Typing};
use kubebench_syntax::yaml::{self, Node, Step};

const ASSIGNMENT: &str = "write `PATH=VALUE`, such as `spec.timeout=2h`";

/// A path and the value that it gets.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The path, as `explain` has it.
    pub path: String,
    /// The value, as it is written.
    pub value: String,
}

impl std::str::FromStr for Assignment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (path, value) = text.split_once('=').ok_or(ASSIGNMENT)?;
        if path.is_empty() || value.is_empty() {
            return Err(ASSIGNMENT.to_owned());
        }
        Ok(Self { path: path.to_owned(), value: value.to_owned() })
    }
}

/// A file with new values, which is not written yet.
pub struct Edited {
    root: std::path::PathBuf,
    /// The file, from the project's folder.
    pub path: String,
    /// The paths that have another value now, each with the old and the new text.
    pub changes: Vec<(String, String, String)>,
    text: String,
    /// What is wrong with the file as it would be.
    pub diagnostics: Diagnostics,
    /// The texts that the findings point into.
    pub sources: SourceMap,
    /// How many errors other files have then.
    pub errors_elsewhere: usize,
}

impl Edited {
    /// Reads the file at `path` and gives it the values.
    pub fn of(start: &Start, path: &Path, assignments: &[Assignment]) -> Result<Self> {
        let project = Project::find(start)?;
        let asked = project.below_root(&[path.to_owned()])?;
        let Some(path) = asked.first().cloned() else { bail!("name a file") };
        let old = read(&project, &path, &asked)?;
        // A word such as `2` is a text where the old value was one, unless the field then has another type.
        let mut candidates = Vec::new();
        for typing in [Typing::LikeOld, Typing::AsWritten] {
            let candidate = with_values(&path, &old, assignments, typing)
                .or_else(|error| Err(elsewhere(&project, &path, &old, assignments)?.unwrap_or(error)))?;
            if !candidates.contains(&candidate) {
                candidates.push(candidate);
            }
        }
        let mut edited: Vec<Self> = Vec::new();
        for text in candidates {
            let candidate = Self::validated(&project, &path, text, &asked)?;
            let is_right = !candidate.diagnostics.has_errors();
            edited.push(candidate);
            if is_right {
                edited.rotate_right(1);
                break;
            }
        }
        let Some(mut edited) = edited.into_iter().next() else { bail!("give a value: `PATH=VALUE`") };
        edited.changes = changes(&old, &edited.text);
        Ok(edited)
    }

    /// Writes the file.
    pub fn write(&self) -> Result<()> {
        fs::replace(&self.root, &self.path, &self.text)
    }

    fn validated(project: &Project, path: &str, text: String, asked: &BTreeSet<String>) -> Result<Self> {
        let new = Input { path: path.to_owned(), bytes: text.clone().into_bytes() };
        let file = if path == PROJECT_FILE { Some(new.clone()) } else { project.file.clone() };
        let workspace = Workspace::open(file, VERSION).carrying(files::carrying(project.root.clone()));
        let asked = asked.iter().filter(|path| *path != PROJECT_FILE).cloned().collect();
        let Texts { mut inputs, .. } = project.read(&workspace.spec_dirs(), &asked)?;
        for input in inputs.iter_mut().filter(|input| input.path == path) {
            input.bytes.clone_from(&new.bytes);
        }
        let Compilation { sources, diagnostics, .. } = workspace.letting_go_of_pods().compile(inputs);
        let (own, others): (Vec<_>, Vec<_>) =
            diagnostics.into_iter().partition(|finding| finding.path(&sources) == path);
        let errors_elsewhere = others.iter().filter(|finding| finding.severity == Severity::Error).count();
        Ok(Self {
            root: project.root.clone(),
            path: path.to_owned(),
            changes: Vec::new(),
            text,
            diagnostics: own.into_iter().collect(),
            sources,
            errors_elsewhere,
        })
    }
}

/// Says where a field is that a spec has from a fragment.
fn elsewhere(project: &Project, path: &str, text: &str, assignments: &[Assignment]) -> Result<Option<anyhow::Error>> {
    let Some(own) = parsed(text) else { return Ok(None) };
    let workspace = Workspace::open(project.file.clone(), VERSION).carrying(files::carrying(project.root.clone()));
    let Texts { inputs, .. } = project.read(&workspace.spec_dirs(), &BTreeSet::new())?;
    let compilation = workspace.letting_go_of_pods().compile(inputs);
    let is_elsewhere = |assignment: &&Assignment| {
        edit::find(&own, &assignment.path).is_empty() && place(path, &own, &assignment.path).is_err()
    };
    for Assignment { path: at, .. } in assignments.iter().filter(is_elsewhere) {
        for (_, file) in compilation.fragments_of(path) {
            let Some((id, source)) = compilation.sources.at(file) else { continue };
            let Some(root) = yaml::read(id, source).root else { continue };
            let found = edit::find(&root, at);
            let [steps] = found.as_slice() else { continue };
            let Some(value) = root.at(steps) else { continue };
            let line = source.position(value.span.range().start).line;
            let whole = edit::spelled(&root, steps);
            let whole = if whole.starts_with("spec.") { whole } else { format!("spec.{whole}") };
            return Ok(Some(anyhow!(
                "{path} has no value `{}`: it is in {}:{line}; to add it to {path}, write the whole path `{whole}`",
                on_one_line(at),
                on_one_line(file)
            )));
        }
    }
    Ok(None)
}

fn read(project: &Project, path: &str, asked: &BTreeSet<String>) -> Result<String> {
    let file = project.file.as_ref().filter(|_| path == PROJECT_FILE).cloned();
    let input = match file {
        Some(file) => Some(file),
        None => project.read(&[], asked)?.inputs.into_iter().find(|input| input.path == path),
    };
    let Some(input) = input else { bail!("there is no file {path}: name a spec, a suite or {PROJECT_FILE}") };
    let Ok(text) = String::from_utf8(input.bytes) else { bail!("{path} is not UTF-8 text") };
    Ok(text)
}

fn with_values(path: &str, old: &str, assignments: &[Assignment], typing: Typing) -> Result<String> {
    let mut text = old.to_owned();
    for Assignment { path: at, value } in assignments {
        let Some(root) = parsed(&text) else {
            bail!("{path} cannot be read as YAML; `kubebench validate {path}` says why")
        };
        let steps = place(path, &root, at)?;
        let Some(edited) = edit::set(&text, &steps, value, typing) else {
            let what = root.at(&steps).map_or("nothing", Node::type_name);
            bail!(
                "`{}` is not a value for `{}`, which is {what} in {path}; write a list as `[a, b]`, in quotes for the shell",
                on_one_line(value),
                edit::spelled(&root, &steps)
            )
        };
        text = edited;
    }
    Ok(text)
}

fn parsed(text: &str) -> Option<Node> {
    yaml::read(SourceId::default(), &Source::new("", text.as_bytes())).root
}

/// Returns where a path leads: to a value that is there, or to a field that its kind of document has.
fn place(file: &str, root: &Node, path: &str) -> Result<Vec<Step>> {
    let kind = root.get("kind").and_then(Node::as_text).unwrap_or_default();
    let kind = DocumentKind::ALL.into_iter().find(|known| known.name() == kind);
    let below_kind = path.split_once('.').filter(|(first, _)| {
        kind.is_some_and(|kind| kind.name().eq_ignore_ascii_case(first)) && root.get(first).is_none()
    });
    let path = below_kind.map_or(path, |(_, below)| below);
    let mut found = edit::find(root, path);
    if let Some(gate) = of_gate(path).filter(|_| found.is_empty()) {
        found = edit::find(root, &gate);
    }
    match found.len() {
        1 => return Ok(found.remove(0)),
        0 => {}
        number => {
            let all: Vec<String> = found.iter().map(|steps| format!("`{}`", edit::spelled(root, steps))).collect();
            bail!("`{}` matches {number} values in {file}; write one of {}", on_one_line(path), all.join(", "))
        }
    }
    let new = kind.and_then(|kind| candidates(root, path).into_iter().find(|steps| has_field(kind, steps)));
    new.map_or_else(|| Err(unknown(file, root, path)), Ok)
}

/// Returns the path in `gates` of what is said to be the gate of a metric: `metrics.NAME.gate.maxRegression`.
fn of_gate(path: &str) -> Option<String> {
    let (metric, field) = path.strip_prefix("spec.").unwrap_or(path).strip_prefix("metrics.")?.split_once(".gate.")?;
    Some(format!("spec.gates.{metric}.{field}"))
}

/// Returns the places that a path of a missing value may mean, with as much of it as there is.
fn candidates(root: &Node, path: &str) -> Vec<Vec<Step>> {
    let dots = path.match_indices('.').map(|(at, _)| at).collect::<Vec<_>>().into_iter().rev();
    let mut all = Vec::new();
    for at in dots {
        let (above, below) = path.split_at(at);
        if let [above] = edit::find(root, above).as_slice() {
            all.push([above.clone(), edit::split(below)].concat());
            break;
        }
    }
    all.push(edit::split(path));
    all.push([vec![Step::from("spec")], edit::split(path)].concat());
    all
}

fn has_field(kind: DocumentKind, steps: &[Step]) -> bool {
    let mut path: Vec<String> = Vec::new();
    for step in steps {
        match (step, path.last_mut()) {
            (Step::Key(key), _) => path.push(key.clone()),
            (Step::Index(index), Some(last)) => last.push_str(&format!("[{index}]")),
            (Step::Index(_), None) => return false,
        }
    }
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    explain(&schema_of(kind), kind.name(), &path).is_ok()
}

fn unknown(file: &str, root: &Node, path: &str) -> anyhow::Error {
    let paths = edit::paths(root);
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    let near = did_you_mean(path, paths.iter().map(String::as_str)).map(str::to_owned);
    let near = near.or_else(|| {
        let names: Vec<String> = paths.iter().map(|known| last(known)).collect();
        let name = did_you_mean(&last(path), names.iter().map(String::as_str))?;
        paths.iter().find(|known| last(known) == name).cloned()
    });
    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{}`?", on_one_line(&near)));
    let all: String = paths.iter().map(|path| format!("\n  {}", on_one_line(path))).collect();
    anyhow::anyhow!("there is no `{}` in {file}{hint}\npaths in {file}:{all}", on_one_line(path))
}

/// Returns the values that differ, as they are written.
fn changes(old: &str, new: &str) -> Vec<(String, String, String)> {
    let (Some(before), Some(after)) = (parsed(old), parsed(new)) else { return Vec::new() };
    let text = |text: &str, root: &Node, path: &str| {
        let node = edit::find(root, path).into_iter().next();
        let span = node.and_then(|steps| root.at(&steps)).map(|node| node.span.range());
        span.and_then(|span| text.get(span)).unwrap_or_default().trim().to_owned()
    };
    let paths: BTreeSet<String> = edit::paths(&before).into_iter().chain(edit::paths(&after)).collect();
    let all = paths.into_iter().map(|path| {
        let (from, to) = (text(old, &before, &path), text(new, &after, &path));
        (path, from, to)
    });
    all.filter(|(_, from, to)| from != to).collect()
}
