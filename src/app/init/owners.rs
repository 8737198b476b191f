//! Who reviews what: the lines of a project in CODEOWNERS.

use super::Ci;
use super::entry::Entry;
use super::place::Repository;
use kubebench_host::fs;

/// What is owned in a project.
const OWNED: [&str; 8] =
    ["acks/", "generated/", "jobs/", "kubebench.yaml", "notebooks/", "pipelines/", "scripts/", "specs/"];

const WHY: &str = "# These files decide what runs in the cluster, and with which permissions. Require a review of their owners in the branch protection.\n\
                   # Add every other folder that a spec names.\n";
const WHO: &str = "# Replace @OWNERS with your team, and remove the first `#` of each line below.\n";

/// Returns the file of the owners: where it is, its text where there is none, and what another one needs.
pub(super) fn of(ci: Ci, repository: &Repository, owners: &[String]) -> (&'static str, String, Entry) {
    // In the order in which the systems look; they read the first one alone.
    let (places, new): (&[&str], _) = match ci {
        Ci::GitHub => (&[".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"], ".github/CODEOWNERS"),
        Ci::GitLab => (&["CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"], ".gitlab/CODEOWNERS"),
        Ci::None => (&["CODEOWNERS", "docs/CODEOWNERS"], "CODEOWNERS"),
    };
    let place = places.iter().find(|path| fs::exists(&repository.top.folder, path)).unwrap_or(&new);
    let of_project = OWNED.iter().map(|path| format!("{}{path}", repository.folder));
    // The last line that fits a file decides: one for all of `.github/` would take it from its owners.
    let paths: Vec<String> = repository.path_of(ci).into_iter().chain(of_project).map(|path| pattern(&path)).collect();
    let line = |path: &String| match owners {
        [] => format!("# {path} @OWNERS"),
        _ => format!("{path} {}", owners.join(" ")),
    };
    let entry = Entry::Lines(paths.iter().map(|path| (path.clone(), line(path))).collect());
    let lines: String = paths.iter().map(|path| line(path) + "\n").collect();
    let whole = [WHY, if owners.is_empty() { WHO } else { "" }, &lines].concat();
    (place, whole, entry)
}

/// Returns the pattern that only this path fits.
fn pattern(path: &str) -> String {
    let escaped = |letter: char| match letter {
        ' ' | '*' | '?' | '[' | ']' | '\\' => format!("\\{letter}"),
        _ => letter.to_string(),
    };
    path.chars().map(escaped).fold("/".to_owned(), |pattern, letter| pattern + &letter)
}
