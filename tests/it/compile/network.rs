//! Who reaches whom: the emitted network policies, and that of `deploy/namespace`, under an evaluator that reads them as
//! Kubernetes documents them.

use std::net::Ipv4Addr;

use serde_json::{Map, Value, json};

use crate::support::project::{codes, compile, compile_sound, objects, repository};

/// A pod, or an address that is none of a pod.
#[derive(Clone)]
enum End {
    Pod { namespace: &'static str, labels: Value },
    Address(Ipv4Addr),
}

fn pod(namespace: &'static str, labels: Value) -> End {
    End::Pod { namespace, labels }
}

fn address(text: &str) -> End {
    End::Address(text.parse().unwrap())
}

/// Returns whether `from` reaches `port` of `to`: no policy of the one keeps it in, none of the other keeps it out.
fn reaches(policies: &[Value], from: &End, to: &End, protocol: &str, port: u16) -> bool {
    let is_open = |end: &End, other: &End, (kind, rules, peers): (&str, &str, &str)| {
        let End::Pod { namespace, labels } = end else { return true };
        let holds = |policy: &&Value| {
            policy["metadata"]["namespace"] == *namespace
                && policy["spec"]["policyTypes"].as_array().unwrap().contains(&json!(kind))
                && selects(&policy["spec"]["podSelector"], labels)
        };
        let mut holding = policies.iter().filter(holds).peekable();
        let is_let = |rule: &Value| {
            let peers = rule[peers].as_array().filter(|peers| !peers.is_empty());
            let ports = rule["ports"].as_array().filter(|ports| !ports.is_empty());
            peers.is_none_or(|peers| peers.iter().any(|peer| is_peer(peer, other, namespace)))
                && ports.is_none_or(|ports| ports.iter().any(|each| is_port(each, protocol, port)))
        };
        holding.peek().is_none()
            || holding.any(|policy| policy["spec"][rules].as_array().into_iter().flatten().any(is_let))
    };
    is_open(from, to, ("Egress", "egress", "to")) && is_open(to, from, ("Ingress", "ingress", "from"))
}

fn is_port(rule: &Value, protocol: &str, port: u16) -> bool {
    let last = rule.get("endPort").unwrap_or(&rule["port"]);
    let number = |value: &Value| u16::try_from(value.as_u64().unwrap()).unwrap();
    rule.get("protocol").map_or("TCP", |said| said.as_str().unwrap()) == protocol
        && rule.get("port").is_none_or(|first| (number(first)..=number(last)).contains(&port))
}

/// `home` is the namespace of the policy.
fn is_peer(peer: &Value, end: &End, home: &str) -> bool {
    match (end, peer.get("ipBlock")) {
        (End::Address(address), Some(block)) => {
            let except = block["except"].as_array().into_iter().flatten();
            is_in(&block["cidr"], *address) && !except.into_iter().any(|part| is_in(part, *address))
        }
        (End::Pod { namespace, labels }, None) => {
            let is_there = match peer.get("namespaceSelector") {
                None => *namespace == home,
                Some(selector) => selects(selector, &json!({"kubernetes.io/metadata.name": namespace})),
            };
            is_there && peer.get("podSelector").is_none_or(|selector| selects(selector, labels))
        }
        _ => false,
    }
}

fn is_in(block: &Value, address: Ipv4Addr) -> bool {
    let Some((start, bits)) = block.as_str().unwrap().split_once('/') else { panic!("{block}") };
    let Ok(start) = start.parse::<Ipv4Addr>() else { return false };
    let mask = u32::MAX.checked_shl(32 - bits.parse::<u32>().unwrap()).unwrap_or(0);
    u32::from(start) & mask == u32::from(address) & mask
}

fn selects(selector: &Value, labels: &Value) -> bool {
    let empty = Map::new();
    let exact = selector["matchLabels"].as_object().unwrap_or(&empty);
    let expressions = selector["matchExpressions"].as_array().into_iter().flatten();
    exact.iter().all(|(label, value)| labels.get(label) == Some(value))
        && expressions.into_iter().all(|expression| {
            let value = labels.get(expression["key"].as_str().unwrap());
            let listed = |value: &Value| expression["values"].as_array().unwrap().contains(value);
            match expression["operator"].as_str().unwrap() {
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                "In" => value.is_some_and(listed),
                "NotIn" => !value.is_some_and(listed),
                other => panic!("{other}"),
            }
        })
}

/// The policies of a target in the namespace `bench` with these `networkPolicy`, and further fields of the target.
fn policies(network: &str, target: &str) -> Vec<Value> {
    let project = format!(
        "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec:\n  results: {{mode: branch, remote: 'https://git.example/x.git'}}\n  targets: {{t: {{namespace: bench, networkPolicy: {network}{target}}}}}\n"
    );
    let head = "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: NAME}\nspec:\n  timeout: 1h\n  metrics: [{name: s, unit: s, better: lower, primary: true, from: {duration: run}}]\n";
    let job = format!(
        "{}  workload: {{job: {{image: 'r.example/a:1', command: [x], resources: {{cpu: 1, memory: 1Gi}}}}}}\n",
        head.replace("NAME", "a")
    );
    let ray = format!(
        "{}  workload: {{rayJob: {{image: 'r.example/a:1', rayVersion: 2.52.0, entrypoint: [x], resources: {{cpu: 1, memory: 1Gi}}, head: {{}}}}}}\n",
        head.replace("NAME", "b")
    );
    let compilation = compile_sound(&[("kubebench.yaml", &project), ("specs/a.yaml", &job), ("specs/b.yaml", &ray)]);
    let all = objects(&compilation).into_iter().map(|emitted| emitted.object);
    all.filter(|object| object["kind"] == "NetworkPolicy").collect()
}

/// The policy of `deploy/namespace`, in the namespace `bench`.
fn denying() -> Value {
    let text = std::fs::read_to_string(repository().join("deploy/namespace/network-policy.yaml")).unwrap();
    let mut policy: Value = serde_yaml::from_str(&text).unwrap();
    policy["metadata"]["namespace"] = json!("bench");
    policy
}

fn job() -> End {
    pod("bench", json!({"kubebench.dev/benchmark": "a"}))
}

fn step() -> End {
    pod("bench", json!({"kubebench.dev/step": "record", "workflows.argoproj.io/workflow": "a"}))
}

/// A pod of the namespace that is none of a benchmark's.
fn other() -> End {
    pod("bench", json!({"app": "x"}))
}

fn head() -> End {
    pod("bench", json!({"kubebench.dev/benchmark": "b", "ray.io/node-type": "head"}))
}

fn dns(namespace: &'static str) -> End {
    pod(namespace, json!({"k8s-app": "kube-dns"}))
}

fn ray_operator(namespace: &'static str) -> End {
    pod(namespace, json!({"app.kubernetes.io/component": "kuberay-operator"}))
}

/// From, to, protocol, port, and whether it gets there.
type Question = (&'static str, End, End, &'static str, u16, bool);

fn answers(policies: &[Value], questions: Vec<Question>) {
    for (what, from, to, protocol, port, expected) in questions {
        assert_eq!(
            reaches(policies, &from, &to, protocol, port),
            expected,
            "{what} ({protocol} {port}): {policies:#?}"
        );
    }
}

const METADATA: &str = "169.254.169.254";
const INTERNET: &str = "203.0.113.9";

#[test]
fn without_a_mention_of_the_project() {
    let policies = policies("{}", "");
    answers(
        &policies,
        vec![
            ("a job finds names", job(), dns("kube-system"), "UDP", 53, true),
            ("a job finds names", job(), dns("kube-system"), "TCP", 53, true),
            ("a step finds names", step(), dns("kube-system"), "UDP", 53, true),
            ("a job finds names at the cache of its node", job(), address("169.254.20.10"), "UDP", 53, true),
            ("who calls itself a DNS is none", job(), dns("elsewhere"), "UDP", 53, false),
            ("who calls itself a DNS is none", job(), dns("bench"), "UDP", 53, false),
            ("port 53 leads nowhere else", job(), address(INTERNET), "TCP", 53, false),
            ("port 53 leads nowhere else", step(), address(INTERNET), "TCP", 53, false),
            ("the DNS has no other port", job(), dns("kube-system"), "TCP", 9153, false),
            ("jobs reach each other", job(), head(), "TCP", 2222, true),
            ("a step reads what a job serves", step(), job(), "TCP", 8080, true),
            ("a job reaches no step", job(), step(), "TCP", 8080, false),
            ("a job reaches no other pod", job(), other(), "TCP", 80, false),
            ("a job reaches no API server", job(), address("10.96.0.1"), "TCP", 443, false),
            ("a job reaches no API server", job(), address("10.0.0.1"), "TCP", 6443, false),
            ("a job reaches no metadata", job(), address(METADATA), "TCP", 80, false),
            ("a step reaches no metadata", step(), address(METADATA), "TCP", 80, false),
            ("a job reaches nothing outside", job(), address(INTERNET), "TCP", 443, false),
            ("a step reaches the API server", step(), address("10.96.0.1"), "TCP", 443, true),
            ("a step reaches the git host", step(), address(INTERNET), "TCP", 443, true),
            ("results go by HTTPS", step(), address(INTERNET), "TCP", 22, false),
            ("nothing reaches a step", other(), step(), "TCP", 8080, false),
            ("nothing reaches a step", address(INTERNET), step(), "TCP", 8080, false),
            ("nothing reaches a job", other(), job(), "TCP", 8080, false),
            (
                "nothing reaches a job",
                pod("elsewhere", json!({"kubebench.dev/benchmark": "a"})),
                job(),
                "TCP",
                80,
                false,
            ),
            ("nothing reaches a job", address(INTERNET), job(), "TCP", 8080, false),
            ("the operator asks the head", ray_operator("ray-system"), head(), "TCP", 8265, true),
            ("the operator asks for nothing else", ray_operator("ray-system"), head(), "TCP", 8000, false),
            ("only heads are asked", ray_operator("ray-system"), job(), "TCP", 8265, false),
            ("who calls itself the operator is none", ray_operator("elsewhere"), head(), "TCP", 8265, false),
            ("who calls itself the operator is none", ray_operator("bench"), head(), "TCP", 8265, false),
            ("of other pods the platform decides", other(), address(INTERNET), "TCP", 443, true),
        ],
    );
}

#[test]
fn with_the_namespace_of_deploy() {
    let all: Vec<Value> = policies("{}", "").into_iter().chain([denying()]).collect();
    answers(
        &all,
        vec![
            ("a pod of no benchmark reaches nothing", other(), address(INTERNET), "TCP", 443, false),
            ("a pod of no benchmark reaches nothing", other(), dns("kube-system"), "UDP", 53, false),
            ("a pod of no benchmark reaches nothing", other(), job(), "TCP", 80, false),
            ("nothing reaches it", address(INTERNET), other(), "TCP", 80, false),
            ("a job finds names", job(), dns("kube-system"), "UDP", 53, true),
            ("a step reaches the API server", step(), address("10.96.0.1"), "TCP", 443, true),
            ("jobs reach each other", job(), head(), "TCP", 2222, true),
            ("another namespace is as it was", pod("elsewhere", json!({})), address(INTERNET), "TCP", 443, true),
        ],
    );
}

#[test]
fn what_the_project_names_is_all_that_is_reached() {
    let network = "{dns: {to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: openshift-dns}}}], ports: [{protocol: UDP, port: 5353}]}, apiServer: {to: [{ipBlock: {cidr: 10.96.0.1/32}}]}, git: {to: [{ipBlock: {cidr: 192.0.2.0/24, except: [192.0.2.128/25]}}]}, prometheus: {to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]}, operatorNamespaces: {kuberay: [default]}}";
    let policies = policies(network, ", prometheus: {url: 'http://prometheus.monitoring:9090'}");
    let monitoring = || pod("monitoring", json!({"app": "prometheus"}));
    answers(
        &policies,
        vec![
            ("names are elsewhere", job(), pod("openshift-dns", json!({})), "UDP", 5353, true),
            ("names are elsewhere", job(), pod("openshift-dns", json!({})), "TCP", 5353, false),
            ("names are elsewhere", job(), dns("kube-system"), "UDP", 53, false),
            ("a step reaches the API server", step(), address("10.96.0.1"), "TCP", 443, true),
            ("a step reaches the API server", step(), address("10.96.0.1"), "TCP", 6443, true),
            ("a step reaches the API server alone", step(), address("10.96.0.2"), "TCP", 443, false),
            ("a step reaches the git host", step(), address("192.0.2.10"), "TCP", 443, true),
            ("a step reaches the git host by its port", step(), address("192.0.2.10"), "TCP", 6443, false),
            ("a step reaches the git host alone", step(), address("192.0.2.200"), "TCP", 443, false),
            ("a step reaches nothing else", step(), address(INTERNET), "TCP", 443, false),
            ("a step reaches Prometheus", step(), monitoring(), "TCP", 9090, true),
            ("a step reaches Prometheus alone", step(), pod("elsewhere", json!({})), "TCP", 9090, false),
            ("a job reaches none of them", job(), address("10.96.0.1"), "TCP", 443, false),
            ("a job reaches none of them", job(), monitoring(), "TCP", 9090, false),
            ("the operator is where the project says", ray_operator("default"), head(), "TCP", 8265, true),
            ("the operator is where the project says", ray_operator("ray-system"), head(), "TCP", 8265, false),
        ],
    );
}

/// What people write in `egress` and `ingress` is added to that.
#[test]
fn openings_are_added() {
    let network = "{egress: [{to: [{ipBlock: {cidr: 0.0.0.0/0, except: [169.254.0.0/16, 10.0.0.0/8]}}], ports: [{port: 8000, endPort: 8100}]}], ingress: [{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]}]}";
    let policies = policies(network, "");
    answers(
        &policies,
        vec![
            ("it is open", job(), address(INTERNET), "TCP", 8050, true),
            ("it is open", step(), address(INTERNET), "TCP", 8100, true),
            ("it is open that far", job(), address(INTERNET), "TCP", 8101, false),
            ("it is open that far", job(), address(METADATA), "TCP", 8050, false),
            ("it is open that far", job(), address("10.96.0.1"), "TCP", 8050, false),
            ("metrics are read", pod("monitoring", json!({})), job(), "TCP", 9090, true),
            ("metrics of steps are not", pod("monitoring", json!({})), step(), "TCP", 9090, false),
        ],
    );
}

#[test]
fn a_server_of_results_that_nothing_proves_is_reported() {
    for (results, expected) in [
        ("remote: 'git@git.example:x.git', sshHostKeys: acceptNew", &["KB0390"][..]),
        ("remote: 'git@git.example:x.git', sshHostKeys: known", &[]),
        ("remote: 'git@git.example:x.git'", &[]),
        ("remote: 'http://git.example/x.git'", &["KB0390"]),
        ("remote: 'https://git.example/x.git'", &[]),
        ("remote: 'git@git.example:x.git', sshHostKeys: accept-new", &["KB0204"]),
    ] {
        let project = format!(
            "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {{results: {{{results}}}}}\n"
        );
        assert_eq!(codes(&compile(&[("kubebench.yaml", &project)])), expected, "{results}");
    }
}

/// An evaluator that says yes to everything would pass most of the above.
#[test]
fn the_evaluator_knows_what_no_policy_selects_and_what_denies_all() {
    assert!(reaches(&[], &job(), &address(METADATA), "TCP", 80));
    assert!(!reaches(&[denying()], &job(), &head(), "TCP", 80));
    let open = json!({"metadata": {"namespace": "bench"}, "spec": {"podSelector": {}, "policyTypes": ["Egress"], "egress": [{}]}});
    assert!(reaches(std::slice::from_ref(&open), &job(), &head(), "UDP", 1));
    assert!(!reaches(&[open, denying()], &job(), &head(), "UDP", 1), "it is kept out");
}
