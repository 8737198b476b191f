//! Reads addresses: Prometheus, and texts of metrics.

use std::time::Duration;

/// An answer that is larger is refused.
const LIMIT: u64 = 64 << 20;

/// Returns the text behind `url`.
///
/// # Errors
/// Why there is none, without the address: it may hold a credential.
pub fn get(url: &str) -> Result<String, String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(Duration::from_secs(60)))
        .http_status_as_error(false)
        .build()
        .into();
    let mut answer = agent.get(url).call().map_err(|error| format!("the server did not answer: {error}"))?;
    let status = answer.status();
    let text = answer.body_mut().with_config().limit(LIMIT).read_to_string();
    let text = text.map_err(|error| format!("the answer cannot be read: {error}"))?;
    // Prometheus explains a refusal in JSON.
    if status.is_success() || text.starts_with("{\"status\":\"error\"") {
        Ok(text)
    } else {
        Err(format!("the server answered with status {status}"))
    }
}
