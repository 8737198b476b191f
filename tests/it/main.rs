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

mod cluster;
mod compile;
mod completions;
mod export;
mod gate;
mod hook;
mod house;
mod init;
mod lsp;
mod migrate;
mod new;
mod parse;
mod record;
mod report;
mod run;
mod set;
mod support;
mod validate;
