//! Network policies: nothing in, nothing out, but DNS, the pods of the benchmarks among each other, what steps need, and declared
//! openings.
//!
//! They select only the pods of the target's benchmarks and steps. Whether other pods of the namespace reach anything is up to
//! its owner: `deploy/namespace` restricts them.

use serde_json::{Value as Json, json};

use crate::manifest::meta;
use crate::model::Target;
use crate::model::target::{Openings, Settings};
use kubebench_contract::labels;

/// The ports of API servers.
const OF_API_SERVER: [u16; 2] = [443, 6443];
/// The ports of git over SSH and HTTPS, where the project does not say which of them it is.
const OF_GIT: [u16; 2] = [22, 443];
/// Where the cache of names is on a node that has one: an address of the node itself.
const NODE_LOCAL_DNS: &str = "169.254.20.10/32";
/// The port at which a head of Ray says how far its job is, to anybody who reaches it.
const RAY_DASHBOARD: u16 = 8265;

/// The kinds of workloads that exchange requests with their operators.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kinds {
    /// Whether there is a `RayJob`.
    pub(super) of_ray: bool,
    /// Whether there is an `Experiment`.
    pub(super) of_katib: bool,
}

/// Returns the policies with their file names.
pub(super) fn policies(target: &Target, settings: &Settings, openings: &Openings, kinds: Kinds) -> Vec<(String, Json)> {
    let of_benchmarks = json!({ "matchExpressions": [{ "key": labels::BENCHMARK, "operator": "Exists" }] });
    let of_steps = json!({ "matchExpressions": [{ "key": labels::STEP, "operator": "Exists" }] });
    let among = json!({ "podSelector": of_benchmarks });
    let mut workload_egress = vec![dns(openings), json!({ "to": [among] })];
    if kinds.of_katib {
        workload_egress.extend(to_katib(&openings.katib));
    }
    workload_egress.extend(openings.egress.iter().cloned());
    // The steps read what the workload serves, such as its metrics.
    let mut workload_ingress = vec![json!({ "from": [among, { "podSelector": of_steps }] })];
    workload_ingress.extend(openings.ingress.iter().cloned());
    let mut step_egress = vec![dns(openings)];
    step_egress.extend(of_step(target, settings, openings));
    step_egress.push(json!({ "to": [among] }));
    step_egress.extend(openings.egress.iter().cloned());
    let policy = |name: &str, spec: Json| {
        let metadata = meta::applied(target, &format!("kubebench-{name}"), None);
        let object = json!({ "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": spec });
        (format!("network-policy-{name}.yaml"), object)
    };
    let both = ["Egress", "Ingress"];
    let mut policies = vec![
        policy(
            "workloads",
            json!({ "egress": workload_egress, "ingress": workload_ingress, "podSelector": of_benchmarks, "policyTypes": both }),
        ),
        // Without rules nothing comes in. An empty list would say the same, but the API server drops it, and so every apply
        // would change the object.
        policy("steps", json!({ "egress": step_egress, "podSelector": of_steps, "policyTypes": both })),
    ];
    if kinds.of_ray {
        // The operator's own label, which it gives to pods of any manifest.
        let mut heads = of_benchmarks;
        if let Some(heads) = heads.as_object_mut() {
            heads.insert("matchLabels".to_owned(), json!({ "ray.io/node-type": "head" }));
        }
        let ingress = [from_ray_operator(&openings.kuberay)];
        policies.push(policy("ray", json!({ "ingress": ingress, "podSelector": heads, "policyTypes": ["Ingress"] })));
    }
    policies
}

/// Returns the rule for names: those of the cluster's own DNS, unless the project says where they are resolved.
fn dns(openings: &Openings) -> Json {
    let usual = || {
        let own = json!({ "matchLabels": { "k8s-app": "kube-dns" } });
        json!({ "to": [of_pods(&["kube-system".to_owned()], &own), { "ipBlock": { "cidr": NODE_LOCAL_DNS } }] })
    };
    let ports = json!([{ "port": 53, "protocol": "TCP" }, { "port": 53, "protocol": "UDP" }]);
    with_ports(openings.dns.clone().unwrap_or_else(usual), ports)
}

