//! What `init` writes: the files of a project, and those that its repository needs at the top.
//!
//! There are three kinds. A new project file and its example are their author's from then on. Files that Kubebench writes whole are
//! updated as long as nobody edits them. In files that belong to people, such as CODEOWNERS, Kubebench has a few entries.

mod checksums;
mod entry;
mod github;
mod gitlab;
mod owners;
mod place;
mod pre_commit;
mod script;
mod yaml;

use std::path::Path;

use anyhow::{Result, bail};

use super::start::{Start, VERSION};
use super::templates::{ATTRIBUTES, EXAMPLE, schema, schema_path, spec};
use super::{project, stamp, templates};
use checksums::Checksums;
use entry::Entry;
use kubebench_compiler::compile::{Compilation, Workspace};
use kubebench_format::schema::DocumentKind;
use kubebench_host::fs;
use kubebench_syntax::diag::code;
use place::{Place, Repository};

/// A CI system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ci {
    /// GitHub Actions.
    GitHub,
    /// GitLab CI.
    GitLab,
    /// Another one, or none.
    None,
}

impl Ci {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::GitHub, Self::GitLab, Self::None];

    /// Returns the name that people give.
    pub fn name(self) -> &'static str {
        match self {
            Self::GitHub => "github",
            Self::GitLab => "gitlab",
            Self::None => "none",
        }
    }
}

/// What becomes of a file that Kubebench wrote and somebody edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edited {
    /// It is left.
    Keep,
    /// It is replaced.
    Replace,
}

/// What becomes of entries that a person's file lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacking {
    /// They are shown.
    Show,
    /// They are added.
    Add,
}

/// What the user asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The CI system; without one, what the repository looks like.
    pub ci: Option<Ci>,
    /// Who reviews the files of the project.
    pub owners: Vec<String>,
    /// The text of SHA256SUMS of this version.
    pub checksums: Option<String>,
    /// What becomes of edited files.
    pub edited: Edited,
    /// What becomes of lacking entries.
    pub lacking: Lacking,
}

/// A file, as the person who asked calls it, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The path, from where the command starts.
    pub path: String,
    /// What became of it.
    pub state: State,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It is new.
    Written,
    /// It was of another version.
    Updated,
    /// It is what this version writes.
    Current,
    /// It is its author's.
    Kept,
    /// It differs from what this version writes, and not only because another version wrote it.
    Edited {
        /// What is there.
        old: String,
        /// What would be.
        new: String,
    },
    /// It is a person's and lacks these lines.
    Lacks(String),
    /// It got these lines.
    Added(String),
    /// It names checksums of another version, and those of this one are unknown.
    Pinned,
    /// It is for a project that is not there any more.
    LeftBehind,
}

/// What kind of project there is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Project {
    /// A new one with an example.
    WithExample,
    /// A new one around specs that were there.
    AroundSpecs,
    /// It was there before.
    Known,
}

/// Writes what is missing in the project at `root` and its repository, updates what is Kubebench's own, and says of each file what
/// became of it.
pub fn init(root: &Path, request: &Request, tell: &mut dyn FnMut(Outcome) -> Result<()>) -> Result<Project> {
    refuse_other(root)?;
    let repository = Repository::around(root, github::branch_in);
    let checksums = request.checksums.as_deref().map(Checksums::given).transpose()?;
    let is_known = fs::exists(root, PROJECT_FILE);
    let was_here = is_known && DocumentKind::ALL.iter().any(|kind| fs::exists(root, &schema_path(*kind)));
    let has_specs = fs::read_sources(root, &["specs".to_owned()]).iter().any(|read| fs::is_spec(&read.path));
    let systems = match request.ci {
        Some(ci) => vec![ci],
        None if was_here => repository.systems(),
        None => vec![repository.likely_system()],
    };

    let mut tell_of = |place: &Place, path: &str, state| tell(Outcome { path: place.shown(path), state });
    let own = Place { folder: root.to_owned(), shown: String::new() };
    tell_of(&own, PROJECT_FILE, own.create(PROJECT_FILE, &templates::project(repository.apart().as_ref()))?)?;
    if !has_specs && !is_known {
        tell_of(&own, EXAMPLE, own.create(EXAMPLE, &spec("job", "example", "../schema/benchmark.v1.json")?)?)?;
    }
    for kind in DocumentKind::ALL {
        let path = schema_path(kind);
        tell_of(&own, &path, own.keep_current(&path, schema(kind), request.edited)?)?;
    }
    let attributes = ".gitattributes";
    let entry = Entry::lines(ATTRIBUTES.lines().filter(|line| !line.starts_with('#')));
    tell_of(&own, attributes, own.keep_entry(attributes, Some(ATTRIBUTES), &entry, request.lacking)?)?;

    let top = &repository.top;
    for ci in systems {
        if let Some(path) = repository.path_of(ci) {
            tell_of(top, &path, check(ci, &repository, &path, checksums.as_ref(), request.edited)?)?;
            if ci == Ci::GitLab {
                let (path, whole, entry) = gitlab::included(&path);
                tell_of(top, path, top.keep_entry(path, Some(&whole), &entry, request.lacking)?)?;
            }
        }
        if ci != Ci::None || !request.owners.is_empty() {
            let (path, whole, entry) = owners::of(ci, &repository, &request.owners);
            tell_of(top, path, top.keep_entry(path, Some(&whole), &entry, request.lacking)?)?;
        }
    }
    for (_, path) in repository.left_behind() {
        tell_of(top, &path, State::LeftBehind)?;
    }
    let path = pre_commit::PATH;
    if fs::exists(&top.folder, path) {
        tell_of(top, path, top.keep_entry(path, None, &pre_commit::hooks(), request.lacking)?)?;
    }
    Ok(match (is_known, has_specs) {
        (true, _) => Project::Known,
        (false, true) => Project::AroundSpecs,
        (false, false) => Project::WithExample,
    })
}

