//! How the API server names kinds: the group of an `apiVersion`, the plural of a `kind`.

/// Returns the group of an API version: `apps` of `apps/v1`, nothing of `v1`.
pub fn group(api_version: &str) -> &str {
    api_version.rsplit_once('/').map_or("", |(group, _)| group)
}

/// Returns the plural of `kind` by the rules of English, which nearly every resource is called by.
pub fn plural(kind: &str) -> String {
    let kind = kind.to_lowercase();
    match kind.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if kind.ends_with(['s', 'x', 'z']) || kind.ends_with("ch") || kind.ends_with("sh") => format!("{kind}es"),
        _ => format!("{kind}s"),
    }
}

/// Returns true for an extended resource that is an accelerator, judging by its name.
pub fn is_accelerator(name: &str) -> bool {
    let Some((vendor, device)) = name.split_once('/') else { return false };
    let networks = ["rdma", "sriov", "vpc.amazonaws.com", "networking.gke.io"];
    let devices = ["hca", "hostdev", "rdma", "efa", "ib", "mlnx", "nic", "sriov", "kvm", "tun", "fuse"];
    !networks.iter().any(|network| vendor.contains(network)) && !devices.iter().any(|word| device.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::{group, is_accelerator, plural};

    #[test]
    fn the_group_is_what_precedes_the_version() {
        assert_eq!(["apps/v1", "v1"].map(group), ["apps", ""]);
    }

    #[test]
    fn a_device_that_does_not_compute_is_no_accelerator() {
        for name in ["nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi", "google.com/tpu"] {
            assert!(is_accelerator(name), "{name}");
        }
        for name in ["cpu", "rdma/gpu", "vpc.amazonaws.com/efa", "nvidia.com/hostdev", "devices.kubevirt.io/kvm"] {
            assert!(!is_accelerator(name), "{name}");
        }
    }

    #[test]
    fn the_plural_of_a_kind_is_that_of_its_resource() {
        let known = [
            ("NetworkPolicy", "networkpolicies"),
            ("Gateway", "gateways"),
            ("Ingress", "ingresses"),
            ("DeviceClass", "deviceclasses"),
            ("TFJob", "tfjobs"),
            ("Mesh", "meshes"),
            ("Batch", "batches"),
        ];
        for (kind, wanted) in known {
            assert_eq!(plural(kind), wanted);
        }
    }
}
