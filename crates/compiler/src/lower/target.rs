//! Targets: what the project file says of a cluster and a namespace.

use crate::model::Target;
use crate::model::suppressions::Suppressions;
use crate::model::target::{MpiJobApi, NetworkPolicy, Openings, PodSecurity, Queue, TrainerApi};
use crate::{api, guard};
use kubebench_contract::Prices;
use kubebench_format::spec::v1::project as wire;
use kubebench_format::spec::v1::scalar::Dns1123Label;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Entry, Node};

/// Returns the target called `name`, reporting parts of Kubernetes' API in it that the API server would not take.
pub(super) fn lower(name: String, wire: wire::Target, entry: Option<&Entry>, diagnostics: &mut Diagnostics) -> Target {
    let node = entry.map(|entry| &entry.value);
    check_fragments(node, diagnostics);
    check_audiences(node, diagnostics);
    let wire::Target {
        cluster,
        namespace,
        formerly,
        storage_class,
        queue,
        apis,
        node_selector,
        tolerations,
        priority_class,
        concurrency,
        concurrency_group,
        pods,
        steps,
        prometheus,
        prices,
        image_mirrors,
        network_policy,
        pod_security,
        token_audiences,
        values: _,
        lints: _,
    } = wire;
    let namespace = namespace.map_or_else(|| "default".to_owned(), |label| label.0.to_string());
    let group = concurrency_group.map(|label| label.0.to_string());
    let at = |field: &str| node.and_then(|node| node.get(field));
    let values = node.and_then(|node| node.get("values")).map(Node::entries).unwrap_or_default();
    let scheduler = at("pods").and_then(|pods| pods.entry("schedulerName"));
    if let (Some(wire::Queue { volcano: Some(_), .. }), Some(scheduler)) = (&queue, scheduler)
        && scheduler.value.as_text() != Some("volcano")
    {
        let fault =
            Diagnostic::at(&code::KB0315, scheduler.key_span, "jobs of a Volcano queue have Volcano's scheduler")
                .note("with another scheduler, their pods would bypass the queue and its quota and start one by one");
        diagnostics.push(fault.help("delete it, or name no Volcano queue"));
    }
    if let Some(queue) = at("queue") {
        check_queue(queue, diagnostics);
    }
    Target {
        name,
        span: entry.map_or(Span::default(), |entry| entry.key_span),
        cluster: cluster.map_or_else(|| "default".to_owned(), |text| text.0),
        concurrency: super::concurrency::concurrency(
            concurrency.as_ref().map(|text| text.0.as_str()),
            group,
            &namespace,
        ),
        namespace,
        formerly,
        storage_class,
        queue: match queue {
            Some(wire::Queue { kueue: Some(name), frameworks, .. }) => Queue::Kueue { name, frameworks },
            Some(wire::Queue { volcano: Some(queue), .. }) => Queue::Volcano(queue),
            Some(wire::Queue { kueue: None, volcano: None, .. }) | None => Queue::None,
        },
        mpi_job: match apis.mpi_job {
            Some(wire::MpiJobVersion::V1) => MpiJobApi::V1,
            Some(wire::MpiJobVersion::V2beta1) | None => MpiJobApi::V2beta1,
        },
        trainer: match apis.trainer {
            Some(wire::TrainerVersion::V2_0) => TrainerApi::V2_0,
            Some(wire::TrainerVersion::V2_1) => TrainerApi::V2_1,
            Some(wire::TrainerVersion::V2_2) => TrainerApi::V2_2,
            Some(wire::TrainerVersion::V2_3) | None => TrainerApi::V2_3,
        },
        node_selector: node_selector.into_iter().map(|(key, value)| (key, value.0)).collect(),
        tolerations: tolerations.into_iter().map(|patch| patch.0).collect(),
        priority_class,
        pods: super::pods::pods(pods, at("pods"), diagnostics),
        steps: super::pods::steps(steps, at("steps"), diagnostics),
        prometheus: prometheus.map(|prometheus| prometheus.url.0),
        prices: prices.map(|wire::Prices { currency, hourly }| Prices { currency, hourly }),
        image_mirrors: image_mirrors.into_iter().map(|(prefix, mirror)| (prefix, mirror.0.to_string())).collect(),
        network_policy: lower_network(network_policy),
        pod_security: match pod_security {
            Some(wire::PodSecurity::Privileged) => PodSecurity::Privileged,
            Some(wire::PodSecurity::Restricted) => PodSecurity::Restricted,
            Some(wire::PodSecurity::Baseline) | None => PodSecurity::Baseline,
        },
        token_audiences: token_audiences.into_iter().map(|audience| audience.0).collect(),
        values: values.iter().map(|entry| (entry.key.clone(), entry.value.clone())).collect(),
        suppressions: Suppressions::of(node),
    }
}

