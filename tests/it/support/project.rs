//! Projects for tests: compiled in this process or by the program, and what they become as plain data.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use kubebench_compiler::compile::{Compilation, Compiled};
use kubebench_compiler::manifest::standalone;
use serde_json::Value;

pub(crate) use compiled::{
    Emitted, assert_error, codes, compile, compile_sound, created, errors, errors_at, located_errors, objects,
};

#[path = "../../../crates/compiler/tests/whole/compiled.rs"]
mod compiled;

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
