//! Networks of IP addresses.

use ipnet::IpNet;

/// Returns the network that `10.0.0.0/8` names, as Kubernetes and `kubectl` read it: without leading zeros.
pub fn network(text: &str) -> Option<IpNet> {
    let (address, length) = text.split_once('/')?;
    let is_canonical = length.bytes().all(|byte| byte.is_ascii_digit()) && (length == "0" || !length.starts_with('0'));
    IpNet::new(address.parse().ok()?, length.parse().ok().filter(|_| is_canonical)?).ok()
}

#[cfg(test)]
mod tests {
    use super::network;

    #[test]
    fn a_network_is_written_without_leading_zeros() {
        for text in ["10.0.0.0/8", "0.0.0.0/0", "fd00::/48"] {
            assert_eq!(network(text).map(|network| network.to_string()).as_deref(), Some(text));
        }
        for text in
            ["10.0.0.0", "10.0.0.0/08", "10.0.0.0/00", "10.0.0.0/+8", "10.0.0.0/33", "10.0.0.0/", "a/8", "010.0.0.0/8"]
        {
            assert_eq!(network(text), None, "{text}");
        }
    }
}
