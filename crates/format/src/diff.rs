//! What `diff` answers.

pub mod v1;
