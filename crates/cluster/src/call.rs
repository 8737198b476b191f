//! One call: tried again while that can help, within the patience of whoever asks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kube::{Client, Error};
use serde_json::Value as Json;
use tokio::time::{Instant, sleep, timeout};

use super::ask::{Ask, Purpose};
use super::connect::Connection;
use super::fault::{Fault, Refusal, words};

/// How long a reading request may take. The API server's own limit is 60 seconds.
pub(super) const READ: Duration = Duration::from_secs(30);

/// How long a writing request may take, with all its admission webhooks.
const WRITE: Duration = Duration::from_secs(65);

/// How long a request may take once the call was told to stop.
const LAST: Duration = Duration::from_secs(5);

/// The longest time for which an answer of little hope is asked for again.
const DOUBT: Duration = Duration::from_secs(30);

/// The longest pause that an answer may ask for.
const RETRY_AFTER: Duration = Duration::from_mins(1);

/// The pause after the first failure, and the longest one.
const PAUSES: (Duration, Duration) = if cfg!(test) {
    (Duration::from_millis(25), Duration::from_secs(1))
} else {
    (Duration::from_millis(250), Duration::from_secs(10))
};

/// How often somebody looks whether to stop.
const GLANCE: Duration = Duration::from_millis(50);

/// How long a call goes on.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) patience: Duration,
    pub(super) stop: Arc<AtomicBool>,
}

impl Rules {
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Waits, unless told to stop.
    pub(super) async fn pause(&self, wait: Duration) {
        let end = Instant::now() + wait;
        while !self.is_stopped() && Instant::now() < end {
            sleep(GLANCE.min(end.saturating_duration_since(Instant::now()))).await;
        }
    }

    /// Ends some time after the call was told to stop.
    async fn overstayed(&self) {
        while !self.is_stopped() {
            sleep(GLANCE).await;
        }
        sleep(LAST).await;
    }
}

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
            let message = format!("the answer is no JSON: {error}");
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
    fn hope(&self) -> Hope {
        let status = self.status().unwrap_or_default();
        let text = |key| status.get(key).and_then(Json::as_str).unwrap_or_default();
        hope(self.code, text("reason"), text("message"))
    }

    /// A refusal because an object with another uid stands there.
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
    /// It is not: the answer stands.
    None,
    /// For a part of the patience.
    Some,
    /// For all of it.
    All,
}

impl Hope {
    /// How long to go on after this answer of a call that began at `start`.
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

/// What one try came to.
enum Try {
    Answered(Answer),
    Nobody(String),
    Never(String),
}

/// Sends a request until its answer stands, and returns that answer, a refusal too.
pub(super) fn call(connection: &Connection, rules: &Rules, ask: &Ask, purpose: &Purpose) -> Result<Answer, Fault> {
    let (client, address) = (connection.client(), connection.address().to_owned());
    let (rules, ask, purpose) = (rules.clone(), ask.clone(), purpose.clone());
    connection.wait_for(async move { answer(&client, &address, &rules, &ask, &purpose).await })?
}

async fn answer(client: &Client, address: &str, rules: &Rules, ask: &Ask, purpose: &Purpose) -> Result<Answer, Fault> {
    let start = Instant::now();
    let mut failures = 0;
    // Since when all answers were of little hope.
    let mut doubtful: Option<Instant> = None;
    loop {
        let left = rules.patience.saturating_sub(start.elapsed());
        let attempt = tokio::select! {
            attempt = one(client, ask, left) => attempt,
            () = rules.overstayed() => return Err(Fault::Stopped),
        };
        let hope = match &attempt {
            Try::Never(_) => Hope::None,
            Try::Nobody(_) => Hope::All,
            Try::Answered(answer) => answer.hope(),
        };
        let left = hope.left(rules.patience, start, &mut doubtful);
        if left.is_zero() || rules.is_stopped() {
            return match attempt {
                Try::Answered(answer) => Ok(answer),
                _ if rules.is_stopped() => Err(Fault::Stopped),
                Try::Never(why) => Err(Fault::Unreachable(format!("cannot ask {address} to {}: {why}", purpose.0))),
                Try::Nobody(why) => Err(Fault::Unreachable(format!(
                    "{address} did not answer the request to {}, tried {} for {} s: {why}",
                    purpose.0,
                    if failures == 0 { "once".to_owned() } else { format!("{} times", failures + 1) },
                    start.elapsed().as_secs()
                ))),
            };
        }
        let asked = match &attempt {
            Try::Answered(answer) => answer.retry_after.unwrap_or_default().min(RETRY_AFTER),
            _ => Duration::ZERO,
        };
        rules.pause(pause(failures).max(asked).min(left)).await;
        failures += 1;
    }
}

/// One try, within what is left of the patience, but never without a chance.
async fn one(client: &Client, ask: &Ask, left: Duration) -> Try {
    let limit = if ask.is_write() { WRITE } else { READ }.min(left.max(LAST));
    match timeout(limit, ask.send(client)).await {
        Err(_) => Try::Nobody(format!("no answer within {} s", limit.as_secs())),
        Ok(Ok(answer)) => Try::Answered(answer),
        Ok(Err(error)) if is_final(&error) => Try::Never(words(&error)),
        Ok(Err(error)) => Try::Nobody(words(&error)),
    }
}

/// Whether a request failed on this side, where nothing changes by itself.
pub(super) fn is_final(error: &Error) -> bool {
    matches!(error, Error::BuildRequest(_) | Error::Auth(_) | Error::HttpError(_))
}

/// How long to wait after the failure number `failures`, from 0: from a quarter of a second to ten, half of it by chance.
pub(super) fn pause(failures: u32) -> Duration {
    let (first, longest) = PAUSES;
    let ceiling = first.saturating_mul(1 << failures.min(6)).min(longest);
    // Without random numbers everybody waits the same.
    let chance = f64::from(getrandom::u32().unwrap_or(u32::MAX)) / f64::from(u32::MAX);
    ceiling.mul_f64(0.5 + chance / 2.0)
}
