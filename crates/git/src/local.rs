//! Mode `local`: a commit on the branch that is checked out, holding exactly what is added.
//!
//! Everything goes through the `git` program, with an index of its own for the commit: so it works in every repository that git
//! knows, whatever else is staged. The order makes being killed harmless: objects, files, the index, and the branch last; each
//! step done twice is done once.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::connection::signed;
use super::identity::{Configuration, Identity};
use super::program::{Answer, Git};
use super::scratch::Scratch;
use super::{Destination, conflict, now, random};
use crate::record::answer;
use crate::record::message::message;
use crate::record::retry::pause;
use crate::record::{Addition, Conflict, NotRecorded, Recorded, Signing};
use kubebench_format::attestation;
use kubebench_syntax::digest::Digest;

mod files;
mod tree;

use files::{in_the_way, put};
use kubebench_syntax::invariant::Invariant as _;
use tree::Tree;

/// What git is in the middle of when one of these is in its folder.
const OPERATIONS: [(&str, &str); 6] = [
    ("MERGE_HEAD", "a merge"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase or `git am`"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("sequencer", "a sequence of cherry-picks or reverts"),
];

/// How long others may hold a lock of the repository.
const PATIENCE: Duration = Duration::from_secs(10);

/// The repository that is committed to.
struct Local {
    /// Git at the top of the work tree, or in the bare repository.
    git: Git,
    /// Nothing in a bare repository.
    work_tree: Option<WorkTree>,
    identity: Identity,
    signing: Signing,
    scratch: Scratch,
}

/// Where the files of a repository are checked out.
struct WorkTree {
    top: PathBuf,
    /// The repository's own folder.
    git_folder: PathBuf,
}

/// A result on its way.
struct Item<'a> {
    addition: &'a Addition,
    /// Its path from the top of the repository.
    path: String,
    blob: String,
}

/// Records `additions` in the repository of the project's folder.
pub(super) fn record(additions: &[&Addition], destination: &Destination) -> Result<Recorded, NotRecorded> {
    let (local, prefix) = Local::open(destination)?;
    let envelopes: Vec<Addition> = additions.iter().filter_map(|addition| envelope_of(addition)).collect();
    let mut items = Vec::new();
    for addition in additions.iter().copied().chain(&envelopes) {
        let blob = done(&local.git, &["hash-object", "-w", "--stdin"], Some(addition.bytes.clone()))?;
        items.push(Item { addition, path: format!("{prefix}{}", addition.path), blob });
    }
    let until = Instant::now() + destination.deadline.min(PATIENCE);
    let mut tries = 0;
    loop {
        local.refuse_operations()?;
        let head = local.head()?;
        let Sorted { fresh, already, conflicts } = local.sort(&items, head.as_deref())?;
        let names = |items: &[&Item<'_>]| results(items).map(|addition| addition.path.clone()).collect();
        let mut recorded = Recorded {
            already: names(&already),
            conflicts,
            place: local.place()?,
            tries: tries + 1,
            ..Recorded::default()
        };
        // A commit whose maker was killed before people saw it is complete but for the index of an older version.
        if fresh.is_empty() {
            return Ok(recorded);
        }
        let commit = local.commit(&fresh, head.as_deref())?;
        if let Some(work_tree) = &local.work_tree {
            for item in &fresh {
                put(work_tree, item)?;
            }
        }
        let staged = if local.work_tree.is_some() { local.stage(&fresh, until)? } else { Vec::new() };
        let moved = local.move_head(&commit, head.as_deref(), &fresh)?;
        if moved.succeeded {
            recorded.added = names(&fresh);
            recorded.commit = Some(commit);
            recorded.notes.extend(local.identity.note());
            return Ok(recorded);
        }
        tries += 1;
        std::thread::sleep(pause(tries, random()).min(until.saturating_duration_since(Instant::now())));
        if Instant::now() >= until {
            local.unstage(&staged, commit.len())?;
            let words = moved.words.replace('\n', "; ");
            return Err(NotRecorded::try_again(format!("git could not move the branch: {words}")));
        }
    }
}

/// Returns the envelope of a result as a file of its own.
fn envelope_of(addition: &Addition) -> Option<Addition> {
    let bytes = addition.envelope.clone()?;
    Some(Addition { path: attestation::place(&addition.path), bytes, envelope: None, ..addition.clone() })
}

/// Iterates over the results among items: an envelope goes where its result does, and is not counted.
fn results<'a>(items: &[&Item<'a>]) -> impl Iterator<Item = &'a Addition> {
    items.iter().map(|item| item.addition).filter(|addition| attestation::result_of(&addition.path).is_none())
}

/// Items by what their paths hold.
struct Sorted<'i, 'a> {
    fresh: Vec<&'i Item<'a>>,
    already: Vec<&'i Item<'a>>,
    conflicts: Vec<Conflict>,
}

