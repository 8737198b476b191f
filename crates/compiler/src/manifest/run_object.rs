//! An object that is created for each run, and where the run writes into it.

use serde_json::Value as Json;

use crate::model::OfServer;

/// An object that is created once a run, and where the run's name and labels go.
#[derive(Debug)]
pub(super) struct RunObject {
    pub(super) object: Json,
    /// JSON Pointers that take the name of the run's job.
    pub(super) name_at: Vec<String>,
    /// JSON Pointers of mappings that take the labels of the run.
    pub(super) labels_at: Vec<String>,
    /// JSON Pointers that receive what the run learns about its server.
    pub(super) of_server: Vec<(String, OfServer)>,
}
