//! `kubebench.yaml`: settings and targets; without the file, one target `default`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Document, authorities, concurrency, places, signing, target};
use crate::lookup;
use crate::model::Target;
use crate::model::target::{ResultsSettings, Settings};
use crate::workload;
use kubebench_format::spec::v1::project::{self as wire, LintLevel};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, Severity, code, did_you_mean};
use kubebench_syntax::unit::{Duration, Quantity, VersionReq};
use kubebench_syntax::yaml::Node;

/// The name of the project file.
pub const PROJECT_FILE: &str = "kubebench.yaml";

/// A project: what holds for all its benchmarks.
#[derive(Clone, Debug)]
pub struct Project {
    /// Settings of the whole.
    pub settings: Settings,
    /// The targets, by name.
    pub targets: Vec<Arc<Target>>,
    /// Levels of lints by code, as its file says them.
    pub lints: BTreeMap<String, LintLevel>,
    /// The levels that apply: when a change is compiled, those of its base if they are stricter.
    pub levels: BTreeMap<String, LintLevel>,
    /// What specs leave unsaid.
    pub(super) defaults: Defaults,
    /// Constants for the expressions of all specs.
    pub(super) parameters: Vec<(String, Node)>,
}

impl Project {
    /// Returns the names that targets have now by those that they had.
    pub fn former_targets(&self) -> BTreeMap<String, String> {
        let named = |target: &Arc<Target>| {
            let name = target.name.clone();
            target.formerly.clone().into_iter().map(move |old| (old, name.clone()))
        };
        self.targets.iter().flat_map(named).collect()
    }
}

/// What specs leave unsaid, with this program's own defaults filled in.
#[derive(Clone, Debug)]
pub(super) struct Defaults {
    pub(super) repeats: u32,
    pub(super) warmups: u32,
    pub(super) timeout: Duration,
    pub(super) timeout_is_set: bool,
    pub(super) queue_timeout: Duration,
    pub(super) claim_size: Quantity,
}

/// How strict a lint is, the strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strictness {
    Error,
    Warning,
    Info,
    Off,
}

impl Project {
    /// Returns the targets that a spec names, or all.
    pub(super) fn targets_of(&self, spec: &Node, diagnostics: &mut Diagnostics) -> Vec<Arc<Target>> {
        let Some(wanted) = spec.get("targets") else { return self.targets.clone() };
        let mut targets = Vec::new();
        for node in wanted.items() {
            let name = node.as_text().unwrap_or_default();
            if let Some(target) = self.targets.iter().find(|target| target.name == name) {
                targets.push(Arc::clone(target));
            } else {
                let known = self.targets.iter().map(|target| target.name.as_str());
                let fault = Diagnostic::at(&code::KB0307, node.span, format!("there is no target `{name}`"));
                let fault = fault.note(format!(
                    "targets in {}: {}",
                    self.settings.path,
                    known.clone().collect::<Vec<_>>().join(", ")
                ));
                diagnostics.push(match did_you_mean(name, known) {
                    Some(close) => fault.did_you_mean(node.span, close),
                    None => fault
                        .help(format!("add it under `spec.targets` of {}, or name one of these", self.settings.path)),
                });
            }
        }
        targets
    }

    /// Returns the level of a finding; none if the project disabled it.
    pub fn level(&self, finding: &Diagnostic) -> Option<Severity> {
        match self.levels.get(finding.code.id) {
            Some(LintLevel::Off) => None,
            // What another code says of what is right is not made wrong.
            Some(_) if finding.severity == Severity::Info && finding.code.severity != Severity::Info => {
                Some(Severity::Info)
            }
            Some(LintLevel::Error) => Some(Severity::Error),
            Some(LintLevel::Warning) => Some(Severity::Warning),
            None => Some(finding.severity),
        }
    }

    /// Returns how strict a lint is, as its file says it; nothing where there is no such code.
    pub(crate) fn strictness(&self, name: &str) -> Option<Strictness> {
        let of_itself = match code::find(name)?.severity {
            Severity::Error => Strictness::Error,
            Severity::Warning => Strictness::Warning,
            Severity::Info => Strictness::Info,
        };
        Some(match self.lints.get(name) {
            None => of_itself,
            Some(LintLevel::Error) => Strictness::Error,
            Some(LintLevel::Warning) => Strictness::Warning,
            Some(LintLevel::Off) => Strictness::Off,
        })
    }

