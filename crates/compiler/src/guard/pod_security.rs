//! KB0419: settings of pods that ask for more than the Pod Security level `restricted` allows, wherever they are.
//!
//! They are known by their names alone, since controllers make pods of parts that are no pod templates: sidecars of Spark, patches of a
//! runtime, templates within templates.

use super::{Bounds, Field};
use crate::model::target::PodSecurity::{self, Baseline, Privileged, Restricted};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Severity, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Entry, Node, Value};

/// Volume types that `restricted` does not allow; `baseline` refuses the first only.
pub(super) const VOLUMES: [&str; 20] = [
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

/// Settings of the kernel that `baseline` lets a pod change.
const SAFE_SYSCTLS: [&str; 10] = [
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ping_group_range",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_syncookies",
];
/// The types of SELinux that `baseline` lets a container have.
const SAFE_TYPES: [&str; 4] = ["", "container_t", "container_init_t", "container_kvm_t"];
/// The annotation by which AppArmor is set for a container.
const APPARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";

/// One setting, and the lowest level that refuses it.
struct Breach {
    span: Span,
    what: String,
    refused_by: PodSecurity,
}

/// Reports such a setting: an error where the target's namespace refuses the pod for it, and a thing to know where the target says that
/// everything is allowed.
pub(super) fn check(field: Field<'_>, bounds: &Bounds<'_>, diagnostics: &mut Diagnostics) {
    let Field { entry, of, .. } = field;
    let Entry { key, key_span, value } = entry;
    let mut breaches = Vec::new();
    let is_true = value.value == Value::Bool(true);
    match key.as_str() {
        "hostNetwork" | "hostPID" | "hostIPC" if is_true => {
            breaches.push(breach(*key_span, format!("`{key}: true`"), Baseline));
        }
        "adminAccess" if is_true => breaches.push(breach(*key_span, "`adminAccess: true`", Baseline)),
        "securityContext" | "podSecurityContext" => of_context(entry, required(of), &mut breaches),
        "host" if ["httpGet", "tcpSocket"].contains(&of) && value.as_text().is_some_and(|host| !host.is_empty()) => {
            // Baseline since Kubernetes 1.34.
            breaches.push(breach(*key_span, format!("`host` of `{of}`"), Restricted));
        }
        "hostPort" if value.as_text().is_some_and(|port| port != "0") => {
            breaches.push(breach(*key_span, "`hostPort`", Baseline));
        }
        "ephemeralContainers" if !value.items().is_empty() => {
            breaches.push(breach(*key_span, "`ephemeralContainers`", Baseline));
        }
        _ if of == "volumes" && value.value != Value::Null => {
            if let Some(index) = VOLUMES.iter().position(|kind| kind == key) {
                let refused_by = if index == 0 { Baseline } else { Restricted };
                breaches.push(breach(*key_span, format!("a volume of the type `{key}`"), refused_by));
            }
        }
        _ if key.starts_with(APPARMOR) && value.as_text() == Some("unconfined") => {
            breaches.push(breach(*key_span, format!("`{key}: unconfined`"), Baseline));
        }
        _ => {}
    }
    diagnostics.extend(breaches.into_iter().map(|breach| breach.report(bounds)));
}

impl Breach {
    fn report(self, bounds: &Bounds<'_>) -> Diagnostic {
        let Bounds { target, pod_security, .. } = *bounds;
        let fault = Diagnostic::at(&code::KB0419, self.span, format!("{} lowers pod security", self.what));
        let mut fault = fault.value(self.what);
        if pod_security == Privileged {
            return fault.info().note(format!("the target `{target}` says `podSecurity: privileged`, which allows it"));
        }
        if pod_security < self.refused_by {
            return fault
                .note(
                    "it weakens the isolation between the container and its node, and a `restricted` namespace \
                     refuses it",
                )
                .help(format!("delete it, or {}, so that git shows the exception", code::KB0419.switched_off()));
        }
        fault.severity = Severity::Error;
        let level = if pod_security == Restricted { "restricted" } else { "baseline" };
        fault
            .note(format!(
                "the target `{target}` has `podSecurity: {level}`{}: the API server will refuse the pod, and the run hangs \
                 until its timeout",
                if level == "baseline" { " (the default)" } else { "" }
            ))
            .help("delete it, or run the benchmark on a target with `podSecurity: privileged`, whose namespace must \
                   allow it")
    }
}

fn breach(span: Span, what: impl Into<String>, refused_by: PodSecurity) -> Breach {
    Breach { span, what: what.into(), refused_by }
}

/// Returns the fields of a security context in the field `of` that Kubebench sets, and that may not be removed.
fn required(of: &str) -> &'static [&'static str] {
    match of {
        "container" | "containers" | "initContainers" => &["allowPrivilegeEscalation", "capabilities"],
        "pod" | "spec" => &["runAsNonRoot", "seccompProfile"],
        _ => &[],
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
    of_capabilities(node, breaches);
    of_kernel(node, breaches);
    let host_process = node.get("windowsOptions").and_then(|options| is_set(options, "hostProcess", "true"));
    breaches.extend(host_process.map(|span| breach(span, "`hostProcess: true`", Baseline)));
}

fn of_capabilities(context: &Node, breaches: &mut Vec<Breach>) {
    let Some(capabilities) = context.get("capabilities") else { return };
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

fn of_kernel(context: &Node, breaches: &mut Vec<Breach>) {
    for entry in context.entries_of("seLinuxOptions") {
        let said = entry.value.as_text().unwrap_or_default();
        let is_safe = match entry.key.as_str() {
            "type" => SAFE_TYPES.contains(&said),
            "user" | "role" => said.is_empty(),
            _ => true,
        };
        if !is_safe {
            breaches.push(breach(entry.key_span, format!("`seLinuxOptions: {{{}: {said}}}`", entry.key), Baseline));
        }
    }
    for sysctl in context.items_of("sysctls") {
        let Some(name) = sysctl.get("name") else { continue };
        if name.as_text().is_some_and(|said| !SAFE_SYSCTLS.contains(&said)) {
            let what = format!("the sysctl `{}`", name.as_text().unwrap_or_default());
            breaches.push(breach(name.span, what, Baseline));
        }
    }
}

/// Returns the directive by which a patch removes the previous value.
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
