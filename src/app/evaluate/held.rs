//! What its base demands of a change, whatever the change says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;

use super::{ACKS, Evaluation, specs};
use crate::app::base::Base;
use crate::app::results::ResultsPlace;
use kubebench_compiler::compile::{Input, acks};
use kubebench_compiler::weakened::{Change, Held};
use kubebench_format::attestation::result_of;
use kubebench_format::result::{self, Ack};
use kubebench_git::Compared;
use kubebench_results::compare::Policies;
use kubebench_results::compare::words::counted;
use kubebench_results::dataset::Dataset;
use kubebench_syntax::diag::render::listed;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::{SourceId, SourceMap};

/// A change, and what of it does not count before it is merged.
pub(super) struct HeldChange {
    base: Base,
    /// What it weakens.
    pub(super) weakened: Diagnostics,
    /// What of the base is unknown.
    pub(super) unknown: Diagnostics,
}

impl HeldChange {
    /// Records which results in a folder are not as at the base; returns the paths of those that are.
    fn compare_results(&mut self, folder: &str) -> Result<BTreeSet<String>> {
        let Compared { kept, removed, changed } = self.base.compare(folder)?;
        // What counts for nothing, because something is wrong with it, may go or be repaired.
        let mut counts = BTreeSet::new();
        for path in removed.iter().chain(&changed) {
            // Without its envelope a result would count for less.
            if result_of(path).is_some() {
                counts.insert(path.clone());
                continue;
            }
            let whole = format!("{folder}/{path}");
            let bytes = self.base.file(&whole)?.unwrap_or_default();
            if result::judge(&whole, &bytes, Some(path), SourceId::default()).is_none() {
                counts.insert(path.clone());
            }
        }
        let is_result = |path: &&String| Path::new(path).extension().is_some_and(|extension| extension == "json");
        let all = [(&removed, "gone"), (&changed, "changed")].into_iter().flat_map(|(paths, what)| {
            let paths = paths.intersection(&counts).filter(is_result);
            let (signatures, results): (Vec<_>, Vec<_>) = paths.partition(|path| result_of(path).is_some());
            [("result", results, what), ("signature", signatures, what)]
        });
        for (kind, paths, what) in all {
            for (benchmark, paths) in by_benchmark(paths.into_iter()) {
                let Some(first) = paths.first() else { continue };
                let are = if paths.len() == 1 { "is" } else { "are" };
                let results = counted(paths.len(), kind);
                let message = format!("{results} of {benchmark} that the base has {are} {what}");
                let fault = Diagnostic::in_file(&code::KB0464, format!("{folder}/{first}"), message)
                    .note("results may only be added: without these, a gate that fails at the base could pass")
                    .help(format!("restore them: `git checkout {} -- {folder}`", self.base.commit()));
                self.weakened.push(fault);
            }
        }
        Ok(kept)
    }

    /// Leaves out the acknowledgements that the change brings or rewrites.
    fn hold_acks(&mut self, all: &mut Vec<Ack>, sources: &mut SourceMap) -> Result<()> {
        let files = self.base.files(ACKS)?;
        let inputs: Vec<Input> = files.into_iter().map(|(path, bytes)| Input { path, bytes }).collect();
        // What is wrong with them is wrong at the base too.
        let before = acks(inputs, sources, &mut Diagnostics::default());
        for own in std::mem::take(all) {
            if before.iter().any(|before| is_as_strict(&own, before)) {
                all.push(own);
                continue;
            }
            let fault = |message: &str| Diagnostic::in_file(&code::KB0463, own.file.as_str(), message);
            match before.iter().find(|before| before.file == own.file) {
                Some(before) => {
                    self.weakened.push(fault(
                        "the change rewrites this acknowledgement: until the merge, the version at the base applies",
                    ));
                    all.push(before.clone());
                }
                None => self.weakened.push(
                    fault("the change adds this acknowledgement, which accepts nothing until it is merged")
                        .help("merge it in a separate pull request; where the regression is not merged yet, before it"),
                ),
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
        let Held { gates, mut weakened, gone, unknown, .. } = project.held_to(&base);
        weakened.extend(gone);
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
            self.keys.clone_from(&settings.results.keys);
            self.counted = settings.results.counted;
            self.recording = Some(settings.results).filter(|results| results.mode != "local");
        }
        self.change = Some(HeldChange { base, weakened, unknown });
    }

    /// Returns a place of results, a folder of the project, that knows which of them the change brings.
    pub(super) fn knowing<'p>(&mut self, place: ResultsPlace<'p>, folder: &str) -> Result<ResultsPlace<'p>> {
        let Some(change) = &mut self.change else { return Ok(place) };
        Ok(place.known(change.compare_results(folder)?))
    }

    /// Leaves out the acknowledgements that the change brings or rewrites.
    pub(super) fn hold_acks(&mut self, all: &mut Vec<Ack>) -> Result<()> {
        let Some(change) = &mut self.change else { return Ok(()) };
        change.hold_acks(all, &mut self.sources)
    }
}

/// Returns whether an acknowledgement accepts nothing that another one does not.
fn is_as_strict(own: &Ack, before: &Ack) -> bool {
    let Ack { file: _, benchmark, case, metric, target, accepts, max_change, reason: _, by: _, expires } = own;
    let bound = |share: &Option<f64>| share.unwrap_or(f64::INFINITY);
    let is_about_the_same = (benchmark, case, metric, target, accepts)
        == (&before.benchmark, &before.case, &before.metric, &before.target, &before.accepts);
    let lasts_longer = match (expires, &before.expires) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(own), Some(before)) => own > before,
    };
    is_about_the_same && bound(max_change) <= bound(&before.max_change) && !lasts_longer
}

/// Groups paths below a folder of results by their benchmarks.
fn by_benchmark<'p>(paths: impl Iterator<Item = &'p String>) -> BTreeMap<&'p str, Vec<&'p String>> {
    let mut groups: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for path in paths {
        groups.entry(path.split('/').next().unwrap_or_default()).or_default().push(path);
    }
    groups
}

/// Says which results the change brings.
pub(super) fn note_of_brought(dataset: &Dataset) -> Option<String> {
    const MOST: usize = 5;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for benchmark in dataset.brought() {
        *counts.entry(benchmark).or_default() += 1;
    }
    let total: usize = counts.values().sum();
    let shown: Vec<String> =
        counts.iter().take(MOST).map(|(benchmark, count)| format!("{count} of {benchmark}")).collect();
    let more = match counts.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {}", counted(more, "more benchmark")),
    };
    let of = listed(shown.iter().map(String::as_str));
    (total > 0).then(|| {
        format!(
            "this change adds {} ({of}{more}): these may be evaluated, but join the baseline only after the merge",
            counted(total, "result")
        )
    })
}
