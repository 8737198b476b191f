//! The JSON Schemas: generated from the wire types, printed for editors, and checked against documents.

mod advise;
mod conditions;
mod editor;
mod explain;
mod fault;
mod field;
mod foreign_spellings;
pub mod format;
mod generate;
mod git_ref;
mod grammar;
mod inline;
mod known;
pub mod part;
pub mod pattern;
mod place;
mod ready;
mod remote;
mod shape;
mod spelling;
mod title;
mod validate;
mod violation;

pub use editor::{for_editors, merge};
pub use explain::{explain, paths_to};
pub use field::{Choice, Field, choices, fields};
pub use generate::{
    RESULT_FILE, WorkloadForm, form_schema, generate, generate_answer, generate_result, role_schema, without,
};
pub use place::{Summary, is_list, summary, takes_one};
pub use title::with_titles;
pub use validate::Schemas;

/// The kinds of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DocumentKind {
    /// A benchmark spec.
    Benchmark,
    /// An ordered list of benchmarks.
    Suite,
    /// What benchmarks have in common.
    Fragment,
    /// The project file.
    Project,
    /// A regression that people accepted.
    Ack,
}

impl DocumentKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Benchmark, Self::Suite, Self::Fragment, Self::Project, Self::Ack];

    /// Returns the value of `kind:` in a document.
    pub fn name(self) -> &'static str {
        match self {
            Self::Benchmark => "Benchmark",
            Self::Suite => "Suite",
            Self::Fragment => "Fragment",
            Self::Project => "Project",
            Self::Ack => "Ack",
        }
    }

    /// Returns what a document of the kind is, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Benchmark => "What is run, in which cases, how often, and what is measured",
            Self::Suite => "A list of benchmarks that run one after another",
            Self::Fragment => "What several benchmarks have in common; they name it in `extends`",
            Self::Project => "Targets, limits and settings of all specs",
            Self::Ack => "A regression that people accepted",
        }
    }

    /// Returns the name of the committed schema file.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Benchmark => "benchmark.v1.json",
            Self::Suite => "suite.v1.json",
            Self::Fragment => "fragment.v1.json",
            Self::Project => "project.v1.json",
            Self::Ack => "ack.v1.json",
        }
    }
}
