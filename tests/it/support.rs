//! What the tests share: projects in folders, judges from outside, texts without what differs each time.

pub(crate) mod judges;
pub(crate) mod project;
pub(crate) mod steady;
pub(crate) mod tls;
