//! What people write: one module a spec version, each a set of wire types without logic.

pub mod v1;
