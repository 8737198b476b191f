//! One call: tried again while that can help, within the patience of the caller.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kube::{Client, Error};
use tokio::time::{Instant, sleep, timeout};

use super::answer::{Answer, Hope};
use super::ask::Ask;
use super::connect::Connection;
use super::fault::{Fault, words};
use super::purpose::Purpose;

/// How long a reading request may take. The API server's own limit is 60 seconds.
pub(super) const READ: Duration = Duration::from_secs(30);

/// How long a writing request may take, with all its admission webhooks.
const WRITE: Duration = Duration::from_secs(65);

/// How long a request may take once the call was asked to stop.
const LAST: Duration = Duration::from_secs(5);

/// The longest pause that an answer may ask for.
const RETRY_AFTER: Duration = Duration::from_mins(1);

/// The pause after the first failure, and the longest one.
const PAUSES: (Duration, Duration) = if cfg!(test) {
    (Duration::from_millis(25), Duration::from_secs(1))
} else {
    (Duration::from_millis(250), Duration::from_secs(10))
};

/// How often it is checked whether to stop.
const GLANCE: Duration = Duration::from_millis(50);

/// How long a call continues.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) patience: Duration,
    pub(super) stop: Arc<AtomicBool>,
}

impl Rules {
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Waits, unless asked to stop.
    pub(super) async fn pause(&self, wait: Duration) {
        let end = Instant::now() + wait;
        while !self.is_stopped() && Instant::now() < end {
            sleep(GLANCE.min(end.saturating_duration_since(Instant::now()))).await;
        }
    }

    /// Ends some time after the call was asked to stop.
    async fn overstayed(&self) {
        while !self.is_stopped() {
            sleep(GLANCE).await;
        }
        sleep(LAST).await;
    }
}

/// What one try came to.
enum Try {
    Answered(Answer),
    Nobody(String),
    Never(String),
}

/// Sends a request until its answer is final, and returns that answer, a refusal too.
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
                    "{address} did not answer the request to {} (tried {} in {} s): {why}",
                    purpose.0,
                    if failures == 0 { "once".to_owned() } else { format!("{} times", failures + 1) },
                    start.elapsed().as_secs()
                ))),
            };
        }
        let asked = match &attempt {
            Try::Answered(answer) => answer.retry_after().min(RETRY_AFTER),
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
