//! The repository itself: its rules, documents and files for users.

mod deploy;
mod docs;
mod options;
mod release;
mod tidy;
mod toolchain;
mod vocabulary;
mod words;
