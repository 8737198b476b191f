//! Finds the outside judges of the compiler: real CRD schemas, Kubernetes' own types, real tools, published manifests.
//!
//! CRDs and tools lie in a cache or in `PATH`, the rest in `$KUBEBENCH_SHARED`; any of it may be absent, so every finder
//! returns an option and says with [`skip`] why there is nothing: a judge that was not asked is visible in the output of a
//! passing test, and `tests/tools/skipped` counts those lines.
//!
//! `KUBEBENCH_ORACLES` decides: unset, tools are left alone; set, they are used where present; `require`, an absent judge
//! fails the test. CRDs are used wherever they are.

mod core_kinds;
mod crd;
mod definitions;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

use serde_json::Value;

use definitions::Definition;
pub(crate) use definitions::{are_crds_built, crd_schema, definition, has_crds, schema};

/// The folder with `crds/`, `manifests/` and `fixtures/` of public repositories, which only the maintainers keep.
fn shared() -> Option<PathBuf> {
    let folder = std::env::var_os("KUBEBENCH_SHARED").filter(|value| !value.is_empty()).map(PathBuf::from)?;
    assert!(folder.join("crds").is_dir(), "KUBEBENCH_SHARED names {}, which has no `crds`", folder.display());
    Some(folder)
}

/// A part of `$KUBEBENCH_SHARED`, such as `manifests`, or `None` after a visible line.
///
/// `KUBEBENCH_ORACLES=require` does not ask for it: these files are of many licenses and are published nowhere together, so
/// nobody else can get them.
pub(crate) fn published(test: &str, part: &str) -> Option<PathBuf> {
    let Some(folder) = shared() else {
        skip(test, "published files", "KUBEBENCH_SHARED names no folder of them; only the maintainers keep one");
        return None;
    };
    let part = folder.join(part);
    assert!(part.is_dir(), "KUBEBENCH_SHARED has no folder {}", part.display());
    Some(part)
}

/// A program in `PATH`, else among those that `tests/tools/build` and `.ci/run` keep in their cache.
pub(crate) fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.extend(tools_cache().map(|cache| cache.join("bin")));
    folders.into_iter().map(|folder| folder.join(&file)).find(|candidate| candidate.is_file())
}

/// A [`tool`] for a test whose name starts with `oracle`, or `None` after a visible line.
pub(crate) fn oracle(test: &str, name: &str) -> Option<PathBuf> {
    asked(test, name, || tool(name))
}

/// A Python that imports `PyYAML`, in the manner of [`oracle`].
pub(crate) fn python_with_yaml(test: &str) -> Option<PathBuf> {
    python_with(test, "python-with-yaml", "yaml")
}

/// A Python that imports `modules`, in the manner of [`oracle`]; `.ci/run` writes the program `wrapper`, which starts that of an
/// environment of its own.
pub(crate) fn python_with(test: &str, wrapper: &str, modules: &str) -> Option<PathBuf> {
    let imports = |python: &PathBuf| {
        let mut command = Command::new(python);
        command.args(["-c", &format!("import {modules}")]).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let candidates = [wrapper, "python3", "python"];
    asked(test, wrapper, || candidates.into_iter().filter_map(tool).find(imports))
}

fn asked(test: &str, name: &str, find: impl FnOnce() -> Option<PathBuf>) -> Option<PathBuf> {
    let wanted = wanted();
    if wanted.is_empty() || wanted == "0" {
        skip(test, name, "set KUBEBENCH_ORACLES=1 to ask the tools that are present");
        return None;
    }
    let found = find();
    if found.is_none() {
        missing(test, name, how_to_get(name));
    }
    found
}

fn wanted() -> String {
    std::env::var("KUBEBENCH_ORACLES").unwrap_or_default()
}

/// How somebody gets a tool that is neither in `PATH` nor in the cache; `.ci/run` does all of it.
fn how_to_get(name: &str) -> &'static str {
    match name {
        "argo" => "run `tests/tools/build argo`",
        "benchstat" => "run `tests/tools/build benchstat`",
        "kubeconform" => "run `tests/tools/build kubeconform`",
        "kubectl" => "run `tests/tools/build kubectl`",
        "kustomize" => "run `tests/tools/build kustomize`",
        "chromium" => "install Debian's package `chromium`",
        "mdbook" => "let `.ci/run` install it, or run `cargo install mdbook`",
        "node" => "install Debian's package `nodejs`",
        "playwright-core" => "let `.ci/run` install it, or do as its `install_browser` does",
        "prometheus" | "promtool" => "install Debian's package `prometheus`",
        "psql" => "install Debian's package `postgresql`",
        "python3" => "install Python",
        "python-with-editor" => "have a `python3` with pytest-lsp",
        "python-with-exports" => "have a `python3` with what tests/tools/exports.txt lists",
        "python-with-yaml" => "have a `python3` with PyYAML",
        "sqlite3" => "install Debian's package `sqlite3`",
        other => panic!("nothing says how to get {other}"),
    }
}

