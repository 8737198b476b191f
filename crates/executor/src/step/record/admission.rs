//! Which results on the volume the steps can have made: those that the run list of their Workflow has.

use std::collections::BTreeMap;

use anyhow::Result;

use super::Unusable;
use crate::step::Environment;
use crate::step::attempt::Attempt;
use crate::step::inputs;
use crate::step::run_list::{KeptList, RulesOf};
use crate::step::snapshot;
use crate::step::volume_state::Found;
use kubebench_contract::SuiteList;
use kubebench_format::result::Sealed;
use kubebench_host::experiment::RunFolder;
use kubebench_syntax::invariant::Invariant as _;

/// What is known of the Workflows whose results are on the volume.
pub(super) struct Admission<'e> {
    environment: &'e Environment,
    /// What the Workflow of this step is to run, as its ConfigMaps say it; none in a suite, and where git has others by now.
    own: Option<KeptList>,
    /// The suite of this Workflow.
    suite: Option<SuiteList>,
    /// The rules as they are now.
    rules: Option<RulesOf>,
    /// What Workflows left on the volume, by uid and benchmark.
    left: BTreeMap<(String, String), Option<KeptList>>,
}

impl<'e> Admission<'e> {
    pub(super) fn of(environment: &'e Environment) -> Self {
        // Of a session that is superseded they are gone, and those of a suite are not mounted.
        let (inputs, rules) = (inputs::read(environment).ok(), inputs::rules(environment).ok());
        let own = inputs.zip(rules.as_ref()).and_then(|(inputs, rules)| KeptList::of(environment, &inputs, rules).ok());
        Self {
            environment,
            own,
            suite: environment.suite().and_then(|_| inputs::suite(environment).ok()),
            rules: rules.as_ref().and_then(RulesOf::of),
            left: BTreeMap::new(),
        }
    }

    /// Says why the steps cannot have made a result of `benchmark`, if they cannot.
    pub(super) fn admit(&mut self, run: &RunFolder, sealed: &Sealed, benchmark: &str) -> Result<(), Unusable> {
        let (result, experiments) = (&sealed.result, self.environment.experiments().map_err(unreadable)?);
        let uid = &result.run.session;
        let is_own = self.environment.workflow_uid().is_ok_and(|own| own == uid);
        let own = self.own.as_ref().filter(|own| is_own && own.is_of(benchmark));
        let key = (uid.clone(), benchmark.to_owned());
        if own.is_none() && !self.left.contains_key(&key) {
            let left = KeptList::read(experiments, uid, benchmark).map_err(unreadable)?;
            self.left.insert(key.clone(), left);
        }
        let list = own.or_else(|| self.left.get(&key)?.as_ref()).ok_or_else(|| {
            Unusable::Refused(format!(
                "its Workflow `{uid}` left no run list of `{benchmark}` on the volume, so no step of this version made \
                 it; if the result is genuine, fetch it and record it by hand"
            ))
        })?;
        if is_own
            && let Some(suite) = &self.suite
            && suite.member(benchmark).is_none_or(|member| member.run_digest != result.source.run_digest)
        {
            return Err(Unusable::Refused(format!("the suite `{}` has no run of this digest", suite.suite)));
        }
        let job = run.place().file_name().expected("the name of a folder").to_string_lossy();
        let attempt = match Attempt::read(experiments, benchmark, &job).map_err(unreadable)? {
            Found::Own(attempt) => Some(attempt),
            Found::Nothing | Found::Foreign(_) => None,
        };
        let of_run = RulesOf::of(&snapshot::rules(run.place()));
        let rules = self.rules.iter().cloned().chain(of_run);
        list.admit(result, attempt.as_ref(), rules).map_err(Unusable::Refused)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "errors are mapped to it")]
fn unreadable(error: anyhow::Error) -> Unusable {
    Unusable::Unreadable(format!("{error:#}"))
}
