//! Which object of a file is measured, which are created with it, and which exist already.

use super::super::Lowering;
use super::super::kind_called;
use super::Manifest;
use crate::model::GROUPS_OF_RIGHTS;
use kubebench_format::spec::v1::scalar::Text;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code, did_you_mean};
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::group;
use kubebench_syntax::yaml::Node;

/// Kinds that are not workloads, whatever other objects there are.
const NO_WORKLOADS: [&str; 14] = [
    "ComputeDomain",
    "ConfigMap",
    "Deployment",
    "Ingress",
    "NetworkPolicy",
    "PersistentVolumeClaim",
    "PodMonitor",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "Service",
    "ServiceMonitor",
    "StatefulSet",
    "TrainingRuntime",
    "LocalQueue",
];

/// Kinds that are not created for a single run: cluster-wide kinds, permissions, and what must not be in git.
const NOT_FOR_A_RUN: [(&str, &str); 34] = [
    ("APIService", OF_CLUSTER),
    ("AdmissionCheck", OF_CLUSTER),
    ("CSIDriver", OF_CLUSTER),
    ("ClusterQueue", OF_CLUSTER),
    ("ClusterRole", RIGHTS),
    ("ClusterRoleBinding", RIGHTS),
    ("ClusterServingRuntime", OF_CLUSTER),
    ("ClusterStorageContainer", OF_CLUSTER),
    ("ClusterTrainingRuntime", OF_CLUSTER),
    ("CustomResourceDefinition", OF_CLUSTER),
    ("DeviceClass", OF_CLUSTER),
    ("HyperNode", OF_CLUSTER),
    ("IngressClass", OF_CLUSTER),
    ("MutatingWebhookConfiguration", OF_CLUSTER),
    ("Namespace", OF_CLUSTER),
    ("Node", OF_CLUSTER),
    ("PersistentVolume", OF_CLUSTER),
    ("PriorityClass", OF_CLUSTER),
    ("ProvisioningRequestConfig", OF_CLUSTER),
    ("Queue", OF_CLUSTER),
    ("ResourceFlavor", OF_CLUSTER),
    ("ResourceSlice", OF_CLUSTER),
    ("Role", RIGHTS),
    ("RoleBinding", RIGHTS),
    ("RuntimeClass", OF_CLUSTER),
    ("Secret", SECRET),
    ("ServiceAccount", RIGHTS),
    ("StorageClass", OF_CLUSTER),
    ("Topology", OF_CLUSTER),
    ("ValidatingAdmissionPolicy", OF_CLUSTER),
    ("ValidatingAdmissionPolicyBinding", OF_CLUSTER),
    ("ValidatingWebhookConfiguration", OF_CLUSTER),
    ("VolumeSnapshotClass", OF_CLUSTER),
    ("WorkloadPriorityClass", OF_CLUSTER),
];
const OF_CLUSTER: &str = "is cluster-scoped, and runs have rights in one namespace only";
const RIGHTS: &str = "grants rights, which no run may do";
const SECRET: &str = "would hold its value in git";

/// Returns why runs never create an object of this kind, even if it is allowed.
pub(crate) fn never_created(api_version: &str, kind: &str) -> Option<&'static str> {
    let by_name = NOT_FOR_A_RUN.iter().find(|(name, _)| *name == kind).map(|(_, reason)| *reason);
    by_name.or_else(|| GROUPS_OF_RIGHTS.contains(&group(api_version)).then_some(RIGHTS))
}

/// One object of a file.
#[derive(Clone, Copy, Debug)]
pub(in crate::workload) struct Document<'n> {
    pub(in crate::workload) node: &'n Node,
    pub(in crate::workload) api_version: &'n str,
    pub(in crate::workload) kind: &'n str,
    pub(in crate::workload) name: Option<&'n str>,
}

/// What is to be created.
pub(super) struct Chosen<'n> {
    pub(super) main: Document<'n>,
    pub(super) supporting: Vec<Document<'n>>,
}

impl<'n> Document<'n> {
    /// Reads what an object says of itself, and reports what it lacks.
    pub(in crate::workload) fn read(node: &'n Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let read = Self::of(node);
        if read.is_some() {
            return read;
        }
        let missing = if said(node, "kind").is_none() { "kind" } else { "apiVersion" };
        // The whole object would be marked.
        let place = node.entries().first().map_or(node.span, |first| first.key_span);
        let fault = Diagnostic::at(&code::KB0346, place, format!("this object has no `{missing}`"));
        diagnostics.push(
            fault
                .note("the API server identifies the type of an object by `apiVersion` and `kind`")
                .help("write both, as in `apiVersion: batch/v1` and `kind: Job`"),
        );
        None
    }

