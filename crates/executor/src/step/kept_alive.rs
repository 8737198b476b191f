//! Pods whose work is done, and that a container keeps running which the benchmark does not have: usually an injected proxy.
//!
//! Kubernetes counts such a pod as one that runs, so that the run would end by its timeout.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::observations::Sight;
use crate::observe::Progress;
use kubebench_compiler::workload::is_composed;
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::StatusReason;

/// How long such a container may take to end by itself.
const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 0 } else { 60 });

/// Watches for pods that are kept running.
#[derive(Debug, Default)]
pub(super) struct KeptAlive {
    /// The names of the containers that the created objects have; none where no pod is to end.
    own: Option<BTreeSet<String>>,
    since: Option<Instant>,
}

impl KeptAlive {
    /// Takes the containers of `objects` for those of the benchmark.
    pub(super) fn beside<'a>(objects: impl IntoIterator<Item = &'a Json>) -> Self {
        let mut own = BTreeSet::new();
        objects.into_iter().for_each(|object| add_containers(object, &mut own));
        Self { own: Some(own), since: None }
    }

    /// Returns why the run has ended, once all replicas that decide have done their work and a pod has been kept running for long
    /// enough.
    pub(super) fn reason(&mut self, progress: &Progress, sight: &Sight) -> Option<StatusReason> {
        let found = if is_composed(sight.job()) { None } else { self.found(progress, sight) };
        let Some((replica, container, code)) = found else {
            self.since = None;
            return None;
        };
        let since = *self.since.get_or_insert_with(Instant::now);
        (since.elapsed() >= PATIENCE).then(|| StatusReason {
            code: ReasonCode::KeptRunning,
            message: format!(
                "{replica}: its work ended with exit code {code}, but the container `{container}`, which is not part \
                 of the benchmark, kept the pod running for {} s; exclude these pods from the injection: `kubebench \
                 doctor` shows what the namespace injects",
                PATIENCE.as_secs()
            ),
        })
    }

    /// Returns a replica whose pod is kept running, by which container, and how its work ended.
    fn found(&self, progress: &Progress, sight: &Sight) -> Option<(String, String, i32)> {
        let own = self.own.as_ref()?;
        let mut deciding = progress.replicas.iter().filter(|replica| replica.decides).peekable();
        deciding.peek()?;
        if deciding.any(|replica| !replica.pod.is_over()) {
            return None;
        }
        progress.replicas.iter().filter(|replica| replica.decides && !replica.is_gone).find_map(|replica| {
            let end = replica.pod.end.as_ref()?;
            let statuses = sight.pod(&replica.pod.uid)?.status.as_ref()?.container_statuses.as_deref()?;
            let mut running =
                statuses.iter().filter(|status| status.state.as_ref().is_some_and(|state| state.running.is_some()));
            let stranger = running.find(|status| !own.contains(&status.name))?;
            Some((format!("{}-{}", replica.role, replica.index), stranger.name.clone(), end.code))
        })
    }
}

fn add_containers(value: &Json, own: &mut BTreeSet<String>) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| add_containers(item, own)),
        Json::Object(fields) => {
            for list in ["containers", "initContainers", "sidecars"] {
                let containers = fields.get(list).and_then(Json::as_array).into_iter().flatten();
                let names = containers.filter_map(|container| container.get("name")?.as_str());
                own.extend(names.map(str::to_owned));
            }
            fields.values().for_each(|value| add_containers(value, own));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::super::observations::{From, Sight};
    use super::KeptAlive;
    use kubebench_cluster::Seen;

    fn job() -> Json {
        let template = json!({"spec": {"containers": [{"name": "main"}, {"name": "uploader"}]}});
        json!({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x-1", "uid": "u"},
            "spec": {"parallelism": 1, "template": template},
        })
    }

    /// What is said of a pod whose containers are in these states: an exit code, or none while one runs.
    fn said(containers: &[(&str, Option<i32>)]) -> Option<String> {
        let mut sight = Sight::of(job());
        let status = |(name, code): &(&str, Option<i32>)| {
            let state = code.map_or_else(
                || json!({"running": {"startedAt": "2026-11-22T01:00:00Z"}}),
                |code| json!({"terminated": {"exitCode": code, "startedAt": "2026-11-22T01:00:00Z", "finishedAt": "2026-11-22T01:00:10Z"}}),
            );
            json!({"name": name, "image": "i", "imageID": "", "ready": true, "restartCount": 0, "state": state})
        };
        let statuses: Vec<Json> = containers.iter().map(status).collect();
        let specs: Vec<Json> = containers.iter().map(|(name, _)| json!({"name": name})).collect();
        let pod = json!({
            "metadata": {"name": "x-1-abcde", "uid": "p", "labels": {"kubebench.dev/role": "job"}, "creationTimestamp": "2026-11-22T01:00:00Z"},
            "spec": {"restartPolicy": "Never", "nodeName": "n", "containers": specs},
            "status": {"phase": "Running", "containerStatuses": statuses},
        });
        sight.take(From::Pods, Seen::Applied(pod));
        let progress = sight.sum();
        KeptAlive::beside([&job()]).reason(&progress, &sight).map(|reason| reason.message)
    }

    #[test]
    fn a_stranger_that_outlives_the_work_is_named() {
        let message = said(&[("main", Some(0)), ("uploader", Some(0)), ("istio-proxy", None)]).unwrap();
        assert!(
            message.starts_with("job-0: its work ended with exit code 0, but the container `istio-proxy`, "),
            "{message}"
        );
        assert_eq!(said(&[("main", Some(0)), ("uploader", None)]), None);
        assert_eq!(said(&[("main", None), ("istio-proxy", None)]), None);
        assert_eq!(said(&[("main", Some(0)), ("istio-proxy", Some(0))]), None);
    }
}
