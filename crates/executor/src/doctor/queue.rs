//! The queue that jobs are submitted to.

use serde_json::Value as Json;

use super::needs::names_of;
use super::{Fact, Facts, Needs, Report, elements, quoted, text_at};
use kubebench_compiler::model::target::Queue;

const ASK_ADMIN: &str = "ask the admin of Kueue: its jobs stay suspended";

const CHECK: &str = "queue";

pub(super) fn check(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    match &needs.target.queue {
        Queue::Kueue { name, .. } => kueue(needs, facts, name, report),
        Queue::Volcano(queue) => volcano(facts, queue, report),
        Queue::None => unnamed(needs, facts, report),
    }
}

/// Returns where the preferred version of a group is served; nothing without the group.
fn preferred(facts: &dyn Facts, group: &str) -> Option<String> {
    let Fact::There(found) = facts.read(&format!("/apis/{group}")) else { return None };
    Some(format!("/apis/{}", text_at(&found, "/preferredVersion/groupVersion"))).filter(|path| path != "/apis/")
}

fn kueue(needs: &Needs<'_>, facts: &dyn Facts, queue: &str, report: &mut Report) {
    let namespace = &needs.target.namespace;
    let Some(api) = preferred(facts, "kueue.x-k8s.io") else {
        let seen = format!("the target names the Kueue queue `{queue}`, but the cluster has no Kueue");
        return report.error(CHECK, seen, "install Kueue, or remove `queue` from the target");
    };
    let all = format!("{api}/namespaces/{namespace}/localqueues");
    let found = match facts.read(&format!("{all}/{queue}")) {
        Fact::There(found) => found,
        Fact::Absent => {
            let names = match facts.read(&all) {
                Fact::There(list) => quoted(names_of(&list)),
                Fact::Absent | Fact::Forbidden(_) => String::new(),
            };
            let there = if names.is_empty() {
                "create one, or remove `queue` from the target".to_owned()
            } else {
                format!("existing LocalQueues: {names}")
            };
            return report.error(
                CHECK,
                format!("there is no LocalQueue `{queue}` in `{namespace}`: jobs stay suspended"),
                there,
            );
        }
        Fact::Forbidden(why) => return report.unknown(CHECK, &format!("the LocalQueue `{queue}`"), &why),
    };
    if let Some(why) = inactive(&found) {
        return report.error(CHECK, format!("the LocalQueue `{queue}` is not active: {why}"), ASK_ADMIN);
    }
    let stop = text_at(&found, "/spec/stopPolicy");
    if !stop.is_empty() && stop != "None" {
        return report.warning(
            CHECK,
            format!("the LocalQueue `{queue}` is stopped (`stopPolicy: {stop}`)"),
            "its jobs wait until it is resumed",
        );
    }
    let cluster_queue = text_at(&found, "/spec/clusterQueue");
    match facts.read(&format!("{api}/clusterqueues/{cluster_queue}")) {
        Fact::Absent => {
            report.error(
                CHECK,
                format!("there is no ClusterQueue `{cluster_queue}`, which `{queue}` feeds"),
                ASK_ADMIN,
            );
        }
        Fact::There(found) => match inactive(&found) {
            Some(why) => {
                report.error(CHECK, format!("the ClusterQueue `{cluster_queue}` is not active: {why}"), ASK_ADMIN);
            }
            None => quota(needs, &found, cluster_queue, report),
        },
        Fact::Forbidden(_) => {
            report.ok(CHECK, format!("the LocalQueue `{queue}` is active (you may not read its ClusterQueue)"));
        }
    }
}

fn inactive(queue: &Json) -> Option<&str> {
    let active = elements(queue, "/status/conditions").find(|condition| text_at(condition, "/type") == "Active")?;
    (text_at(active, "/status") == "False").then(|| text_at(active, "/message"))
}

/// A resource that no flavor covers is never admitted.
fn quota(needs: &Needs<'_>, queue: &Json, name: &str, report: &mut Report) {
    let covered: Vec<&str> = elements(queue, "/spec/resourceGroups")
        .flat_map(|group| elements(group, "/coveredResources"))
        .filter_map(Json::as_str)
        .collect();
    let runs = needs.pods.iter().filter(|pod| !pod.benchmark.is_empty());
    let asked: std::collections::BTreeSet<String> = runs.flat_map(|pod| pod.requests().into_keys()).collect();
    let missing: Vec<&str> = asked.iter().map(String::as_str).filter(|name| !covered.contains(name)).collect();
    if covered.is_empty() || missing.is_empty() {
        return report.ok(CHECK, format!("the queue feeds the active ClusterQueue `{name}`"));
    }
    let seen = format!("the ClusterQueue `{name}` has no quota of {}, which runs ask for", quoted(missing));
    report.warning(
        CHECK,
        seen,
        "their jobs stay suspended unless Kueue is configured to ignore the resource: ask the admin of Kueue",
    );
}

fn volcano(facts: &dyn Facts, queue: &str, report: &mut Report) {
    let Some(api) = preferred(facts, "scheduling.volcano.sh") else {
        let seen = format!("the target names the Volcano queue `{queue}`, but the cluster has no Volcano");
        return report.error(CHECK, seen, "install Volcano, or remove `queue` from the target");
    };
    match facts.read(&format!("{api}/queues/{queue}")) {
        Fact::There(found) => {
            let state = text_at(&found, "/status/state");
            if state.is_empty() || state == "Open" {
                report.ok(CHECK, format!("the Volcano queue `{queue}` is open"));
            } else {
                report.error(
                    CHECK,
                    format!("the Volcano queue `{queue}` is {state}"),
                    "pods of its jobs stay Pending until it is open",
                );
            }
        }
        Fact::Absent => report.error(
            CHECK,
            format!("there is no Volcano queue `{queue}`"),
            "create it, or correct `queue` of the target: pods stay Pending",
        ),
        Fact::Forbidden(why) => report.unknown(CHECK, &format!("the Volcano queue `{queue}`"), &why),
    }
}

/// Kueue puts jobs without a queue's name into the LocalQueue `default`, if the namespace has one.
fn unnamed(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    let Some(api) = preferred(facts, "kueue.x-k8s.io") else { return };
    let path = format!("{api}/namespaces/{}/localqueues/default", needs.target.namespace);
    if let Fact::There(_) = facts.read(&path) {
        let seen = "the namespace has a LocalQueue `default`, which takes jobs that name no queue";
        report.warning(
            CHECK,
            seen,
            "write `queue: {kueue: default}` for the target and compile: runs wait in that queue, and results do not \
             show it",
        );
    }
}