/// Says that a judge is missing, and fails the test where every judge is required.
pub(crate) fn missing(test: &str, judge: &str, how: &str) {
    assert!(wanted() != "require", "{test} needs {judge}: {how}");
    skip(test, judge, how);
}

/// Says once, past the test runner's capture, that a test or a part of it was left out, for want of what, and how to get that.
///
/// `tests/tools/skipped` reads these lines.
pub(crate) fn skip(test: &str, judge: &str, how: &str) {
    static SAID: LazyLock<Mutex<BTreeSet<String>>> = LazyLock::new(Mutex::default);
    let line = format!("SKIPPED {test}: {judge}: {how}\n");
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(line.clone()) {
        // The capture replaces what `eprint!` writes to, not the stream itself.
        std::io::stderr().write_all(line.as_bytes()).expect("stderr takes a line");
    }
}

/// The name of the test that runs: the runner calls its threads so, unless it has only one.
fn this_test() -> String {
    let current = std::thread::current();
    current.name().filter(|name| *name != "main").unwrap_or("a test").to_owned()
}

/// What a strict API server would refuse in one object: unknown fields, wrong types, values out of bounds, doubled
/// keys of keyed lists. Empty when nothing is wrong.
///
/// CEL rules are not evaluated, nor what built-in kinds are asked beyond their types. Of a custom kind whose definition is not
/// at hand the metadata alone is validated, which is said.
pub(crate) fn validate(object: &Value) -> Vec<String> {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if let Some(faults) = core_kinds::faults(api_version, kind, object) {
        return faults;
    }
    let Some((group, version)) = api_version.split_once('/') else {
        return vec![format!("no judge knows `{api_version}` `{kind}`")];
    };
    let definition = Definition::of(group, version, kind);
    let mut faults = core_kinds::metadata_faults(object);
    match definition {
        Definition::Found(validator) => {
            faults.extend(validator.iter_errors(object).map(|error| format!("{}: {error}", error.instance_path())));
        }
        Definition::Unknown => return vec![format!("no CRD of `{api_version}` `{kind}`")],
        Definition::WithoutJudge(_) | Definition::NotBuilt => definition.tell_absence(&this_test(), api_version, kind),
    }
    faults
}

/// Whether Kubernetes itself has the kind.
pub(crate) fn is_built_in(api_version: &str, kind: &str) -> bool {
    core_kinds::faults(api_version, kind, &Value::Null).is_some()
}

/// Whether anything says what fields objects of the kind have.
pub(crate) fn has_definition(api_version: &str, kind: &str) -> bool {
    let of = |(group, version)| matches!(Definition::of(group, version, kind), Definition::Found(_));
    is_built_in(api_version, kind) || api_version.split_once('/').is_some_and(of)
}

fn tools_cache() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let caches = || set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
    set("KUBEBENCH_TOOLS").or_else(|| caches().map(|folder| folder.join("kubebench/tools")))
}