impl Local {
    /// Opens the repository of the project's folder, and returns the path of that folder in it.
    fn open(destination: &Destination) -> Result<(Self, String), NotRecorded> {
        let Destination { folder, cache, program, signing, .. } = destination;
        let git = Git::find(program, folder)?;
        let configuration = Configuration::read(&git, folder)?;
        if let Some(words) = configuration.outside() {
            let help = "create a repository with `git init`: `--mode local` commits to the repository of the project";
            return Err(NotRecorded::refused(format!("cannot record in `{}`: {words}", folder.display()))
                .help(answer::help(words).unwrap_or(help)));
        }
        configuration.check_signing(*signing)?;
        let bare = git.ask(&["rev-parse", "--is-bare-repository"])?;
        let (work_tree, prefix) = if bare.text() == "true" {
            (None, String::new())
        } else {
            let places = git.ask(&["rev-parse", "--show-toplevel", "--absolute-git-dir", "--show-prefix"])?;
            let text = places.text();
            let mut lines = text.lines();
            let mut folder_of_line =
                || lines.next().filter(|line| places.succeeded && !line.is_empty()).map(PathBuf::from);
            let (Some(top), Some(git_folder)) = (folder_of_line(), folder_of_line()) else {
                return Err(NotRecorded::refused(format!("`{}` is not in a work tree", folder.display())));
            };
            (Some(WorkTree { top, git_folder }), lines.next().unwrap_or_default().to_owned())
        };
        if prefix.contains('\u{fffd}') {
            return Err(NotRecorded::refused(format!("the path of `{}` is not UTF-8", folder.display()))
                .help("rename its folders: paths of results contain only ASCII characters"));
        }
        let git = git
            .at(work_tree.as_ref().map_or(folder, |work_tree| &work_tree.top))
            .with_setting("i18n.commitEncoding", "UTF-8");
        let (identity, scratch) = (configuration.identity(), Scratch::new(cache)?);
        Ok((Self { git, work_tree, identity, signing: *signing, scratch }, prefix))
    }

    /// Refuses to commit in the middle of something else, whose next step would take the commit for its own.
    fn refuse_operations(&self) -> Result<(), NotRecorded> {
        let mut arguments = vec!["rev-parse"];
        arguments.extend(OPERATIONS.iter().flat_map(|(file, _)| ["--git-path", file]));
        let places = done(&self.git, &arguments, None)?;
        let base = self.git.folder();
        let found = places.lines().zip(OPERATIONS).find(|(place, _)| base.join(place).exists());
        match found {
            None => Ok(()),
            Some((_, (_, what))) => Err(NotRecorded::refused(format!("the repository is in the middle of {what}"))
                .help("finish or abort it (`git status` shows how), then record again")),
        }
    }

    /// Returns the commit that is checked out, or nothing when the branch is still to be born.
    fn head(&self) -> Result<Option<String>, NotRecorded> {
        let head = self.git.ask(&["rev-parse", "--quiet", "--verify", "HEAD^{commit}"])?;
        if head.succeeded {
            return Ok(Some(head.text()));
        }
        let branch = self.git.ask(&["symbolic-ref", "--quiet", "HEAD"])?;
        if branch.succeeded && !self.git.ask(&["rev-parse", "--quiet", "--verify", "HEAD"])?.succeeded {
            return Ok(None);
        }
        Err(NotRecorded::refused("the repository's HEAD is not a commit").help("run `git fsck` to see what is broken"))
    }

    /// Returns what is committed to, for people.
    fn place(&self) -> Result<String, NotRecorded> {
        let branch = self.git.ask(&["symbolic-ref", "--quiet", "--short", "HEAD"])?;
        Ok(if branch.succeeded {
            format!("branch `{}` of this repository", branch.text())
        } else {
            "the detached HEAD of this repository, which no branch contains".to_owned()
        })
    }

