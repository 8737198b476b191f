//! Where the definitions of custom kinds are, which kinds have none, and what a test reports of that.
//!
//! `tests/tools/build crds` makes a folder of them. Whatever is there is used; `$KUBEBENCH_SHARED/crds` is read for what that
//! folder lacks: all of it where nothing was built, and the kinds of [`WITHOUT_JUDGE`]. So a test is validated by the same
//! definitions everywhere, by those of the operators that the test cluster runs, and by more where there is more.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jsonschema::Validator;
use serde_json::Value;

use super::crd::{compiled, read_yaml, strict_of_version};
use super::{missing, shared, skip, this_test, tools_cache};

/// How to get the definitions.
const HOW: &str = "run `tests/tools/build crds`";

/// What `tests/tools/build crds` makes, one line a kind.
const SOURCES: &str = include_str!("../../../tools/crds/sources");

/// Kinds that Kubebench emits and that no definition validates which everybody can have, each with the reason.
const WITHOUT_JUDGE: &[(&str, &str, &str)] = &[
    (
        "kubeflow.org/v1beta1",
        "Experiment",
        "no Go module of the test cluster holds it, and Katib's own keeps whatever it is given",
    ),
    ("machinelearning.seldon.io/v1", "SeldonDeployment", SELDON),
    ("mlops.seldon.io/v1alpha1", "Model", SELDON),
];
const SELDON: &str =
    "no Go module of the test cluster holds it: Seldon's last releases under a free license are of 2023";

/// A definition of a custom kind, or why there is none.
#[derive(Clone)]
pub(super) enum Definition {
    Found(Arc<Validator>),
    /// It is not available anywhere.
    WithoutJudge(&'static str),
    /// `tests/tools/build crds` would make it.
    NotBuilt,
    /// No kind that this repository knows.
    Unknown,
}

impl Definition {
    /// The definition of a kind; its validator is made once a process.
    pub(super) fn of(group: &str, version: &str, kind: &str) -> Self {
        static MADE: LazyLock<Mutex<BTreeMap<String, Definition>>> = LazyLock::new(Mutex::default);
        let name = format!("{group}/{version} {kind}");
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.get(&name) {
            return known.clone();
        }
        let found = match crd_schema(group, version, kind) {
            Some(schema) => Self::Found(Arc::new(compiled(&schema))),
            None => Self::absent(&format!("{group}/{version}"), kind),
        };
        made.insert(name, found.clone());
        found
    }

    fn absent(api_version: &str, kind: &str) -> Self {
        let without = WITHOUT_JUDGE.iter().find(|(known, own, _)| *known == api_version && *own == kind);
        if let Some((_, _, why)) = without {
            return Self::WithoutJudge(why);
        }
        let is_listed = sources().any(|source| source.api_version == api_version && source.kind == kind);
        if is_listed && built().is_none() { Self::NotBuilt } else { Self::Unknown }
    }