    /// Applies the levels of its base if they are stricter.
    pub(crate) fn hold_to(&mut self, base: &Self) {
        let names = base.lints.keys().chain(self.lints.keys());
        let stricter = |name: &String| {
            let level = match base.strictness(name)?.min(self.strictness(name)?) {
                Strictness::Error => LintLevel::Error,
                Strictness::Warning => LintLevel::Warning,
                // That is what it is without a level.
                Strictness::Info => return None,
                Strictness::Off => LintLevel::Off,
            };
            Some((name.clone(), level))
        };
        self.levels = names.filter_map(stricter).collect();
    }
}

/// Returns the project of `document`, or the default project without one.
pub fn project(document: Option<Document<'_>>, version: &str, diagnostics: &mut Diagnostics) -> Option<Project> {
    let Some(document) = document else {
        return Some(assemble(wire::ProjectSpec::default(), None, diagnostics));
    };
    let Document { sources, root, .. } = document;
    lookup::refuse(sources, root, "the project file is where targets get their values", diagnostics);
    let wire: wire::Project = workload::read(root, diagnostics)?;
    let spec = root.get("spec");
    if let Some(required) = &wire.spec.required_version {
        let satisfied = VersionReq::parse(required).is_ok_and(|required| required.matches(version));
        if !satisfied {
            let span = spec.and_then(|spec| spec.get("requiredVersion")).map_or(root.span, |node| node.span);
            let message = format!("this project requires kubebench {required}, and this is {version}");
            let note = "another version may compile different manifests, so that laptops and CI would disagree";
            diagnostics.push(
                Diagnostic::at(&code::KB0320, span, message)
                    .note(note)
                    .help("install a version that fits, or change `requiredVersion` and recompile"),
            );
            return None;
        }
    }
    let mut project = assemble(wire.spec, spec, diagnostics);
    project.settings.name = Some(wire.metadata.name);
    places::check(spec, &project.settings, diagnostics);
    Some(project)
}

