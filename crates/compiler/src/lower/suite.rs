//! `kind: Suite`: which benchmarks run as one, on which targets, and what they have from it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::benchmark::RESERVED_NAME;
use super::claim::claim;
use super::project::{Defaults, Project};
use super::schedule::schedule;
use super::{Document, benchmark};
use crate::lookup;
use crate::model::suppressions::Suppressions;
use crate::model::{self, Claim, Schedule, Target};
use crate::workload;
use kubebench_format::spec::v1::benchmark as wire_benchmark;
use kubebench_format::spec::v1::suite as wire;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code, did_you_mean};
use kubebench_syntax::text::{SourceId, Span};
use kubebench_syntax::yaml::Node;

/// A suite as its document says it.
#[derive(Clone, Debug)]
pub struct Suite {
    pub name: String,
    /// Where the name is written.
    pub name_span: Span,
    /// The path of the document.
    pub path: String,
    /// The names of the targets on which it runs its benchmarks.
    targets: BTreeSet<String>,
    run: u32,
    schedule: Option<Schedule>,
    labels: BTreeMap<String, String>,
    defaults: wire::SuiteDefaults,
    parameters: Option<Node>,
    members: Vec<Member>,
    claim: (wire_benchmark::Claim, Span),
    /// The lints that its document does without.
    suppressions: Suppressions,
}

#[derive(Clone, Debug)]
struct Member {
    benchmark: String,
    span: Span,
    needs: Vec<(String, Span)>,
}

/// The suites of a project, in the order of their paths.
#[derive(Clone, Debug, Default)]
pub struct Suites(Vec<Suite>);

/// Returns the suite of `document`.
pub fn suite(document: Document<'_>, project: &Project, diagnostics: &mut Diagnostics) -> Option<Suite> {
    let Document { sources, root, .. } = document;
    lookup::refuse(sources, root, "a suite has no values for expressions", diagnostics);
    let wire::Suite { metadata, spec: wire, .. } = workload::read(root, diagnostics)?;
    let name_span = root.get("metadata").and_then(|metadata| metadata.get("name")).map_or(root.span, |node| node.span);
    let spec = root.get("spec")?;
    if metadata.name == RESERVED_NAME {
        diagnostics.push(benchmark::reserved_name("suite", name_span));
    }
    let schedule = schedule(wire.schedule, spec, diagnostics);
    let nodes = spec.items_of("benchmarks");
    let members = wire.benchmarks.into_iter().zip(nodes).map(|(member, node)| {
        let needs = node.items_of("needs").iter().map(|node| node.span);
        Member {
            benchmark: member.benchmark,
            span: node.get("benchmark").map_or(node.span, |node| node.span),
            needs: member.needs.into_iter().zip(needs).collect(),
        }
    });
    let results = spec.get("results");
    let claim_span = results.and_then(|results| results.entry("claim")).map_or(name_span, |entry| entry.key_span);
    Some(Suite {
        name: metadata.name,
        name_span,
        path: document.path().to_owned(),
        targets: project.targets_of(spec, diagnostics).iter().map(|target| target.name.clone()).collect(),
        run: wire.run.map_or(1, |run| run.0),
        schedule,
        labels: metadata.labels.into_iter().map(|(key, value)| (key, value.0)).collect(),
        defaults: wire.defaults,
        parameters: spec.get("defaults").and_then(|defaults| defaults.get("parameters")).cloned(),
        members: members.collect(),
        claim: (wire.results.unwrap_or_default().claim.unwrap_or_default(), claim_span),
        suppressions: Suppressions::of(Some(spec)),
    })
}

/// Specs with errors of which nothing is compiled.
pub(crate) struct Faulty<'a> {
    /// The paths of those of which not even the name can be read.
    pub(crate) nameless: &'a [String],
    /// The names of the others.
    pub(crate) named: &'a BTreeSet<String>,
}

impl Suites {
    /// Returns these suites.
    pub(crate) fn new(suites: impl IntoIterator<Item = Suite>) -> Self {
        Self(suites.into_iter().collect())
    }

