//! MPIJobs: `v1alpha1` counted processing units, later versions have a launcher and workers.

use super::job_fields::{run_policy, taken_count};
use super::ledger::{At, Ledger};
use super::pod::{self, count};
use super::spec_builder::{Draft, Role, Workload};
use super::text::{Item, Map};
use crate::pod::NEVER_RESTARTS;
use kubebench_syntax::yaml::Value;

/// The setting with which the operator was started by its own manifests.
const UNITS_PER_NODE: u32 = 8;

/// What people have to know of an image that was made for an earlier operator.
const SSH: [&str; 2] = [
    "The operator of that time started processes in the workers by `kubectl exec`; the current one uses SSH, so the \
     image needs `sshd`.",
    "A target with `apis: {mpiJob: v1}` does not need it.",
];

pub(super) fn mpi_job(
    top: &At<'_>,
    api_version: &str,
    draft: &mut Draft,
    workload: &mut Workload,
    ledger: &mut Ledger,
) {
    workload.kind = "mpiJob";
    if !api_version.ends_with("/v2beta1") {
        workload.comment = SSH.map(str::to_owned).to_vec();
    }
    let Some(spec) = top.get("spec") else { return };
    if spec.get("template").is_some() {
        of_units(&spec, workload, ledger);
    } else {
        of_roles(&spec, workload, ledger);
    }
    for (key, at) in spec.entries().into_iter().filter(|(_, at)| at.node.value != Value::Null) {
        match key {
            "runPolicy" => {
                for (key, at) in at.entries() {
                    run_policy(key, &at, draft, workload, ledger);
                }
            }
            "slotsPerWorker" => put_slots(&at, workload, ledger),
            "mainContainer" => ledger.dropped(&at, "the first container is the main one"),
            "launcherOnMaster" => {
                ledger.lost(&at, "use `launcher.pod.nodeSelector` to put the launcher on other nodes");
            }
            "mpiDistribution" | "mpiImplementation" => match at.text().and_then(implementation) {
                Some(name) => {
                    workload.fields.put("mpiImplementation", name);
                    ledger.kept(&at, "`mpiImplementation`");
                }
                None => ledger.lost(&at, "this implementation of MPI is unknown"),
            },
            "sshAuthMountPath" | "launcherCreationPolicy" | "runLauncherAsWorker" => {
                workload.fields.put(key, at.node);
                ledger.kept(&at, format!("`{key}`"));
            }
            _ => drop(run_policy(key, &at, draft, workload, ledger)),
        }
    }
}

fn implementation(text: &str) -> Option<&'static str> {
    ["OpenMPI", "Intel", "MPICH"]
        .into_iter()
        .find(|known| text.to_ascii_lowercase().starts_with(&known.to_ascii_lowercase()))
}

fn put_slots(at: &At<'_>, workload: &mut Workload, ledger: &mut Ledger) {
    if let Some(slots) = taken_count(at, "`slotsPerWorker`", ledger) {
        workload.fields.put("slotsPerWorker", slots);
    }
}

/// The launcher and workers of `v1alpha2` and later.
fn of_roles(spec: &At<'_>, workload: &mut Workload, ledger: &mut Ledger) {
    for (key, at) in spec.entries_of("mpiReplicaSpecs") {
        let field = match key.to_ascii_lowercase().as_str() {
            "launcher" => "launcher",
            "worker" => "worker",
            _ => {
                ledger.lost(&at, format!("an MPIJob has no role `{key}`"));
                continue;
            }
        };
        let mut role = at.get("template").map(|template| pod::role(&template, "mpi", ledger)).unwrap_or_default();
        match at.get("replicas") {
            Some(number) if field == "launcher" && count(&number) == Some(1) => {
                ledger.kept(&number, "a launcher is one pod");
            }
            Some(number) if field == "launcher" => ledger.lost(&number, "a launcher is one pod"),
            Some(number) => role.replicas = taken_count(&number, "`worker.replicas`", ledger),
            None => {}
        }
        if let Some(at) = at.get("restartPolicy") {
            ledger.changed(&at, NEVER_RESTARTS);
        }
        workload.roles.push((field, role));
    }
    workload.roles.sort_by_key(|(field, _)| *field);
}

/// The one template of `v1alpha1`, which launcher and workers were made from.
fn of_units(spec: &At<'_>, workload: &mut Workload, ledger: &mut Ledger) {
    let resource = match spec.get("processingResourceType").as_ref().and_then(At::text) {
        Some("cpu") => "cpu",
        _ => "nvidia.com/gpu",
    };
    ledger
        .changed_if(spec.get("processingResourceType").as_ref(), &format!("`{resource}` of the workers' `resources`"));
    let launcher = spec.get("template").map(|template| pod::role(&template, "mpi", ledger)).unwrap_or_default();
    let mut worker = Role { command: Vec::new(), args: Vec::new(), expands: false, ..launcher.clone() };
    let total = ["gpus", "processingUnits"].into_iter().find_map(|key| spec.get(key));
    let per_node = ["gpusPerNode", "processingUnitsPerNode"].into_iter().find_map(|key| spec.get(key));
    if let Some(total) = &total {
        let given = per_node.as_ref().and_then(count);
        match count(total).and_then(|units| spread(units, given.unwrap_or(UNITS_PER_NODE))) {
            Some((workers, units)) => {
                ledger.changed(
                    total,
                    format!(
                        "{workers} workers of {units} `{resource}`{}",
                        if given.is_none() { ", for nodes of 8, as the operator was installed" } else { "" }
                    ),
                );
                ledger.changed_if(per_node.as_ref(), "how many of these units a worker has");
                worker.replicas = Some(workers);
                let mut resources = Map::default().with(resource, units);
                if worker.resources.get(resource).is_none() {
                    resources.put_fields(&worker.resources);
                    worker.resources = resources;
                }
                if spec.get("slotsPerWorker").is_none() {
                    workload.fields.put("slotsPerWorker", units);
                }
            }
            None => ledger.lost(
                total,
                "these do not fill whole nodes, so the number of workers is unknown; write `worker.replicas`",
            ),
        }
    }
    if let Some(number) = spec.get("replicas") {
        worker.replicas = taken_count(&number, "`worker.replicas`", ledger);
        // Processes followed the accelerators of a worker.
        let units = worker.resources.get(resource).or_else(|| match worker.resources.get("limits") {
            Some(Item::Flow(limits)) => limits.get(resource),
            _ => None,
        });
        if let (Some(Item::Plain(units)), None) = (units.cloned(), spec.get("slotsPerWorker")) {
            workload.fields.put("slotsPerWorker", Item::Plain(units));
        }
    }
    let launcher = Role { resources: Map::default(), ..launcher };
    workload.roles = vec![("launcher", launcher), ("worker", worker)];
}

/// Returns how many workers have how many units each.
fn spread(units: u32, per_node: u32) -> Option<(u32, u32)> {
    match (units, per_node) {
        (0, _) | (_, 0) => None,
        (units, per_node) if units < per_node => Some((1, units)),
        (units, per_node) if units % per_node == 0 => Some((units / per_node, per_node)),
        _ => None,
    }
}
