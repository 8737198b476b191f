//! The codes of `run.reasons`: one list, which docs/reference/results.md documents.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Makes the enum, its spellings and the list of all from one table.
macro_rules! codes {
    ($($(#[doc = $meaning:literal])+ $variant:ident = $name:literal,)+) => {
        /// Why a run ended as it did, or what its result lacks: a word for programs.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum ReasonCode {
            $($(#[doc = $meaning])+ $variant,)+
            /// One that a newer or older version wrote.
            Other(String),
        }

        impl ReasonCode {
            /// All that this version writes, as documented.
            #[cfg(test)]
            const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Returns its spelling in results.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $name,)+
                    Self::Other(name) => name,
                }
            }
        }

        impl From<&str> for ReasonCode {
            fn from(name: &str) -> Self {
                match name {
                    $($name => Self::$variant,)+
                    other => Self::Other(other.to_owned()),
                }
            }
        }
    };
}

codes! {
    /// A program, an image or a container is not there, or cannot be started.
    CannotStart = "cannotStart",
    /// A process exited with a code other than 0.
    ExitCode = "exitCode",
    /// A process was ended by a signal.
    Signal = "signal",
    /// A process ended, and its exit status is unknown.
    Lost = "lost",
    /// A JobSet was started again after a failure, by whoever changed it.
    StartedAgain = "startedAgain",
    /// Memory ran out.
    OutOfMemory = "outOfMemory",
    /// The server was not ready in time.
    NotReady = "notReady",
    /// A pod of the server was restarted while it was loaded.
    ServerRestarted = "serverRestarted",
    /// A pod of the server went while it was loaded; the run is tried again.
    ServerReplaced = "serverReplaced",
    /// The server became ready unobserved; the run is tried again.
    Unseen = "unseen",
    /// A load before the measured one did not succeed.
    WarmupFailed = "warmupFailed",
    /// The volume of results had no room.
    VolumeFull = "volumeFull",
    /// Two rules brought one metric.
    MetricCollision = "metricCollision",
    /// A benchmark that this one needs in its suite did not succeed.
    Needs = "needs",
    /// The run went well, `postprocess` did not.
    PostprocessFailed = "postprocessFailed",
    /// It took longer than its timeout.
    Timeout = "timeout",
    /// A person or the system stopped it.
    Interrupted = "interrupted",
    /// The scheduler, a queue or a drain took a pod's place; the run is tried again.
    Preempted = "preempted",
    /// A node was lost, shut down or tainted; the run is tried again.
    NodeLost = "nodeLost",
    /// The job was gone before its end was seen; the run is tried again.
    JobLost = "jobLost",
    /// Somebody deleted the job or one of its pods.
    Deleted = "deleted",
    /// A node that ran out of memory or disk put the pod out.
    Evicted = "evicted",
    /// A container that the benchmark does not have kept a pod running whose work was done.
    KeptRunning = "keptRunning",
    /// The job's operator, an admission webhook or Pod Security refuses it or its pods.
    Rejected = "rejected",
    /// The namespace's quota had no room for all pods in time.
    Quota = "quota",
    /// It was not running in time: `queueTimeout`.
    QueueTimeout = "queueTimeout",
    /// An object that is not of this Workflow has the name of the job.
    ForeignObject = "foreignObject",
    /// No node took a pod in time.
    Unschedulable = "unschedulable",
    /// The queue did not admit it in time.
    Queued = "queued",
    /// The image was not there.
    ImagePull = "imagePull",
    /// A Secret or ConfigMap was not there.
    ConfigMissing = "configMissing",
    /// A volume was not there.
    MountFailed = "mountFailed",
    /// A container ended again and again.
    Restarting = "restarting",
    /// The job's controller says so, and no pod says more.
    JobFailed = "jobFailed",
    /// A primary or required metric has no value.
    MetricMissing = "metricMissing",
    /// A check failed.
    CheckFailed = "checkFailed",
    /// A tool says that its run does not count.
    ToolInvalid = "toolInvalid",
    /// A tool says something of its own run that makes its numbers less trustworthy; the run counts.
    ToolCaution = "toolCaution",
    /// A log lacks lines.
    LogIncomplete = "logIncomplete",
    /// A log is not there, so its values cannot be read again.
    LogMissing = "logMissing",
    /// Not all files are listed with their digests.
    ArtifactsCut = "artifactsCut",
    /// A file could not be read.
    ArtifactUnreadable = "artifactUnreadable",
    /// Something was left out of the result.
    TooLarge = "tooLarge",
    /// A bug in Kubebench ended its part in the run.
    InternalFault = "internalFault",
    /// The run was never started; of `status` alone.
    Skipped = "skipped",
    /// What the step says of itself; of `status` alone.
    Step = "step",
}

impl std::fmt::Display for ReasonCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ReasonCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ReasonCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from(String::deserialize(deserializer)?.as_str()))
    }
}

impl JsonSchema for ReasonCode {
    fn schema_name() -> Cow<'static, str> {
        "ReasonCode".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

#[cfg(test)]
mod tests;
