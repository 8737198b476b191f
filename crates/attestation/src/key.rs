//! Ed25519 keys in the files that openssl writes: PKCS#8 for the private one, SubjectPublicKeyInfo for the public one (RFC 8410).

use std::fmt;

use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use rustls_pki_types::pem::{PemObject as _, SectionKind};
use rustls_pki_types::{PrivatePkcs8KeyDer, SubjectPublicKeyInfoDer, pem};

use kubebench_syntax::digest::Digest;

/// What precedes the 32 bytes of an Ed25519 key in its SubjectPublicKeyInfo.
const SPKI: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// Why a text is no key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyFault {
    /// It has no section of PEM.
    NotPem,
    /// It is something else in PEM.
    Another(&'static str),
    /// It is a key of another algorithm, or damaged.
    NotEd25519,
    /// It has so many sections of PEM, of which one would be chosen silently.
    Several(usize),
}

impl fmt::Display for KeyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPem => f.write_str("it is not a PEM file: it has no line `-----BEGIN …-----`"),
            Self::Another(what) => write!(f, "it is {what}"),
            Self::NotEd25519 => f.write_str("it is not an Ed25519 key, or it is damaged"),
            Self::Several(count) => write!(f, "it has {count} PEM sections, expected one key"),
        }
    }
}

/// A key that signs.
pub struct PrivateKey(Ed25519KeyPair);

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({})", self.public().id())
    }
}

impl PrivateKey {
    /// Reads what `openssl genpkey -algorithm ed25519` writes.
    ///
    /// # Errors
    /// What it is instead.
    pub fn read(text: &[u8]) -> Result<Self, KeyFault> {
        one_section(text)?;
        let der = PrivatePkcs8KeyDer::from_pem_slice(text).map_err(|_error| instead(text))?;
        // openssl writes the private part alone.
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der.secret_pkcs8_der());
        pair.map(Self).map_err(|_rejected| KeyFault::NotEd25519)
    }

    /// Returns the public part.
    pub fn public(&self) -> PublicKey {
        let mut spki = SPKI.to_vec();
        spki.extend_from_slice(self.0.public_key().as_ref());
        PublicKey { spki }
    }

    pub(crate) fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        self.0.sign(bytes).as_ref().to_vec()
    }
}

/// A key that checks what was signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    spki: Vec<u8>,
}

impl PublicKey {
    /// Reads what `openssl pkey -pubout` writes.
    ///
    /// # Errors
    /// What it is instead.
    pub fn read(text: &[u8]) -> Result<Self, KeyFault> {
        if has(text, b" PRIVATE KEY-----") {
            return Err(KeyFault::Another("a private key, which belongs only in a Secret: create another one"));
        }
        one_section(text)?;
        let der = SubjectPublicKeyInfoDer::from_pem_slice(text).map_err(|_error| instead(text))?;
        let is_one = der.as_ref().len() == SPKI.len() + 32 && der.as_ref().starts_with(&SPKI);
        if is_one { Ok(Self { spki: der.as_ref().to_vec() }) } else { Err(KeyFault::NotEd25519) }
    }

    /// Returns what envelopes call it: the SHA-256 of its SubjectPublicKeyInfo, in hex digits.
    pub fn id(&self) -> String {
        Digest::of(&self.spki).hex()
    }

    pub(crate) fn has_signed(&self, bytes: &[u8], signature: &[u8]) -> bool {
        let key = self.spki.get(SPKI.len()..).unwrap_or_default();
        UnparsedPublicKey::new(&ED25519, key).verify(bytes, signature).is_ok()
    }
}

fn has(text: &[u8], words: &[u8]) -> bool {
    text.windows(words.len()).any(|window| window == words)
}

fn one_section(text: &[u8]) -> Result<(), KeyFault> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    match text.windows(BEGIN.len()).filter(|window| *window == BEGIN).count() {
        0 | 1 => Ok(()),
        count => Err(KeyFault::Several(count)),
    }
}

/// Says what a text is that is not the key that was wanted.
fn instead(text: &[u8]) -> KeyFault {
    const OPENSSH: &[u8] = b"-----BEGIN OPENSSH PRIVATE KEY-----";
    const ENCRYPTED: &[u8] = b"-----BEGIN ENCRYPTED PRIVATE KEY-----";
    if has(text, OPENSSH) {
        return KeyFault::Another("an OpenSSH key; create one with `openssl genpkey -algorithm ed25519`");
    }
    if has(text, ENCRYPTED) {
        return KeyFault::Another("an encrypted key, but a step cannot ask for its password");
    }
    match <(SectionKind, Vec<u8>)>::from_pem_slice(text) {
        Ok((SectionKind::PublicKey, _)) => KeyFault::Another("a public key, expected the private key"),
        Ok((SectionKind::RsaPrivateKey | SectionKind::EcPrivateKey, _)) => KeyFault::NotEd25519,
        Ok((SectionKind::Certificate, _)) => KeyFault::Another("a certificate"),
        Ok(_) => KeyFault::Another("another kind of PEM section"),
        Err(pem::Error::NoItemsFound) => KeyFault::NotPem,
        Err(_) => KeyFault::NotEd25519,
    }
}

#[cfg(test)]
mod tests;
