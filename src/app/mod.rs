//! What the commands do, without their arguments and without the screen.
#![expect(clippy::disallowed_methods, reason = "it reads and writes the files of a project")]

pub mod files;
