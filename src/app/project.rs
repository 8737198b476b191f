//! A project: its folder, its file, and the texts of its specs.

mod compiled;
mod names;
mod neighbors;
mod selection;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::app::start::{Start, VERSION};
use kubebench_compiler::compile::{Input, Workspace};
use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_host::fs::{self, Content};
use kubebench_syntax::diag::{CHECK_FILE, Diagnostic, Diagnostics, code};
use kubebench_syntax::text::shell_word;
pub(super) use neighbors::relative;

pub use compiled::{CompiledProject, Pods, rules_around};
pub use names::Names;
pub use selection::{Selection, Selector};

/// A name that people give the project file by mistake.
const OTHER_NAME: &str = "kubebench.yml";

/// A project on disk.
pub struct Project {
    /// Its folder.
    pub root: PathBuf,
    start: PathBuf,
    /// `kubebench.yaml`, if there is one.
    pub file: Option<Input>,
}

/// The texts of a project, and what is wrong with its files as files.
#[derive(Default)]
pub struct Texts {
    /// The files that were read, by path.
    pub inputs: Vec<Input>,
    /// What keeps others from being read.
    pub found: Diagnostics,
    /// True when it is unknown whether some file is valid.
    pub unreadable: bool,
}

/// Returns the names that targets have now by those that they had, in the project around the folder that a command starts in.
pub fn former_targets_around(start: &Start) -> BTreeMap<String, String> {
    let file = Project::find(start).ok().and_then(|project| project.file);
    let workspace = Workspace::open(file, VERSION);
    workspace.project().map(kubebench_compiler::lower::Project::former_targets).unwrap_or_default()
}

impl Project {
    /// Finds the project around the folder that a command starts in, and reads its file.
    pub fn find(start: &Start) -> Result<Self> {
        let start = start.folder()?;
        let root = fs::find_root(&start);
        let read = fs::read_sources(&root, &[PROJECT_FILE.to_owned()]).into_iter().next();
        let file = match read.map(|read| read.content) {
            None | Some(Content::Absent) if fs::exists(&root, OTHER_NAME) => {
                bail!("the project file is called {PROJECT_FILE}: rename {OTHER_NAME}")
            }
            None | Some(Content::Absent | Content::Misnamed) => None,
            Some(Content::Whole(bytes) | Content::TooLong(bytes)) => {
                Some(Input { path: PROJECT_FILE.to_owned(), bytes })
            }
            Some(Content::Refused(reason) | Content::Unreadable(reason)) => {
                bail!("cannot read {PROJECT_FILE}: {reason}")
            }
        };
        Ok(Self { root, start, file })
    }

    /// Returns the project at `root` with this text as its file.
    pub fn at(root: &Path, file: Option<Input>) -> Self {
        Self { root: root.to_owned(), start: root.to_owned(), file }
    }

    /// Returns paths that a person gave, relative to the root.
    pub fn below_root(&self, paths: &[PathBuf]) -> Result<BTreeSet<String>> {
        let below = |path: &PathBuf| {
            self.refuse_of_another(&path.display().to_string(), &absolute(&self.start, path)?)?;
            below_root(&self.root, &self.start, path)
        };
        paths.iter().map(below).collect()
    }

    /// Names the projects below the root, and how to choose one; nothing where there are none.
    pub fn projects_below(&self) -> Option<String> {
        neighbors::where_projects_are(&self.root)
    }

    /// Refuses the file or folder at `full` if it belongs to another project, whose settings are not those of this one.
    fn refuse_of_another(&self, shown: &str, full: &Path) -> Result<()> {
        let folder = if full.is_dir() { full } else { full.parent().unwrap_or(full) };
        let root = fs::find_root(folder);
        if root == std::path::absolute(&self.root)? || !fs::exists(&root, PROJECT_FILE) {
            return Ok(());
        }
        let other = relative(&std::path::absolute(&self.start)?, &root);
        bail!(
            "{shown} is in another project: run the command there, with `kubebench -C {}` and the path from that folder",
            shell_word(&other)
        )
    }

