//! Where a project begins, and where its output may not be.

use std::fs;
use std::path::{Component, Path, PathBuf};

use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::path::{is_gits_own, overlap};

/// The project file.
const PROJECT_FILE: &str = "kubebench.yaml";

/// Returns the nearest folder from `start` upward that holds `kubebench.yaml`, or else `start`.
pub fn find_root(start: &Path) -> PathBuf {
    let absolute = std::path::absolute(start).unwrap_or_else(|_| start.to_owned());
    let holds_project =
        |folder: &&Path| fs::symlink_metadata(folder.join(PROJECT_FILE)).is_ok_and(|found| !found.is_dir());
    absolute.ancestors().find(holds_project).unwrap_or(&absolute).to_owned()
}

/// Returns where a file at `path` is or would be, without symbolic links; nothing where that is unknown.
pub fn real_place(path: &Path) -> Option<PathBuf> {
    let of_new = || {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Where the working directory is gone, `.` is its own folder.
        if folder == path { None } else { Some(real_place(folder)?.join(path.file_name()?)) }
    };
    fs::canonicalize(path).ok().or_else(of_new)
}

/// Says why `output`, relative to `root`, cannot be the output directory, if it cannot.
///
/// Kubebench deletes files there, so it must be a folder of its own: below the root, reached without symbolic links, apart
/// from every folder in `spec_dirs`, and no git repository.
pub fn refuse_output_place(root: &Path, output: &Path, spec_dirs: &[PathBuf]) -> Result<(), String> {
    let shown = output.display();
    if output.has_root() || output.is_absolute() {
        return Err(format!("`{shown}` is an absolute path; the output directory is relative to the project root"));
    }
    let Some(names) = normal(output) else {
        return Err(format!("`{shown}` is outside the project root"));
    };
    if names.as_os_str().is_empty() {
        return Err("the output directory cannot be the project root itself".to_owned());
    }
    if names.components().any(|name| is_gits_own(&name.as_os_str().to_string_lossy())) {
        return Err(format!("`{shown}` is in git's own folder"));
    }
    let mut place = root.to_owned();
    for name in names.components() {
        place.push(name);
        if fs::symlink_metadata(&place).is_ok_and(|found| found.is_symlink()) {
            let link = place.strip_prefix(root).expected("a place below the root").display();
            return Err(format!(
                "`{link}` is a symbolic link; the output directory must be a real folder of the project"
            ));
        }
    }
    if fs::symlink_metadata(place.join(".git")).is_ok() {
        return Err(format!("`{shown}` is a separate git repository"));
    }
    spec_dirs.iter().try_for_each(|specs| refuse_overlap(root, &names, specs))
}

fn refuse_overlap(root: &Path, output: &Path, specs: &Path) -> Result<(), String> {
    let shown = output.display();
    let specs_as_written = normal(specs).unwrap_or_else(|| specs.to_owned());
    let real = || {
        let (a, b) = (fs::canonicalize(root.join(output)).ok()?, fs::canonicalize(root.join(specs)).ok()?);
        overlap(&a, &b)
    };
    match overlap(output, &specs_as_written).or_else(real) {
        Some(how) => Err(format!("the output directory `{shown}` {how} a folder of specs (`{}`)", specs.display())),
        None => Ok(()),
    }
}

/// Resolves `.` and `..` in a relative path, or returns nothing when it leaves its start.
pub fn normal(path: &Path) -> Option<PathBuf> {
    let mut names = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => names.push(name),
            Component::ParentDir => names.pop().then_some(())?,
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(names)
}
