//! The commit of what ran in a cluster: the one that brought it to the default branch of the repository that results are recorded in.
//! Manifests cannot contain it, as the commit contains them; the step that records can look it up.

use std::collections::{BTreeMap, BTreeSet};

use super::{RESULT, Waiting};
use crate::collect::addition;
use kubebench_contract::ResultsSettings;
use kubebench_format::result::{self, BenchmarkResult};
use kubebench_git::{Brought, Destination, RunOf, brought};
use kubebench_host::fault::caught;
use kubebench_host::terminal;
use kubebench_syntax::digest::Digest;

/// The maximum size that a commit adds to a result.
const ROOM: usize = 1 << 10;

/// Names the commits of results that name none, on the volume too, so that they are recorded with the same bytes whenever that succeeds.
/// Those whose commit is unknown stay as they are.
pub(super) fn name(waiting: &mut [Waiting], destination: &Destination, settings: &ResultsSettings) {
    let runs: BTreeSet<RunOf> = waiting.iter().filter_map(|waiting| run_of(&waiting.sealed.result)).collect();
    let (known, fault): (BTreeMap<RunOf, Brought>, _) = match caught(|| brought(&runs, destination)) {
        Ok(looked) => looked,
        Err(fault) => return tell(&fault),
    };
    if let Some(fault) = fault {
        tell(&fault);
    }
    for waiting in waiting {
        let found = run_of(&waiting.sealed.result).and_then(|run| known.get(&run));
        if let Some(found) = found.filter(|_| waiting.sealed.bytes.len() + ROOM <= result::MAX_BYTES) {
            waiting.take(found, settings);
        }
    }
}

impl Waiting {
    fn take(&mut self, found: &Brought, settings: &ResultsSettings) {
        let mut named = self.sealed.result.clone();
        named.source.commit = Some(found.commit.clone());
        named.source.content = Some(found.content.clone());
        let sealed = result::seal(named);
        // What the volume does not take is recorded as it is there.
        if self.run.put(RESULT, &sealed.bytes).is_ok() {
            self.digest = Digest::of(&sealed.bytes);
            self.addition = addition(&sealed, &self.run.place().join(RESULT), &settings.directory);
            self.sealed = sealed;
        }
    }
}

/// Returns by what the commit of a result is found that names none.
fn run_of(result: &BenchmarkResult) -> Option<RunOf> {
    let digest = result.source.run_digest.strip_prefix("sha256:").and_then(|hex| hex.get(..8))?;
    result.source.commit.is_none().then(|| RunOf {
        target: result.metadata.target.clone(),
        benchmark: result.metadata.benchmark.clone(),
        digest: digest.to_owned(),
    })
}

fn tell(fault: &dyn std::fmt::Display) {
    terminal::tell(&format!("note: some results do not name their commit: {fault}"));
}
