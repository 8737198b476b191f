//! The fingerprint of an environment: which results may be compared.
//!
//! Results of one fingerprint make one history. It covers what changes how fast a program runs and does not change by
//! itself; kernels and system images, which change every week, are recorded separately and named when a level shifts.

use serde_json::json;

use super::canonical;
use super::v1::{Cluster, Node};
use kubebench_syntax::digest::Digest;

/// The facts that are hashed, in their order.
pub const KEYS: [&str; 10] =
    ["cluster", "engine", "nodes", "arch", "instanceType", "cpuModel", "cpuCount", "memoryGiB", "governor", "gpus"];

/// Returns the fingerprint of a cluster and its machines: the same for any order of machines.
pub fn fingerprint(cluster: &Cluster, nodes: &[Node]) -> Digest {
    let mut facts: Vec<String> = nodes
        .iter()
        .map(|node| {
            let gpus: Vec<_> =
                node.gpus.iter().map(|gpu| json!([gpu.product, gpu.count, gpu.memory_mi_b, gpu.driver])).collect();
            // A few mebibytes that the firmware keeps differ between two machines of one kind.
            let memory = node.memory_bytes.map(|bytes| (bytes + (1 << 29)) >> 30);
            json!([node.arch, node.instance_type, node.cpu_model, node.cpu_count, memory, node.governor, gpus])
                .to_string()
        })
        .collect();
    facts.sort();
    Digest::of(canonical(&json!({"cluster": cluster.name, "engine": cluster.engine, "nodes": facts})))
}

#[cfg(test)]
mod tests {
    use super::{Cluster, Node, fingerprint};

    fn node(memory_bytes: u64, kernel: &str) -> Node {
        Node {
            cpu_model: Some("M".to_owned()),
            memory_bytes: Some(memory_bytes),
            kernel: Some(kernel.to_owned()),
            load_before: Some(0.5),
            ..Node::default()
        }
    }

    #[test]
    fn what_it_covers() {
        let local = Cluster { name: "local".to_owned(), engine: "process".to_owned(), version: None };
        let of = |nodes: &[Node]| fingerprint(&local, nodes);
        let first = node(8 << 30, "6.1");
        assert_eq!(of(std::slice::from_ref(&first)), of(&[node((8 << 30) - 4096, "6.2")]));
        assert_ne!(of(std::slice::from_ref(&first)), of(&[node(16 << 30, "6.1")]));
        assert_ne!(of(std::slice::from_ref(&first)), of(&[first.clone(), first.clone()]));
        let other = node(4 << 30, "6.1");
        assert_eq!(of(&[first.clone(), other.clone()]), of(&[other, first.clone()]));
        let docker = Cluster { engine: "docker".to_owned(), ..local.clone() };
        assert_ne!(fingerprint(&docker, std::slice::from_ref(&first)), of(&[first]));
    }
}
