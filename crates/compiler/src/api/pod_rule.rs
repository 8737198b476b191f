//! What the API server asks of the values in a pod and a Job beyond their types.

use std::net::IpAddr;

use super::Reader;
use super::rule::{at_least, is_port_name, label_fault, label_key, one_of, port_number, requirement, text, within};
use kubebench_syntax::unit::{Dns1123Label, Dns1123Subdomain, ImageRef};
use kubebench_syntax::yaml::Node;

/// Reports what the API server refuses in a value of the type `name`.
pub(super) fn check(reader: &mut Reader<'_>, name: &str, node: &Node) {
    match name {
        "JobSpec" => job(reader, node),
        "PodFailurePolicyRule" => one_of(reader, node, "action", &["FailJob", "FailIndex", "Ignore", "Count"]),
        "PodFailurePolicyOnExitCodesRequirement" => one_of(reader, node, "operator", &["In", "NotIn"]),
        "Probe" => {
            for field in
                ["initialDelaySeconds", "periodSeconds", "timeoutSeconds", "successThreshold", "failureThreshold"]
            {
                at_least(reader, node, field, 0);
            }
        }
        "HTTPGetAction" => {
            one_of(reader, node, "scheme", &["HTTP", "HTTPS"]);
            port_number(reader, node, "port", 1);
        }
        "TCPSocketAction" | "GRPCAction" => port_number(reader, node, "port", 1),
        "PreferredSchedulingTerm" | "WeightedPodAffinityTerm" => within(reader, node, "weight", 1, 100),
        "PodSpec" => pod(reader, node),
        "Container" => container(reader, node),
        "Volume" => label(reader, node, "a volume"),
        "ContainerPort" => port(reader, node),
        "EmptyDirVolumeSource" => medium(reader, node),
        "HostPathVolumeSource" => one_of(
            reader,
            node,
            "type",
            &["DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice"],
        ),
        "VolumeMount" => one_of(reader, node, "mountPropagation", &["None", "HostToContainer", "Bidirectional"]),
        "NodeSelectorRequirement" => node_requirement(reader, node),
        "PodAffinityTerm" => topology_key(reader, node),
        "TopologySpreadConstraint" => {
            topology_key(reader, node);
            one_of(reader, node, "whenUnsatisfiable", &["DoNotSchedule", "ScheduleAnyway"]);
            at_least(reader, node, "maxSkew", 1);
        }
        "PodSecurityContext" | "SecurityContext" => {
            for field in ["runAsUser", "runAsGroup", "fsGroup"] {
                at_least(reader, node, field, 0);
            }
            one_of(reader, node, "fsGroupChangePolicy", &["OnRootMismatch", "Always"]);
        }
        "HostAlias" => host_alias(reader, node),
        "PodDNSConfig" => dns(reader, node),
        "LocalObjectReference" => object_name(reader, node, "name"),
        "SeccompProfile" => one_of(reader, node, "type", &["RuntimeDefault", "Localhost", "Unconfined"]),
        "PersistentVolumeClaimSpec" => {
            one_of(reader, node, "volumeMode", &["Filesystem", "Block"]);
        }
        _ => {}
    }
}

fn job(reader: &mut Reader<'_>, node: &Node) {
    one_of(reader, node, "completionMode", &["NonIndexed", "Indexed"]);
    one_of(reader, node, "podReplacementPolicy", &["TerminatingOrFailed", "Failed"]);
    if let Some(pod) = node.get("template").and_then(|template| template.get("spec")) {
        one_of(reader, pod, "restartPolicy", &["OnFailure", "Never"]);
    }
    for field in [
        "activeDeadlineSeconds",
        "backoffLimit",
        "backoffLimitPerIndex",
        "completions",
        "maxFailedIndexes",
        "parallelism",
        "ttlSecondsAfterFinished",
    ] {
        at_least(reader, node, field, 0);
    }
}

fn pod(reader: &mut Reader<'_>, node: &Node) {
    one_of(reader, node, "restartPolicy", &["Always", "OnFailure", "Never"]);
    at_least(reader, node, "activeDeadlineSeconds", 1);
    one_of(reader, node, "dnsPolicy", &["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"]);
    one_of(reader, node, "preemptionPolicy", &["PreemptLowerPriority", "Never"]);
    for field in ["priorityClassName", "runtimeClassName", "schedulerName", "serviceAccountName"] {
        object_name(reader, node, field);
    }
    for entry in node.entries_of("nodeSelector") {
        if let Some((_, error)) = label_fault(entry) {
            let help = error
                .help
                .unwrap_or_else(|| "write the label as `kubectl get nodes --show-labels` shows it".to_owned());
            reader.refused(&entry.value, error.message, help);
        }
    }
}

