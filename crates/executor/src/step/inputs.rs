//! What the compiler gives the steps, read from the mounts.

use anyhow::{Result, anyhow};

use super::Environment;
use kubebench_contract::{Config, Fault, RulesFile, Settings, SuiteList};
use kubebench_host::experiment;

/// The texts of a session.
pub(super) struct Inputs {
    /// The run list and the manifests.
    pub(super) config: Config,
    /// The target's settings.
    pub(super) settings: Settings,
}

/// `rules.json` and `spec.yaml` as they are now; they may change while a Workflow runs.
#[derive(Clone, Debug, Default)]
pub(super) struct RulesText {
    /// `rules.json`
    pub(super) rules: Option<String>,
    /// `spec.yaml`
    pub(super) spec: Option<String>,
}

/// Reads what does not change during a session.
///
/// # Errors
/// When it is not there, or cannot be used.
pub(super) fn read(environment: &Environment) -> Result<Inputs> {
    let config = Config::read(experiment::config_map(environment.config()?)?).map_err(|found| fault(&found))?;
    Ok(Inputs { config, settings: settings(environment)? })
}

/// Reads the list of the suite's benchmarks.
///
/// # Errors
/// When it is not there, or cannot be used.
pub(super) fn suite(environment: &Environment) -> Result<SuiteList> {
    SuiteList::read(&experiment::config_map(environment.suite_list()?)?).map_err(|found| fault(&found))
}

/// Reads the target's settings.
///
/// # Errors
/// When they are not there, or cannot be used.
pub(super) fn settings(environment: &Environment) -> Result<Settings> {
    let texts = experiment::config_map(environment.settings()?)?;
    let text = texts.get(Settings::FILE).ok_or_else(|| fault(&Fault::Missing { file: Settings::FILE.to_owned() }))?;
    Settings::read(text).map_err(|found| fault(&found))
}

/// Reads the rules as they are now.
///
/// # Errors
/// When they cannot be read; that they are gone is not an error.
pub(super) fn rules(environment: &Environment) -> Result<RulesText> {
    let mut texts = experiment::config_map(environment.rules()?)?;
    Ok(RulesText { rules: texts.remove(RulesFile::FILE), spec: texts.remove("spec.yaml") })
}

fn fault(fault: &Fault) -> anyhow::Error {
    anyhow!("{fault}")
}