/// Reports a queue of two systems, of none, or with the frameworks of a system that has none.
fn check_queue(queue: &Node, diagnostics: &mut Diagnostics) {
    match (queue.entry("kueue"), queue.entry("volcano"), queue.entry("frameworks")) {
        (Some(one), Some(other), _) => {
            let second = if one.key_span.start < other.key_span.start { other } else { one };
            let message = "`queue` holds `kueue` and `volcano`, but takes exactly one";
            let fault = Diagnostic::at(&code::KB0207, second.key_span, message);
            diagnostics.push(fault.help("keep the one whose queue the cluster has"));
        }
        (None, _, Some(frameworks)) => {
            let message = "`frameworks` says what Kueue integrates, and `queue` names no queue of Kueue";
            let fault = Diagnostic::at(&code::KB0207, frameworks.key_span, message);
            diagnostics.push(fault.help("delete it, or write `queue: {kueue: NAME, frameworks: […]}`"));
        }
        _ => {}
    }
}

/// Reports former names of targets that are also a name or a former name of another target.
pub(super) fn check_former_names(targets: &[Target], nodes: Option<&Node>, diagnostics: &mut Diagnostics) {
    for (index, target) in targets.iter().enumerate() {
        let list = nodes.and_then(|nodes| nodes.get(&target.name)).map(|node| node.items_of("formerly"));
        for item in list.into_iter().flatten() {
            let Some(name) = item.as_text() else { continue };
            let now = targets.iter().find(|other| other.name == name);
            let had = || targets.iter().take(index).find(|other| other.formerly.iter().any(|old| old == name));
            let Some(owner) = now.or_else(had) else { continue };
            let what = if now.is_some() {
                format!("`{name}` is not a former name: it is still a target of this project")
            } else {
                format!("`{name}` is also a former name of the target `{}`", owner.name)
            };
            let fault = Diagnostic::at(&code::KB0397, item.span, what)
                .related(Place::Span(owner.span), "the other target")
                .note("each result counts for one target")
                .help(format!("delete `{name}` from `formerly`"));
            diagnostics.push(fault);
        }
    }
}

/// Where the operators are unless the project says otherwise: the namespaces of their own manifests and charts.
const KUBERAY: [&str; 2] = ["kuberay-system", "ray-system"];
const KATIB: [&str; 1] = ["kubeflow"];

fn lower_network(wire: wire::NetworkPolicySettings) -> NetworkPolicy {
    let wire::NetworkPolicySettings { enabled, egress, ingress, dns, api_server, git, prometheus, operator_namespaces } =
        wire;
    if enabled == Some(false) {
        return NetworkPolicy::Off;
    }
    let wire::OperatorNamespaces { kuberay, katib } = operator_namespaces;
    let namespaces = |said: Option<Vec<Dns1123Label>>, usual: &[&str]| match said {
        Some(said) => said.into_iter().map(|label| label.0.to_string()).collect(),
        None => usual.iter().map(|name| (*name).to_owned()).collect(),
    };
    NetworkPolicy::On(Box::new(Openings {
        egress: egress.into_iter().map(|patch| patch.0).collect(),
        ingress: ingress.into_iter().map(|patch| patch.0).collect(),
        dns: dns.map(|patch| patch.0),
        api_server: api_server.map(|patch| patch.0),
        git: git.map(|patch| patch.0),
        prometheus: prometheus.map(|patch| patch.0),
        kuberay: namespaces(kuberay, &KUBERAY),
        katib: namespaces(katib, &KATIB),
    }))
}

/// Reports tolerations and network rules that do not match the API: each is copied into objects unchanged.
fn check_fragments(target: Option<&Node>, diagnostics: &mut Diagnostics) {
    let policy = target.and_then(|target| target.get("networkPolicy"));
    for (owner, list, wanted, name) in [
        (target, "tolerations", api::TOLERATION, "a toleration"),
        (policy, "egress", api::EGRESS_RULE, "a rule of `egress`"),
        (policy, "ingress", api::INGRESS_RULE, "a rule of `ingress`"),
    ] {
        for item in owner.and_then(|owner| owner.get(list)).map(Node::items).unwrap_or_default() {
            api::check(item, wanted, name, diagnostics);
        }
    }
    for (field, name) in [
        ("dns", "the rule `dns`"),
        ("apiServer", "the rule `apiServer`"),
        ("git", "the rule `git`"),
        ("prometheus", "the rule `prometheus`"),
    ] {
        if let Some(rule) = policy.and_then(|policy| policy.get(field)) {
            api::check(rule, api::EGRESS_RULE, name, diagnostics);
        }
    }
}

/// Reports audiences for which no target can allow tokens.
fn check_audiences(target: Option<&Node>, diagnostics: &mut Diagnostics) {
    let audiences = target.and_then(|target| target.get("tokenAudiences")).map(Node::items).unwrap_or_default();
    for node in audiences.iter().filter(|node| node.as_text().is_some_and(guard::is_of_api_server)) {
        let fault = Diagnostic::at(&code::KB0373, node.span, "no benchmark may have a token for the API server")
            .note("with the token, a measured program could do everything that its account may do");
        diagnostics.push(fault.help("delete it"));
    }
}

#[cfg(test)]
mod tests;
