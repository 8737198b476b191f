//! KB0419: patches that ask for more than the Pod Security level `restricted` allows.

use super::pods;
use crate::model::target::PodSecurity::{self, Baseline, Restricted};
use crate::model::{Benchmark, Target};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Severity, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Entry, Node, Value};

/// Volume types that `restricted` does not allow; `baseline` refuses the first only.
const VOLUMES: [&str; 20] = [
    "hostPath",
    "awsElasticBlockStore",
    "azureDisk",
    "azureFile",
    "cephfs",
    "cinder",
    "fc",
    "flexVolume",
    "flocker",
    "gcePersistentDisk",
    "gitRepo",
    "glusterfs",
    "iscsi",
    "nfs",
    "photonPersistentDisk",
    "portworxVolume",
    "quobyte",
    "rbd",
    "scaleIO",
    "vsphereVolume",
];
/// Capabilities that `baseline` lets a container add; `restricted` allows only `NET_BIND_SERVICE`.
const BASELINE_CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// One setting, and the lowest level that refuses it.
struct Breach {
    span: Span,
    what: String,
    refused_by: PodSecurity,
}

/// Reports every such setting: an error where the target's namespace refuses the pod for it, and a thing to know where the target says that
/// everything is allowed.
pub(super) fn kept(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for workload in benchmark.cases.iter().map(|case| &case.workload) {
        for role in workload.pods() {
            let patches = pods::patches(workload, role);
            let mut breaches = Vec::new();
            patches.pod.iter().for_each(|pod| of_pod(pod, &mut breaches));
            patches.main.iter().chain(&patches.others).for_each(|container| of_container(container, &mut breaches));
            diagnostics.extend(breaches.into_iter().map(|breach| breach.report(&benchmark.target)));
            if workload.given.is_some() && benchmark.target.pod_security == Restricted {
                // What follows the pod itself are patches, which leave most unsaid.
                patches.pod.iter().take(1).for_each(|pod| unsaid(pod, &benchmark.target, diagnostics));
            }
        }
    }
}

impl Breach {
    fn report(self, target: &Target) -> Diagnostic {
        let mut fault = Diagnostic::at(&code::KB0419, self.span, format!("{} lowers pod security", self.what));
        if target.pod_security == PodSecurity::Privileged {
            fault.severity = Severity::Info;
            return fault.note(format!("the target `{}` says `podSecurity: privileged`, which allows it", target.name));
        }
        if target.pod_security < self.refused_by {
            return fault
                .note("it brings code from an image closer to the node, and a namespace with `restricted` refuses it")
                .help(format!(
                    "delete it, or {}, so that the exception can be seen in git",
                    code::KB0419.switched_off()
                ));
        }
        fault.severity = Severity::Error;
        let level = if target.pod_security == Restricted { "restricted" } else { "baseline" };
        fault
            .note(format!(
                "the target `{}` has `podSecurity: {level}`{}: the API server will refuse the pod, and the run hangs \
                 until its timeout",
                target.name,
                if level == "baseline" { " (the default)" } else { "" }
            ))
            .help("delete it, or run it on a target whose namespace allows it and which says so: `podSecurity: privileged`")
    }
}

/// Reports containers that do not say what `restricted` asks for. Kubebench says it in the pods that it makes, and nothing in those
/// of a manifest.
fn unsaid(pod: &Node, target: &Target, diagnostics: &mut Diagnostics) {
    let of_pod = pod.get("securityContext");
    for container in ["containers", "initContainers"].iter().filter_map(|list| pod.get(list)).flat_map(Node::items) {
        let own = container.get("securityContext");
        let is = |context: Option<&Node>, field: &str, wanted: bool| {
            context.and_then(|context| context.get(field)).is_some_and(|node| node.value == Value::Bool(wanted))
        };
        let drops_all = own.and_then(|own| own.get("capabilities")?.get("drop")).map(Node::items).unwrap_or_default();
        let has_profile = [own, of_pod].into_iter().flatten().any(|context| context.get("seccompProfile").is_some());
        let asked = [
            ("`allowPrivilegeEscalation: false`", is(own, "allowPrivilegeEscalation", false)),
            ("`capabilities: {drop: [ALL]}`", drops_all.iter().any(|name| name.as_text() == Some("ALL"))),
            ("`runAsNonRoot: true`", is(own, "runAsNonRoot", true) || is(of_pod, "runAsNonRoot", true)),
            ("`seccompProfile: {type: RuntimeDefault}`", has_profile),
        ];
        let missing: Vec<&str> = asked.into_iter().filter(|(_, is_said)| !is_said).map(|(what, _)| what).collect();
        if missing.is_empty() {
            continue;
        }
        let span = container.get("name").map_or(container.span, |name| name.span);
        let message = "this container does not say what `restricted` asks for".to_owned();
        let mut fault = Diagnostic::at(&code::KB0419, span, message);
        fault.severity = Severity::Error;
        diagnostics.push(
            fault
                .note(format!(
                    "the target `{}` has `podSecurity: restricted`: the API server will refuse the pod, and a manifest's pods are not changed",
                    target.name
                ))
                .help(format!("add to its `securityContext`: {}", missing.join(", "))),
        );
    }
}

