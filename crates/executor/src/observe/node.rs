//! The facts of a machine, as the API server has them.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use kubebench_format::result::v1::{Gpu, Node};
use kubebench_syntax::unit::Quantity;

/// Labels that say what a machine is, by their beginnings. Others say what people do with it.
const LABELS: [&str; 12] = [
    "topology.kubernetes.io/",
    "node.kubernetes.io/instance-type",
    "karpenter.sh/capacity-type",
    "karpenter.k8s.aws/instance-",
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-nodepool",
    "cloud.google.com/gke-spot",
    "eks.amazonaws.com/capacityType",
    "kubernetes.azure.com/scalesetpriority",
    "nvidia.com/",
    "amd.com/gpu.",
    "feature.node.kubernetes.io/rdma.",
];
/// Of all labels of the GPU operator those that say what the hardware and its driver are.
const NVIDIA: [&str; 7] = [
    "nvidia.com/cuda.driver",
    "nvidia.com/cuda.runtime",
    "nvidia.com/gpu.product",
    "nvidia.com/gpu.memory",
    "nvidia.com/gpu.count",
    "nvidia.com/mig.",
    "nvidia.com/gpu.sharing",
];
const RESOURCES: [&str; 3] = ["nvidia.com/gpu", "amd.com/gpu", "google.com/tpu"];

/// Returns the facts of `node`, an object of the API.
pub(crate) fn facts(node: &Json) -> Node {
    let text = |at: &str| node.pointer(at).and_then(Json::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    let info = |name: &str| text(&format!("/status/nodeInfo/{name}"));
    let labels: BTreeMap<String, String> = node
        .pointer("/metadata/labels")
        .and_then(Json::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect();
    let capacity = |name: &str| {
        let capacity = node.pointer("/status/capacity")?.get(name)?.as_str()?;
        Quantity::parse(capacity).ok()
    };
    Node {
        name: text("/metadata/name"),
        instance_type: labels.get("node.kubernetes.io/instance-type").cloned(),
        arch: info("architecture"),
        cpu_count: capacity("cpu").and_then(whole).and_then(|count| u32::try_from(count).ok()),
        memory_bytes: capacity("memory").and_then(whole),
        kernel: info("kernelVersion"),
        os_image: info("osImage"),
        gpus: gpus(&labels, &capacity),
        labels: labels.into_iter().filter(|(name, _)| is_reported(name)).collect(),
        ..Node::default()
    }
}

/// Returns a machine of which nothing is known but its name.
pub(crate) fn unknown(name: &str) -> Node {
    Node { name: Some(name.to_owned()), ..Node::default() }
}

fn is_reported(name: &str) -> bool {
    let begins = |with: &[&str]| with.iter().any(|with| name.starts_with(with));
    begins(&LABELS) && (!name.starts_with("nvidia.com/") || begins(&NVIDIA))
}

fn gpus(labels: &BTreeMap<String, String>, capacity: &dyn Fn(&str) -> Option<Quantity>) -> Vec<Gpu> {
    let label = |names: &[&str]| names.iter().find_map(|name| labels.get(*name)).cloned();
    let of = |resource: &&str| {
        let count = u32::try_from(capacity(resource).and_then(whole)?).ok().filter(|count| *count > 0)?;
        let vendor = resource.split_once('.').map_or(*resource, |(vendor, _)| vendor);
        let (product, memory, driver) = match vendor {
            "nvidia" => (
                label(&["nvidia.com/gpu.product"]),
                label(&["nvidia.com/gpu.memory"]).and_then(|text| text.parse().ok()),
                label(&["nvidia.com/cuda.driver-version.full"]).or_else(|| {
                    let part = |name: &str| labels.get(&format!("nvidia.com/cuda.driver.{name}"));
                    let (major, minor) = (part("major")?, part("minor")?);
                    Some(part("rev").map_or_else(|| format!("{major}.{minor}"), |rev| format!("{major}.{minor}.{rev}")))
                }),
            ),
            "amd" => (label(&["amd.com/gpu.product-name", "beta.amd.com/gpu.product-name"]), None, None),
            _ => (label(&["cloud.google.com/gke-tpu-accelerator"]), None, None),
        };
        let product = product.unwrap_or_else(|| (*resource).to_owned());
        Some(Gpu { product, count, memory_mi_b: memory, driver })
    };
    RESOURCES.iter().filter_map(of).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is checked to be a whole number of 53 bits"
)]
fn whole(quantity: Quantity) -> Option<u64> {
    let number = quantity.as_f64().floor();
    (0.0..9e15).contains(&number).then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::facts;

    #[test]
    fn a_node_with_accelerators() {
        let node = facts(&json!({
            "metadata": {"name": "gpu-1", "labels": {
                "node.kubernetes.io/instance-type": "p4d.24xlarge",
                "topology.kubernetes.io/zone": "eu-1a",
                "team": "secret-project",
                "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB",
                "nvidia.com/gpu.memory": "40960",
                "nvidia.com/cuda.driver.major": "550",
                "nvidia.com/cuda.driver.minor": "54",
                "nvidia.com/cuda.driver.rev": "15",
                "nvidia.com/gfd.timestamp": "1700000000",
            }},
            "status": {
                "capacity": {"cpu": "96", "memory": "1176Gi", "nvidia.com/gpu": "8", "amd.com/gpu": "0"},
                "nodeInfo": {"architecture": "amd64", "kernelVersion": "6.1", "osImage": "Debian"},
            },
        }));
        let gpu = &node.gpus[0];
        assert_eq!(node.gpus.len(), 1);
        assert_eq!((gpu.product.as_str(), gpu.count, gpu.memory_mi_b), ("NVIDIA-A100-SXM4-40GB", 8, Some(40960)));
        assert_eq!(gpu.driver.as_deref(), Some("550.54.15"));
        assert_eq!((node.cpu_count, node.memory_bytes), (Some(96), Some(1176 << 30)));
        assert_eq!(node.instance_type.as_deref(), Some("p4d.24xlarge"));
        assert!(!node.labels.contains_key("team") && !node.labels.contains_key("nvidia.com/gfd.timestamp"));
        assert_eq!(node.labels.get("topology.kubernetes.io/zone").map(String::as_str), Some("eu-1a"));
    }
}
