//! What benchmarks may do that a plain one may not, and what of it a change brings.

use std::collections::BTreeMap;

use crate::app::base::Base;
use crate::app::project::CompiledProject;
use kubebench_compiler::compile::Compilation;
use kubebench_compiler::permission::{key, value, what};
use kubebench_compiler::weakened::Held;
use kubebench_format::plan::v1::{Since, What};
use kubebench_syntax::diag::render::each_place;
use kubebench_syntax::diag::{Diagnostic, Severity};

/// Something that a benchmark may do.
#[derive(Clone, Debug)]
pub struct Permission {
    /// The benchmark; nothing where all of a target have it.
    pub benchmark: Option<String>,
    /// The target; nothing where all of the project have it.
    pub target: Option<String>,
    /// The finding that says it.
    pub finding: Diagnostic,
    /// Where that is: of what a change removes, where it was.
    pub places: Vec<String>,
    /// What a change does about it; nothing where none is compared.
    pub since: Option<Since>,
    /// What it is to those who review it.
    pub role: Role,
}

/// What a permission is to those who review it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A benchmark may do something.
    Allows,
    /// A change weakens a gate, a lint or a limit.
    Weakens,
    /// A gate goes with its benchmark.
    Removes,
}

/// Who has a permission, and which.
type Key = (Option<String>, Option<String>, What, String);

impl Permission {
    /// Returns what it is.
    pub fn what(&self) -> What {
        what(&self.finding)
    }

    /// Returns what is permitted, such as the name of a Secret.
    pub fn value(&self) -> &str {
        value(&self.finding)
    }

    /// Returns where it is, in words.
    pub fn place(&self) -> String {
        self.places.join(", ")
    }

    /// Returns its level.
    pub fn level(&self) -> Severity {
        self.finding.severity
    }

    /// Returns whether it is there, and a change, if there is one, brings it.
    pub fn is_new(&self) -> bool {
        matches!(self.since, None | Some(Since::Added))
    }

    fn key(&self) -> Key {
        let (what, value) = key(&self.finding);
        (self.benchmark.clone(), self.target.clone(), what, value.to_owned())
    }
}

/// Returns the permissions of what was selected; those of a change say what it does about them.
pub fn permissions(project: &CompiledProject, base: Option<&Base>) -> Vec<Permission> {
    let now = of(project, &project.compilation);
    let Some(base) = base else { return now.into_values().collect() };
    let mut before = of(project, &base.compilation);
    let mut all: Vec<Permission> = now
        .into_iter()
        .map(|(key, permission)| {
            let since = if before.remove(&key).is_some() { Since::Kept } else { Since::Added };
            Permission { since: Some(since), ..permission }
        })
        .collect();
    all.extend(before.into_values().map(|permission| Permission { since: Some(Since::Removed), ..permission }));
    let sources = &project.compilation.sources;
    let Held { weakened, gone, unknown, .. } = project.held_to(base);
    let benchmarks = || project.compilation.benchmarks.iter().map(|compiled| &compiled.benchmark);
    let of_spec = |finding: &Diagnostic| {
        let path = finding.path(sources);
        benchmarks().find(|benchmark| benchmark.path == path)
    };
    let weakened = weakened.into_iter().chain(unknown).map(|finding| (finding, Role::Weakens));
    let gone = gone.into_iter().map(|finding| (finding, Role::Removes));
    all.extend(weakened.chain(gone).map(|(finding, role)| Permission {
        benchmark: of_spec(&finding).map(|benchmark| benchmark.name.clone()),
        target: None,
        places: each_place(&finding, sources),
        since: Some(Since::Added),
        finding,
        role,
    }));
    all.sort_by_key(|permission| (permission.since, permission.key()));
    all
}

/// Returns the permissions that a compilation gives to what of it is selected, at the levels of the project.
fn of(project: &CompiledProject, compilation: &Compilation) -> BTreeMap<Key, Permission> {
    let settings = project.compilation.project.as_ref();
    let level = |finding: &Diagnostic| settings.map_or(Some(finding.severity), |settings| settings.level(finding));
    let mut all = BTreeMap::new();
    let mut add = |benchmark: Option<&String>, target: Option<&String>, finding: &Diagnostic| {
        let Some(severity) = level(finding) else { return };
        let places = each_place(finding, &compilation.sources);
        let finding = Diagnostic { severity, ..finding.clone() };
        let (benchmark, target) = (benchmark.cloned(), target.cloned());
        let permission = Permission { benchmark, target, finding, places, since: None, role: Role::Allows };
        all.entry(permission.key()).or_insert(permission);
    };
    let selected = compilation.benchmarks.iter().filter(|compiled| project.selection.has(compiled));
    for compiled in selected {
        let benchmark = &compiled.benchmark;
        for finding in &compiled.permissions {
            add(Some(&benchmark.name), Some(&benchmark.target.name), finding);
        }
    }
    for compiled in compilation.suites.iter().filter(|compiled| project.selection.has_suite(compiled)) {
        for finding in &compiled.permissions {
            add(Some(&compiled.suite.name), Some(&compiled.suite.target.name), finding);
        }
    }
    let is_asked = |target: &String| project.selection.targets.is_empty() || project.selection.targets.contains(target);
    for of in compilation.of_targets.iter().filter(|of| of.target.as_ref().is_none_or(is_asked)) {
        add(None, of.target.as_ref(), &of.finding);
    }
    all
}
