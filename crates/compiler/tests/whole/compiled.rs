//! Projects compiled in this process, and what they become as plain data. `tests/it` shares this file.

use std::collections::BTreeMap;

use kubebench_compiler::compile::{Compilation, Input, Workspace};
use kubebench_compiler::lower::Unreadable;
use kubebench_syntax::diag::{Diagnostic, Place, Severity};
use kubebench_testing::snapshot::{Snapshot, assert_text};
use serde_json::Value;

/// One emitted object and the file that holds it, below the output directory.
#[derive(Clone)]
pub(crate) struct Emitted {
    pub(crate) path: String,
    pub(crate) object: Value,
}

/// Compiles files given by path and text: the one called `kubebench.yaml` is the project file, other YAML files are specs
/// unless they are in `jobs/` or `pipelines/`, and all of them can be carried.
pub(crate) fn compile(files: &[(&str, &str)]) -> Compilation {
    let input = |(path, text): &(&str, &str)| Input { path: (*path).to_owned(), bytes: text.as_bytes().to_vec() };
    let project = files.iter().find(|(path, _)| *path == "kubebench.yaml").map(input);
    let is_manifest = |path: &str| ["jobs/", "pipelines/"].iter().any(|folder| path.starts_with(folder));
    let is_spec =
        |(path, _): &&(&str, &str)| path.ends_with(".yaml") && *path != "kubebench.yaml" && !is_manifest(path);
    let specs = files.iter().filter(is_spec).map(input).collect();
    let carried: BTreeMap<String, Vec<u8>> =
        files.iter().map(input).map(|Input { path, bytes }| (path, bytes)).collect();
    let read = move |path: &str| carried.get(path).cloned().ok_or(Unreadable::Absent { beside: Vec::new() });
    Workspace::open(project, env!("CARGO_PKG_VERSION")).carrying(read).compile(specs)
}

/// Compiles files that must be without error.
pub(crate) fn compile_sound(files: &[(&str, &str)]) -> Compilation {
    let compilation = compile(files);
    assert!(!compilation.has_errors(), "{:#?}\nof {files:#?}", errors(&compilation));
    compilation
}

/// The errors of a compilation as text.
pub(crate) fn errors(compilation: &Compilation) -> Vec<String> {
    located_errors(compilation).into_iter().map(|(place, message)| format!("{place}: {message}")).collect()
}

/// The errors of a compilation: code with path, and message.
pub(crate) fn located_errors(compilation: &Compilation) -> Vec<(String, String)> {
    let errors = compilation.diagnostics.iter().filter(|fault| fault.severity == Severity::Error);
    let place = |fault: &Diagnostic| format!("{} {}", fault.code.id, fault.path(&compilation.sources));
    errors.map(|fault| (place(fault), fault.message.clone())).collect()
}

/// Checks the first of these errors whose place begins with the expected one.
#[track_caller]
pub(crate) fn assert_error(found: &[(String, String)], (place, message): (&str, Snapshot)) {
    let error = found.iter().find(|(at, _)| at.starts_with(place));
    let (_, text) = error.unwrap_or_else(|| panic!("{place}: {found:#?}"));
    assert_text(text, message);
}

/// The errors of a compilation: code with the text pointed at, and message.
pub(crate) fn errors_at(compilation: &Compilation) -> Vec<(String, String)> {
    let errors = compilation.diagnostics.iter().filter(|fault| fault.severity == Severity::Error);
    let place = |fault: &Diagnostic| match fault.place {
        Place::Span(span) => {
            let text = compilation.sources.get(span.source).unwrap().slice(span);
            format!("{} at {text}", fault.code.id)
        }
        Place::File(_) | Place::Line(..) => fault.code.id.to_owned(),
    };
    errors.map(|fault| (place(fault), fault.message.clone())).collect()
}

/// The codes of all that a compilation finds to be wrong.
pub(crate) fn codes(compilation: &Compilation) -> Vec<&'static str> {
    let faults = compilation.diagnostics.iter().filter(|finding| finding.severity != Severity::Info);
    faults.map(|fault| fault.code.id).collect()
}

/// Every object of the tree, read back from its bytes by the YAML reader of serde.
pub(crate) fn objects(compilation: &Compilation) -> Vec<Emitted> {
    let read = |(path, file): (&str, &kubebench_compiler::tree::OutputFile)| Emitted {
        path: path.to_owned(),
        object: serde_yaml::from_str(file.body()).unwrap_or_else(|error| panic!("{path}: {error}\n{}", file.body())),
    };
    compilation.tree.iter().map(read).collect()
}

/// Every object that a workflow creates, as it is in the ConfigMaps, with its place there.
pub(crate) fn created(compilation: &Compilation) -> Vec<Emitted> {
    let mut created = Vec::new();
    for Emitted { path, object } in objects(compilation) {
        let data = object["data"].as_object().into_iter().flatten();
        for (key, text) in data.filter(|(key, _)| path.ends_with("/config.yaml") && key.ends_with(".yaml")) {
            let documents: Vec<Value> = serde_yaml::from_multiple(text.as_str().unwrap()).unwrap();
            created.extend(documents.into_iter().map(|object| Emitted { path: format!("{path}#{key}"), object }));
        }
    }
    assert!(!created.is_empty());
    created
}