fn assemble(wire: wire::ProjectSpec, node: Option<&Node>, diagnostics: &mut Diagnostics) -> Project {
    let wire::ProjectSpec {
        specs,
        output,
        results,
        report,
        compare_across,
        judge_from,
        allow_kinds,
        image,
        lints,
        required_version: _,
        defaults,
        parameters: _,
        targets,
    } = wire;
    let path_or =
        |path: Option<wire::RelativePath>, default: &str| path.map_or_else(|| default.to_owned(), |path| path.0);
    let target_nodes = node.and_then(|node| node.get("targets"));
    let targets = targets.unwrap_or_else(|| BTreeMap::from([("default".to_owned(), wire::Target::default())]));
    let targets: Vec<Target> = targets
        .into_iter()
        .map(|(name, target)| {
            let entry = target_nodes.and_then(|nodes| nodes.entry(&name));
            target::lower(name, target, entry, diagnostics)
        })
        .collect();
    concurrency::check_groups(&targets, target_nodes, diagnostics);
    target::check_former_names(&targets, target_nodes, diagnostics);
    let targets: Vec<Arc<Target>> = targets.into_iter().map(Arc::new).collect();
    report_shared_places(&targets, diagnostics);
    check_kinds(node, diagnostics);
    let wire::Defaults { repeats, warmups, timeout, queue_timeout, claim_size } = defaults;
    let day = Duration::DAY;
    let wire::ResultsSettings {
        directory,
        mode,
        remote,
        branch,
        inbox,
        credential,
        ssh_host_keys,
        ca,
        signing,
        keys,
        require_signed,
        allow_unseparated,
    } = results;
    let results_node = node.and_then(|node| node.get("results"));
    let keys = signing::keys(keys, results_node, diagnostics);
    let counted = signing::counted(require_signed, allow_unseparated);
    signing::report_one_user(counted, &targets, results_node, diagnostics);
    let ca_node = results_node.and_then(|results| results.get("ca"));
    let ca = ca.zip(ca_node).and_then(|(ca, node)| authorities::lower(ca, node, diagnostics));
    let project = Project {
        settings: Settings {
            path: PROJECT_FILE.to_owned(),
            name: None,
            spec_dirs: specs
                .map_or_else(|| vec!["specs".to_owned()], |dirs| dirs.into_iter().map(|dir| dir.0).collect()),
            output: path_or(output, "generated"),
            allow_kinds: allow_kinds.into_iter().map(|kind| kind.0).collect(),
            image: image.map_or_else(
                || format!("ghcr.io/kubebench/kubebench:{}", env!("CARGO_PKG_VERSION")),
                |image| image.0.to_string(),
            ),
            results: ResultsSettings {
                directory: path_or(directory, "results"),
                mode: match mode {
                    Some(wire::ResultsMode::Inbox) => "inbox",
                    Some(wire::ResultsMode::Local) => "local",
                    Some(wire::ResultsMode::Branch) | None => "branch",
                },
                remote: remote.map(|text| text.0),
                branch: branch.map_or_else(|| "kubebench/results".to_owned(), |text| text.0),
                inbox: inbox.map_or_else(|| "refs/kubebench/inbox".to_owned(), |text| text.0),
                credential: credential.unwrap_or_else(|| "kubebench-git".to_owned()),
                ssh_host_keys: match ssh_host_keys {
                    Some(wire::SshHostKeys::AcceptNew) => Some("acceptNew"),
                    Some(wire::SshHostKeys::Known) | None => None,
                },
                ca,
                signing: signing.map(|signing| signing.secret),
                keys,
                counted,
            },
            report_url: report.url.map(|url| url.0.trim_end_matches('/').to_owned()),
            compare_across: compare_across.into_iter().map(fact).collect(),
            judge_from: judge_from.map(|text| text.0),
        },
        targets,
        levels: lints.clone(),
        lints,
        defaults: Defaults {
            repeats: repeats.map_or(1, |count| count.0),
            warmups: warmups.map_or(0, |count| count.0),
            timeout_is_set: timeout.is_some(),
            timeout: timeout.map_or(day, |timeout| timeout.0),
            queue_timeout: queue_timeout.map_or(day, |timeout| timeout.0),
            claim_size: claim_size.map_or_else(|| Quantity::gibibytes(10), |size| size.0),
        },
        parameters: node
            .map_or(&[][..], |node| node.entries_of("parameters"))
            .iter()
            .map(|entry| (entry.key.clone(), entry.value.clone()))
            .collect(),
    };
    authorities::check(&project.settings.results, ca_node, diagnostics);
    project
}

/// Reports kinds of which no project can allow objects.
fn check_kinds(spec: Option<&Node>, diagnostics: &mut Diagnostics) {
    let kinds = spec.and_then(|spec| spec.get("allowKinds")).map(Node::items).unwrap_or_default();
    for node in kinds {
        let said = node.as_text().unwrap_or_default();
        let kind = said.rsplit('/').next().unwrap_or_default();
        // In `GROUP/KIND`, the group is where an API version has its own.
        if let Some(reason) = workload::never_created(said, kind) {
            let fault = Diagnostic::at(&code::KB0336, node.span, format!("a {kind} {reason}"));
            diagnostics.push(fault.help("delete it"));
        }
    }
}

/// Returns the name of a fact, as in archives.
fn fact(fact: wire::Fact) -> String {
    let name = match fact {
        wire::Fact::Target => "target",
        wire::Fact::Engine => "engine",
        wire::Fact::Cpu => "cpu",
        wire::Fact::Gpu => "gpu",
        wire::Fact::Driver => "driver",
        wire::Fact::InstanceType => "instanceType",
    };
    name.to_owned()
}

fn report_shared_places(targets: &[Arc<Target>], diagnostics: &mut Diagnostics) {
    for (index, target) in targets.iter().enumerate() {
        let earlier = targets
            .iter()
            .take(index)
            .find(|other| other.cluster == target.cluster && other.namespace == target.namespace);
        let Some(earlier) = earlier else { continue };
        let message = format!(
            "`{}` and `{}` both use the namespace `{}` of the cluster `{}`",
            earlier.name, target.name, target.namespace, target.cluster
        );
        let fault = Diagnostic::at(&code::KB0319, target.span, message)
            .related(Place::Span(earlier.span), "the other target")
            .note("their objects have the same names, so each sync would overwrite the other's")
            .help("give one of them another `namespace`; if it is in another cluster, name that: `cluster: NAME`");
        diagnostics.push(fault);
    }
}