    /// Iterates over them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Suite> {
        self.0.iter()
    }

    /// Returns the texts of the suites that name each benchmark.
    pub(crate) fn memberships(&self) -> BTreeMap<String, Vec<SourceId>> {
        let mut found: BTreeMap<String, Vec<SourceId>> = BTreeMap::new();
        for suite in &self.0 {
            let names: BTreeSet<&str> = suite.benchmarks().collect();
            for name in names {
                found.entry(name.to_owned()).or_default().push(suite.name_span.source);
            }
        }
        found
    }

    /// Returns the suite that runs `benchmark` on `target`.
    pub(crate) fn of(&self, benchmark: &str, target: &Target) -> Option<&Suite> {
        self.0.iter().find(|suite| suite.is_on(target) && suite.member(benchmark).is_some())
    }

    /// Reports names that are not a benchmark's, and benchmarks that would be run twice or too early.
    pub(crate) fn check(
        &self,
        benchmarks: &BTreeMap<String, Span>,
        faulty: &Faulty<'_>,
        diagnostics: &mut Diagnostics,
    ) {
        let is_suite = |name: &str| self.0.iter().any(|suite| suite.name == name);
        let known: Vec<&str> = benchmarks.keys().map(String::as_str).filter(|name| !is_suite(name)).collect();
        for (index, suite) in self.0.iter().enumerate() {
            suite.check_members(&known, faulty, diagnostics);
            for member in &suite.members {
                let earlier = self.0.iter().take(index).find_map(|other| {
                    let shares = other.targets.intersection(&suite.targets).next().is_some();
                    Some((other, other.member(&member.benchmark)?)).filter(|_| shares)
                });
                if let Some((other, first)) = earlier {
                    let message = format!("`{}` is already in the suite `{}`", member.benchmark, other.name);
                    let fault = Diagnostic::at(&code::KB0443, member.span, message)
                        .related(Place::Span(first.span), "there")
                        .note("a benchmark has one Workflow and one volume on a target: both suites would run it under the same names");
                    diagnostics.push(fault.help("take it out of one of them, or give the suites other `targets`"));
                }
            }
        }
    }
}

