//! The list of what a run left, with digests.

use std::path::PathBuf;

use kubebench_extract::rules::Rules;
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{Artifact, StatusReason};
use kubebench_host::experiment::{self, RunOutputs};

/// How many files a result lists at most, besides logs of replicas and files of metrics.
const MAX_OTHERS: usize = 200;
/// Reading more than this takes so long that people want to know of it. Of a run that was stopped no more is read, but
/// for the files that values came from.
const LARGE: u64 = 1 << 30;

/// A file that is to be listed.
struct Pending {
    name: String,
    path: PathBuf,
    bytes: u64,
    /// Whether it is a log of a replica, or a metric was read from it.
    is_source: bool,
}

/// What became of the list.
#[derive(Default)]
struct List {
    artifacts: Vec<Artifact>,
    reasons: Vec<StatusReason>,
    /// Files without a digest, because of a request to stop.
    left_out: Vec<String>,
}

impl List {
    fn say(&mut self, code: ReasonCode, message: String) {
        self.reasons.push(StatusReason { code, message });
    }

    fn leave_out(&mut self, pending: impl Iterator<Item = Pending>) {
        self.left_out.extend(pending.map(|pending| pending.name));
    }

    fn finish(mut self) -> (Vec<Artifact>, Vec<StatusReason>) {
        if let Some(first) = self.left_out.first() {
            let others = match self.left_out.len() - 1 {
                0 => " is".to_owned(),
                1 => " and 1 more file are".to_owned(),
                more => format!(" and {more} more files are"),
            };
            let message = format!("{first}{others} not digested, because the run was stopped");
            self.say(ReasonCode::ArtifactUnreadable, message);
        }
        (self.artifacts, self.reasons)
    }
}

/// A log of a run.
pub struct KeptOf {
    /// Its name below the output folder.
    pub name: String,
    /// How many bytes its limit cut out.
    pub dropped: u64,
}

/// A caller that may want the list before it is complete.
pub trait Hurry {
    /// Returns true when it did before the list was begun.
    fn was_wanted(&mut self) -> bool;
    /// Returns true when it has just come to that.
    fn comes(&mut self) -> bool;
    /// Says something that people should know.
    fn tell(&self, text: &str);
}

/// Returns the files of the run with their digests: logs first, then what metrics were read from, then what else
/// postprocessing and the job wrote; and why others are not among them.
///
/// A hurry that comes while they are read leaves out the rest.
pub fn artifacts(
    left: &RunOutputs,
    logs: &[KeptOf],
    rules: &Rules,
    hurry: &mut impl Hurry,
) -> (Vec<Artifact>, Vec<StatusReason>) {
    let mut list = List::default();
    let mut pending = pending(left, logs, rules, &mut list);
    if hurry.was_wanted() {
        let mut room = LARGE;
        let (fits, others): (Vec<_>, Vec<_>) = pending.into_iter().partition(|file| {
            let rest = room.checked_sub(file.bytes);
            room = if file.is_source { room } else { rest.unwrap_or(room) };
            file.is_source || rest.is_some()
        });
        list.leave_out(others.into_iter());
        pending = fits;
    }
    let bytes: u64 = pending.iter().map(|file| file.bytes).sum();
    if bytes > LARGE {
        let size = bytes as f64 / LARGE as f64;
        hurry.tell(&format!("computing the digests of {size:.1} GiB of files; press Ctrl-C to skip them"));
    }
    let mut pending = pending.into_iter();
    while let Some(file) = pending.next() {
        match experiment::digest_while(&file.path, || !hurry.comes()) {
            Ok(Some((digest, bytes))) => {
                let (digest, name) = (digest.to_string(), file.name);
                let dropped_bytes = logs.iter().find(|log| log.name == name).map_or(0, |log| log.dropped);
                list.artifacts.push(Artifact { name, digest, bytes, redacted: false, dropped_bytes });
            }
            Ok(None) => list.leave_out(std::iter::once(file).chain(pending.by_ref())),
            Err(error) => list.say(ReasonCode::ArtifactUnreadable, format!("{} cannot be read: {error}", file.name)),
        }
    }
    list.finish()
}

/// Returns the files to list, in order; what is wrong with others is said in `list`.
fn pending(left: &RunOutputs, logs: &[KeptOf], rules: &Rules, list: &mut List) -> Vec<Pending> {
    let mut first: Vec<String> = logs.iter().map(|log| log.name.clone()).collect();
    first.sort();
    let files = rules.metrics.iter().filter_map(|rule| rule.from.file());
    for file in files.filter(|file| matches!(left.find(file), Ok(Some(_)))) {
        let name = left.name_of(file);
        if !first.contains(&name) {
            first.push(name);
        }
    }
    let sources = first.len();
    let names = left.files(first, MAX_OTHERS);
    if let Some(of) = names.of {
        list.say(
            ReasonCode::ArtifactsCut,
            format!("{} of {of} files are listed with their digests", names.listed.len()),
        );
    }
    for name in names.hidden {
        let why = "the run wrote a file of that name below `output`";
        list.say(ReasonCode::ArtifactUnreadable, format!("{name} of `postprocess` is not listed: {why}"));
    }
    let mut pending = Vec::new();
    for (name, number) in names.listed.into_iter().zip(0..) {
        match left.artifact(&name) {
            Ok(path) => {
                let bytes = path.metadata().map_or(0, |found| found.len());
                pending.push(Pending { name, path, bytes, is_source: number < sources });
            }
            Err(_) if logs.iter().any(|log| log.name == name) => {
                let why = "something removed or replaced it during the run";
                list.say(
                    ReasonCode::LogMissing,
                    format!("{name} does not exist, so its values cannot be read again: {why}"),
                );
            }
            Err(error) => list.say(ReasonCode::ArtifactUnreadable, format!("{name} cannot be read: {error}")),
        }
    }
    pending
}
