//! `settings.json`: what all benchmarks of a target share.

use serde::Deserialize;

use super::Prices;
use super::{Fault, read};

/// The settings of a target.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Settings {
    /// The target's name.
    pub target: String,
    /// Its cluster.
    pub cluster: String,
    /// Its Prometheus.
    #[serde(default)]
    pub prometheus: Option<Prometheus>,
    /// What an hour of its resources costs.
    #[serde(default)]
    pub prices: Option<Prices>,
    /// Where results go.
    pub results: ResultsSettings,
}

/// A Prometheus server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Prometheus {
    /// Its address.
    pub url: String,
}

/// Where results go.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ResultsSettings {
    /// `branch`, `inbox` or `local`
    pub mode: String,
    /// The remote; none where nobody named one.
    #[serde(default)]
    pub remote: Option<String>,
    /// The branch of results.
    pub branch: String,
    /// The folder of results in it.
    pub directory: String,
    /// What the refs of an inbox begin with.
    pub inbox: String,
}

impl Settings {
    /// Reads `settings.json`.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn read(text: &str) -> Result<Self, Fault> {
        read("settings.json", text)
    }
}