    /// Reads the specs at and below `folders`, which the project names, and `asked`, which a person named.
    pub fn read(&self, folders: &[String], asked: &BTreeSet<String>) -> Result<Texts> {
        let paths: Vec<String> = folders.iter().chain(asked).cloned().collect();
        let reads = fs::read_sources(&self.root, &paths);
        if self.file.is_none() && reads.iter().all(|read| read.content == Content::Absent) {
            let advice = self.projects_below().unwrap_or_else(|| "`kubebench init` makes one".to_owned());
            bail!(
                "there is no project in {}: neither {PROJECT_FILE} nor {}/ ({advice})",
                self.root.display(),
                paths.join("/, ")
            );
        }
        let mut texts = Texts::default();
        for fs::Read { path, content } in reads {
            let unreadable = |message: String| Diagnostic::in_file(&code::KB0114, &path, message);
            let fault = match content {
                Content::Whole(bytes) | Content::TooLong(bytes) => {
                    if path.strip_suffix(PROJECT_FILE).is_some_and(|folder| folder.ends_with('/')) {
                        self.refuse_of_another(&path, &self.root.join(&path))?;
                    }
                    texts.inputs.push(Input { path, bytes });
                    continue;
                }
                Content::Refused(reason) => unreadable(format!("kubebench does not read this: {reason}"))
                    .note("a spec must be a regular file, so that a review shows all of it")
                    .help("replace it with the file itself"),
                Content::Unreadable(reason) => {
                    texts.unreadable = true;
                    unreadable(format!("the file cannot be read: {reason}")).help(CHECK_FILE)
                }
                Content::Absent if asked.contains(&path) => {
                    texts.unreadable = true;
                    unreadable("there is no such file or folder".to_owned())
                }
                Content::Absent if self.file.is_none() => continue,
                Content::Absent => {
                    let message = format!("there is no folder `{path}` for specs");
                    Diagnostic::in_file(&code::KB0114, PROJECT_FILE, message)
                        .note("without this folder, every manifest would count as a leftover")
                        .help("create the folder with a spec (git keeps no empty one), or correct `spec.specs`")
                }
                Content::Misnamed => misnamed(&path),
            };
            texts.found.push(fault);
        }
        Ok(texts)
    }
}

fn misnamed(path: &str) -> Diagnostic {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    Diagnostic::in_file(&code::KB0115, path, "the name does not end in `.yaml` or `.yml`, so the file is not read")
        .note("if it is a spec, it never runs, and no other message says so")
        .help(format!("rename it to `{stem}.yaml`, or keep it outside the folders of specs"))
}

/// Returns the whole path of one that was given relative to `start`, without `..`.
pub fn absolute(start: &Path, path: &Path) -> Result<PathBuf> {
    let full = std::path::absolute(start.join(path)).with_context(|| format!("cannot resolve {}", path.display()))?;
    let mut clean = PathBuf::new();
    for part in full.components() {
        match part {
            Component::ParentDir => {
                clean.pop();
            }
            part => clean.push(part),
        }
    }
    Ok(clean)
}

/// Returns `path`, which was given relative to `start`, relative to the project root.
pub fn below_root(root: &Path, start: &Path, path: &Path) -> Result<String> {
    let full = absolute(start, path)?;
    let root = std::path::absolute(root).context("cannot resolve the project's folder")?;
    match full.strip_prefix(&root) {
        Ok(inside) if inside.as_os_str().is_empty() => {
            bail!(
                "{} is the whole project; name a spec or a folder of specs, or omit the path where the command takes \
                 all specs",
                path.display()
            )
        }
        Ok(inside) => Ok(inside.to_string_lossy().replace('\\', "/")),
        Err(_) => bail!("{} is outside the project {}", path.display(), root.display()),
    }
}
