//! How a server is reached, and when it is ready.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// How a server is reached, as the run list says, here and in the cluster. Fields are in alphabetical order, as in everything
/// that is hashed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Served {
    /// Where its answers come from.
    pub endpoint: Endpoint,
    /// The request that it must answer before it counts as ready.
    pub probe: Probe,
    /// How long it may take from the start of its pods until it is ready.
    pub ready_seconds: u64,
}

/// Where the answers of a server come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Endpoint {
    /// A Service called like the server, with something behind it.
    Service {
        /// The port; none where the Service says it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        port: Option<u16>,
        /// The text after the server's name.
        suffix: String,
    },
    /// A Service that all servers of the namespace share.
    Shared { name: Cow<'static, str>, port: u16 },
    /// What the status of the object says.
    Status {
        /// JSON Pointers to the address, of which the first existing one counts.
        at: Vec<Cow<'static, str>>,
    },
}

/// The request that a server must answer before it counts as ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Probe {
    /// A GET request for this path, answered with success.
    Http {
        /// Begins with a slash.
        path: String,
    },
    /// The same, for one of several models behind one address.
    HttpOfModel {
        /// The part of the path after the server's name.
        after: Cow<'static, str>,
        /// The part before it.
        before: Cow<'static, str>,
        /// The header that takes its name, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        header: Option<Cow<'static, str>>,
    },
    /// A connection.
    Tcp,
}
