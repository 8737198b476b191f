//! The files that the compiler writes for the steps of a Workflow, which read them in the cluster. The types of this crate define their
//! fields; `docs/reference/steps.md` describes what users can rely on.
//!
//! Pure: the caller mounts the ConfigMaps and passes their texts. Knows neither the compiler nor the executor.
//!
//! ```
//! use kubebench_contract::instance::{Session, job_name};
//!
//! let name = job_name("matmul", "sha256:00", "size-256-0a1b2c3d", "r1", 1, Session::Once);
//! assert!(name.starts_with("matmul-") && name.len() <= 40);
//! ```

mod config;
pub mod instance;
pub mod labels;
mod objects;
mod pods;
mod prices;
mod rules;
mod run;
mod served;
mod settings;
mod suite;
pub mod users;

pub use config::{Case, Config, Described, RunList, Server, StepJob};
pub use instance::text_at;
pub use objects::{Created, Naming};
pub use pods::{ISTIO_INJECT, LINKERD_INJECT, PodMetadata};
pub use prices::Prices;
pub use rules::{RulesFile, SpecSource};
pub use run::{Order, Run, round};
pub use served::{Endpoint, Probe, Served};
pub use settings::{Prometheus, ResultsSettings, Settings};
pub use suite::{Member, SuiteList};

use kubebench_syntax::invariant::Invariant as _;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

/// Returns the folder on the volume of results in which `prepare` of a benchmark leaves what its runs read.
pub fn data_folder(benchmark: &str) -> String {
    format!("data/{benchmark}")
}

/// The private key in the Secret that `results.signing` names.
pub const SIGNING_KEY: &str = "ed25519.pem";

/// The version of every file of the contract.
const SCHEMA_VERSION: u64 = 1;

/// Why the input of a step cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The ConfigMap is gone: git has another one, whose Workflow this is not.
    Superseded,
    /// A file is missing.
    Missing {
        /// The key in the ConfigMap.
        file: String,
    },
    /// A file is of a version that this program does not know.
    UnknownVersion {
        /// The key in the ConfigMap.
        file: String,
        /// Its version, as JSON.
        version: String,
    },
    /// A file is malformed.
    Malformed {
        /// The key in the ConfigMap.
        file: String,
        /// Why.
        reason: String,
    },
    /// There is no such run.
    UnknownRun { id: String },
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Superseded => f.write_str(
                "this session is superseded: its ConfigMap is gone because git has another version of the benchmark; \
                 that version runs, and this session ends",
            ),
            Self::Missing { file } => {
                write!(f, "`{file}` is not in the ConfigMap; apply the tree as `kubebench compile` wrote it")
            }
            Self::UnknownVersion { file, version } => write!(
                f,
                "`{file}` has schemaVersion {version}, but this program reads {SCHEMA_VERSION}: use the step image of \
                 the Kubebench version that compiled the tree"
            ),
            Self::Malformed { file, reason } => {
                write!(f, "`{file}` is malformed: {reason}; apply the tree as `kubebench compile` wrote it")
            }
            Self::UnknownRun { id } => write!(f, "there is no run `{id}` in `{}`", RunList::FILE),
        }
    }
}

/// Reads a JSON file of the contract: its version is looked at before anything else.
fn read<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, Fault> {
    let malformed = |reason: serde_json::Error| Fault::Malformed { file: file.to_owned(), reason: reason.to_string() };
    let root: Json = serde_json::from_str(text).map_err(malformed)?;
    let version = root.get("schemaVersion").unwrap_or(&Json::Null);
    if *version != SCHEMA_VERSION {
        return Err(Fault::UnknownVersion { file: file.to_owned(), version: version.to_string() });
    }
    serde_json::from_value(root).map_err(malformed)
}

/// Writes a file of the contract as people can read it and as it diffs by the line: keys in order, the version among them.
fn write<T: Serialize>(content: &T) -> String {
    let mut root = serde_json::to_value(content).expected("JSON of our own types");
    if let Json::Object(fields) = &mut root {
        fields.insert("schemaVersion".to_owned(), SCHEMA_VERSION.into());
    }
    format!("{root:#}\n")
}

#[cfg(test)]
mod tests {
    use kubebench_testing::snapshot::{assert_text, str};

    use super::{Fault, data_folder};

    #[test]
    fn benchmarks_do_not_share_their_data() {
        assert_eq!(data_folder("train"), "data/train");
    }

    #[test]
    fn a_fault_says_what_to_do() {
        let file = || "runs.json".to_owned();
        let faults = [
            Fault::Superseded,
            Fault::Missing { file: file() },
            Fault::UnknownVersion { file: file(), version: "2".to_owned() },
            Fault::Malformed { file: file(), reason: "it is empty".to_owned() },
            Fault::UnknownRun { id: "a-r1".to_owned() },
        ];
        assert_text(
            faults.map(|fault| fault.to_string()).join("\n"),
            str! {[r#"
this session is superseded: its ConfigMap is gone because git has another version of the benchmark; that version runs, and this session ends
`runs.json` is not in the ConfigMap; apply the tree as `kubebench compile` wrote it
`runs.json` has schemaVersion 2, but this program reads 1: use the step image of the Kubebench version that compiled the tree
`runs.json` is malformed: it is empty; apply the tree as `kubebench compile` wrote it
there is no run `a-r1` in `runs.json`
"#]},
        );
    }
}
