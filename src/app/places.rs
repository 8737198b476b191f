//! Where reports, exports and results may be written: never over what they are about.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::project::Project;
use super::start::Start;
use kubebench_git::folder_in_repository;
use kubebench_host::fs;

/// Returns the folder of the project in its repository, empty or ending in a slash; empty without a project or repository.
pub fn folder_of_project(start: &Start) -> String {
    Project::find(start).map_or_else(|_| String::new(), |project| folder_of(&project.root))
}

/// Returns the place of `root` in its repository, empty or ending in a slash; empty without a repository.
pub fn folder_of(root: &Path) -> String {
    folder_in_repository(root).unwrap_or_default()
}

/// Returns true if `root` is in a git repository.
pub fn is_in_repository(root: &Path) -> bool {
    folder_in_repository(root).is_some()
}

/// Returns the top of the repository in which `root` is `folder`, and how a person in `root` calls it: empty, or ending in a slash.
pub fn top_of(root: &Path, folder: &str) -> (PathBuf, String) {
    let depth = folder.matches('/').count();
    let real = fs::real_place(root).unwrap_or_else(|| root.to_owned());
    let top = real.ancestors().nth(depth).unwrap_or(root).to_owned();
    (top, "../".repeat(depth))
}

/// Refuses to write `what` to `path` over what it may be about: specs, the project file, and what is in the `kept` folders.
pub fn refuse(what: &str, path: &Path, root: &Path, kept: &[&str]) -> Result<()> {
    let shown = path.display();
    if let Some(folder) = path.parent().filter(|folder| *folder != Path::new("") && !fs::exists(folder, "")) {
        bail!("the {what} {shown} cannot be written: there is no folder {}; create it first", folder.display());
    }
    let place = fs::real_place(path).unwrap_or_else(|| path.to_owned());
    if place.extension().is_some_and(|end| end.eq_ignore_ascii_case("yaml") || end.eq_ignore_ascii_case("yml")) {
        bail!("the {what} {shown} would be a YAML file, which may be a spec or a manifest; give it another name");
    }
    refuse_inside(what, path, root, kept)
}

/// Refuses to write `what` into one of the folders of the project that are `kept`.
pub fn refuse_inside(what: &str, path: &Path, root: &Path, kept: &[&str]) -> Result<()> {
    let place = fs::real_place(path).unwrap_or_else(|| path.to_owned());
    let is_inside = |folder: &&&str| fs::real_place(&root.join(folder)).is_some_and(|real| place.starts_with(real));
    if let Some(folder) = kept.iter().find(is_inside) {
        bail!("the {what} {} would be in {folder}/, where it does not belong; write it elsewhere", path.display());
    }
    Ok(())
}

/// Refuses a folder for `what` that is the project's own, or around it.
pub fn refuse_around(what: &str, folder: &Path, root: &Path) -> Result<()> {
    let [place, root] = [folder, root].map(|path| fs::real_place(path).unwrap_or_else(|| path.to_owned()));
    if root.starts_with(&place) {
        bail!("the {what} would be mixed with the files of the project; write them to a separate folder");
    }
    Ok(())
}
