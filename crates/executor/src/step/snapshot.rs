//! What was executed, next to what it left: a snapshot of the manifests and rules in the run's folder.

use std::io;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value as Json;

use super::inputs::RulesText;
use kubebench_contract::{Config, Created, RulesFile, data_folder, users};
use kubebench_host::experiment::RunFolder;
use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml;

const MANIFEST: &str = "manifest.yaml";
const SERVER: &str = "server.yaml";
const RULES: &str = RulesFile::FILE;
const SPEC: &str = "spec.yaml";
/// No file of a ConfigMap is larger.
const MAX_BYTES: usize = 4 << 20;

/// Makes the folders of the run whose job is called `job`; what a job put there instead is moved aside.
///
/// # Errors
/// When the volume does not take them.
pub(super) fn make(experiments: &Path, job: &str) -> Result<RunFolder> {
    let make = || {
        let run = RunFolder::make(experiments, job)?;
        run.make_below("config")?;
        run.make_below("output/logs")?;
        for name in ["output", "result"] {
            run.make_below(name)?.open_to(users::GROUP)?;
        }
        Ok(run)
    };
    let made: io::Result<RunFolder> = make();
    made.with_context(|| format!("cannot create the folders of the run in {}", experiments.join(job).display()))
}

/// Writes what is executed into the folder of its run, and the server that it loads, if it loads one.
///
/// # Errors
/// When the volume does not take it.
pub(super) fn keep(run: &RunFolder, objects: &Created, server: Option<&Created>, rules: &RulesText) -> Result<()> {
    for (name, objects) in [(MANIFEST, Some(objects)), (SERVER, server)] {
        let Some(objects) = objects else { continue };
        let all = std::iter::once(&objects.workload).chain(&objects.before);
        write(run, name, &all.map(yaml::write).collect::<Vec<_>>().join("---\n"))?;
    }
    keep_rules(run, rules)
}

/// Writes what a whole session executes into its folder.
///
/// # Errors
/// When the volume does not take it.
pub(super) fn keep_session(run: &RunFolder, config: &Config, rules: &RulesText) -> Result<()> {
    config.texts().try_for_each(|(name, text)| write(run, name, text))?;
    keep_rules(run, rules)
}

/// Makes the folder in which `prepare` leaves what the runs of a benchmark read.
///
/// # Errors
/// When the volume does not take it.
pub(super) fn make_data(experiments: &Path, benchmark: &str) -> Result<()> {
    let folder = data_folder(benchmark);
    let made = RunFolder::make(experiments, &folder).and_then(|made| made.open_to(users::GROUP));
    made.with_context(|| format!("cannot create the folder {}", experiments.join(folder).display()))
}

/// Writes the rules of a run into its folder.
///
/// # Errors
/// When the volume does not take it.
pub(super) fn keep_rules(run: &RunFolder, rules: &RulesText) -> Result<()> {
    let texts = [(RULES, &rules.rules), (SPEC, &rules.spec)];
    texts.into_iter().try_for_each(|(name, text)| text.as_ref().map_or(Ok(()), |text| write(run, name, text)))
}

fn write(run: &RunFolder, name: &str, text: &str) -> Result<()> {
    let path = format!("config/{name}");
    run.put(&path, text.as_bytes()).with_context(|| format!("cannot write {}", run.place().join(&path).display()))
}

/// Returns the rules in the snapshot.
pub(super) fn rules(folder: &Path) -> RulesText {
    RulesText { rules: read(folder, RULES), spec: read(folder, SPEC) }
}

/// Returns the text of `name` in the snapshot, if there is one.
fn read(folder: &Path, name: &str) -> Option<String> {
    let parent = folder.parent()?;
    let run = RunFolder::open(parent, folder.file_name()?.to_str()?).ok()?;
    let bytes = run.read(&format!("config/{name}"), MAX_BYTES).ok().flatten()?;
    String::from_utf8(bytes).ok()
}

/// Returns the workload in the snapshot.
pub(super) fn workload(folder: &Path) -> Option<Json> {
    first(folder, MANIFEST)
}

/// Returns the server in the snapshot.
pub(super) fn server(folder: &Path) -> Option<Json> {
    first(folder, SERVER)
}

/// Returns the first object of the file `name`.
fn first(folder: &Path, name: &str) -> Option<Json> {
    let text = read(folder, name)?;
    let source = Source::new("", text.split("\n---\n").next()?.as_bytes());
    Some(yaml::read(SourceId(0), &source).root?.to_json())
}
