//! What the tests share: projects in folders, judges from outside, a watchdog.

pub(crate) mod judges;
pub(crate) mod project;
pub(crate) mod watchdog;