/// Reports a `field` that is not the name of an object.
fn object_name(reader: &mut Reader<'_>, node: &Node, field: &str) {
    if let Some((value, name)) = text(node, field)
        && let Err(error) = Dns1123Subdomain::parse(name)
    {
        reader.refused(value, error.message, error.help.unwrap_or_else(|| "write the name of an object".to_owned()));
    }
}

fn host_alias(reader: &mut Reader<'_>, node: &Node) {
    match text(node, "ip") {
        Some((value, ip)) => address(reader, value, ip),
        None => reader.refused(node, "the alias has no `ip`", "write the IP address that the host names resolve to"),
    }
    for value in node.items_of("hostnames") {
        host(reader, value, value.as_text().unwrap_or_default());
    }
}

fn dns(reader: &mut Reader<'_>, node: &Node) {
    for value in node.items_of("nameservers") {
        address(reader, value, value.as_text().unwrap_or_default());
    }
    // One dot alone keeps the domains of the cluster out.
    for (value, domain) in node.items_of("searches").iter().filter_map(|value| Some((value, value.as_text()?))) {
        if domain != "." {
            host(reader, value, domain.strip_suffix('.').unwrap_or(domain));
        }
    }
}

fn address(reader: &mut Reader<'_>, value: &Node, text: &str) {
    if text.parse::<IpAddr>().is_err() {
        reader.refused(
            value,
            format!("`{text}` is not an IP address"),
            "write an address such as `10.0.0.7` or `2001:db8::7`",
        );
    }
}

fn host(reader: &mut Reader<'_>, value: &Node, text: &str) {
    if Dns1123Subdomain::parse(text).is_err() {
        let help = "write a host name in lower case, without a port, such as `git.example`";
        reader.refused(value, format!("`{text}` is not a host name"), help);
    }
}

fn container(reader: &mut Reader<'_>, node: &Node) {
    label(reader, node, "a container");
    one_of(reader, node, "imagePullPolicy", &["Always", "IfNotPresent", "Never"]);
    one_of(reader, node, "terminationMessagePolicy", &["File", "FallbackToLogsOnError"]);
    if let Some((value, image)) = text(node, "image")
        && let Err(error) = ImageRef::parse(image)
    {
        reader.refused(value, error.message, error.help.unwrap_or_else(|| "write `registry/name:tag`".to_owned()));
    }
    if reader.is_element_of("initContainers") {
        one_of(reader, node, "restartPolicy", &["Always"]);
    } else if let Some((value, _)) = text(node, "restartPolicy") {
        let help = "delete it; a sidecar is an element of `initContainers` with `restartPolicy: Always`";
        reader.refused(value, "only init containers have a `restartPolicy`", help);
    }
}

fn label(reader: &mut Reader<'_>, node: &Node, what: &str) {
    if let Some((value, name)) = text(node, "name")
        && let Err(error) = Dns1123Label::parse(name)
    {
        let help = error.help.unwrap_or_else(|| "write at most 63 of a-z, 0-9 and `-`".to_owned());
        reader.refused(value, format!("`{name}` is not a valid name for {what}: {}", error.message), help);
    }
}

fn port(reader: &mut Reader<'_>, node: &Node) {
    one_of(reader, node, "protocol", &["TCP", "UDP", "SCTP"]);
    port_number(reader, node, "containerPort", 1);
    port_number(reader, node, "hostPort", 0);
    if let Some((value, name)) = text(node, "name").filter(|(_, name)| !is_port_name(name)) {
        let help = "write at most 15 of a-z, 0-9 and `-`, with a letter among them";
        reader.refused(value, format!("`{name}` is not a valid port name"), help);
    }
}

fn medium(reader: &mut Reader<'_>, node: &Node) {
    if !text(node, "medium").is_some_and(|(_, medium)| medium.starts_with("HugePages-")) {
        one_of(reader, node, "medium", &["Memory", "HugePages"]);
    }
}

fn topology_key(reader: &mut Reader<'_>, node: &Node) {
    if text(node, "topologyKey").is_none() {
        let help = "write the key of a node label, such as `topologyKey: kubernetes.io/hostname`";
        reader.refused(node, "there is no `topologyKey`", help);
    }
    label_key(reader, node, "topologyKey");
}

fn node_requirement(reader: &mut Reader<'_>, node: &Node) {
    requirement(reader, node, &["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]);
    if let Some((value, operator @ ("Gt" | "Lt"))) = text(node, "operator") {
        let values = node.items_of("values");
        let is_number = |item: &Node| item.as_text().is_some_and(|text| text.parse::<i64>().is_ok());
        if !matches!(values, [one] if is_number(one)) {
            let help = "write `values: [\"8\"]`, a whole number in quotes";
            reader.refused(value, format!("`operator: {operator}` needs one number in `values`"), help);
        }
    }
    label_key(reader, node, "key");
}
