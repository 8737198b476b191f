//! What is said of a result.

use kubebench_format::attestation::v1::{FileDigest, PREDICATE, Predicate, STATEMENT, Statement, Subject};
use kubebench_format::result::{self, Sealed};
use kubebench_syntax::digest::Digest;

/// What the recorder of a result knows of it that the result does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Whether the volume kept jobs from writing where the result was.
    pub separated: bool,
}

/// Returns what is to be signed of a result.
pub fn statement(sealed: &Sealed, recorded: Recorded) -> Statement {
    let result = &sealed.result;
    Statement {
        statement_type: STATEMENT.to_owned(),
        subject: vec![Subject {
            name: result::path(result),
            digest: FileDigest { sha256: Digest::of(&sealed.bytes).hex() },
        }],
        predicate_type: PREDICATE.to_owned(),
        predicate: Predicate {
            spec_digest: result.source.spec_digest.clone(),
            run_digest: result.source.run_digest.clone(),
            images: result.environment.images.clone(),
            workflow_uid: result.run.session.clone(),
            cluster: result.environment.cluster.name.clone(),
            target: result.metadata.target.clone(),
            separated: recorded.separated,
        },
    }
}
