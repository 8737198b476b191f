//! What `plan` answers.

pub mod v1;
