//! The only floor that touches the machine: files today, git, processes and clusters when their time comes.

pub mod fs;
