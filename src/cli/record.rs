//! `kubebench record`: result files become part of a git repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde_json::{Value as Json, json};

use super::ExitStatus;
use super::args::{Global, PlaceArgs, RecordArgs};
use super::findings::tell;
use super::project::{Project, VERSION, from_start};
use super::session::Session;
use kubebench_compiler::compile::Workspace;
use kubebench_compiler::model::target::ResultsSettings;
use kubebench_executor::gather::{Stored, addition};
use kubebench_format::result;
use kubebench_git::record::{Addition, Conflict, DEADLINE, Kind, Mode, NotRecorded, Recorded, Signing};
use kubebench_git::{self as git, Destination};
use kubebench_host::fs;
use kubebench_host::fs::Content;
use kubebench_host::machine;
use kubebench_host::terminal;
use kubebench_syntax::diag::render::Format;

/// Records the files of `args`.
pub(super) fn run(global: &Global, args: &RecordArgs) -> Result<ExitStatus> {
    let project = Project::find(global)?;
    let settings = &settings(&project)?;
    let mut additions = Vec::new();
    let mut failed = None;
    for (path, file) in found(global, &args.results) {
        match file.and_then(|file| fs::read_result(&file, result::MAX_BYTES)) {
            Ok(bytes) => match result::read(&bytes) {
                Ok(sealed) if sealed.result.synthetic => {
                    terminal::tell(&format!(
                        "error: {path}: this result is synthetic: nothing ran, so there is nothing to record"
                    ));
                    terminal::tell("nothing was recorded");
                    return Ok(ExitStatus::Refused);
                }
                Ok(sealed) => additions.push(addition(&sealed, Path::new(&path), &settings.directory)),
                Err(fault) => {
                    failed = failed.max(Some(ExitStatus::Refused));
                    terminal::tell(&format!("error: {path}: {fault}"));
                }
            },
            Err(content) => {
                let (status, reason) = unread(content);
                failed = failed.max(Some(status));
                terminal::tell(&format!("error: {path}: {reason}"));
            }
        }
    }
    if let Some(status) = failed {
        terminal::tell("nothing was recorded");
        return Ok(status);
    }
    if additions.is_empty() {
        bail!("there is no result file at {}", shown(&args.results));
    }
    let mode = args.mode.or_else(|| Mode::parse(settings.mode)).unwrap_or(Mode::Branch);
    let destination = destination(global, &project.root, settings, mode, &args.place);
    let outcome = git::record(&additions, &destination);
    if let (Format::Json, Ok(recorded)) = (global.output_format, &outcome) {
        terminal::print(&format!("{:#}\n", answer(recorded)))?;
    }
    Ok(tell_outcome(global, &destination, outcome))
}

/// Records the results of a session that just ended, in `mode` or as the project says; returns the status, and for
/// programs what was recorded.
pub(super) fn record_stored(
    global: &Global,
    session: &Session<'_>,
    stored: &[&Stored],
    mode: Option<Mode>,
) -> Result<(ExitStatus, Json)> {
    if stored.is_empty() {
        return Ok((ExitStatus::Yes, Json::Null));
    }
    let Some(project) = &session.compilation.project else {
        bail!("the project file has errors; `kubebench validate` shows them")
    };
    let settings = &project.settings.results;
    let nowhere = Path::new("no file");
    let additions = stored.iter().map(|stored| {
        let path = stored.path.as_deref().unwrap_or(nowhere);
        addition(&stored.sealed, path, &settings.directory)
    });
    let additions: Vec<Addition> = additions.collect();
    let mode = mode.or_else(|| Mode::parse(settings.mode)).unwrap_or(Mode::Branch);
    let destination = destination(global, &session.root, settings, mode, &PlaceArgs::default());
    let outcome = git::record(&additions, &destination);
    let answer = outcome.as_ref().map_or(Json::Null, answer);
    Ok((tell_outcome(global, &destination, outcome), answer))
}