/// Refuses a folder inside of a project, and a project that wants another version: what this one writes would be a step back.
fn refuse_other(root: &Path) -> Result<()> {
    let around = project::Project::find(&Start::at(Some(root.to_owned())))?;
    if around.file.is_some() && around.root != std::path::absolute(root)? {
        let folder = around.root.display();
        bail!(
            "this folder is in the project {folder}: run `kubebench init` there, or start a project in another folder"
        );
    }
    let Compilation { diagnostics, .. } = Workspace::open(around.file, VERSION).compile(Vec::new());
    if let Some(fault) = diagnostics.iter().find(|fault| *fault.code == code::KB0320) {
        bail!("{PROJECT_FILE}: {}", fault.message);
    }
    Ok(())
}

/// Writes the file at `path` that a CI system checks the project by. Once it names checksums, no later call takes them away.
fn check(ci: Ci, repository: &Repository, path: &str, given: Option<&Checksums>, edited: Edited) -> Result<State> {
    let written = Checksums::of_any_version(&repository.top.read(path)?.unwrap_or_default());
    let checksums = given.or(written.as_ref());
    if checksums.is_some_and(|checksums| !checksums.are_of_this_version()) {
        return Ok(State::Pinned);
    }
    let text = match ci {
        Ci::GitLab => gitlab::pipeline(repository, path, checksums),
        Ci::GitHub | Ci::None => github::workflow(repository, path, checksums),
    };
    repository.top.keep_current(path, stamp::commented(&repository.subject(), &text), edited)
}

/// Says what is wrong with the name of an owner.
pub fn owner(name: &str) -> Result<String, String> {
    let (before, after) = name.split_once('@').unwrap_or_default();
    let is_word = |text: &str| text.chars().all(|letter| letter.is_alphanumeric() || "-_./+".contains(letter));
    if after.is_empty() || !is_word(before) || !is_word(after) {
        return Err("write @USER, @ORG/TEAM or an email address".to_owned());
    }
    Ok(name.to_owned())
}

const PROJECT_FILE: &str = "kubebench.yaml";

impl Place {
    /// Writes a file that is its author's from then on.
    fn create(&self, path: &str, text: &str) -> Result<State> {
        if fs::exists(&self.folder, path) {
            return Ok(State::Kept);
        }
        fs::create_new(&self.folder, path, text)?;
        Ok(State::Written)
    }

    /// Writes a stamped file, and replaces one of another version that nobody edited.
    fn keep_current(&self, path: &str, text: String, edited: Edited) -> Result<State> {
        let Some(old) = self.read(path)? else { return self.create(path, &text) };
        if stamp::unix(&old) == text {
            return Ok(State::Current);
        }
        if !stamp::is_intact(&old) && edited == Edited::Keep {
            return Ok(State::Edited { old, new: text });
        }
        fs::replace(&self.folder, path, &text)?;
        Ok(State::Updated)
    }

    /// Writes the file `whole`, if there is none and it may be written; adds `entry` to an existing one, or says that it lacks it.
    fn keep_entry(&self, path: &str, whole: Option<&str>, entry: &Entry, lacking: Lacking) -> Result<State> {
        let old = match (self.read(path)?, whole) {
            (Some(old), _) => old,
            (None, Some(whole)) => return self.create(path, whole),
            (None, None) => return Ok(State::Kept),
        };
        let Some(missing) = entry.missing(&old) else { return Ok(State::Kept) };
        match entry.added(&old, &missing).filter(|_| lacking == Lacking::Add) {
            None => Ok(State::Lacks(missing)),
            Some(text) => {
                fs::replace(&self.folder, path, &text)?;
                Ok(State::Added(missing))
            }
        }
    }
}
