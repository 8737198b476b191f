//! YAML: specs are read strictly into a spanned tree, manifests as kubectl reads them; written so that every reader agrees.

pub mod colon;
pub(crate) mod de;
pub mod edit;
pub mod expression;
pub mod format;
mod indentation;
mod lenient;
pub(crate) mod limits;
pub(crate) mod node;
mod quote;
pub mod read;
pub mod scalar;
mod syntax;
mod vetting;
mod write;

pub use lenient::{Manifest, items, read_manifest};
pub use node::{Entry, Node, Step, Value};
pub use read::{Read, read};
pub use write::{differs_from_epoch_1, obstacle, write, write_as_in_epoch_1, write_node, write_string_scalar};
