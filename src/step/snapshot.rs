//! What was executed, beside what it left: a snapshot of the manifests and rules in the run's folder.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value as Json;

use super::told::RulesText;
use crate::edge::experiment;
use crate::steps::Created;
use crate::yaml;

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
    let texts = [("manifest.yaml", Some(&manifest)), ("rules.json", rules.rules.as_ref()), ("spec.yaml", rules.spec.as_ref())];
    for (name, text) in texts {
        let path = folder.join("config").join(name);
        if let Some(text) = text {
            experiment::replace(&path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(())
}

/// Returns the text of `name` in the snapshot, if there is one.
pub(super) fn read(folder: &Path, name: &str) -> Option<String> {
    let parent = folder.parent()?;
    let run = experiment::RunFolder::open(parent, folder.file_name()?.to_str()?).ok()?;
    let bytes = run.read(&format!("config/{name}"), 4 << 20).ok().flatten()?;
    String::from_utf8(bytes).ok()
}

/// Returns the documents of the snapshot's manifest.
pub(super) fn workload(folder: &Path) -> Option<Json> {
    let text = read(folder, "manifest.yaml")?;
    let source = crate::text::Source::new("", text.split("\n---\n").next()?.as_bytes());
    Some(yaml::read(crate::text::SourceId(0), &source).root?.to_json())
}
