//! What is to be known of the containers of a pod to read their logs.

use k8s_openapi::api::core::v1::{ContainerStatus, Pod};

use super::pod::ServerTime;

/// One container of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Container {
    pub name: String,
    /// Whether it does the work of the pod.
    pub is_main: bool,
    /// How often it was restarted.
    pub restarts: u32,
    /// Whether it has run, so that there may be a log.
    pub has_started: bool,
    /// Whether it has ended and is not started again.
    pub has_ended: bool,
}

/// Returns the containers of `pod`, those that prepare it too; the work is done by the one called `main`, or by the first.
pub(crate) fn containers(pod: &Pod, main: &str) -> Vec<Container> {
    let Some(spec) = &pod.spec else { return Vec::new() };
    let status = pod.status.as_ref();
    let is_over = matches!(status.and_then(|status| status.phase.as_deref()), Some("Succeeded" | "Failed"));
    let is_going = pod.metadata.deletion_timestamp.is_some();
    let pod_policy = spec.restart_policy.as_deref().unwrap_or("Always");
    let has_main = spec.containers.iter().any(|container| container.name == main);
    let read = |name: &str, policy: &str, is_main: bool, statuses: Option<&Vec<ContainerStatus>>| {
        let status = statuses.into_iter().flatten().find(|status| status.name == name);
        let exit = status.and_then(|status| status.state.as_ref()?.terminated.as_ref()).map(|end| end.exit_code);
        let is_final = |code: i32| is_going || policy == "Never" || policy == "OnFailure" && code == 0;
        Container {
            name: name.to_owned(),
            is_main,
            restarts: status.map_or(0, |status| u32::try_from(status.restart_count).unwrap_or(0)),
            has_started: status.is_some_and(has_started),
            has_ended: is_over || exit.is_some_and(is_final),
        }
    };
    let init = spec.init_containers.iter().flatten().map(|container| {
        // One that prepares the pod is started again until it succeeds, unless the pod is not; a sidecar always.
        let policy = match container.restart_policy.as_deref() {
            Some("Always") => "Always",
            _ if pod_policy == "Never" => "Never",
            _ => "OnFailure",
        };
        read(&container.name, policy, false, status.and_then(|status| status.init_container_statuses.as_ref()))
    });
    let working = spec.containers.iter().enumerate().map(|(number, container)| {
        let is_main = if has_main { container.name == main } else { number == 0 };
        let policy = container.restart_policy.as_deref().unwrap_or(pod_policy);
        read(&container.name, policy, is_main, status.and_then(|status| status.container_statuses.as_ref()))
    });
    init.chain(working).collect()
}

/// Returns when a pod was created, in milliseconds of the API server's clock; 0 if it does not say.
pub(crate) fn created(pod: &Pod) -> i64 {
    pod.metadata.creation_timestamp.as_ref().map_or(0, |time| ServerTime::of(time).0)
}

fn has_started(status: &ContainerStatus) -> bool {
    let state = status.state.as_ref();
    let last = status.last_state.as_ref();
    state.is_some_and(|state| state.running.is_some() || state.terminated.is_some())
        || last.is_some_and(|state| state.terminated.is_some())
        || status.restart_count > 0
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Container, containers};

    fn read(pod: Value) -> Vec<Container> {
        containers(&serde_json::from_value(pod).unwrap(), "main")
    }

    fn pod(policy: &str, phase: &str, state: &Value, restarts: u32) -> Value {
        let status = |name: &str, state: &Value| json!({"name": name, "restartCount": restarts, "ready": true, "image": "", "imageID": "", "state": state});
        json!({
            "metadata": {},
            "spec": {
                "restartPolicy": policy,
                "initContainers": [{"name": "first"}, {"name": "proxy", "restartPolicy": "Always"}],
                "containers": [{"name": "side"}, {"name": "main"}],
            },
            "status": {
                "phase": phase,
                "initContainerStatuses": [status("first", state), status("proxy", state)],
                "containerStatuses": [status("side", state), status("main", state)],
            },
        })
    }

    fn ended(pod: Value) -> String {
        let names = read(pod).into_iter().filter(|container| container.has_ended).map(|container| container.name);
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn an_end_is_for_good_when_nothing_starts_the_container_again() {
        let exit = |code: i32| json!({"terminated": {"exitCode": code}});
        assert_eq!(ended(pod("OnFailure", "Running", &json!({"running": {}}), 0)), "");
        assert_eq!(ended(pod("OnFailure", "Running", &exit(0), 0)), "first side main");
        assert_eq!(ended(pod("OnFailure", "Running", &exit(1), 0)), "");
        assert_eq!(ended(pod("Always", "Running", &exit(0), 0)), "first");
        assert_eq!(ended(pod("Never", "Running", &exit(1), 0)), "first side main");
        assert_eq!(ended(pod("OnFailure", "Failed", &exit(1), 0)), "first proxy side main");
        let mut going = pod("Always", "Running", &exit(1), 0);
        going["metadata"]["deletionTimestamp"] = json!("2026-11-21T21:47:16Z");
        assert_eq!(ended(going), "first proxy side main");
    }

    #[test]
    fn the_container_that_does_the_work_is_the_one_of_the_kind_or_the_first() {
        let main = |pod: Value| {
            let found: Vec<Container> = read(pod).into_iter().filter(|container| container.is_main).collect();
            assert_eq!(found.len(), 1);
            found[0].name.clone()
        };
        let mut known = pod("Never", "Running", &json!({"running": {}}), 0);
        assert_eq!(main(known.clone()), "main");
        known["spec"]["containers"][1]["name"] = json!("other");
        assert_eq!(main(known), "side");
    }

    #[test]
    fn one_that_waits_to_be_started_again_has_run() {
        let started = |pod: Value| read(pod).iter().all(|container| container.has_started);
        let waits = json!({"waiting": {"reason": "CrashLoopBackOff"}});
        assert!(!started(pod("OnFailure", "Pending", &waits, 0)));
        assert!(started(pod("OnFailure", "Running", &waits, 3)));
        assert_eq!(read(json!({"metadata": {}})), []);
        assert!(!started(json!({"metadata": {}, "spec": {"containers": [{"name": "main"}]}})));
    }
}
