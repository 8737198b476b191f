//! The files that the language server sees: those of projects, by the rules of `validate`.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, anyhow};

use super::files;
use super::project::{Project, Texts};
use super::start::VERSION;
use kubebench_compiler::compile::Input;
use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_host::fs::{self, Content};
use kubebench_lsp::{Files, ReadCarried};
use kubebench_syntax::diag::Diagnostics;

/// Serves an editor on standard input and output.
pub fn serve() -> Result<()> {
    kubebench_lsp::stdio::serve(Box::new(OnDisk), VERSION).map_err(|fault| anyhow!(fault))
}

/// The files of this machine.
struct OnDisk;

impl Files for OnDisk {
    fn has_project_file(&self, folder: &Path) -> bool {
        fs::exists(folder, PROJECT_FILE)
    }

    fn project_file(&self, root: &Path) -> Option<Vec<u8>> {
        match fs::read_sources(root, &[PROJECT_FILE.to_owned()]).into_iter().next()?.content {
            Content::Whole(bytes) | Content::TooLong(bytes) => Some(bytes),
            Content::Refused(_) | Content::Unreadable(_) | Content::Absent | Content::Misnamed => None,
        }
    }

    fn specs(&self, root: &Path, file: Option<&Input>, paths: &[String]) -> (Vec<Input>, Diagnostics) {
        let project = Project::at(root, file.cloned());
        // Without a project file and specs there is nothing yet.
        match project.read(paths, &BTreeSet::new()) {
            Ok(Texts { inputs, found, .. }) => (inputs, found),
            Err(_) => (Vec::new(), Diagnostics::default()),
        }
    }

    fn listed(&self, root: &Path, except: &[String]) -> Vec<String> {
        files::listed(root, except)
    }

    fn carried(&self, root: &Path) -> ReadCarried {
        Box::new(files::carrying(root.to_owned()))
    }
}
