//! YAML: read strictly into a spanned tree, written so that every reader agrees.

pub mod node;

pub use node::{Entry, Node, Step, Value};
