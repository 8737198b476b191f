//! The list of what a run left, with digests.

use super::Session;
use super::wait::Waited;
use crate::edge::experiment::{self, Left};
use crate::result::v1::{Artifact, StatusReason};

/// More files of a run are not listed in its result, beside logs of replicas and files of metrics.
const MAX_OTHERS: usize = 200;

impl Session<'_> {
    /// Returns the files of the run with their digests: logs first, then what metrics were read from, then what else
    /// postprocessing and the job wrote; and why others are not among them.
    pub(super) fn artifacts(&self, left: &Left, waited: &Waited) -> (Vec<Artifact>, Vec<StatusReason>) {
        let mut first: Vec<String> = waited.finished.iter().map(|finished| finished.log.clone()).collect();
        first.sort();
        let files = self.rules.metrics.iter().filter_map(|rule| rule.from.file());
        for file in files.filter(|file| matches!(left.find(file), Ok(Some(_)))) {
            let name = left.name_of(file);
            if !first.contains(&name) {
                first.push(name);
            }
        }
        let names = left.files(first, MAX_OTHERS);
        let mut reasons = Vec::new();
        let mut say = |code: &str, message: String| reasons.push(StatusReason { code: code.to_owned(), message });
        if let Some(of) = names.of {
            say("artifactsCut", format!("{} of {of} files are listed with their digests", names.listed.len()));
        }
        for name in names.hidden {
            let why = "the run wrote a file of that name below `output`";
            say("artifactUnreadable", format!("{name} of `postprocess` is not listed: {why}"));
        }
        let mut artifacts = Vec::new();
        for name in names.listed {
            let log = waited.finished.iter().find(|finished| finished.log == name);
            let path = match left.artifact(&name) {
                Ok(path) => path,
                Err(_) if log.is_some() => {
                    let why = "something removed or replaced it while the run went on";
                    say("logMissing", format!("{name} is not there, so its values cannot be read again: {why}"));
                    continue;
                }
                Err(error) => {
                    say("artifactUnreadable", format!("{name} cannot be read: {error}"));
                    continue;
                }
            };
            match experiment::digest_of(&path) {
                Ok((digest, bytes)) => {
                    let digest = digest.to_string();
                    let dropped_bytes = log.map_or(0, |finished| finished.dropped);
                    artifacts.push(Artifact { name, digest, bytes, redacted: false, dropped_bytes });
                }
                Err(error) => say("artifactUnreadable", format!("{name} cannot be read: {error}")),
            }
        }
        (artifacts, reasons)
    }
}
