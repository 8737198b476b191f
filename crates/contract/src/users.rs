//! Who the steps and the jobs are on the volume of results, where jobs write nothing that is the steps'.

/// The user of the steps.
pub const STEPS: u32 = 65531;
/// The user of jobs that name none, `nonroot` of distroless images and in no image's passwd by accident.
pub const JOBS: u32 = 65532;
/// The group of both, for which a job's output is writable.
pub const GROUP: u32 = 65532;