fn breach(span: Span, what: impl Into<String>, refused_by: PodSecurity) -> Breach {
    Breach { span, what: what.into(), refused_by }
}

fn of_pod(pod: &Node, breaches: &mut Vec<Breach>) {
    for field in ["hostNetwork", "hostPID", "hostIPC"] {
        breaches.extend(is_set(pod, field, "true").map(|span| breach(span, format!("`{field}: true`"), Baseline)));
    }
    for volume in pod.items_of("volumes") {
        for (index, kind) in VOLUMES.into_iter().enumerate() {
            let Some(entry) = volume.entry(kind).filter(|entry| entry.value.value != Value::Null) else { continue };
            let refused_by = if index == 0 { Baseline } else { Restricted };
            breaches.push(breach(entry.key_span, format!("a volume of the type `{kind}`"), refused_by));
        }
    }
    let Some(context) = pod.entry("securityContext") else { return };
    of_context(context, &["runAsNonRoot", "seccompProfile"], breaches);
}

fn of_container(container: &Node, breaches: &mut Vec<Breach>) {
    for port in container.items_of("ports") {
        let Some(entry) = port.entry("hostPort").filter(|entry| entry.value.as_text().is_some_and(|text| text != "0"))
        else {
            continue;
        };
        breaches.push(breach(entry.key_span, "`hostPort`", Baseline));
    }
    let Some(context) = container.entry("securityContext") else { return };
    of_context(context, &["allowPrivilegeEscalation", "capabilities"], breaches);
    let Some(capabilities) = context.value.get("capabilities") else { return };
    for added in capabilities.items_of("add") {
        let name = added.as_text().unwrap_or_default();
        if name != "NET_BIND_SERVICE" {
            let refused_by = if BASELINE_CAPABILITIES.contains(&name) { Restricted } else { Baseline };
            breaches.push(breach(added.span, format!("the capability `{name}`"), refused_by));
        }
    }
    if let Some(drop) = capabilities.entry("drop")
        && !drop.value.items().iter().any(|dropped| dropped.as_text() == Some("ALL"))
    {
        breaches.push(breach(drop.key_span, "`drop` without `ALL`", Restricted));
    }
}

/// Looks at a security context; `required` are the fields that may not be removed from this one.
fn of_context(context: &Entry, required: &[&str], breaches: &mut Vec<Breach>) {
    let Entry { key_span, value: node, .. } = context;
    if node.value == Value::Null {
        breaches.push(breach(*key_span, "`securityContext: null`", Restricted));
    }
    if let Some(directive) = removing_directive(node) {
        let kept = |field: &&str| directive == "replace" && node.get(field).is_some();
        if !required.iter().all(kept) {
            breaches.push(breach(*key_span, format!("`securityContext: {{$patch: {directive}}}`"), Restricted));
        }
    }
    for entry in required.iter().filter_map(|field| node.entry(field)) {
        if entry.value.value == Value::Null {
            breaches.push(breach(entry.key_span, format!("`{}: null`", entry.key), Restricted));
        } else if let Some(directive) = removing_directive(&entry.value)
            && (directive == "delete" || entry.value.get("type").or(entry.value.get("drop")).is_none())
        {
            breaches.push(breach(entry.key_span, format!("`{}: {{$patch: {directive}}}`", entry.key), Restricted));
        }
    }
    let settings = [
        ("runAsNonRoot", "false", Restricted),
        ("runAsUser", "0", Restricted),
        ("allowPrivilegeEscalation", "true", Restricted),
        ("privileged", "true", Baseline),
        ("procMount", "Unmasked", Baseline),
    ];
    for (field, value, refused_by) in settings {
        breaches.extend(is_set(node, field, value).map(|span| breach(span, format!("`{field}: {value}`"), refused_by)));
    }
    for profile in ["seccompProfile", "appArmorProfile"] {
        let unconfined = node.get(profile).and_then(|profile| is_set(profile, "type", "Unconfined"));
        breaches.extend(unconfined.map(|span| breach(span, format!("`{profile}: {{type: Unconfined}}`"), Baseline)));
    }
    let host_process = node.get("windowsOptions").and_then(|options| is_set(options, "hostProcess", "true"));
    breaches.extend(host_process.map(|span| breach(span, "`hostProcess: true`", Baseline)));
}

/// Returns the directive by which a patch takes away what stood there.
fn removing_directive(node: &Node) -> Option<&str> {
    node.get("$patch").and_then(Node::as_text).filter(|directive| matches!(*directive, "delete" | "replace"))
}

/// Returns where `field` has the value spelled `value`.
fn is_set(node: &Node, field: &str, value: &str) -> Option<Span> {
    let entry = node.entry(field)?;
    let is_equal = match &entry.value.value {
        Value::Bool(flag) => flag.to_string() == value,
        Value::Number(text) | Value::String(text) => text == value,
        Value::Null | Value::Seq(_) | Value::Map(_) => false,
    };
    is_equal.then_some(entry.key_span)
}
