//! What its base demands of a change, whatever the change says.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::{ACKS, Evaluation, specs};
use crate::app::base::Base;
use crate::app::results::ResultsPlace;
use kubebench_compiler::compile::{Input, acks};
use kubebench_compiler::weakened::{Change, Held};
use kubebench_format::result::Ack;
use kubebench_git::Changes;
use kubebench_results::compare::Policies;
use kubebench_results::compare::words::counted;
use kubebench_syntax::diag::render::listed;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::SourceMap;

/// A change, and what of it does not count before it is merged.
pub(super) struct HeldChange {
    base: Base,
    /// What it weakens.
    pub(super) weakened: Diagnostics,
    /// How many results it brings, by benchmark.
    brought: BTreeMap<String, usize>,
}

impl HeldChange {
    /// Says which results the change brings.
    pub(super) fn note(&self) -> Option<String> {
        const MOST: usize = 5;
        let total: usize = self.brought.values().sum();
        let shown: Vec<String> =
            self.brought.iter().take(MOST).map(|(benchmark, count)| format!("{count} of {benchmark}")).collect();
        let more = match self.brought.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(" and of {} more", counted(more, "benchmark")),
        };
        let of = listed(shown.iter().map(String::as_str));
        let are = if total == 1 { "is" } else { "are" };
        (total > 0).then(|| {
            format!(
                "{} {are} brought by this change ({of}{more}): they may be evaluated, and are no baseline before they are merged",
                counted(total, "result")
            )
        })
    }

    /// Takes note of what of the results in a folder is not as at the base; returns the paths of those that the change brings.
    fn compare_results(&mut self, folder: &str) -> Result<BTreeSet<String>> {
        let Changes { added, removed, changed } = self.base.changes(folder)?;
        let is_result = |path: &String| path.ends_with(".json");
        for (paths, what) in [(&removed, "gone"), (&changed, "changed")] {
            for (benchmark, paths) in by_benchmark(paths.iter().filter(|path| is_result(path))) {
                let Some(first) = paths.first() else { continue };
                let are = if paths.len() == 1 { "is" } else { "are" };
                let results = counted(paths.len(), "result");
                let message = format!("{results} of {benchmark} that the base has {are} {what}");
                let fault = Diagnostic::in_file(&code::KB0464, format!("{folder}/{first}"), message)
                    .note("results are only added: without these, a gate could pass that fails at the base")
                    .help(format!("bring them back: `git checkout {} -- {folder}`", self.base.commit()));
                self.weakened.push(fault);
            }
        }
        let brought: BTreeSet<String> = added.into_iter().chain(changed).filter(is_result).collect();
        self.brought =
            by_benchmark(brought.iter()).into_iter().map(|(of, paths)| (of.to_owned(), paths.len())).collect();
        Ok(brought)
    }

    /// Leaves out the acknowledgements that the change brings or rewrites.
    fn hold_acks(&mut self, all: &mut Vec<Ack>, sources: &mut SourceMap) -> Result<()> {
        let Changes { added, changed, .. } = self.base.changes(ACKS)?;
        for (paths, does) in [(added, "brings"), (changed, "rewrites")] {
            for path in paths.into_iter().map(|path| format!("{ACKS}/{path}")) {
                if !all.iter().any(|ack| ack.file == path) {
                    continue;
                }
                all.retain(|ack| ack.file != path);
                let message =
                    format!("the change {does} this acknowledgement, which accepts nothing until it is merged");
                let fault = Diagnostic::in_file(&code::KB0463, path.as_str(), message)
                    .help("merge it in a pull request of its own, before what it accepts");
                self.weakened.push(fault);
                if let Some(bytes) = self.base.file(&path)? {
                    // What is wrong with it is wrong at the base too.
                    all.extend(acks(vec![Input { path, bytes }], sources, &mut Diagnostics::default()));
                }
            }
        }
        Ok(())
    }
}

impl Evaluation {
    /// Holds the change to what its base demands: gates, what they say of metrics, and where results are.
    pub fn hold(&mut self, base: Base) {
        let Some(project) = &self.project else { return };
        let change = Change { base: &base.compilation, head: &project.compilation };
        let Held { gates, weakened } = change.held(|compiled| project.selection.has(compiled));
        self.rules = gates.iter().map(specs::held).collect();
        // What is said first holds.
        self.policies = Policies::default();
        let gated = base.compilation.benchmarks.iter().filter(|compiled| !compiled.benchmark.gates.is_empty());
        for compiled in gated.chain(project.benchmarks()) {
            specs::state(&mut self.policies, &compiled.benchmark);
        }
        if let Some(settings) = change.settings() {
            self.across.clone_from(&settings.compare_across);
            self.judge_from.clone_from(&settings.judge_from);
            self.directory.clone_from(&settings.results.directory);
            self.recording = Some(settings.results).filter(|results| results.mode != "local");
        }
        self.change = Some(HeldChange { base, weakened, brought: BTreeMap::new() });
    }

    /// Returns a place of results, a folder of the project, that knows which of them the change brings.
    pub(super) fn bringing<'p>(&mut self, place: ResultsPlace<'p>, folder: &str) -> Result<ResultsPlace<'p>> {
        let Some(change) = &mut self.change else { return Ok(place) };
        Ok(place.bringing(change.compare_results(folder)?))
    }

    /// Leaves out the acknowledgements that the change brings or rewrites.
    pub(super) fn hold_acks(&mut self, all: &mut Vec<Ack>) -> Result<()> {
        let Some(change) = &mut self.change else { return Ok(()) };
        change.hold_acks(all, &mut self.sources)
    }
}

/// Groups paths below a folder of results by their benchmarks.
fn by_benchmark<'p>(paths: impl Iterator<Item = &'p String>) -> BTreeMap<&'p str, Vec<&'p String>> {
    let mut groups: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for path in paths {
        groups.entry(path.split('/').next().unwrap_or_default()).or_default().push(path);
    }
    groups
}
