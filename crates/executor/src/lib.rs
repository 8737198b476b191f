//! Runs: on one machine, and as the steps of a Workflow in a cluster; what becomes of them is a result file.

pub mod doctor;
pub mod follow;
pub mod gather;
pub mod local;
pub mod mock;
pub mod run;
pub mod status;
pub mod step;
