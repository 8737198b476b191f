//! The server's access to a machine.

use std::path::Path;

use kubebench_compiler::compile::Input;
use kubebench_compiler::lower::Unreadable;
use kubebench_syntax::diag::Diagnostics;

/// Reads a file at a path below the root of a project, as specs carry it.
pub type ReadCarried = Box<dyn Fn(&str) -> Result<Vec<u8>, Unreadable> + Send + Sync>;

/// The files of a machine, by the rules that apply to every command.
pub trait Files {
    /// Returns whether `folder` has a project file.
    fn has_project_file(&self, folder: &Path) -> bool;

    /// Returns the project file of the project at `root`; none if there is no readable one.
    fn project_file(&self, root: &Path) -> Option<Vec<u8>>;

    /// Returns the specs at and below `paths`, and what keeps others from being read.
    fn specs(&self, root: &Path, file: Option<&Input>, paths: &[String]) -> (Vec<Input>, Diagnostics);

    /// Returns the paths of files of the project at `root` that specs may carry: of a large project the first ones, and none of the
    /// folders `except`.
    fn listed(&self, root: &Path, except: &[String]) -> Vec<String>;

    /// Returns what reads the files that specs carry.
    fn carried(&self, root: &Path) -> ReadCarried;
}
