//! How far the log of a container is read, as its checkpoint says it.

use serde::{Deserialize, Serialize};

use crate::observe::stamped::Position;

/// How far a log is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Mark {
    /// The pod that is read.
    pub(super) uid: String,
    /// When it was created; those before have been read.
    pub(super) created: i64,
    /// Up to which restart there is nothing left to read of the instances before.
    pub(super) looked: u32,
    /// How far the log of the instance is read.
    pub(super) position: Position,
    /// How far that of the instance before was.
    pub(super) before: Position,
    /// Whether the log of the pod was read to its end.
    pub(super) is_whole: bool,
    /// What is wrong with it.
    pub(super) faults: Vec<String>,
}

impl Mark {
    /// Returns the mark as the log begins that another run has left here: what was wrong until then is not of this one.
    pub(super) fn left(self) -> Self {
        Self { is_whole: false, faults: Vec::new(), ..self }
    }
}
