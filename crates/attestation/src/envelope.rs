//! DSSE envelopes: a payload, and signatures over it and its type.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::key::PrivateKey;
use kubebench_format::attestation::v1::Statement;
use kubebench_format::result::canonical;
use kubebench_syntax::invariant::Invariant as _;

/// The type of what is in an envelope: a statement of in-toto.
pub(crate) const PAYLOAD: &str = "application/vnd.in-toto+json";

/// An envelope.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Envelope {
    payload: String,
    pub(crate) payload_type: String,
    pub(crate) signatures: Vec<Signed>,
}

/// A signature.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Signed {
    /// The id of the key.
    #[serde(default)]
    pub(crate) keyid: String,
    sig: String,
}

/// Returns the envelope of a statement.
pub fn sign(key: &PrivateKey, statement: &Statement) -> Vec<u8> {
    let json = serde_json::to_value(statement).expected("JSON of our own types");
    let payload = canonical(&json);
    let signature = key.sign(&signed_bytes(PAYLOAD, &payload));
    let envelope = Envelope {
        payload: STANDARD.encode(payload),
        payload_type: PAYLOAD.to_owned(),
        signatures: vec![Signed { keyid: key.public().id(), sig: STANDARD.encode(signature) }],
    };
    canonical(&serde_json::to_value(envelope).expected("JSON of our own types"))
}

impl Envelope {
    /// Returns the payload.
    pub(crate) fn payload(&self) -> Option<Vec<u8>> {
        STANDARD.decode(&self.payload).ok()
    }
}

impl Signed {
    /// Returns the bytes of the signature.
    pub(crate) fn bytes(&self) -> Option<Vec<u8>> {
        STANDARD.decode(&self.sig).ok()
    }
}

/// Returns what is signed: `PAE` of DSSE's protocol, version 1.
pub(crate) fn signed_bytes(kind: &str, payload: &[u8]) -> Vec<u8> {
    let mut bytes = format!("DSSEv1 {} {kind} {} ", kind.len(), payload.len()).into_bytes();
    bytes.extend_from_slice(payload);
    bytes
}

#[cfg(test)]
mod tests {
    use super::signed_bytes;

    /// <https://github.com/secure-systems-lab/dsse/blob/master/protocol.md#test-vectors>
    #[test]
    fn what_is_signed_is_what_the_protocol_says() {
        let signed = signed_bytes("http://example.com/HelloWorld", b"hello world");
        assert_eq!(signed, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world");
    }
}
