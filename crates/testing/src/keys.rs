//! Ed25519 keys in the files that openssl writes: those of the first two tests of RFC 8032, section 7.1, which everybody knows.
#![expect(clippy::indexing_slicing, reason = "a test names one of the two")]

const PRIVATE: [&str; 2] = [
    "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g",
    "MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7",
];
const PUBLIC: [&str; 2] = [
    "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
    "MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=",
];

/// What envelopes call the keys: SHA-256 of the public ones, by openssl and `sha256sum`.
pub const IDS: [&str; 2] = [
    "06e3fd8fda29bb60ab59557de61edb0aecdb231134be30e75b455f8e1b792fa9",
    "deb2ded39dc26fce0e6085b6fc34bf6b5941913bbfe2ea614113cff9e004c170",
];

/// What `openssl genpkey -algorithm ed25519` writes.
pub fn private(number: usize) -> String {
    section("PRIVATE KEY", PRIVATE[number])
}

/// What `openssl pkey -pubout` writes.
pub fn public(number: usize) -> String {
    section("PUBLIC KEY", PUBLIC[number])
}

/// A section of PEM.
pub fn section(label: &str, body: &str) -> String {
    format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
}
