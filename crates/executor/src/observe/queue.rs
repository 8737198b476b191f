//! What Kueue says of a job that it holds back or has taken back: the conditions of its Workload.

use serde_json::Value as Json;

use super::why::sentence;
use kubebench_compiler::workload::condition_of;
use kubebench_contract::text_at;

/// Returns why the job is not admitted yet.
pub(super) fn held(workload: &Json) -> Option<String> {
    // Without the quota nothing else is looked at; with it, checks may still be open.
    said(workload, "QuotaReserved", "False").or_else(|| said(workload, "Admitted", "False"))
}

/// Returns why the job was taken back.
pub(super) fn evicted(workload: &Json) -> Option<String> {
    said(workload, "Evicted", "True")
}

fn said(workload: &Json, wanted: &str, status: &str) -> Option<String> {
    let message =
        Some(text_at(condition_of(workload, wanted, status)?, "/message")).filter(|message| !message.is_empty())?;
    Some(sentence(message))
}