    /// Sorts items by what the commit, the index and the work tree hold at their paths.
    fn sort<'i, 'a>(&self, items: &'i [Item<'a>], head: Option<&str>) -> Result<Sorted<'i, 'a>, NotRecorded> {
        let paths: Vec<&str> = items.iter().map(|item| item.path.as_str()).collect();
        let committed = Tree::committed(&self.git, head, &paths)?;
        let staged = if self.work_tree.is_some() { Tree::staged(&self.git, &paths)? } else { Tree::default() };
        let mut sorted = Sorted { fresh: Vec::new(), already: Vec::new(), conflicts: Vec::new() };
        for item in items {
            match committed.blob(&item.path) {
                Some(blob) if blob == item.blob => {
                    sorted.already.push(item);
                    continue;
                }
                Some(blob) => {
                    sorted.conflicts.push(conflict(item.addition, self.theirs(blob)?, "the last commit".to_owned()));
                    continue;
                }
                None => {}
            }
            if let Some(blob) = staged.blob(&item.path).filter(|blob| *blob != item.blob) {
                sorted.conflicts.push(conflict(item.addition, self.theirs(blob)?, "the index".to_owned()));
                continue;
            }
            match self.work_tree.as_ref().and_then(|work_tree| in_the_way(&work_tree.top, item)) {
                Some(theirs) => sorted.conflicts.push(conflict(item.addition, theirs, "the work tree".to_owned())),
                None => sorted.fresh.push(item),
            }
        }
        Ok(sorted)
    }

    fn theirs(&self, blob: &str) -> Result<String, NotRecorded> {
        let answer = self.git.ask(&["cat-file", "blob", blob])?;
        Ok(if answer.succeeded { Digest::of(&answer.output).to_string() } else { format!("git object {blob}") })
    }

    /// Makes the commit that adds exactly `fresh` to `head`; nothing points to it yet.
    fn commit(&self, fresh: &[&Item<'_>], head: Option<&str>) -> Result<String, NotRecorded> {
        let index = self.scratch.folder().join(format!("index-{:016x}", random()));
        let own = self.git.clone().with_variable("GIT_INDEX_FILE", &index);
        done(&own, &["read-tree", head.unwrap_or("--empty")], None)?;
        done(&own, &["update-index", "-z", "--index-info"], Some(entries(fresh)))?;
        // Blobs of a partial clone need not be here.
        let tree = done(&own, &["write-tree", "--missing-ok"], None)?;
        if let Some(head) = head {
            let changed = done(&own, &["diff-tree", "-r", "-z", "--no-renames", "--name-status", head, &tree], None)?;
            let expected: String = {
                let mut paths: Vec<&str> = fresh.iter().map(|item| item.path.as_str()).collect();
                paths.sort_unstable();
                paths.iter().map(|path| format!("A\0{path}\0")).collect()
            };
            if changed != expected {
                return Err(NotRecorded::refused(
                    "a file, link or submodule of the last commit is in the way of a result",
                )
                .help("make the folder of results a plain folder of this repository"));
            }
        }
        let mut about: Vec<&Addition> = results(fresh).collect();
        if about.is_empty() {
            about.extend(fresh.iter().map(|item| item.addition));
        }
        let message = message(&about);
        let git = self.identity.given_to(&self.git, now());
        if self.signing == Signing::AsConfigured {
            return signed(&git, &tree, head, &message);
        }
        let parent = head.map_or_else(Vec::new, |head| vec!["-p", head]);
        let arguments = [&["commit-tree", "--no-gpg-sign", "-F", "-"], parent.as_slice(), &[tree.as_str()]].concat();
        done(&git, &arguments, Some(message.into_bytes()))
    }

    /// Puts exactly `fresh` into the index, and returns the paths that were not there.
    fn stage(&self, fresh: &[&Item<'_>], until: Instant) -> Result<Vec<String>, NotRecorded> {
        let paths: Vec<&str> = fresh.iter().map(|item| item.path.as_str()).collect();
        let staged = Tree::staged(&self.git, &paths)?;
        let mut tries = 0;
        loop {
            let answer = self.git.call(&["update-index", "-z", "--index-info"], Some(entries(fresh)), PATIENCE)?;
            if answer.succeeded {
                break;
            }
            let words = answer.words.replace('\n', "; ");
            if !words.contains("index.lock") {
                return Err(NotRecorded::try_again(format!("git cannot write its index: {words}")));
            }
            tries += 1;
            std::thread::sleep(pause(tries.min(2), random()));
            if Instant::now() >= until {
                return Err(NotRecorded::try_again("another git command holds `index.lock` of this repository").help(
                    "wait for it; if no git command is running, remove the file that `git rev-parse --git-path \
                     index.lock` prints",
                ));
            }
        }
        // The index learns the files' times, so that no command takes them for changed.
        self.git.ask(&[&["add", "--refresh", "--"], paths.as_slice()].concat())?;
        Ok(paths.iter().filter(|path| staged.blob(path).is_none()).map(|path| (*path).to_owned()).collect())
    }

    /// Takes paths out of the index again.
    fn unstage(&self, paths: &[String], id_length: usize) -> Result<(), NotRecorded> {
        let gone: String = paths.iter().map(|path| format!("0 {}\t{path}\0", "0".repeat(id_length))).collect();
        if !paths.is_empty() {
            done(&self.git, &["update-index", "-z", "--index-info"], Some(gone.into_bytes()))?;
        }
        Ok(())
    }

    /// Moves the branch that is checked out, unless it was moved meanwhile.
    fn move_head(&self, commit: &str, head: Option<&str>, fresh: &[&Item<'_>]) -> Result<Answer, NotRecorded> {
        let none = "0".repeat(commit.len());
        let note = format!("kubebench record: {} results", fresh.len());
        let git = self.identity.given_to(&self.git, now());
        git.ask(&["update-ref", "-m", &note, "HEAD", commit, head.unwrap_or(&none)])
    }
}

/// Runs git, which must succeed, and returns what it printed.
fn done(git: &Git, arguments: &[&str], input: Option<Vec<u8>>) -> Result<String, NotRecorded> {
    let answer = git.call(arguments, input, Duration::from_mins(2))?;
    if answer.succeeded {
        return Ok(answer.text());
    }
    let command = arguments.first().copied().expected("a command of git");
    Err(NotRecorded::try_again(format!("`git {command}` failed: {}", answer.words.replace('\n', "; "))))
}

/// Returns the lines that put items into an index.
fn entries(items: &[&Item<'_>]) -> Vec<u8> {
    items.iter().map(|item| format!("100644 {} 0\t{}\0", item.blob, item.path)).collect::<String>().into_bytes()
}
