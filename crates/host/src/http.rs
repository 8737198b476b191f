//! Reads addresses: Prometheus, and texts of metrics.

use kubebench_syntax::invariant::Invariant as _;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::Path;
use std::time::Duration;

use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

/// An answer that is larger is refused.
const LIMIT: u64 = 64 << 20;

/// Returns the text behind `url`; servers of HTTPS are known by public authorities.
///
/// # Errors
/// Why there is none, without the address: it may hold a credential.
pub fn get(url: &str) -> Result<String, String> {
    get_by(url, RootCerts::WebPki, "in a cluster, name a private certificate authority with `results.ca`")
}

/// Returns the text behind `url`; servers of HTTPS are known by the authorities in `file` alone.
///
/// # Errors
/// Why there is none, as [`get`] says it; also where the file is needed and cannot be used.
pub fn get_trusting(url: &str, file: &Path) -> Result<String, String> {
    let Authorities(certificates) = match Authorities::read(file) {
        Ok(authorities) => authorities,
        Err(why) if is_https(url) => return Err(why),
        // A redirect to HTTPS then finds no trusted server.
        Err(_) => Authorities(Vec::new()),
    };
    get_by(url, certificates.into(), "only the authorities of `results.ca` are trusted")
}

/// Returns whether an address asks for HTTPS.
pub fn is_https(url: &str) -> bool {
    url.split_once("://").is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("https"))
}

/// The certificates of the authorities that `results.ca` names.
#[derive(Debug)]
pub struct Authorities(Vec<Certificate<'static>>);

impl Authorities {
    /// The longest file that is read: bundles of all public authorities are a tenth of that.
    const BYTES: u64 = 4 << 20;

    /// Reads the file of the certificates, in PEM; what else is in it does not count.
    ///
    /// # Errors
    /// Why none of it can be used.
    pub fn read(file: &Path) -> Result<Self, String> {
        let unusable = |why: &str| format!("the certificates that `results.ca` names cannot be used: {why}");
        let text = Self::text(file).map_err(|error| match error.kind() {
            ErrorKind::NotFound => unusable(
                "the namespace does not have that object, or the object does not have that \
                                             key",
            ),
            kind => unusable(&kind.to_string()),
        })?;
        let mut certificates = Vec::new();
        for item in parse_pem(&text) {
            if let PemItem::Certificate(certificate) =
                item.map_err(|error| unusable(&format!("the file is damaged: {error}")))?
            {
                certificates.push(certificate);
            }
        }
        if certificates.is_empty() { Err(unusable("the file has no PEM certificate")) } else { Ok(Self(certificates)) }
    }

    fn text(file: &Path) -> std::io::Result<Vec<u8>> {
        let mut text = Vec::new();
        let read = File::open(file)?.take(Self::BYTES + 1).read_to_end(&mut text)?;
        if read as u64 > Self::BYTES {
            return Err(ErrorKind::FileTooLarge.into());
        }
        Ok(text)
    }
}

/// Asks for the text behind `url`; where `authorities` have not signed for the server, `otherwise` is said of them.
fn get_by(url: &str, authorities: RootCerts, otherwise: &str) -> Result<String, String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(Duration::from_mins(1)))
        .http_status_as_error(false)
        .tls_config(TlsConfig::builder().root_certs(authorities).build())
        .build()
        .into();
    let mut answer = agent.get(url).call().map_err(|error| {
        let words = format!("the server did not answer: {error}");
        if words.contains("invalid peer certificate") { format!("{words}; {otherwise}") } else { words }
    })?;
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
/// the server need not prove its identity, and no proxy is in between.
///
/// # Errors
/// What came instead of success.
pub fn probe(url: &str, header: Option<(&str, &str)>) -> Result<(), String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(ANSWER))
        .http_status_as_error(false)
        .proxy(None)
        .tls_config(TlsConfig::builder().disable_verification(true).build())
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
/// Why the connection is not accepted.
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
