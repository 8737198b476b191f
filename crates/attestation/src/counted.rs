//! Which results count, by who recorded them.

use super::verdict::Signature;

/// What people call a result without an envelope.
pub const UNSIGNED: &str = "not signed";
/// And one whose envelope proves nothing.
pub const INVALID: &str = "with an invalid signature";

/// Which results count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counted {
    /// All of them.
    All,
    /// Those that a key has signed.
    Signed,
    /// Of those the ones that lay where jobs could not write.
    SignedAndSeparated,
}

impl Counted {
    /// Says why a result does not count, if it does not; without keys nothing is known of its signature.
    pub fn refuses(self, signature: Option<&Signature>) -> Option<&'static str> {
        match (self, signature) {
            (Self::All, _)
            | (Self::Signed, Some(Signature::Signed { .. }))
            | (_, Some(Signature::Signed { separated: true, .. })) => None,
            (_, Some(Signature::Signed { separated: false, .. })) => Some("on a volume that jobs could write to"),
            (_, Some(Signature::Invalid(_))) => Some(INVALID),
            (_, Some(Signature::Unsigned) | None) => Some(UNSIGNED),
        }
    }
}
