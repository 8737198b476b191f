//! The repository itself: its rules, documents and files for users.

mod deploy;
mod docs;
mod options;
mod tidy;
mod vocabulary;
mod words;
