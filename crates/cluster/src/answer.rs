//! What the API server answered, and whether the same request can have another answer later.

use std::time::Duration;

use serde_json::Value as Json;
use tokio::time::Instant;

use super::fault::{Fault, Refusal};
use super::purpose::Purpose;

/// The longest time for which an answer of little hope is asked for again.
const DOUBT: Duration = Duration::from_secs(30);

/// What the API server answered.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    code: u16,
    retry_after: Option<Duration>,
    body: Vec<u8>,
}

impl Answer {
    pub(super) fn new(code: u16, retry_after: Option<u64>, body: Vec<u8>) -> Self {
        Self { code, retry_after: retry_after.map(Duration::from_secs), body }
    }

    pub(super) fn code(&self) -> u16 {
        self.code
    }

    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// The pause that the answer asks for.
    pub(super) fn retry_after(&self) -> Duration {
        self.retry_after.unwrap_or_default()
    }

    /// The API server's own account of a refusal; another server on the way has none.
    fn status(&self) -> Option<Json> {
        let status: Json = serde_json::from_slice(&self.body).ok()?;
        (status.get("kind").and_then(Json::as_str) == Some("Status")).then_some(status)
    }

    /// Whether the API server itself gives this reason.
    pub(super) fn says(&self, reason: &str) -> bool {
        self.status().is_some_and(|status| status.get("reason").and_then(Json::as_str) == Some(reason))
    }

    pub(super) fn json(&self, purpose: &Purpose) -> Result<Json, Fault> {
        serde_json::from_slice(&self.body).map_err(|error| {
            let message = format!("the answer is not JSON: {error}");
            let asked = purpose.0.clone();
            Fault::Refused(Refusal { code: self.code, reason: String::new(), message, asked })
        })
    }

    pub(super) fn refusal(&self, purpose: &Purpose) -> Fault {
        let status = self.status().unwrap_or_default();
        let text = |key| status.get(key).and_then(Json::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
        let message = text("message").unwrap_or_else(|| {
            let body: String = String::from_utf8_lossy(&self.body).trim().chars().take(1000).collect();
            if body.is_empty() { format!("an empty answer with status {}", self.code) } else { body }
        });
        Fault::Refused(Refusal {
            code: self.code,
            reason: text("reason").unwrap_or_default(),
            message,
            asked: purpose.0.clone(),
        })
    }

    /// For how much of the patience the same request can have another answer later.
    pub(super) fn hope(&self) -> Hope {
        let status = self.status().unwrap_or_default();
        let text = |key| status.get(key).and_then(Json::as_str).unwrap_or_default();
        hope(self.code, text("reason"), text("message"))
    }

    /// A refusal because an object with another uid is there.
    pub(super) fn is_other(&self) -> bool {
        self.says("Conflict") && self.status().is_some_and(|status| is_about_uid(&status.to_string()))
    }
}

/// How long it is worth to send a request again that was answered like this.
pub(super) fn hope(code: u16, reason: &str, message: &str) -> Hope {
    match code {
        408 | 429 | 500..=599 => Hope::All,
        // Two writers of a quota met.
        409 if reason == "Conflict" && !is_about_uid(message) => Hope::All,
        // An API server that has just started does not know all accounts and roles yet. What a quota, a webhook or a
        // policy forbids stays forbidden.
        401 => Hope::Some,
        403 if reason == "Forbidden" && message.contains("User \"") && message.contains(" cannot ") => Hope::Some,
        _ => Hope::None,
    }
}

fn is_about_uid(message: &str) -> bool {
    message.contains("Precondition failed: UID")
}

/// How long it is worth to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hope {
    /// It is not: the answer is final.
    None,
    /// For a part of the patience.
    Some,
    /// For all of it.
    All,
}

impl Hope {
    /// How long to continue after this answer of a call that began at `start`.
    pub(super) fn left(self, patience: Duration, start: Instant, doubtful: &mut Option<Instant>) -> Duration {
        let all = patience.saturating_sub(start.elapsed());
        match self {
            Self::None => Duration::ZERO,
            Self::Some => {
                let since = *doubtful.get_or_insert_with(Instant::now);
                (patience / 10).min(DOUBT).saturating_sub(since.elapsed()).min(all)
            }
            Self::All => {
                *doubtful = None;
                all
            }
        }
    }
}
