//! The projects that files belong to, for hooks that start at the top of a repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::project::{Project, absolute, below_root, relative};
use super::start::{Start, VERSION};
use kubebench_compiler::compile::Workspace;
use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_git::folders_with;
use kubebench_host::fs;

/// A project and the files of it that were named, by their full paths.
pub struct Owner {
    /// The folder of the project.
    pub root: PathBuf,
    /// The same from where the person is.
    pub shown: String,
    /// Its files.
    pub files: Vec<PathBuf>,
}

/// Returns the projects of files, which a person named from `start`; files outside of projects are left out. Without files, all projects
/// below `start` that git tracks.
pub fn owners(start: &Start, files: &[PathBuf]) -> Result<Vec<Owner>> {
    let folder = std::path::absolute(start.folder()?)?;
    let real = fs::real_place(&folder).unwrap_or_else(|| folder.clone());
    let is_project = |root: &Path| fs::exists(root, PROJECT_FILE);
    let mut owners = BTreeMap::<PathBuf, Vec<PathBuf>>::new();
    for file in files {
        let shown = file.display();
        let file = absolute(&folder, file)?;
        if file.symlink_metadata().is_err() {
            bail!("there is no file {shown}");
        }
        let root = fs::find_root(file.parent().unwrap_or(&folder));
        if is_project(&root) {
            owners.entry(root).or_default().push(file);
        }
    }
    if files.is_empty() {
        let (top, folders) = folders_with(&folder, PROJECT_FILE).unwrap_or((folder, vec![String::new()]));
        let roots = folders.into_iter().map(|below| top.join(below));
        owners.extend(roots.filter(|root| root.starts_with(&real) && is_project(root)).map(|root| (root, Vec::new())));
    }
    let owner = |(root, files): (PathBuf, Vec<PathBuf>)| {
        let shown = relative(&real, &fs::real_place(&root).unwrap_or_else(|| root.clone()));
        Owner { root, shown, files }
    };
    Ok(owners.into_iter().map(owner).collect())
}

impl Owner {
    /// Returns the files that `fmt` formats: the project file, and those in folders of specs.
    pub fn sources(&self) -> Result<Vec<PathBuf>> {
        let project = Project::find(&Start::at(Some(self.root.clone())))?;
        let folders = Workspace::open(project.file, VERSION).spec_dirs();
        let mut sources = Vec::new();
        for file in &self.files {
            let path = below_root(&self.root, &self.root, file)?;
            let is_spec = fs::is_spec(&path)
                && folders.iter().any(|folder| path.strip_prefix(folder).is_some_and(|below| below.starts_with('/')));
            if path == PROJECT_FILE || is_spec {
                sources.push(file.clone());
            }
        }
        Ok(sources)
    }
}
