//! Reads addresses: Prometheus, and texts of metrics.

use kubebench_syntax::invariant::Invariant as _;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

/// An answer that is larger is refused.
const LIMIT: u64 = 64 << 20;

/// Returns the text behind `url`.
///
/// # Errors
/// Why there is none, without the address: it may hold a credential.
pub fn get(url: &str) -> Result<String, String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(Duration::from_mins(1)))
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

/// How long one answer of a server may take.
const ANSWER: Duration = Duration::from_secs(5);

/// Asks a server of the cluster whether it is ready: with `url`, and a header by name and value. Nothing secret is sent, so
/// nobody has to prove who they are, and no proxy stands between.
///
/// # Errors
/// What came instead of success.
pub fn probe(url: &str, header: Option<(&str, &str)>) -> Result<(), String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(ANSWER))
        .http_status_as_error(false)
        .proxy(None)
        .tls_config(ureq::tls::TlsConfig::builder().disable_verification(true).build())
        .build()
        .into();
    let mut request = agent.get(url);
    if let Some((name, value)) = header {
        request = request.header(name, value);
    }
    let answer = request.call().map_err(|error| format!("{url}: {error}"))?;
    let status = answer.status();
    if status.is_success() { Ok(()) } else { Err(format!("{url} answered with status {status}")) }
}

/// Connects to the host and port of `address`.
///
/// # Errors
/// Why nobody takes the connection.
pub fn connect(address: &str) -> Result<(), String> {
    let (scheme, rest) = address.split_once("://").unwrap_or(("http", address));
    let host = rest.split('/').next().expected("a first part of every split");
    let port = if scheme == "https" { 443 } else { 80 };
    let place = if host.contains(':') { host.to_owned() } else { format!("{host}:{port}") };
    let places = place.to_socket_addrs().map_err(|error| format!("{place}: {error}"))?;
    let mut why = format!("{place} has no address");
    for place in places {
        match TcpStream::connect_timeout(&place, ANSWER) {
            Ok(_) => return Ok(()),
            Err(error) => why = format!("{place}: {error}"),
        }
    }
    Err(why)
}
