//! What the tests share: projects in folders, judges from outside.

pub(crate) mod judges;
pub(crate) mod project;
