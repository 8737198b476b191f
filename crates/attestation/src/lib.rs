//! Who recorded a result: an in-toto statement in a DSSE envelope, signed with Ed25519, next to the file of the result.
//!
//! Pure: the caller hands in the bytes of files and keys. There is no time in a statement, so that the same result gives the same
//! envelope; when a key counts is compared with the time at which the run ended.
//!
//! Envelopes: <https://github.com/secure-systems-lab/dsse/blob/master/envelope.md>.

mod counted;
mod envelope;
mod key;
mod statement;
mod verdict;

pub use counted::{Counted, INVALID, UNSIGNED};
pub use envelope::sign;
pub use key::{KeyFault, PrivateKey, PublicKey};
pub use statement::{Recorded, statement};
pub use verdict::{Key, Signature, identity, is_of, verify};

/// An envelope is never larger.
pub const MAX_BYTES: usize = 256 << 10;
