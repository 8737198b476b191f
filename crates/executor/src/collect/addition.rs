//! What git is given of a result.

use std::path::Path;

use kubebench_format::result::{self, Sealed};
use kubebench_git::record::Addition;
use kubebench_host::machine;
use kubebench_syntax::invariant::Invariant as _;

/// Returns what is recorded below `directory` of a result that is at `kept`.
pub fn addition(sealed: &Sealed, kept: &Path, directory: &str) -> Addition {
    let result = &sealed.result;
    let status = serde_json::to_value(result.run.status).ok();
    Addition {
        path: format!("{directory}/{}", result::path(result)),
        bytes: sealed.bytes.clone(),
        envelope: None,
        benchmark: result.metadata.benchmark.clone(),
        case: result.metadata.case.clone(),
        round: result::round(&result.run),
        status: status.as_ref().and_then(|status| status.as_str()).expected("a word for each status").to_owned(),
        run_digest: result.source.run_digest.clone(),
        run_id: result.run.id.clone(),
        ended: machine::seconds_of(&result.run.finished_at)
            .expected("a time that was looked at when the result was read"),
        kept: kept.display().to_string(),
    }
}