impl Suite {
    fn member(&self, benchmark: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.benchmark == benchmark)
    }

    /// Returns whether the suite runs its benchmarks on `target`.
    pub(crate) fn is_on(&self, target: &Target) -> bool {
        self.targets.contains(&target.name)
    }

    fn check_members(&self, known: &[&str], faulty: &Faulty<'_>, diagnostics: &mut Diagnostics) {
        let mut seen = BTreeMap::new();
        for Member { benchmark, span, needs } in &self.members {
            for (name, span) in needs.iter().filter(|(name, _)| !seen.contains_key(name)) {
                let (message, help) = if name == benchmark {
                    (format!("`{benchmark}` needs itself"), "delete it".to_owned())
                } else if let Some(later) = self.member(name) {
                    let help = format!("write `{}` before `{benchmark}`, or delete it from `needs`", later.benchmark);
                    (format!("`{benchmark}` needs `{name}`, which comes after it"), help)
                } else {
                    let help = format!("add `{name}` to `benchmarks`, or delete it from `needs`");
                    (format!("`{benchmark}` needs `{name}`, which is not in the suite"), help)
                };
                let fault = Diagnostic::at(&code::KB0444, *span, message).note(
                    "benchmarks run in the order of the list, so only the results of earlier ones are known when \
                     one begins",
                );
                diagnostics.push(fault.help(help));
            }
            if let Some(first) = seen.insert(benchmark, *span) {
                let message = format!("`{benchmark}` appears twice in `benchmarks`");
                let fault = Diagnostic::at(&code::KB0206, *span, message).label("second");
                diagnostics.push(fault.related(Place::Span(first), "first").help("delete one of them"));
            }
            if !known.contains(&benchmark.as_str()) && !faulty.named.contains(benchmark) {
                let fault = Diagnostic::at(&code::KB0321, *span, format!("there is no benchmark `{benchmark}`"));
                diagnostics.push(match (did_you_mean(benchmark, known.iter().copied()), faulty.nameless) {
                    (Some(close), _) => fault.did_you_mean(*span, close),
                    (None, [path, ..]) => fault
                        .note(format!("{path} has errors that hide its name, and may be the benchmark"))
                        .help(format!("fix them first: `kubebench validate {path}` shows them")),
                    (None, []) => fault.help("write the `metadata.name` of a benchmark of this project"),
                });
            }
        }
    }

    /// Returns the suite on `target`, where `is_there` says which benchmarks are, reporting needs that cannot be met there.
    pub(crate) fn on_target(
        &self,
        target: &Arc<Target>,
        project: &Project,
        is_there: impl Fn(&str) -> bool,
        diagnostics: &mut Diagnostics,
    ) -> Option<model::Suite> {
        if !self.is_on(target) {
            return None;
        }
        let here = self.members.iter().filter(|member| is_there(&member.benchmark));
        let members: Vec<model::suite::Member> = here
            .map(|Member { benchmark, needs, .. }| {
                for (name, span) in needs.iter().filter(|(name, _)| self.member(name).is_some() && !is_there(name)) {
                    let message =
                        format!("`{benchmark}` needs `{name}`, which does not run on the target `{}`", target.name);
                    let fault = Diagnostic::at(&code::KB0448, *span, message)
                        .note(format!("`{benchmark}` runs there, and would never find the results that it needs"));
                    diagnostics.push(fault.help(format!(
                        "let `{name}` run there too, or take `{}` out of the `targets` of `{benchmark}` or of the suite",
                        target.name
                    )));
                }
                let needs = needs.iter().map(|(name, _)| name.clone()).collect();
                model::suite::Member { benchmark: benchmark.clone(), needs }
            })
            .collect();
        (!members.is_empty()).then(|| model::Suite {
            name: self.name.clone(),
            name_span: self.name_span,
            path: self.path.clone(),
            target: Arc::clone(target),
            run: self.run,
            schedule: self.schedule.clone(),
            claim: self.claim(target, project),
            members,
            suppressions: self.suppressions.clone(),
        })
    }

    /// Says that none of its benchmarks runs on any of its targets.
    pub(crate) fn report_empty(&self, diagnostics: &mut Diagnostics) {
        let message = format!("the suite `{}` has no benchmark on any of its targets", self.name);
        let targets = self.targets.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let fault = Diagnostic::at(&code::KB0322, self.name_span, message)
            .note(format!("its targets: {targets}; kubebench writes no manifests for this suite"));
        diagnostics.push(fault.help("name targets on which its benchmarks run, or leave `targets` out"));
    }

    /// Returns whether the suite names `benchmark`.
    pub(crate) fn names(&self, benchmark: &str) -> bool {
        self.member(benchmark).is_some()
    }

    /// Returns the names of its benchmarks, in order.
    pub(crate) fn benchmarks(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| member.benchmark.as_str())
    }

    /// Returns the claim of all its benchmarks.
    pub(super) fn claim(&self, target: &Target, project: &Project) -> Claim {
        let (wire, span) = &self.claim;
        claim(wire.clone(), *span, project.defaults.claim_size, target)
    }

    /// Returns what a benchmark of the suite finds where it says nothing itself.
    pub(super) fn defaults(&self, project: &Defaults) -> Defaults {
        let wire::SuiteDefaults { repeats, warmups, timeout, queue_timeout, parameters: _ } = &self.defaults;
        Defaults {
            repeats: repeats.map_or(project.repeats, |count| count.0),
            warmups: warmups.map_or(project.warmups, |count| count.0),
            timeout_is_set: project.timeout_is_set || timeout.is_some(),
            timeout: timeout.as_ref().map_or(project.timeout, |timeout| timeout.0),
            queue_timeout: queue_timeout.as_ref().map_or(project.queue_timeout, |timeout| timeout.0),
            claim_size: project.claim_size,
        }
    }

    /// Returns the labels of a benchmark whose own are `labels`.
    pub(super) fn labels(&self, labels: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut all = self.labels.clone();
        all.extend(labels.iter().map(|(key, value)| (key.clone(), value.clone())));
        all
    }

    /// Returns the parameters that it has for benchmarks that do not declare them.
    pub(super) fn parameters(&self) -> Option<&Node> {
        self.parameters.as_ref()
    }

    /// Returns when its benchmarks run.
    pub(super) fn schedule(&self) -> Option<&Schedule> {
        self.schedule.as_ref()
    }

    /// Returns the number of a benchmark's run that is called `run` in its spec: raising either runs it again.
    pub(super) fn run(&self, run: u32) -> u32 {
        run.saturating_add(self.run).saturating_sub(1)
    }

    /// Reports what a benchmark says that its suite decides.
    pub(super) fn check_benchmark(&self, name: &str, spec: &Node, diagnostics: &mut Diagnostics) {
        let listed = self.member(name).map_or(self.name_span, |member| member.span);
        let claim = spec.get("results").and_then(|results| results.entry("claim"));
        for (entry, what, instead) in
            [(spec.entry("schedule"), "schedule", "`spec.schedule`"), (claim, "claim", "`spec.results.claim`")]
        {
            let Some(entry) = entry else { continue };
            let message = format!("`{name}` has its own {what}, but the suite `{}` runs it", self.name);
            let fault = Diagnostic::at(&code::KB0445, entry.key_span, message)
                .related(Place::Span(listed), "here it is in the suite")
                .note(format!(
                    "the benchmarks of a suite have one Workflow and one volume, so its own {what} would have no effect"
                ));
            diagnostics.push(
                fault.help(format!(
                    "delete it; {instead} of the suite applies to all, or take `{name}` out of the suite"
                )),
            );
        }
    }
}
