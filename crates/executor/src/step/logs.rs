//! The logs of all containers of a run, from what the watches see to what became of each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::attempt::LogOf;
use super::log::{self, Followed, OfCluster, Place};
use super::observations::Sight;
use super::session::ClusterStep;
use crate::collect;
use crate::observe::{Places, Progress};
use kubebench_compiler::workload::kind_of;
use kubebench_extract::rules::{RuleScan, Rules};
use kubebench_host::experiment::RunFolder;
use kubebench_host::process::KeptLog;
use kubebench_syntax::invariant::Invariant as _;

/// How long one opening of a log is tried; it is tried again, but what the watches see counts between.
const OPENING: Duration = Duration::from_secs(5);

/// The logs of all containers of a run.
pub(super) struct Logs {
    logs: Option<log::Logs>,
}

impl Logs {
    /// Makes ready to keep logs below `output`, each of `limit` bytes at most, and to read them by `rules`.
    pub(super) fn new(session: &ClusterStep, output: PathBuf, rules: &Rules, limit: u64) -> Self {
        let origin =
            OfCluster { cluster: session.cluster.clone().patience(OPENING), namespace: session.namespace.clone() };
        let place = Place { state: state_of(&output), output, limit };
        for folder in [place.output.join(log::FOLDER), place.state.clone()] {
            let below = folder.strip_prefix(&session.experiments).ok().and_then(Path::to_str);
            // A volume that does not take folders does not take logs, and each of them says so.
            let _ = below.map(|below| RunFolder::make(&session.experiments, below));
        }
        let redactor = Arc::clone(&session.redactor);
        Self { logs: Some(log::Logs::new(Arc::new(origin), place, Arc::new(rules.clone()), redactor)) }
    }

    /// Says that there are none to follow.
    pub(super) fn of_nothing() -> Self {
        Self { logs: None }
    }

    /// Returns which replicas the pods were taken for by a step before this one.
    pub(super) fn places(&self) -> Places {
        self.logs.as_ref().map(log::Logs::places).unwrap_or_default()
    }

    /// Records the pods as they are now.
    pub(super) fn see(&mut self, progress: &Progress, sight: &Sight) {
        let Some(logs) = &mut self.logs else { return };
        let main = kind_of(sight.job()).map_or("", |kind| kind.container);
        for replica in progress.replaced.iter().chain(&progress.replicas) {
            if let Some(pod) = sight.pod(&replica.pod.uid) {
                logs.see(&replica.role, replica.index, pod, main);
            }
            if replica.is_gone {
                logs.lose(&replica.pod.uid);
            }
        }
        if sight.is_listed() {
            logs.list();
        }
    }

    /// Resumes logs where another run has left them, by their names.
    pub(super) fn continue_from(&mut self, marks: BTreeMap<String, String>) {
        if let Some(logs) = &mut self.logs {
            logs.continue_from(marks);
        }
    }

    /// Says that the containers of these roles continue, and their logs are to end where they are.
    pub(super) fn cut(&mut self, roles: &[String]) {
        if let Some(logs) = &mut self.logs {
            logs.cut(roles);
        }
    }

    /// Returns whether a container that has ended has printed more than was read.
    pub(super) fn lags(&self) -> bool {
        self.logs.as_ref().is_some_and(log::Logs::lags)
    }

    /// Returns how many bytes of all logs came since this step began.
    pub(super) fn bytes(&self) -> u64 {
        self.logs.as_ref().map_or(0, log::Logs::bytes)
    }

    /// Ends the logs below `output` of a step that is no more, and removes what was needed to resume them.
    pub(super) fn end_left(session: &ClusterStep, output: &Path) {
        if !KeptLog::begun(&state_of(output)).is_empty() {
            Self::new(session, output.to_owned(), &Rules::none(), collect::LOG_LIMIT).end(Duration::ZERO);
            forget(output);
        }
    }

    /// Ends the logs, with so much patience for those that have not ended.
    pub(super) fn end(&mut self, patience: Duration) -> Vec<(LogOf, Option<RuleScan>)> {
        let followed = self.logs.take().map(|logs| logs.finish(patience)).unwrap_or_default();
        followed.into_iter().map(of).collect()
    }
}

fn of(followed: Followed) -> (LogOf, Option<RuleScan>) {
    let Followed { name, scan, last_lines, dropped, fault } = followed;
    let log = LogOf {
        role: name.role().to_owned(),
        index: name.index(),
        is_main: name.is_main(),
        name: name.path(),
        dropped,
        fault,
        last_lines,
    };
    let scan = log.is_main.then_some(scan);
    (log, scan)
}

/// Returns how far the logs of these roles below `output` were read, by their names.
pub(super) fn marks(output: &Path, roles: &[String]) -> BTreeMap<String, String> {
    let state = state_of(output);
    let is_meant =
        |name: &String| log::LogName::of_file(name).is_some_and(|log| roles.iter().any(|role| role == log.role()));
    let begun = KeptLog::begun(&state).into_iter().filter(is_meant);
    begun.filter_map(|name| Some((name.clone(), KeptLog::last_mark(&state, &name)?))).collect()
}

/// Removes what was needed to resume the logs below `output`, once what became of them is kept.
pub(super) fn forget(output: &Path) {
    KeptLog::forget(&state_of(output));
}

/// Returns the folder for what is needed to resume the logs below `output`: next to it, where no job writes.
fn state_of(output: &Path) -> PathBuf {
    let name = output.file_name().expected("the name of a folder").to_string_lossy();
    output.with_file_name(format!(".{name}.logs"))
}

#[cfg(test)]
mod tests;
