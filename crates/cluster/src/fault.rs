//! Why the API server did not do what it was asked, in people's words.

use std::error::Error;
use std::fmt;
use std::process::Output;

use kube::Error as KubeError;
use kube::client::AuthError;
use kube::config::KubeconfigError;
use kube::core::Status;

/// Why a call came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The API server answered, and it was no.
    Refused(Refusal),
    /// There was no answer within the patience; the text says who was asked, what for, and what came instead.
    Unreachable(String),
    /// The call was asked to stop before it had an answer.
    Stopped,
}

/// What the API server said when it refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status; 0 when the request was not even sent.
    pub code: u16,
    /// `Forbidden`, `Invalid`, …; empty when the answer had none.
    pub reason: String,
    /// The words for people, whole: denials of webhooks and quotas explain themselves here.
    pub message: String,
    /// What was asked: ``create Job `x` in namespace `y` ``.
    pub asked: String,
}

impl Fault {
    /// A request that cannot be sent.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::Refused(Refusal { reason: "Invalid".to_owned(), message: message.into(), ..Refusal::default() })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Unreachable(why) => f.write_str(why),
            Self::Stopped => f.write_str("stopped before the API server answered"),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.asked.is_empty(), self.code) {
            (true, _) => f.write_str(&self.message),
            (false, 0) => write!(f, "cannot {}: {}", self.asked, self.message),
            (false, code) => write!(f, "the API server refused to {} ({code}): {}", self.asked, self.message),
        }
    }
}

impl Error for Fault {}

impl Error for Refusal {}

/// What an error and its causes say, without what they repeat.
pub(super) fn words(error: &(dyn Error + 'static)) -> String {
    let mut said: Vec<String> = Vec::new();
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = next {
        let raw = error.to_string();
        // Many wrappers quote their cause at the end.
        if let Some(last) = said.last_mut()
            && let Some(own) = last.strip_suffix(raw.as_str())
        {
            *last = own.trim_end_matches([':', ' ']).to_owned();
        }
        if let Some(KubeError::Api(status)) = error.downcast_ref() {
            said.push(refused(status));
            break;
        }
        if let Some(KubeconfigError::Parse(fault)) = error.downcast_ref() {
            // The whole of it shows lines of the file, which may hold a token.
            let at = fault.location().map(|at| format!(": line {}, column {}", at.line(), at.column()));
            said.push(format!("it is not a kubeconfig{}", at.unwrap_or_default()));
            break;
        }
        said.push(match error.downcast_ref() {
            Some(AuthError::AuthExecRun { out, .. }) => login(out),
            _ => raw,
        });
        next = error.source();
    }
    said.retain(|text| !text.is_empty() && !WRAPPERS.contains(&text.as_str()));
    said.dedup();
    said.join(": ")
}

/// The API server's words.
fn refused(status: &Status) -> String {
    if status.message.is_empty() {
        format!("status {}", status.code)
    } else {
        format!("{} ({})", status.message, status.code)
    }
}

/// How a program that logs in failed, without its output, which may hold a token.
fn login(out: &Output) -> String {
    let reported = String::from_utf8_lossy(&out.stderr);
    let reported = reported.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it gave no reason");
    format!("the credential plugin of the kubeconfig failed with {}: {}", out.status, reported.trim())
}

/// Layers of the client that mean nothing to people.
const WRAPPERS: [&str; 10] = [
    "failed to perform initial object list",
    "failed to start watching object",
    "ServiceError",
    "HyperError",
    "ApiError",
    "client error (Connect)",
    "client error (SendRequest)",
    "tcp connect error",
    "Error reading events stream",
    "error trying to connect",
];