    /// Says, or fails, for what is not found.
    pub(super) fn tell_absence(&self, test: &str, api_version: &str, kind: &str) {
        match self {
            Self::Found(_) => {}
            Self::WithoutJudge(why) => skip(test, &format!("a definition of {kind}"), why),
            Self::NotBuilt => missing(test, "CRDs", HOW),
            Self::Unknown => panic!("{test}: no CRD of `{api_version}` `{kind}`"),
        }
    }
}

/// The strict schema of a custom kind for a test that needs it, or `None` after a visible line.
pub(crate) fn schema(test: &str, group: &str, version: &str, kind: &str) -> Option<Value> {
    let schema = crd_schema(group, version, kind);
    if schema.is_none() {
        let api_version = format!("{group}/{version}");
        Definition::absent(&api_version, kind).tell_absence(test, &api_version, kind);
    }
    schema
}

/// Whether there are definitions, with a visible line where there are none.
pub(crate) fn has_crds(test: &str) -> bool {
    let has = !folders().is_empty();
    if !has {
        missing(test, "CRDs", HOW);
    }
    has
}

/// Whether there are the CRDs of the releases that the test cluster runs.
pub(crate) fn are_crds_built() -> bool {
    built().is_some()
}

/// The strict JSON schema of a custom kind, `None` without its CRD.
///
/// It is read again at each call (half a second for the largest); [`Definition::of`] keeps what it made.
pub(crate) fn crd_schema(group: &str, version: &str, kind: &str) -> Option<Value> {
    definitions(group, kind).find_map(|crd| strict_of_version(&crd, version))
}

/// The CRD of a kind as it is published.
pub(crate) fn definition(group: &str, version: &str, kind: &str) -> Option<Value> {
    definitions(group, kind).find(|crd| strict_of_version(crd, version).is_some())
}

/// Every CRD of a kind, the built ones first: two operators may define one kind in different versions.
fn definitions(group: &str, kind: &str) -> impl Iterator<Item = Value> {
    let files = folders().into_iter().flat_map(|folder| yaml_files(&folder));
    files.filter_map(move |file| {
        let text = fs::read_to_string(file).expect("a CRD is UTF-8");
        // A glance before the parse: these files weigh megabytes.
        if !(text.contains(&format!("group: {group}\n")) && text.contains(&format!("kind: {kind}\n"))) {
            return None;
        }
        let crd = read_yaml(&text);
        let is_asked = crd.pointer("/spec/group")? == group && crd.pointer("/spec/names/kind")? == kind;
        is_asked.then_some(crd)
    })
}

fn folders() -> Vec<PathBuf> {
    built().into_iter().chain(shared().map(|shared| shared.join("crds"))).collect()
}

/// The folder that `tests/tools/build crds` makes. A folder that lacks a file fails the test that asks: a kind whose
/// definition is lost must not pass as one that was not built.
fn built() -> Option<PathBuf> {
    static FOUND: LazyLock<Result<Option<PathBuf>, String>> = LazyLock::new(|| {
        let Some(folder) = tools_cache().map(|cache| cache.join("crds")) else { return Ok(None) };
        // A link to what is gone is there too.
        if fs::symlink_metadata(&folder).is_err() {
            return Ok(None);
        }
        whole(&folder).map(|()| Some(folder))
    });
    FOUND.clone().unwrap_or_else(|why| panic!("{why}: {HOW}"))
}

/// Whether a folder holds every file that `tests/tools/crds/sources` lists.
pub(super) fn whole(folder: &Path) -> Result<(), String> {
    for source in sources() {
        let file = folder.join(source.pins).join(source.file.rsplit('/').next().unwrap_or_default());
        if !fs::metadata(&file).is_ok_and(|file| file.len() > 0) {
            return Err(format!("the folder of CRDs is not whole: there is no `{}`", file.display()));
        }
    }
    Ok(())
}

pub(super) struct Source {
    pins: &'static str,
    file: &'static str,
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
}

pub(super) fn sources() -> impl Iterator<Item = Source> {
    SOURCES.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let [pins, _, file, api_version, kind] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("tests/tools/crds/sources: {line}")
        };
        Source { pins, file, api_version, kind }
    })
}

fn yaml_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder of CRDs is readable") {
        let path = entry.expect("the folder of CRDs is readable").path();
        if path.is_dir() {
            files.extend(yaml_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Every kind that the builder promises is found with a schema that says something, and those without a judge are no others
/// than it says.
#[test]
fn oracle_crds_are_whole() {
    let Some(folder) = built() else { return missing(&this_test(), "CRDs", HOW) };
    for Source { api_version, kind, .. } in sources() {
        let (group, version) = api_version.split_once('/').unwrap();
        let schema = crd_schema(group, version, kind).unwrap_or_else(|| panic!("no {api_version} {kind}"));
        let fields = schema["properties"]["spec"]["properties"].as_object().map_or(0, serde_json::Map::len);
        assert!(fields > 0, "the definition of {api_version} {kind} has no fields");
        let is_without = WITHOUT_JUDGE.iter().any(|(known, own, _)| *known == api_version && *own == kind);
        assert!(!is_without, "{api_version} {kind} has a judge");
    }
    assert_eq!(whole(&folder), Ok(()));
}

/// A folder from which a file was lost, or in which one is empty, is no folder of CRDs.
#[test]
fn a_folder_of_crds_that_lacks_a_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(whole(folder.path()).is_err(), "an empty folder");
    let files = sources().map(|source| folder.path().join(source.pins).join(source.file.rsplit('/').next().unwrap()));
    let files: Vec<PathBuf> = files.collect();
    for file in &files {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "x").unwrap();
    }
    assert_eq!(whole(folder.path()), Ok(()));
    for file in &files {
        fs::write(file, "").unwrap();
        assert!(whole(folder.path()).unwrap_err().contains(file.to_str().unwrap()));
        fs::remove_file(file).unwrap();
        assert!(whole(folder.path()).is_err());
        fs::write(file, "x").unwrap();
    }
}
