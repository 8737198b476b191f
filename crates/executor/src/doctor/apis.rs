//! The API server and what it serves: its version, the kinds of the tree, and the controllers behind them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::{Fact, Facts, Needs, Report, elements, items, quoted, text_at};
use kubebench_compiler::model::target::{MpiJobApi, Queue};
use kubebench_syntax::unit::ImageRef;

/// The oldest and the newest minor version of Kubernetes 1 that the emitted objects are known to work with.
const MINORS: std::ops::RangeInclusive<u32> = 28..=37;
/// The oldest Argo Workflows whose WorkflowTemplates know all fields that are emitted.
const ARGO: (u32, u32) = (3, 6);

pub(super) fn check(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    version(facts, report);
    let kinds = kinds(needs, facts, report);
    let deployments = deployments(facts);
    for (group, controller) in CONTROLLERS {
        let is_wanted = match *group {
            "kueue.x-k8s.io" => matches!(needs.target.queue, Queue::Kueue { .. }),
            "scheduling.volcano.sh" => matches!(needs.target.queue, Queue::Volcano(_)),
            "kubeflow.org/v2beta1" => kinds.contains(&("kubeflow.org/v2beta1".to_owned(), "MPIJob".to_owned())),
            "jobset.x-k8s.io" => {
                kinds.iter().any(|(api, _)| is_of(api, "jobset.x-k8s.io") || is_of(api, "trainer.kubeflow.org"))
            }
            "trainer.kubeflow.org" => kinds.iter().any(|(api, _)| is_of(api, "trainer.kubeflow.org")),
            "sparkoperator.k8s.io" => kinds.iter().any(|(api, _)| is_of(api, "sparkoperator.k8s.io")),
            "ray.io" => kinds.iter().any(|(api, _)| is_of(api, "ray.io")),
            "kubeflow.org/v1" => kinds.iter().any(|(api, _)| api == "kubeflow.org/v1"),
            "kubeflow.org/v1beta1" => kinds.contains(&("kubeflow.org/v1beta1".to_owned(), "Experiment".to_owned())),
            _ => true,
        };
        if is_wanted {
            self::controller(&deployments, controller, report);
        }
    }
}

fn is_of(api: &str, group: &str) -> bool {
    api.split('/').next() == Some(group)
}

/// Which controller a group needs, by a part of its Deployment's name.
const CONTROLLERS: &[(&str, &str)] = &[
    ("argoproj.io", "workflow-controller"),
    ("kubeflow.org/v1", "training-operator"),
    ("kubeflow.org/v1beta1", "katib-controller"),
    ("kubeflow.org/v2beta1", "mpi-operator"),
    ("jobset.x-k8s.io", "jobset-controller"),
    ("trainer.kubeflow.org", "trainer-controller"),
    ("ray.io", "kuberay-operator"),
    ("sparkoperator.k8s.io", "spark-operator-controller"),
    ("kueue.x-k8s.io", "kueue-controller-manager"),
    ("scheduling.volcano.sh", "volcano-scheduler"),
];

fn version(facts: &dyn Facts, report: &mut Report) {
    const CHECK: &str = "API server";
    let version = match facts.read("/version") {
        Fact::There(version) => version,
        Fact::Absent => return report.unknown(CHECK, "`/version`", "the server does not answer it"),
        Fact::Forbidden(why) => return report.unknown(CHECK, "`/version`", &why),
    };
    let shown = text_at(&version, "/gitVersion");
    // `28+` of managed clusters.
    let minor: Option<u32> = text_at(&version, "/minor").trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok();
    match minor {
        Some(minor) if MINORS.contains(&minor) => report.ok(CHECK, format!("Kubernetes {shown}")),
        Some(minor) if minor < *MINORS.start() => {
            report.warning(
                CHECK,
                format!("Kubernetes {shown} is older than 1.{}", MINORS.start()),
                "run `kubectl apply --dry-run=server -R -f` on the folder first: the tree was never tested with this \
                 version",
            );
        }
        None => report.note(
            CHECK,
            format!("unknown: the API server reports the version `{shown}`"),
            format!("the tree is known to work with 1.{} to 1.{}", MINORS.start(), MINORS.end()),
        ),
        Some(_) => report.note(
            CHECK,
            format!("Kubernetes {shown} is newer than 1.{}, the newest version that Kubebench knows", MINORS.end()),
            "check for a newer Kubebench; the tree uses only stable APIs",
        ),
    }
}

