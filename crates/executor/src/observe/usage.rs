//! What a run held of the cluster: pods, machines, accelerators and their hours.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::Container;

use super::Pod;
use super::pod::{PodFacts, ServerTime};
use super::timeline::Clocks;
use kubebench_compiler::model::estimate::MEMORY_UNIT;
use kubebench_format::result::v1::{Usage, rounded};
use kubebench_syntax::unit::Quantity;
use kubebench_syntax::unit::is_accelerator;

/// Milliseconds of an hour.
const HOUR: f64 = 3_600_000.0;

/// Sums up `pods`; `is_latest` says which of them no other has replaced.
pub(super) fn usage(pods: &[(&Pod, PodFacts)], is_latest: impl Fn(&PodFacts) -> bool, clocks: &Clocks) -> Usage {
    let mut accelerators: BTreeMap<String, u64> = BTreeMap::new();
    let (mut count, mut nodes, mut hours) = (0_u32, BTreeSet::new(), Some(0.0));
    let (mut resources, mut resource_hours) = (BTreeMap::new(), Some(BTreeMap::new()));
    for (pod, facts) in pods {
        let Some(node) = &facts.node else { continue };
        let own = held(pod);
        let total: u64 = own.values().sum();
        let held_for = held_for(facts, clocks);
        if total > 0 {
            hours = hours.zip(held_for).map(|(hours, own)| hours + own * total as f64);
        }
        let set_aside = set_aside(pod);
        match (held_for, &mut resource_hours) {
            (Some(hours), Some(sums)) => add(sums, &set_aside, hours),
            _ => resource_hours = None,
        }
        if is_latest(facts) {
            add(&mut resources, &set_aside, 1.0);
            count = count.saturating_add(1);
            nodes.insert(node);
            for (name, amount) in own {
                *accelerators.entry(name).or_default() += amount;
            }
        }
    }
    Usage {
        pods: count,
        nodes: u32::try_from(nodes.len()).unwrap_or(u32::MAX),
        accelerators,
        resources: all_rounded(resources),
        resource_hours: resource_hours.map(all_rounded).unwrap_or_default(),
        gpu_hours: hours.map(rounded),
        energy_joules: None,
    }
}

fn add(sums: &mut BTreeMap<String, f64>, amounts: &BTreeMap<String, f64>, times: f64) {
    for (name, amount) in amounts {
        *sums.entry(name.clone()).or_default() += amount * times;
    }
}

fn all_rounded(sums: BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    sums.into_iter().map(|(name, sum)| (name, rounded(sum))).collect()
}

/// Returns what the scheduler set aside for a pod, by resource: a limit without a request is both, and memory counts by the GiB.
fn set_aside(pod: &Pod) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
    for resources in containers.filter_map(|container| container.resources.as_ref()) {
        let (requests, limits) = (resources.requests.iter().flatten(), resources.limits.iter().flatten());
        let amounts: BTreeMap<&String, &str> =
            limits.chain(requests).map(|(name, amount)| (name, amount.0.as_str())).collect();
        for (name, amount) in amounts {
            let Ok(amount) = Quantity::parse(amount) else { continue };
            let unit = if name == "memory" { MEMORY_UNIT } else { 1.0 };
            *sums.entry(name.clone()).or_default() += amount.as_f64() / unit;
        }
    }
    sums.retain(|_, amount| *amount > 0.0);
    sums
}

/// Returns the hours from the scheduling of a pod to the end of its main container.
fn held_for(facts: &PodFacts, clocks: &Clocks) -> Option<f64> {
    let (ServerTime(from), ServerTime(to)) = (facts.scheduled?, clocks.on_server(facts, facts.ended?)?);
    Some(to.saturating_sub(from).max(0) as f64 / HOUR)
}

/// Returns the accelerators of a pod's containers, by resource name.
fn held(pod: &Pod) -> BTreeMap<String, u64> {
    let mut held = BTreeMap::new();
    for container in pod.spec.iter().flat_map(|spec| &spec.containers) {
        for (name, amount) in accelerators(container) {
            *held.entry(name.to_owned()).or_default() += amount;
        }
    }
    held.retain(|_, amount| *amount > 0);
    held
}

/// A limit of an accelerator is its request too.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "accelerators are whole, and quantities saturate"
)]
fn accelerators(container: &Container) -> impl Iterator<Item = (&str, u64)> {
    let limits = container.resources.iter().filter_map(|resources| resources.limits.as_ref()).flatten();
    let devices = limits.filter(|(name, _)| is_accelerator(name));
    devices.filter_map(|(name, amount)| Some((name.as_str(), Quantity::parse(&amount.0).ok()?.as_f64() as u64)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::super::tests::{ended, job, pod, running, summed};

    #[test]
    fn accelerators_are_those_of_the_pods_and_hours_those_that_are_known() {
        let with = |role: &str, index: u32, state: serde_json::Value, node: &str| {
            let mut pod = pod(role, index, state);
            pod["spec"]["nodeName"] = json!(node);
            pod["spec"]["containers"][0]["resources"] = json!({"limits": {"example.com/rdma": "1", "cpu": "4"}});
            pod["spec"]["containers"][1]["resources"] = json!({"limits": {"nvidia.com/gpu": "4", "rdma/hca": "1"}});
            pod
        };
        let both = [with("master", 0, ended(0, "Completed"), "a"), with("worker", 0, ended(0, "Completed"), "b")];
        let done = summed(&job(&[("Succeeded", "True", "", "")]), &both, &[]);
        assert_eq!((done.usage.pods, done.usage.nodes), (2, 2));
        let amounts = |hours: f64| {
            [("cpu", 8.0), ("example.com/rdma", 2.0), ("nvidia.com/gpu", 8.0), ("rdma/hca", 2.0)]
                .map(|(name, amount)| (name.to_owned(), amount * hours))
        };
        assert_eq!(done.usage.resources, BTreeMap::from(amounts(1.0)));
        let hours = &done.usage.resource_hours;
        assert!((hours["cpu"] * 3600.0 / 8.0 - 68.0).abs() < 0.01, "{hours:?}");
        assert_eq!(done.usage.accelerators, BTreeMap::from([("nvidia.com/gpu".to_owned(), 8)]));
        let seconds = done.usage.gpu_hours.unwrap() * 3600.0 / 8.0;
        assert!((seconds - 68.0).abs() < 0.01, "from its scheduling to its end: {seconds}");
        let at_work = [both[0].clone(), with("worker", 0, running(), "a")];
        let usage = summed(&job(&[]), &at_work, &[]).usage;
        assert_eq!((usage.nodes, usage.gpu_hours), (1, None), "nobody knows when it will end");
    }

    #[test]
    fn without_accelerators_there_are_no_hours_of_them() {
        let usage = summed(&job(&[]), &[pod("master", 0, running())], &[]).usage;
        assert_eq!((usage.pods, usage.gpu_hours, usage.accelerators.len()), (1, Some(0.0), 0));
    }
}