    /// Returns what an object says of itself, if `node` is one.
    pub(super) fn of(node: &'n Node) -> Option<Self> {
        let name = node.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Node::as_text);
        Some(Self { node, api_version: said(node, "apiVersion")?, kind: said(node, "kind")?, name })
    }

    /// Returns it as `main` and `preinstalled` name it.
    pub(in crate::workload) fn shown(&self) -> String {
        format!("{}/{}", self.kind, self.name.unwrap_or_default())
    }

    pub(in crate::workload) fn place(&self) -> Span {
        self.node.get("kind").map_or(self.node.span, |kind| kind.span)
    }

    /// Returns whether Kubebench knows when runs of it end, without help from the spec.
    fn is_known(&self) -> bool {
        kind_called(self.api_version, self.kind).is_some()
    }
}

fn said<'n>(node: &'n Node, field: &str) -> Option<&'n str> {
    node.get(field).and_then(Node::as_text).filter(|text| !text.is_empty())
}

/// Returns what is measured and what is created for it; none where that cannot be decided.
pub(super) fn choose<'n>(cx: &mut Lowering<'_>, documents: &[Document<'n>], form: &Manifest) -> Option<Chosen<'n>> {
    let mut left: Vec<Document<'n>> = documents.to_vec();
    for (Text(wanted), place) in form.preinstalled.iter().zip(places(cx, "preinstalled")) {
        let before = left.len();
        left.retain(|document| document.shown() != *wanted);
        if left.len() == before {
            cx.report(unknown(wanted, place, documents));
        }
    }
    let main = main(cx, &left, form)?;
    let supporting: Vec<Document<'n>> =
        left.into_iter().filter(|document| !std::ptr::eq(document.node, main.node)).collect();
    for document in supporting.iter().filter(|document| document.name.is_none()) {
        let message = format!("this {} has no name", document.kind);
        let fault = Diagnostic::at(&code::KB0346, document.place(), message)
            .note("the measured object refers to the other objects of the file by name");
        cx.report(fault.help("write `metadata: {name: …}`"));
    }
    Some(Chosen { main, supporting })
}

fn main<'n>(cx: &mut Lowering<'_>, left: &[Document<'n>], form: &Manifest) -> Option<Document<'n>> {
    if let Some(Text(wanted)) = &form.main {
        let found = left.iter().find(|document| document.shown() == *wanted);
        if found.is_none() {
            let place = cx.entry.value.get("main").map_or(cx.entry.key_span, |node| node.span);
            cx.report(unknown(wanted, place, left));
        }
        return found.copied();
    }
    let is_beside = |document: &&Document<'n>| NO_WORKLOADS.contains(&document.kind);
    let is_workload =
        |document: &&Document<'n>| !is_beside(document) && never_created(document.api_version, document.kind).is_none();
    // A Deployment next to a job is what the job needs; alone it is the server.
    let tiers: [&dyn Fn(&&Document<'n>) -> bool; 3] =
        [&|document| document.is_known() && !is_beside(document), &is_workload, &|document| document.is_known()];
    let candidates: Vec<&Document<'n>> = tiers
        .iter()
        .map(|tier| left.iter().filter(|document| tier(document)).collect::<Vec<_>>())
        .find(|candidates| !candidates.is_empty())
        .unwrap_or_default();
    if let [only] = candidates.as_slice() {
        return Some(**only);
    }
    let names = |documents: &[&Document<'n>]| {
        documents.iter().map(|document| format!("`{}`", document.shown())).collect::<Vec<_>>().join(", ")
    };
    let at = cx.entry.value.entries().first().map_or(cx.entry.key_span, |entry| entry.key_span);
    let fault = match candidates.as_slice() {
        [] => Diagnostic::at(&code::KB0335, at, "nothing in the manifest can be measured")
            .note(format!("it holds {}", names(&left.iter().collect::<Vec<_>>())))
            .help("name the object to measure: `main: KIND/NAME`"),
        several => {
            let mut fault = Diagnostic::at(&code::KB0335, at, format!("{} objects could be measured", several.len()));
            for document in several {
                fault = fault.related(Place::Span(document.place()), document.shown());
            }
            fault
                .note("the others would be created before it and deleted after it")
                .help(format!("name the one to measure: `main: {}`", several.first().map(|one| one.shown())?))
        }
    };
    cx.report(fault);
    None
}

fn places(cx: &Lowering<'_>, field: &str) -> Vec<Span> {
    let items = cx.entry.value.items_of(field);
    items.iter().map(|item| item.span).collect()
}

fn unknown(wanted: &str, place: Span, documents: &[Document<'_>]) -> Diagnostic {
    let shown: Vec<String> = documents.iter().map(Document::shown).collect();
    let fault = Diagnostic::at(&code::KB0335, place, format!("the manifest holds no `{wanted}`"));
    match did_you_mean(wanted, shown.iter().map(String::as_str)) {
        Some(close) => fault.did_you_mean(place, close),
        None => fault
            .note(format!("it holds {}", shown.join(", ")))
            .help("write kind and name as in the manifest, such as `Job/train`"),
    }
}