/// Checks that the kinds of the tree and of its runs are served, and returns them.
fn kinds(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) -> BTreeSet<(String, String)> {
    const CHECK: &str = "APIs";
    let mut wanted: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let of_tree = needs.objects.iter().map(|object| (text_at(object, "/apiVersion"), text_at(object, "/kind")));
    for (api, kind) in of_tree.chain(needs.created.iter().map(|(api, kind)| (api.as_str(), kind.as_str()))) {
        wanted.entry(api).or_default().insert(kind);
    }
    let mut served = Vec::new();
    for (api, kinds) in &wanted {
        let path = if api.contains('/') { format!("/apis/{api}") } else { format!("/api/{api}") };
        let list = match facts.read(&path) {
            Fact::There(list) => list,
            Fact::Absent => Json::Null,
            Fact::Forbidden(why) => {
                report.unknown(CHECK, &format!("what `{api}` serves"), &why);
                continue;
            }
        };
        let there: BTreeSet<&str> = elements(&list, "/resources").map(|resource| text_at(resource, "/kind")).collect();
        let missing: Vec<&str> = kinds.difference(&there).copied().collect();
        if missing.is_empty() {
            served.push(*api);
            continue;
        }
        report.error(
            CHECK,
            format!("the cluster does not serve {} of `{api}`", quoted(missing.iter().copied())),
            advice(needs, facts, api, &missing),
        );
    }
    if !served.is_empty() {
        report.ok(
            CHECK,
            format!(
                "served: {}",
                quoted(served.iter().copied().filter(|api| api.contains('.') && !api.contains("k8s.io")))
            ),
        );
    }
    needs.created.clone()
}

fn advice(needs: &Needs<'_>, facts: &dyn Facts, api: &str, missing: &[&str]) -> String {
    if missing.contains(&"MPIJob") {
        let (other, setting) = match needs.target.mpi_job {
            MpiJobApi::V1 => ("kubeflow.org/v2beta1", "v2beta1"),
            MpiJobApi::V2beta1 => ("kubeflow.org/v1", "v1"),
        };
        let serves = |api: &str| match facts.read(&format!("/apis/{api}")) {
            Fact::There(list) => elements(&list, "/resources").any(|resource| text_at(resource, "/kind") == "MPIJob"),
            Fact::Absent | Fact::Forbidden(_) => false,
        };
        if serves(other) {
            return format!(
                "the cluster serves MPIJob of `{other}`: write `apis: {{mpiJob: {setting}}}` for the target `{}` in {} \
                 and compile",
                needs.target.name, needs.settings.path
            );
        }
    }
    match api {
        "argoproj.io/v1alpha1" => "install Argo Workflows 3.6 or later (its CRDs and its controller)".to_owned(),
        "kubeflow.org/v1" => "install the Kubeflow training operator (v1.8 or v1.9)".to_owned(),
        "jobset.x-k8s.io/v1alpha2" => "install JobSet (v0.8 or later)".to_owned(),
        "trainer.kubeflow.org/v1alpha1" => {
            "install Kubeflow Trainer v2, and write its version for the target: `apis: {trainer: v2.3}`".to_owned()
        }
        "kubeflow.org/v2beta1" => "install the MPI operator (v0.6 or later)".to_owned(),
        _ => "install what serves it, or run these benchmarks on another target".to_owned(),
    }
}

/// Returns the Deployments and StatefulSets of the cluster, if they may be read.
pub(super) fn deployments(facts: &dyn Facts) -> Fact {
    facts.read("/apis/apps/v1/deployments")
}

/// Returns the Deployments whose name holds `name`.
pub(super) fn called<'a>(deployments: &'a Fact, name: &'a str) -> impl Iterator<Item = &'a Json> {
    let list = if let Fact::There(list) = deployments { Some(list) } else { None };
    list.into_iter().flat_map(items).filter(move |item| text_at(item, "/metadata/name").contains(name))
}

fn controller(deployments: &Fact, name: &'static str, report: &mut Report) {
    const CHECK: &str = "controller";
    if let Fact::Forbidden(why) = deployments {
        return report.unknown(CHECK, &format!("Deployments, which show whether `{name}` runs"), why);
    }
    let available = |found: &Json| found.pointer("/status/availableReplicas").and_then(Json::as_u64).unwrap_or(0);
    // Of several the one that runs, else the first.
    let found = called(deployments, name).find(|found| available(found) > 0);
    let Some(found) = found.or_else(|| called(deployments, name).next()) else {
        let seen = format!("no Deployment is called `{name}`, so whether it runs is unknown");
        return report.note(CHECK, seen, "check whether it runs under another name or outside the cluster");
    };
    let place = format!("`{}` in `{}`", text_at(found, "/metadata/name"), text_at(found, "/metadata/namespace"));
    if available(found) == 0 {
        let advice = format!(
            "run `kubectl -n {} describe deployment {}`: nothing runs without the controller",
            text_at(found, "/metadata/namespace"),
            text_at(found, "/metadata/name")
        );
        return report.error(CHECK, format!("{place} has no available pod"), advice);
    }
    let image = elements(found, "/spec/template/spec/containers").map(|container| text_at(container, "/image")).next();
    let image = image.and_then(|image| ImageRef::parse(image).ok());
    let version = image.as_ref().and_then(ImageRef::tag).unwrap_or_default();
    if name == "workflow-controller" && minor_version(version).is_some_and(|version| version < ARGO) {
        let seen = format!("{place} is {version}, older than v{}.{}", ARGO.0, ARGO.1);
        return report.error(
            CHECK,
            seen,
            "upgrade Argo Workflows: the tree uses fields that this version does not \
                                          know",
        );
    }
    report
        .ok(CHECK, format!("{place} runs{}", if version.is_empty() { String::new() } else { format!(" ({version})") }));
}

/// Reads the first two numbers of `v3.6.2`.
fn minor_version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.trim_start_matches('v').split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}