/// Returns what steps need: the API server, the host of the results and Prometheus, each where the project says it is. What it says
/// nothing of is one rule for all addresses.
fn of_step(target: &Target, settings: &Settings, openings: &Openings) -> Vec<Json> {
    let of_git = settings.results.remote.as_deref().map_or(OF_GIT.to_vec(), |remote| vec![git_port(remote)]);
    let of_prometheus: Vec<u16> = target.prometheus.as_deref().map(port_of).into_iter().collect();
    let needs: [(&Option<Json>, &[u16]); 3] =
        [(&openings.api_server, &OF_API_SERVER), (&openings.git, &of_git), (&openings.prometheus, &of_prometheus)];
    let mut anywhere: Vec<u16> = Vec::new();
    let mut rules = Vec::new();
    for (said, ports) in needs {
        match said {
            Some(rule) if !ports.is_empty() => rules.push(with_ports(rule.clone(), tcp(ports))),
            Some(_) => {}
            None => anywhere.extend(ports),
        }
    }
    anywhere.sort_unstable();
    anywhere.dedup();
    if !anywhere.is_empty() {
        rules.insert(0, json!({ "ports": tcp(&anywhere) }));
    }
    rules
}

fn tcp(ports: &[u16]) -> Json {
    ports.iter().map(|port| json!({ "port": port, "protocol": "TCP" })).collect()
}

/// Returns a rule with these ports, unless it names its own.
fn with_ports(mut rule: Json, ports: Json) -> Json {
    if let Some(fields) = rule.as_object_mut() {
        fields.entry("ports").or_insert(ports);
    }
    rule
}

/// Returns the pods of a selector in these namespaces, which only an administrator of the cluster makes or labels.
fn of_pods(namespaces: &[String], pods: &Json) -> Json {
    let of = json!({ "matchExpressions": [{ "key": "kubernetes.io/metadata.name", "operator": "In", "values": namespaces }] });
    json!({ "namespaceSelector": of, "podSelector": pods })
}

/// Returns the opening through which KubeRay's operator asks a head for the progress of its job.
fn from_ray_operator(namespaces: &[String]) -> Json {
    let operator = json!({ "matchLabels": { "app.kubernetes.io/component": "kuberay-operator" } });
    json!({ "from": [of_pods(namespaces, &operator)], "ports": tcp(&[RAY_DASHBOARD]) })
}

/// Returns the openings that let the metrics collector of a trial report to Katib and ask about early stopping.
fn to_katib(namespaces: &[String]) -> [Json; 2] {
    let database = json!({ "matchLabels": { "katib.kubeflow.org/component": "db-manager" } });
    let suggestion = json!({ "matchExpressions": [{ "key": "katib.kubeflow.org/experiment", "operator": "Exists" }] });
    [
        json!({ "to": [of_pods(namespaces, &database)], "ports": tcp(&[6789]) }),
        json!({ "to": [{ "podSelector": suggestion }], "ports": tcp(&[6788]) }),
    ]
}

/// Returns the port of an HTTP address.
fn port_of(url: &str) -> u16 {
    named_port(url).unwrap_or(if url.starts_with("https://") { 443 } else { 80 })
}

/// Returns the port of a git remote; in `user@host:path` a path follows the colon, and the way is SSH.
fn git_port(remote: &str) -> u16 {
    if remote.starts_with("http") { port_of(remote) } else { named_port(remote).unwrap_or(22) }
}

/// Returns the port that an address names.
fn named_port(url: &str) -> Option<u16> {
    let (_, rest) = url.split_once("://")?;
    let (_, port) = rest.split('/').next()?.rsplit_once(':')?;
    port.parse().ok()
}
