//! The integration tests, one program so that they link once.
#![expect(clippy::disallowed_methods, reason = "tests read files, start programs and look at the environment")]
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]
#![expect(clippy::case_sensitive_file_extension_comparisons, reason = "the files are this repository's own")]
#![expect(clippy::type_complexity, reason = "tables of cases and the function that checks them")]

mod admission;
mod ancestor;
mod browser;
mod carried;
mod cluster;
mod deploy;
mod determinism;
mod docs;
mod experiments;
mod export;
mod given;
mod hazards;
mod hostile_yaml;
mod identity;
mod judges;
mod judging;
mod kill;
mod lenient;
mod migrate;
mod mistakes;
mod notebook;
mod options;
mod oracle_crd;
mod oracle_emitted;
mod oracle_tools;
mod pages;
mod parse;
mod patches;
mod project;
mod prometheus;
mod published;
mod pull_requests;
mod record;
mod recording;
mod reports;
mod run;
mod schemas;
mod since;
mod site;
mod steps;
mod suites;
mod tidy;
mod tools;
mod variants;
mod watchdog;
mod words;
mod workflows;
mod yaml_oracle;
