//! Finds what judges the compiler from outside: real CRD schemas, Kubernetes' own types, real tools.
//!
//! The schemas and manifests lie beside the checkout and the tools in a cache or in `PATH`; either may be absent, so
//! every finder returns an option and whoever gets `None` says so with [`skip`]: a judge that was not asked is visible
//! in the output of a passing test.

mod core_kinds;
mod crd;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

use serde_json::Value;

pub(crate) use crd::crd_schema;

/// The folder with `crds/`, `manifests/` and `fixtures/`: `$KUBEBENCH_SHARED`, else the folder `shared` beside the
/// checkout.
pub(crate) fn shared() -> Option<PathBuf> {
    let folder = match std::env::var_os("KUBEBENCH_SHARED") {
        Some(named) => PathBuf::from(named),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
    };
    folder.join("crds").is_dir().then_some(folder)
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
///
/// `KUBEBENCH_ORACLES` decides: unset, tools are left alone; set, they are used where present; `require`, an absent
/// one fails the test.
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
    asked(test, &format!("a python3 with {modules}"), || candidates.into_iter().filter_map(tool).find(imports))
}

fn asked(test: &str, name: &str, find: impl FnOnce() -> Option<PathBuf>) -> Option<PathBuf> {
    let wanted = std::env::var("KUBEBENCH_ORACLES").unwrap_or_default();
    if wanted.is_empty() || wanted == "0" {
        skip(test, "set KUBEBENCH_ORACLES=1 to ask the tools that are present");
        return None;
    }
    let found = find();
    if found.is_none() {
        assert_ne!(wanted, "require", "{test} needs {name}, which is neither in PATH nor in the cache");
        skip(test, &format!("{name} is neither in PATH nor in the cache that `.ci/run` fills"));
    }
    found
}

/// Says once, past the test runner's capture, that a judge was not asked.
pub(crate) fn skip(name: &str, why: &str) {
    static SAID: LazyLock<Mutex<BTreeSet<String>>> = LazyLock::new(Mutex::default);
    let line = format!("SKIPPED {name}: {why}\n");
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(line.clone()) {
        // The capture replaces what `eprint!` writes to, not the stream itself.
        std::io::stderr().write_all(line.as_bytes()).expect("stderr takes a line");
    }
}

/// What a strict API server would refuse in one object: unknown fields, wrong types, values out of bounds, doubled
/// keys of keyed lists. Empty when nothing is wrong.
///
/// CEL rules are not evaluated, nor what built-in kinds are asked beyond their types. Without [`shared`] a custom
/// kind is not judged, which is said.
pub(crate) fn validate(object: &Value) -> Vec<String> {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if let Some(faults) = core_kinds::faults(api_version, kind, object) {
        return faults;
    }
    let Some((group, version)) = api_version.split_once('/') else {
        return vec![format!("no judge knows `{api_version}` `{kind}`")];
    };
    if shared().is_none() {
        skip("validate", "no folder `shared` beside the checkout, so custom kinds are not held against their CRDs");
        return Vec::new();
    }
    let Some(validator) = crd::validator(group, version, kind) else {
        return vec![format!("no CRD of `{api_version}` `{kind}`")];
    };
    let mut faults = core_kinds::metadata_faults(object);
    faults.extend(validator.iter_errors(object).map(|error| format!("{}: {error}", error.instance_path())));
    faults
}

fn tools_cache() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let caches = || set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
    set("KUBEBENCH_TOOLS").or_else(|| caches().map(|folder| folder.join("kubebench/tools")))
}
