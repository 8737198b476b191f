//! What is there, by the run that it is of: with thousands of pods no run can look at those of all the others.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{Namespace, label, text_at};
use crate::observe::{Event, Pod};
use kubebench_contract::{Run, labels};

/// The jobs of runs, and what is of each.
pub(super) struct ByRun<'a> {
    /// By benchmark, case, repeat and warm-up as their labels say them.
    jobs: BTreeMap<[&'a str; 4], Vec<&'a Json>>,
    /// By the name of the job.
    pods: BTreeMap<&'a str, Vec<Pod>>,
    events: BTreeMap<&'a str, Vec<Event>>,
}

impl<'a> ByRun<'a> {
    /// Sorts what was read of a namespace.
    pub(super) fn of(seen: &'a Namespace) -> Self {
        let mut found = Self { jobs: BTreeMap::new(), pods: BTreeMap::new(), events: BTreeMap::new() };
        // The postprocess Job has the labels of the run, and a name of its own.
        for job in seen.jobs.iter().filter(|job| label(job, labels::RUN) == text_at(job, "/metadata/name")) {
            let round = [labels::BENCHMARK, labels::CASE, labels::REPEAT, labels::WARMUP].map(|name| label(job, name));
            found.jobs.entry(round).or_default().push(job);
            let name = text_at(job, "/metadata/name");
            found.pods.insert(name, Vec::new());
            found.events.insert(name, Vec::new());
        }
        for pod in &seen.pods {
            let run = pod.metadata.labels.as_ref().and_then(|labels| labels.get(labels::RUN));
            if let Some(pods) = run.and_then(|run| found.pods.get_mut(run.as_str())) {
                pods.push(pod.clone());
            }
        }
        for event in &seen.events {
            let about = event.involved_object.name.as_deref().unwrap_or_default();
            // What is made for a job bears its name and more behind a hyphen.
            let ends = about.match_indices('-').map(|(at, _)| at).chain([about.len()]);
            for name in ends.filter_map(|end| about.get(..end)) {
                if let Some(events) = found.events.get_mut(name) {
                    events.push(event.clone());
                }
            }
        }
        found
    }

    /// Returns the jobs of a run of `benchmark` in a Workflow, the last attempt as the last one.
    pub(super) fn jobs(&self, workflow: &str, benchmark: &str, run: &Run) -> Vec<&'a Json> {
        let is_own = |job: &&Json| is_of(job, workflow);
        let round = [benchmark, run.case.as_str(), &run.repeat.to_string(), &run.warmup.to_string()];
        let all = self.jobs.get(&round).into_iter().flatten();
        let mut jobs: Vec<&Json> = all.copied().filter(is_own).collect();
        jobs.sort_by_key(|job| label(job, labels::ATTEMPT).parse::<u32>().unwrap_or(0));
        jobs
    }

    /// Returns the server of `benchmark` called `name` that a Workflow has started, for any run that loads it.
    pub(super) fn server(&self, workflow: &str, benchmark: &str, name: &str) -> Option<&'a Json> {
        let is_own = |server: &&&Json| is_of(server, workflow) && label(server, labels::RUN) == name;
        self.jobs.get(&[benchmark, "", "1", "false"])?.iter().find(is_own).copied()
    }

    /// Returns the pods and the events of a job.
    pub(super) fn about(&self, job: &Json) -> (&[Pod], &[Event]) {
        let name = text_at(job, "/metadata/name");
        let pods = self.pods.get(name).map(Vec::as_slice).unwrap_or_default();
        (pods, self.events.get(name).map(Vec::as_slice).unwrap_or_default())
    }
}

/// Returns whether the Workflow with this uid owns `job`.
fn is_of(job: &Json, workflow: &str) -> bool {
    let owners = job.pointer("/metadata/ownerReferences").and_then(Json::as_array).into_iter().flatten();
    owners.into_iter().any(|owner| text_at(owner, "/uid") == workflow)
}