/// Returns where results of the project go.
pub(super) fn destination(
    global: &Global,
    root: &Path,
    settings: &ResultsSettings,
    mode: Mode,
    args: &PlaceArgs,
) -> Destination {
    Destination {
        mode,
        folder: root.to_owned(),
        remote: args.remote.clone().or_else(|| settings.remote.clone()).unwrap_or_else(|| "origin".to_owned()),
        branch: args.branch.clone().unwrap_or_else(|| settings.branch.clone()),
        inbox: settings.inbox.clone(),
        deadline: args.deadline.unwrap_or(DEADLINE),
        credential: machine::variables(|name| name == "KUBEBENCH_CREDENTIAL_DIR")
            .into_values()
            .next()
            .map(PathBuf::from),
        signing: if args.sign { Signing::AsConfigured } else { Signing::Never },
        cache: git::cache_place(),
        program: "git".into(),
        again: "record it again with `kubebench record`, which adds nothing twice",
        tell: if global.quiet { |_| {} } else { terminal::tell },
    }
}

/// Returns the project's settings for results; of its specs nothing is asked.
pub(super) fn settings(project: &Project) -> Result<ResultsSettings> {
    let workspace = Workspace::open(project.file.clone(), VERSION);
    match workspace.project() {
        Some(project) => Ok(project.settings.results.clone()),
        None => bail!("the project file has errors; `kubebench validate` shows them"),
    }
}

/// Returns the files at and below `paths`, by the names that people know them by.
pub(super) fn found(global: &Global, paths: &[PathBuf]) -> BTreeMap<String, Result<PathBuf, Content>> {
    let places = paths.iter().map(|path| from_start(global, path));
    places.flat_map(|place| fs::find_results(&place, &place.display().to_string())).collect()
}

/// Says why a file was not read, and whether another time it may be.
pub(super) fn unread(content: Content) -> (ExitStatus, String) {
    match content {
        Content::Refused(reason) => (ExitStatus::Refused, format!("{reason}; name the result file itself")),
        Content::Unreadable(reason) => (ExitStatus::NoAnswer, format!("it cannot be read: {reason}")),
        Content::Absent | Content::Misnamed | Content::Whole(_) | Content::TooLong(_) => {
            (ExitStatus::NoAnswer, "there is no such file or folder".to_owned())
        }
    }
}

/// Says what became of results, and returns the status for it.
fn tell_outcome(global: &Global, destination: &Destination, outcome: Result<Recorded, NotRecorded>) -> ExitStatus {
    let recorded = match outcome {
        Ok(recorded) => recorded,
        Err(fault) => return tell_failure(&fault),
    };
    for note in &recorded.notes {
        tell(global, &format!("note: {note}"));
    }
    for conflict in &recorded.conflicts {
        terminal::tell(&format!("error: {conflict}\n  {}", Conflict::HELP));
    }
    tell(global, &recorded.summary(&destination.branch));
    if recorded.conflicts.is_empty() { ExitStatus::Yes } else { ExitStatus::Refused }
}

/// Returns the answer for programs.
fn answer(recorded: &Recorded) -> Json {
    let Recorded { added, already, conflicts, commit, place, .. } = recorded;
    let refused: Vec<&str> = conflicts.iter().map(|conflict| conflict.path.as_str()).collect();
    json!({ "schemaVersion": 1, "added": added, "already": already, "refused": refused, "commit": commit, "place": place })
}

/// Says why nothing was recorded, and returns the status for it.
pub(super) fn tell_failure(fault: &NotRecorded) -> ExitStatus {
    terminal::tell(&format!("error: {fault}"));
    if let Some(help) = &fault.help {
        terminal::tell(&format!("  {help}"));
    }
    match fault.kind {
        Kind::Refused => ExitStatus::Refused,
        Kind::TryAgain => ExitStatus::NotRecorded,
    }
}

/// Returns paths as people gave them.
pub(super) fn shown(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
