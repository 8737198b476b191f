//! What a workload serves: where its answers come from, when it is ready, and what loads it.

use kubebench_contract::Served;

/// A server, and what is done with it once it is ready.
#[derive(Clone, Debug)]
pub struct Serving {
    /// How it is reached.
    pub served: Served,
    /// Which of the workload's objects is the Job that loads it, its own object being the first. Without one the run ends when
    /// the server is ready.
    pub load: Option<usize>,
}

/// The protocol of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// That of OpenAI's API.
    OpenAi,
    /// The first of KServe and of TensorFlow Serving.
    V1,
    /// The Open Inference Protocol.
    V2,
    /// Over gRPC.
    Grpc,
    /// That of Seldon Core v1.
    Seldon,
}

impl Protocol {
    /// Returns its name, as in specs and `KUBEBENCH_PROTOCOL`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::V1 => "v1",
            Self::V2 => "v2",
            Self::Grpc => "grpc",
            Self::Seldon => "seldon",
        }
    }
}
