//! What was executed, beside what it left: a snapshot of the manifests and rules in the run's folder.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value as Json;

use super::attempt::Workflow;
use super::told::RulesText;
use crate::edge::{experiment, machine};
use crate::steps::{Config, Created};
use crate::text::{Source, SourceId};
use crate::yaml;

const MANIFEST: &str = "manifest.yaml";
const RULES: &str = "rules.json";
const SPEC: &str = "spec.yaml";
/// No file of a ConfigMap is larger.
const MAX_BYTES: usize = 4 << 20;

/// Makes the folders of the run whose job is called `job`.
///
/// # Errors
/// When the volume does not take them.
pub(super) fn make(experiments: &Path, job: &str) -> Result<()> {
    let folder = experiments.join(job);
    for name in ["config", "output/logs", "result"] {
        experiment::make(folder.join(name))?;
    }
    experiment::open_to_jobs(&folder)
}

/// Writes what is executed into `folder`.
///
/// # Errors
/// When the volume does not take it.
pub(super) fn keep(folder: &Path, objects: &Created, rules: &RulesText) -> Result<()> {
    let all = std::iter::once(&objects.workload).chain(&objects.before);
    let manifest = all.map(yaml::write).collect::<Vec<_>>().join("---\n");
    write(folder, MANIFEST, &manifest)?;
    keep_rules(folder, rules)
}

/// Writes what a whole session executes into `folder`, and who does.
///
/// # Errors
/// When the volume does not take it.
pub(super) fn keep_session(folder: &Path, config: &Config, rules: &RulesText, workflow: &Workflow) -> Result<()> {
    for (name, text) in config.texts() {
        write(folder, name, text)?;
    }
    let session = serde_json::json!({
        "schemaVersion": 1,
        "began": machine::now().0,
        "kubebench": env!("CARGO_PKG_VERSION"),
        "workflow": workflow,
    });
    write(folder, "session.json", &format!("{session:#}\n"))?;
    keep_rules(folder, rules)
}

fn keep_rules(folder: &Path, rules: &RulesText) -> Result<()> {
    let texts = [(RULES, &rules.rules), (SPEC, &rules.spec)];
    texts.into_iter().try_for_each(|(name, text)| text.as_ref().map_or(Ok(()), |text| write(folder, name, text)))
}

fn write(folder: &Path, name: &str, text: &str) -> Result<()> {
    let path = folder.join("config").join(name);
    experiment::replace(&path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}

/// Returns the rules in the snapshot.
pub(super) fn rules(folder: &Path) -> RulesText {
    RulesText { rules: read(folder, RULES), spec: read(folder, SPEC) }
}

/// Returns the text of `name` in the snapshot, if there is one.
fn read(folder: &Path, name: &str) -> Option<String> {
    let parent = folder.parent()?;
    let run = experiment::RunFolder::open(parent, folder.file_name()?.to_str()?).ok()?;
    let bytes = run.read(&format!("config/{name}"), MAX_BYTES).ok().flatten()?;
    String::from_utf8(bytes).ok()
}

/// Returns the workload in the snapshot.
pub(super) fn workload(folder: &Path) -> Option<Json> {
    let text = read(folder, MANIFEST)?;
    let source = Source::new("", text.split("\n---\n").next()?.as_bytes());
    Some(yaml::read(SourceId(0), &source).root?.to_json())
}
