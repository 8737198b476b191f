//! The labels by which steps, `status` and people find what belongs together.

/// The benchmark that an object or pod belongs to; on the objects of a suite, the suite. What has it is not shared, so that Flux
/// applies it after what is.
pub const BENCHMARK: &str = "kubebench.dev/benchmark";
/// The case that a job or pod belongs to.
pub const CASE: &str = "kubebench.dev/case";
/// The run that a job or pod belongs to; its name is the job's. Set when the job is created.
pub const RUN: &str = "kubebench.dev/run";
/// The repeat of a run. Set when the job is created, as the next two.
pub const REPEAT: &str = "kubebench.dev/repeat";
/// The attempt at a run.
pub const ATTEMPT: &str = "kubebench.dev/attempt";
/// Whether a run is a warm-up.
pub const WARMUP: &str = "kubebench.dev/warmup";
/// The step that a pod of the workflow executes.
pub const STEP: &str = "kubebench.dev/step";
/// The suite that an object belongs to.
pub const SUITE: &str = "kubebench.dev/suite";
/// The role of a pod.
pub const ROLE: &str = "kubebench.dev/role";
/// The prefix of every label that Kubebench owns.
pub const PREFIX: &str = "kubebench.dev/";
