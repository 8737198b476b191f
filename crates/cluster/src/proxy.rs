//! Which proxy leads to an API server, as `kubectl` decides it: `kube` holds NO_PROXY against the wrong address.

use std::net::IpAddr;

use kubebench_syntax::unit::network;

/// The proxy for an API server: that of the kubeconfig, or else that of the environment unless it exempts the server.
pub(super) fn proxy(
    configured: Option<&str>,
    variable: impl Fn(&str) -> Option<String>,
    scheme: &str,
    host: &str,
    port: u16,
) -> Option<String> {
    let either = |name: &str| {
        [name.to_owned(), name.to_lowercase()].iter().find_map(|name| variable(name).filter(|text| !text.is_empty()))
    };
    let found = match configured.filter(|text| !text.is_empty()) {
        Some(configured) => configured.to_owned(),
        None if is_exempt(&either("NO_PROXY").unwrap_or_default(), host, port) => return None,
        None => either(if scheme == "http" { "HTTP_PROXY" } else { "HTTPS_PROXY" })?,
    };
    Some(if found.contains("://") { found } else { format!("http://{found}") })
}

/// Whether a server is reached without the proxy of the environment.
fn is_exempt(no_proxy: &str, host: &str, port: u16) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']').to_lowercase();
    let address: Option<IpAddr> = host.parse().ok();
    if host == "localhost" || address.is_some_and(|address| address.is_loopback()) {
        return true;
    }
    no_proxy.split(',').map(|entry| entry.trim().to_lowercase()).filter(|entry| !entry.is_empty()).any(|entry| {
        if entry == "*" {
            return true;
        }
        if let (Some(address), Some(network)) = (address, network(&entry)) {
            return network.contains(&address);
        }
        let (name, wanted) = match entry.rsplit_once(':') {
            // More than one colon is an address of IPv6.
            Some((name, port)) if !name.contains(':') || name.ends_with(']') => (name, port.parse().ok()),
            _ => (entry.as_str(), None),
        };
        let name = name.trim_start_matches('[').trim_end_matches(']');
        if wanted.is_some_and(|wanted: u16| wanted != port) {
            return false;
        }
        if let (Some(address), Ok(named)) = (address, name.parse::<IpAddr>()) {
            return address == named;
        }
        let below = name.trim_start_matches('*');
        let is_below = |domain: &str| host.strip_suffix(domain).is_some_and(|front| front.ends_with('.'));
        match below.strip_prefix('.') {
            Some(domain) => is_below(domain),
            None => host == below || is_below(below),
        }
    })
}
