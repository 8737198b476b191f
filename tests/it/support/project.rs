//! Projects for tests: compiled in this process or by the program, and what they become as plain data.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use kubebench_compiler::compile::{Compilation, Compiled, Input, Workspace};
use kubebench_compiler::lower::Unreadable;
use kubebench_compiler::manifest::standalone;
use kubebench_syntax::diag::{Diagnostic, Place, Severity};
use kubebench_testing::snapshot::{Snapshot, assert_text};
use serde_json::Value;

/// One emitted object and the file that holds it, below the output directory.
#[derive(Clone)]
pub(crate) struct Emitted {
    pub(crate) path: String,
    pub(crate) object: Value,
}

/// The folder of this repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files of the project in `tests/data/mixed`, with paths relative to it.
pub(crate) fn mixed_files() -> Vec<(String, String)> {
    let root = repository().join("tests/data/mixed");
    files_below(&root).into_iter().map(|path| (relative(&root, &path), fs::read_to_string(&path).unwrap())).collect()
}

/// The project in `tests/data/mixed`, compiled once: all workload kinds, both MPIJob versions, both queues.
pub(crate) fn mixed() -> &'static Compilation {
    static COMPILED: LazyLock<Compilation> = LazyLock::new(|| {
        let files = mixed_files();
        let compilation = compile(&files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>());
        assert!(!compilation.has_errors(), "{:#?}", errors(&compilation));
        compilation
    });
    &COMPILED
}

/// Compiles files given by path and text: the one called `kubebench.yaml` is the project file, other YAML files are specs
/// unless they lie in `jobs/` or `pipelines/`, and all of them can be carried.
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

/// The codes of all findings of a compilation.
pub(crate) fn codes(compilation: &Compilation) -> Vec<&'static str> {
    compilation.diagnostics.iter().map(|fault| fault.code.id).collect()
}

/// Every object of the tree of the project in `tests/data/mixed`.
pub(crate) fn mixed_objects() -> Vec<Emitted> {
    static OBJECTS: LazyLock<Vec<Emitted>> = LazyLock::new(|| objects(mixed()));
    OBJECTS.clone()
}

/// Every object that the workflows of the project in `tests/data/mixed` create.
pub(crate) fn mixed_created() -> Vec<Emitted> {
    static CREATED: LazyLock<Vec<Emitted>> = LazyLock::new(|| created(mixed()));
    CREATED.clone()
}

/// Every object of the tree, read back from its bytes by the YAML reader of serde.
pub(crate) fn objects(compilation: &Compilation) -> Vec<Emitted> {
    let read = |(path, file): (&str, &kubebench_compiler::tree::OutputFile)| Emitted {
        path: path.to_owned(),
        object: serde_yaml::from_str(file.body()).unwrap_or_else(|error| panic!("{path}: {error}\n{}", file.body())),
    };
    compilation.tree.iter().map(read).collect()
}

/// Every object that a workflow creates, as it stands in the ConfigMaps, with the place it stands at.
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

/// Every object that `kubebench render` prints: the workload of the first run of every case.
pub(crate) fn rendered(compilation: &Compilation) -> Vec<Emitted> {
    let mut rendered = Vec::new();
    for Compiled { benchmark, identity, .. } in &compilation.benchmarks {
        for case in &benchmark.cases {
            let run = identity.runs.iter().find(|run| run.case == case.id && !run.warmup).unwrap();
            let path = format!("render {}/{}/{}", benchmark.target.name, benchmark.name, case.id);
            for object in standalone(benchmark, case, &run.job, &identity.digest) {
                // Several cases may load one server.
                if !rendered.iter().any(|emitted: &Emitted| emitted.object == object) {
                    rendered.push(Emitted { path: path.clone(), object });
                }
            }
        }
    }
    assert!(!rendered.is_empty());
    rendered
}

/// The pod templates of an object, each with the place of its `spec`.
pub(crate) fn pod_specs(object: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    walk(object, "", &mut |pointer, value| {
        if value.get("containers").is_some_and(Value::is_array) {
            found.push((pointer.to_owned(), value));
        }
    });
    found
}

/// Calls `visit` with every value of `object` and its JSON pointer.
pub(crate) fn walk<'v>(value: &'v Value, pointer: &str, visit: &mut impl FnMut(&str, &'v Value)) {
    visit(pointer, value);
    match value {
        Value::Object(fields) => {
            for (key, child) in fields {
                walk(child, &format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")), visit);
            }
        }
        Value::Array(items) => {
            for (index, child) in items.iter().enumerate() {
                walk(child, &format!("{pointer}/{index}"), visit);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A project on disk.
pub(crate) struct Folder {
    place: tempfile::TempDir,
}

impl Folder {
    /// A folder with these files.
    pub(crate) fn with<P: AsRef<str>, T: AsRef<[u8]>>(files: impl IntoIterator<Item = (P, T)>) -> Self {
        let folder = Self { place: tempfile::tempdir().unwrap() };
        for (path, text) in files {
            folder.write(path.as_ref(), text);
        }
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.place.path()
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.path().join(path)).unwrap();
    }

    /// Runs the program here and waits for it.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// The program, to be started here.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubebench"));
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        command
    }

    /// The bytes of every file below `folder`, by path.
    pub(crate) fn tree(&self, folder: &str) -> Vec<(String, Vec<u8>)> {
        let root = self.path().join(folder);
        files_below(&root).into_iter().map(|path| (relative(&root, &path), fs::read(&path).unwrap())).collect()
    }
}

/// Asserts that the program said yes, showing what it said instead.
pub(crate) fn assert_yes(output: &Output) {
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}{}", output.status, said(&output.stdout), said(&output.stderr));
}

/// Every file below `folder`, sorted.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// `path` relative to `root`, with `/` separators.
pub(crate) fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/")
}
