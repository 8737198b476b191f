//! Networks of IP addresses.

use ipnet::IpNet;

/// Returns the network that `10.0.0.0/8` names, as Kubernetes and `kubectl` read it: without leading zeros.
pub fn network(text: &str) -> Option<IpNet> {
    let (address, length) = text.split_once('/')?;
    let is_canonical = length.bytes().all(|byte| byte.is_ascii_digit()) && (length == "0" || !length.starts_with('0'));
    IpNet::new(address.parse().ok()?, length.parse().ok().filter(|_| is_canonical)?).ok()
}
