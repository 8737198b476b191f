//! The integration tests, one program so that they link once.
#![expect(clippy::disallowed_methods, reason = "tests read files, start programs and look at the environment")]

mod judges;
mod oracle_crd;
