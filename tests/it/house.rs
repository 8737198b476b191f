//! The repository itself: its rules, documents and files for users.

mod codes;
mod deploy;
mod docs;
mod fuzz;
mod install;
mod options;
mod reference;
mod release;
mod site;
mod tidy;
mod toolchain;
mod vocabulary;
mod words;

pub(crate) use reference::printed_schema;
