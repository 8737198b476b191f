//! Whether a server is still what it was when it was started.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::super::session::{ClusterStep, is_leaving};
use super::kept::{Kept, Loaded};
use super::ready::{ANSWER, PAUSE};
use kubebench_cluster::Resource;
use kubebench_compiler::workload::{pod_sets, selector};
use kubebench_contract::{Server, text_at};
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::StatusReason;

impl ClusterStep {
    /// Returns whether the server that is kept is there, and, once it was ready, with the same pods, none of them restarted, and
    /// answers.
    pub(super) fn is_as_it_was(&mut self, kept: &Kept, server: &Server) -> bool {
        let Ok(Some(object)) = self.server_of(kept) else { return false };
        if is_leaving(&object) {
            return false;
        }
        let Some(up) = &kept.up else { return true };
        self.pods_of(&object).is_some_and(|pods| pods == up.pods) && self.answers(server, up, ANSWER).is_ok()
    }

    /// Returns how often each pod of a server was restarted.
    pub(super) fn pods_of(&self, object: &Json) -> Option<BTreeMap<String, i64>> {
        if pod_sets(object).is_empty() {
            return Some(BTreeMap::new());
        }
        let pods = self.cluster.list(&Resource::pods(), &self.namespace, &selector(object)).ok()?;
        // One that terminates, or was evicted, serves no requests any more.
        let serves = |pod: &&Json| !is_leaving(pod) && !matches!(text_at(pod, "/status/phase"), "Failed" | "Succeeded");
        Some(pods.iter().filter(serves).map(|pod| (text_at(pod, "/metadata/uid").to_owned(), restarts(pod))).collect())
    }

    /// Returns why what was measured is not of the server that was started, after a run; looks for `patience`.
    pub(in crate::step) fn changed(&mut self, loaded: &Loaded, patience: Duration) -> Option<StatusReason> {
        let since = Instant::now();
        loop {
            let reason = self.change_of(loaded);
            if reason.is_some() || since.elapsed() >= patience || self.is_to_end() {
                return reason;
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn change_of(&self, loaded: &Loaded) -> Option<StatusReason> {
        let kept = self.kept(&loaded.up.folder)?;
        let reason = |code: ReasonCode, message: String| Some(StatusReason { code, message });
        let object = match self.server_of(&kept) {
            Ok(Some(object)) if !is_leaving(&object) => object,
            Ok(_) => {
                return reason(
                    ReasonCode::ServerReplaced,
                    "the server was deleted while it was under load, by something other than Kubebench".to_owned(),
                );
            }
            Err(_) => return None,
        };
        let pods = self.pods_of(&object)?;
        if pods == loaded.up.pods {
            return None;
        }
        let restarted =
            pods.iter().filter(|(uid, count)| loaded.up.pods.get(*uid).is_some_and(|before| before < count));
        let replaced = loaded.up.pods.keys().filter(|uid| !pods.contains_key(*uid)).count();
        let restarted = restarted.count();
        let code = if restarted == 0 { ReasonCode::ServerReplaced } else { ReasonCode::ServerRestarted };
        reason(
            code,
            format!(
                "the server changed while it was under load: {restarted} of its pods were restarted and {replaced} \
                 replaced, so the measurement includes the failure"
            ),
        )
    }
}

fn restarts(pod: &Json) -> i64 {
    let statuses = pod.pointer("/status/containerStatuses").and_then(Json::as_array).into_iter().flatten();
    statuses.filter_map(|status| status.get("restartCount")?.as_i64()).sum()
}
