//! Where the time of a run went, with no duration that is a difference of two clocks.
//!
//! Every node's clock is first compared with the API server's: a kubelet takes a pod just after it was bound, so the later of the
//! two differences over the pods of a node shows how far its clock is off. Durations on one node remain differences of that
//! node's clock. Kubernetes writes whole seconds, so each figure is right to about a second.

use std::collections::BTreeMap;

use super::pod::{NodeTime, PodFacts, ServerTime};
use kubebench_format::result::v1::Timings;

/// After how many milliseconds a kubelet takes a pod that was bound to its node at the latest: on a loaded node it may take
/// many seconds.
const SLOWEST_KUBELET: i64 = 30_000;

/// How far each node's clock is behind the API server's, in milliseconds.
pub(super) struct Clocks(BTreeMap<String, i64>);

impl Clocks {
    /// Reads the clocks of all nodes from what their kubelets wrote into `pods`.
    pub(super) fn of(pods: &[&PodFacts]) -> Self {
        let mut offsets: BTreeMap<String, i64> = BTreeMap::new();
        for pod in pods {
            if let (Some(node), Some(ServerTime(scheduled)), Some(NodeTime(accepted))) =
                (&pod.node, pod.scheduled, pod.accepted)
            {
                let offset = scheduled.saturating_sub(accepted);
                offsets.entry(node.clone()).and_modify(|known| *known = offset.max(*known)).or_insert(offset);
            }
        }
        // A kubelet that took the pod late explains this as well as a clock that is fast.
        offsets.values_mut().filter(|offset| (-SLOWEST_KUBELET..=0).contains(*offset)).for_each(|offset| *offset = 0);
        Self(offsets)
    }

    /// Returns a moment of `pod`'s node as the API server's clock would have shown it.
    pub(super) fn on_server(&self, pod: &PodFacts, time: NodeTime) -> Option<ServerTime> {
        let offset = self.0.get(pod.node.as_ref()?)?;
        Some(ServerTime(time.0.saturating_add(*offset)))
    }
}

/// What a timeline is drawn from.
pub(super) struct Span<'a> {
    /// When the job was created.
    pub(super) created: Option<ServerTime>,
    /// Every pod that the run had, those that were replaced too.
    pub(super) pods: &'a [&'a PodFacts],
    /// Those whose end is the end of the run.
    pub(super) counting: &'a [&'a PodFacts],
    /// How many pods the job asks for.
    pub(super) wanted: usize,
}

/// Returns the timings that are known; what is not is left out rather than guessed.
pub(super) fn timings(span: &Span<'_>, clocks: &Clocks) -> Timings {
    // Later pods of a Job with more completions than parallelism wait by design.
    let mut first_pods = span.pods.to_vec();
    first_pods.sort_by_key(|pod| (pod.scheduled.is_none(), pod.scheduled));
    first_pods.truncate(span.wanted.max(1));
    let is_whole = !first_pods.is_empty() && first_pods.len() >= span.wanted;
    let scheduled = last(&first_pods, |pod| pod.scheduled).filter(|_| is_whole);
    let start = |pod: &PodFacts| clocks.on_server(pod, pod.started?);
    let end = |pod: &PodFacts| clocks.on_server(pod, pod.ended?);
    let all_started = last(&first_pods, start).filter(|_| is_whole);
    let first_started = span.pods.iter().filter_map(|pod| start(pod)).min();
    let all_ended = last(span.counting, end);
    Timings {
        queue_seconds: seconds(span.created, scheduled),
        startup_seconds: seconds(scheduled, all_started),
        run_seconds: seconds(first_started, all_ended),
        // Only a request to the server shows when it answers.
        ready_seconds: None,
    }
}

/// Returns the last of the times, if all are known and there is any.
fn last(pods: &[&PodFacts], time: impl Fn(&PodFacts) -> Option<ServerTime>) -> Option<ServerTime> {
    let times: Option<Vec<ServerTime>> = pods.iter().map(|pod| time(pod)).collect();
    times?.into_iter().max()
}

fn seconds(from: Option<ServerTime>, to: Option<ServerTime>) -> Option<f64> {
    let milliseconds = to?.0.saturating_sub(from?.0).max(0);
    Some(milliseconds as f64 / 1000.0)
}

#[cfg(test)]
mod tests;
