//! An evaluation as commands take it: opened by their arguments, and reported on by their options.

use std::path::Path;

use anyhow::Result;

use super::ExitStatus;
use super::args::Global;
use super::findings::{self, Findings, Output, refuse_report_places, tell};
use super::project::tell_more;
use crate::app::evaluate::Evaluation;
use crate::app::places;

/// Opens the project with its specs as far as they compile. Reports and `comment` must not be written over what they are about,
/// which the folders of `results` are part of.
pub(super) fn open(global: &Global, comment: Option<&Path>, results: &[&Path]) -> Result<Evaluation> {
    let evaluation = Evaluation::open(&global.start())?;
    refuse_places(global, &evaluation, comment, results)?;
    if let Some(project) = &evaluation.project {
        tell_more(global, project);
    }
    Ok(evaluation)
}

/// Refuses to write reports and `comment` over what they are about.
pub(super) fn refuse_places(
    global: &Global,
    evaluation: &Evaluation,
    comment: Option<&Path>,
    results: &[&Path],
) -> Result<()> {
    let kept = evaluation.kept_folders(results)?;
    let kept: Vec<&str> = kept.iter().map(String::as_str).collect();
    refuse_report_places(global, &evaluation.root, &kept)?;
    let comment = comment.map(|path| global.start().path(path));
    comment.map_or(Ok(()), |path| places::refuse("comment", &path, &evaluation.root, &kept))
}

/// Reports what is wrong with the specs; nothing where all compile.
pub(super) fn report_faults(global: &Global, evaluation: &Evaluation) -> Option<Result<ExitStatus>> {
    let Evaluation { faults, sources, .. } = evaluation;
    let findings = Findings { diagnostics: faults.clone(), sources, checked: &[], unreadable: false };
    faults.has_errors().then(|| findings::report(global, Output::without_verdict(global.output_format), findings))
}

/// Says how results were read, where `--verbose` asks for it.
pub(super) fn tell_readings(global: &Global, evaluation: &Evaluation) {
    if global.verbose > 0 {
        evaluation.readings.iter().for_each(|line| tell(global, line));
    }
}
