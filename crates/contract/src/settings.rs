//! `settings.json`: what all benchmarks of a target share.

use serde::{Deserialize, Serialize};

use super::{Fault, read, write};
use super::{PodMetadata, Prices};

/// The settings of a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The target's name.
    pub target: String,
    pub cluster: String,
    #[serde(default)]
    pub prometheus: Option<Prometheus>,
    /// What an hour of its resources costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
    /// The metadata of the pods of runs.
    #[serde(default, skip_serializing_if = "PodMetadata::is_empty")]
    pub pods: PodMetadata,
    /// Where results go.
    pub results: ResultsSettings,
}

/// A Prometheus server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prometheus {
    /// Its address.
    pub url: String,
}

/// Where results go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultsSettings {
    /// `branch`, `inbox` or `local`
    pub mode: String,
    /// The remote, if one is configured.
    #[serde(default)]
    pub remote: Option<String>,
    /// The branch of results.
    pub branch: String,
    /// The folder of results in it.
    pub directory: String,
    /// The prefix of the refs of an inbox.
    pub inbox: String,
    /// `acceptNew` if an SSH server with an unknown key is trusted.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "sshHostKeys")]
    pub ssh_host_keys: Option<String>,
    /// Whether jobs run as the user of the steps, so that file modes do not separate them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not", rename = "oneUser")]
    pub one_user: bool,
}

impl Settings {
    /// Its key in the ConfigMap.
    pub const FILE: &str = "settings.json";

    /// Returns its text.
    pub fn write(&self) -> String {
        write(self)
    }

    /// Reads `settings.json`.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn read(text: &str) -> Result<Self, Fault> {
        read(Self::FILE, text)
    }
}
