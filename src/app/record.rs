//! Results become part of a git repository.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};

use super::project::{CompiledProject, Project};
use super::results::envelope_beside;
use super::start::{Start, VERSION};
use kubebench_attestation::is_of;
use kubebench_compiler::compile::Workspace;
use kubebench_compiler::model::target::ResultsSettings;
use kubebench_executor::collect::{Stored, addition};
use kubebench_format::attestation::result_of;
use kubebench_format::result;
use kubebench_git::record::{Addition, DEADLINE, Mode, Signing};
use kubebench_git::{self as git, Destination};
use kubebench_host::fs::{self, Content};
use kubebench_host::machine;

pub(crate) const PROJECT_FILE_HAS_ERRORS: &str = "the project file has errors; `kubebench validate` shows them";

/// Where recorded results go; what is left out is as the project says.
#[derive(Clone, Debug, Default)]
pub struct RecordPlace {
    /// The remote, by name or address.
    pub remote: Option<String>,
    /// The branch of results.
    pub branch: Option<String>,
    /// How long it is tried.
    pub deadline: Option<Duration>,
    /// Whether commits are signed.
    pub signing: Option<Signing>,
}

/// Results that may be recorded, or why none of them is.
pub enum Additions {
    /// All are whole.
    Whole(Vec<Addition>),
    /// These are not, by the names that people know them by.
    Faulty(Vec<(String, NotAdded)>),
}

/// Why a file cannot be recorded.
pub enum NotAdded {
    /// It never will be.
    Refused(String),
    /// It cannot be read now.
    Unreadable(String),
}

impl fmt::Display for NotAdded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(reason) | Self::Unreadable(reason) => f.write_str(reason),
        }
    }
}

const SYNTHETIC: &str = "this result is synthetic: nothing ran, so there is nothing to record";

/// Returns the results at and below `paths`; refuses paths without any.
pub fn additions(start: &Start, paths: &[PathBuf], settings: &ResultsSettings) -> Result<Additions> {
    let (mut whole, mut faulty) = (Vec::new(), Vec::new());
    for (path, file) in result_files(start, paths)? {
        match file.map_err(unread).and_then(|file| of_file(&file, &path, settings)) {
            Ok(addition) => whole.push(addition),
            Err(why) => faulty.push((path, why)),
        }
    }
    Ok(if faulty.is_empty() { Additions::Whole(whole) } else { Additions::Faulty(faulty) })
}

/// Returns the result of a file, which people know by `path`, and the envelope next to it.
fn of_file(file: &Path, path: &str, settings: &ResultsSettings) -> Result<Addition, NotAdded> {
    let bytes = fs::read_result(file, result::MAX_BYTES).map_err(unread)?;
    let sealed = result::read(&bytes).map_err(|fault| NotAdded::Refused(fault.to_string()))?;
    if sealed.result.synthetic {
        return Err(NotAdded::Refused(SYNTHETIC.to_owned()));
    }
    let envelope = envelope_beside(file).transpose().map_err(unread)?;
    if let Some(envelope) = &envelope {
        let why = |why: String| NotAdded::Refused(format!("the envelope next to it belongs to another result: {why}"));
        is_of(envelope, &sealed).map_err(why)?;
    }
    Ok(Addition { envelope, ..addition(&sealed, Path::new(path), &settings.directory) })
}

/// Returns the results of runs that just ended.
pub fn additions_of(stored: &[&Stored], settings: &ResultsSettings) -> Vec<Addition> {
    let nowhere = Path::new("no file");
    let of =
        |stored: &&Stored| addition(&stored.sealed, stored.path.as_deref().unwrap_or(nowhere), &settings.directory);
    stored.iter().map(of).collect()
}

/// Returns the mode in which results are recorded: the one that is asked for, or the project's.
pub fn mode(asked: Option<Mode>, settings: &ResultsSettings) -> Mode {
    asked.or_else(|| Mode::parse(settings.mode)).unwrap_or(Mode::Branch)
}

/// Returns where results of the project at `root` go; `tell` says what happens on the way.
pub fn destination(
    root: &Path,
    settings: &ResultsSettings,
    mode: Mode,
    place: &RecordPlace,
    tell: fn(&str),
) -> Destination {
    Destination {
        mode,
        folder: root.to_owned(),
        remote: place.remote.clone().or_else(|| settings.remote.clone()).unwrap_or_else(|| "origin".to_owned()),
        branch: place.branch.clone().unwrap_or_else(|| settings.branch.clone()),
        inbox: settings.inbox.clone(),
        deadline: place.deadline.unwrap_or(DEADLINE),
        credential: machine::variables(|name| name == "KUBEBENCH_CREDENTIAL_DIR")
            .into_values()
            .next()
            .map(PathBuf::from),
        // A user who records by hand has set git up.
        authorities: None,
        host_keys: git::HostKeys::of(settings.ssh_host_keys),
        signing: place.signing.unwrap_or(Signing::Never),
        cache: git::cache_place(),
        program: "git".into(),
        again: "record it again with `kubebench record`, which adds nothing twice",
        tell,
    }
}

/// Returns the project's settings for results; nothing is asked of its specs.
pub fn settings(project: &Project) -> Result<ResultsSettings> {
    let workspace = Workspace::open(project.file.clone(), VERSION);
    match workspace.project() {
        Some(project) => Ok(project.settings.results.clone()),
        None => bail!(PROJECT_FILE_HAS_ERRORS),
    }
}

/// The same of a project that was compiled.
pub fn settings_of(project: &CompiledProject) -> Result<&ResultsSettings> {
    match &project.compilation.project {
        Some(project) => Ok(&project.settings.results),
        None => bail!(PROJECT_FILE_HAS_ERRORS),
    }
}

/// Returns the files at and below `paths`, by the names that people know them by; refuses paths without any.
pub fn result_files(start: &Start, paths: &[PathBuf]) -> Result<BTreeMap<String, Result<PathBuf, Content>>> {
    // Who names an envelope means its result.
    let meant = |path: &PathBuf| path.to_str().and_then(result_of).map_or_else(|| path.clone(), PathBuf::from);
    let places = paths.iter().map(|path| start.path(&meant(path)));
    let files: BTreeMap<_, _> = places
        .flat_map(|place| fs::find_results(&place, &place.display().to_string()))
        .filter(|(path, _)| result_of(path).is_none())
        .collect();
    if files.is_empty() {
        let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        bail!("there is no result file at {}", paths.join(", "));
    }
    Ok(files)
}

/// Says why a file was not read.
pub fn unread(content: Content) -> NotAdded {
    match content {
        Content::Refused(reason) => NotAdded::Refused(format!("{reason}; name the result file itself")),
        Content::Unreadable(reason) => NotAdded::Unreadable(format!("it cannot be read: {reason}")),
        Content::Absent | Content::Misnamed | Content::Whole(_) | Content::TooLong(_) => {
            NotAdded::Unreadable("there is no such file or folder".to_owned())
        }
    }
}
