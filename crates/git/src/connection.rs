//! A scratch repository and the remote that it fetches from and pushes to.

use std::path::{Path, PathBuf};
use std::time::Duration;

use git2::Oid;

use super::identity::{Configuration, Identity};
use super::objects::{At, Objects, oid};
use super::program::{Answer, Git, trouble_of};
use super::scratch::{REMOTE, Scratch};
use super::{Destination, authority, commit_key, credential};
use crate::record::answer::{self, Pushed, Trouble};
use crate::record::redact::Redactor;
use crate::record::{NotRecorded, Signing, place};
use kubebench_syntax::digest::Digest;

/// Where the tip of the branch is fetched to.
const TIP: &str = "refs/kubebench/tip";
/// Where that of the remote's default branch is.
const DEFAULT: &str = "refs/kubebench/default";

/// Options that fetch a commit and its folders: no history, no files.
pub(super) const TIP_ALONE: [&str; 2] = ["--depth=1", "--filter=blob:none"];

/// A change of one ref of the remote, made only when the ref is what it was.
pub(super) struct Change {
    pub(super) name: String,
    /// What it must be; nothing: it must not exist.
    pub(super) from: Option<Oid>,
    /// What it becomes; nothing: it is deleted.
    pub(super) to: Option<Oid>,
}

/// A scratch repository and its remote.
pub(super) struct Connection {
    git: Git,
    /// Where the repository is.
    place: PathBuf,
    /// The address, for people.
    pub(super) shown: String,
    pub(super) identity: Identity,
    signing: Signing,
    /// Removed when the connection is dropped.
    _scratch: Scratch,
}

impl Connection {
    /// Finds the remote of `destination`; no server is asked yet.
    pub(super) fn open(destination: &Destination) -> Result<Self, NotRecorded> {
        let Destination { folder, remote, branch, inbox, credential, host_keys, signing, cache, program, tell, .. } =
            destination;
        let authorities = destination.authorities.as_deref();
        // Before git or anything else starts.
        refuse_remote(remote, remote)?;
        refuse_ref(&format!("refs/heads/{branch}"), branch, "branch")?;
        refuse_ref(&format!("{inbox}/x"), inbox, "prefix of an inbox")?;
        place::refuse_inbox(inbox, branch).map_err(NotRecorded::refused)?;
        let git = Git::find(program, folder)?;
        let configuration = Configuration::read(&git, folder)?;
        configuration.check_signing(*signing)?;
        let url = match configuration.remote(remote) {
            Some(url) => url.to_owned(),
            None if place::is_address(remote) => remote.clone(),
            None => return Err(no_remote(remote, folder, configuration.outside())),
        };
        refuse_remote(&url, remote)?;
        let is_folder = place::is_folder(&url);
        let url = if is_folder && !url.starts_with("file://") { absolute(&git, folder, &url)? } else { url };
        let scratch = Scratch::new(cache)?;
        let repository = scratch.init(&url, is_folder)?;
        let has_ssh = ["GIT_SSH_COMMAND", "GIT_SSH"].iter().any(|name| std::env::var_os(name).is_some());
        // A credential of our own takes the place of the checkout's, and of a header that CI left in its configuration.
        let is_given = credential.as_ref().is_some_and(|folder| folder.is_dir());
        let replaced: &[&str] = if is_given { &["credential.", "http."] } else { &[] };
        let git = git.at(&repository).with_variable("GIT_DIR", &repository).allowing(|name| configuration.allows(name));
        let mut git = configuration.carried_by(git, replaced);
        if !has_ssh && configuration.get("core.sshcommand").is_none() {
            // No user is there to enter a passphrase.
            git = git.with_variable("GIT_SSH_COMMAND", "ssh -o BatchMode=yes");
        }
        let shown = Redactor::default().clean(&url);
        let git = authority::give(git, credential.as_deref(), authorities, &url, &scratch)?;
        let git = credential::give(git, credential.as_deref(), *host_keys, &url, &scratch)?.telling(&shown, *tell);
        let (git, signing) = commit_key::give(git, credential.as_deref(), *signing, &scratch)?;
        let identity = configuration.identity();
        Ok(Self { git, place: repository, shown, identity, signing, _scratch: scratch })
    }

    /// Opens the objects as they are now.
    pub(super) fn objects(&self) -> Result<Objects, NotRecorded> {
        Objects::open(&self.place)
    }

    /// Fetches the tip of `branch`, without its history and without files; nothing when there is no such branch.
    pub(super) fn tip(&self, branch: &str, limit: Duration) -> Result<Result<Option<Oid>, Trouble>, NotRecorded> {
        let source = format!("refs/heads/{branch}");
        let fetched = self.fetch(&[&format!("+{source}:{TIP}")], &TIP_ALONE, limit)?;
        if fetched.succeeded {
            let refs = self.objects()?.refs(TIP)?;
            return Ok(Ok(refs.first().map(|(_, tip)| *tip)));
        }
        if !answer::is_missing_ref(&fetched.words) {
            return Ok(Err(trouble_of(&fetched)));
        }
        // The message alone is not trusted.
        Ok(match self.look(&[source.as_str()], limit)? {
            Ok(found) if found.is_empty() => Ok(None),
            Ok(_) => Err(Trouble::Passing("the branch was created in the meantime".to_owned())),
            Err(trouble) => Err(trouble),
        })
    }

    /// Fetches `depth` generations of commits of the remote's default branch, without files, and returns its newest one; nothing when it
    /// has no such branch.
    pub(super) fn default_branch(&self, depth: u32, limit: Duration) -> Result<Option<Oid>, NotRecorded> {
        let depth = format!("--depth={depth}");
        let fetched = self.fetch(&[&format!("+HEAD:{DEFAULT}")], &[&depth, "--filter=blob:none"], limit)?;
        if fetched.succeeded {
            return Ok(self.objects()?.refs(DEFAULT)?.first().map(|(_, tip)| *tip));
        }
        if answer::is_missing_ref(&fetched.words) {
            return Ok(None);
        }
        Err(NotRecorded::try_again(trouble_of(&fetched).words().to_owned()))
    }

    /// Returns the bytes of a file of the remote, fetched for that.
    pub(super) fn content(&self, blob: Oid, limit: Duration) -> Result<Vec<u8>, NotRecorded> {
        let answer = self.git.call(&["cat-file", "blob", &blob.to_string()], None, limit)?;
        if answer.succeeded {
            Ok(answer.output)
        } else {
            Err(NotRecorded::try_again(trouble_of(&answer).words().to_owned()))
        }
    }

    /// Returns where the scratch repository is.
    pub(super) fn place(&self) -> &Path {
        &self.place
    }

    /// Fetches refs.
    pub(super) fn fetch(&self, refspecs: &[&str], options: &[&str], limit: Duration) -> Result<Answer, NotRecorded> {
        let options = [&["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"], options].concat();
        self.git.call(&[options.as_slice(), &["--", REMOTE], refspecs].concat(), None, limit)
    }

    /// Asks the server for the refs with these full names.
    pub(super) fn look(
        &self,
        names: &[&str],
        limit: Duration,
    ) -> Result<Result<Vec<(String, Oid)>, Trouble>, NotRecorded> {
        look(&self.git, REMOTE, names, limit)
    }

    /// Asks the server for the refs below a name, which are returned without it, in order.
    pub(super) fn look_below(
        &self,
        name: &str,
        limit: Duration,
    ) -> Result<Result<Vec<(String, Oid)>, Trouble>, NotRecorded> {
        let below = format!("{name}/");
        let found = ls_remote(&self.git, REMOTE, &[&format!("{below}*")], limit)?;
        Ok(found.map(|found| {
            let own = |(name, id): (String, Oid)| Some((name.strip_prefix(&below)?.to_owned(), id));
            let mut own: Vec<(String, Oid)> = found.into_iter().filter_map(own).collect();
            own.sort();
            own
        }))
    }

    /// Pushes all changes or none, each only if its ref is still what it was.
    pub(super) fn push(&self, changes: &[Change], limit: Duration) -> Result<Pushed, NotRecorded> {
        let text = |id: &Option<Oid>| id.map_or_else(String::new, |id| id.to_string());
        let leases = changes.iter().map(|change| format!("--force-with-lease={}:{}", change.name, text(&change.from)));
        let specs = changes.iter().map(|change| format!("{}:{}", text(&change.to), change.name));
        let (leases, specs): (Vec<String>, Vec<String>) = (leases.collect(), specs.collect());
        let mut arguments = vec!["push", "--porcelain", "--no-verify", "--no-thin", "--recurse-submodules=no"];
        if changes.len() > 1 {
            arguments.push("--atomic");
        }
        arguments.extend(leases.iter().map(String::as_str));
        arguments.extend(["--", REMOTE]);
        arguments.extend(specs.iter().map(String::as_str));
        let answer = self.git.call(&arguments, None, limit)?;
        if answer.timed_out {
            return Ok(Pushed::Broken(trouble_of(&answer)));
        }
        Ok(answer::pushed(answer.succeeded, &self.git.porcelain(&answer), &answer.words))
    }

    /// Writes a commit into `objects`, which are this connection's; signed when that is asked for.
    pub(super) fn commit(
        &self,
        objects: &Objects,
        tree: Oid,
        parent: Option<Oid>,
        when: i64,
        message: &str,
    ) -> Result<Oid, NotRecorded> {
        match self.signing {
            Signing::Never => objects.commit(tree, parent, &self.identity, when, message),
            Signing::AsConfigured => {
                let git = self.identity.given_to(&self.git, when);
                let parent = parent.map(|parent| parent.to_string());
                oid(&signed(&git, &tree.to_string(), parent.as_deref(), message)?)
            }
        }
    }

    /// Says what is at a path of the remote: the digest of its bytes, fetched for that, or else its name in git.
    pub(super) fn theirs(&self, at: At, limit: Duration) -> Result<String, NotRecorded> {
        let At::File(blob) = at else { return Ok("a folder, a link, or a file in the way of a folder".to_owned()) };
        let answer = self.git.call(&["cat-file", "blob", &blob.to_string()], None, limit)?;
        Ok(if answer.succeeded { Digest::of(&answer.output).to_string() } else { format!("git blob {blob}") })
    }
}

/// Asks the server of `remote` for the refs with these full names.
pub(super) fn look(
    git: &Git,
    remote: &str,
    names: &[&str],
    limit: Duration,
) -> Result<Result<Vec<(String, Oid)>, Trouble>, NotRecorded> {
    // A pattern of ls-remote also matches the end of a longer name.
    let is_asked = |(name, _): &(String, Oid)| names.contains(&name.as_str());
    Ok(ls_remote(git, remote, names, limit)?.map(|found| found.into_iter().filter(is_asked).collect()))
}

fn ls_remote(
    git: &Git,
    remote: &str,
    patterns: &[&str],
    limit: Duration,
) -> Result<Result<Vec<(String, Oid)>, Trouble>, NotRecorded> {
    let heads: &[&str] = if patterns.iter().all(|of| of.starts_with("refs/heads/")) { &["--heads"] } else { &[] };
    let answer = git.call(&[&["ls-remote", "--quiet"], heads, &["--", remote], patterns].concat(), None, limit)?;
    if !answer.succeeded {
        return Ok(Err(trouble_of(&answer)));
    }
    let line = |line: &str| line.split_once('\t').map(|(id, name)| Ok((name.to_owned(), oid(id)?)));
    Ok(Ok(answer.text().lines().filter_map(line).collect::<Result<_, NotRecorded>>()?))
}

/// Writes a signed commit with the git program, in the repository of `git`.
pub(super) fn signed(git: &Git, tree: &str, parent: Option<&str>, message: &str) -> Result<String, NotRecorded> {
    let parent = parent.map_or_else(Vec::new, |parent| vec!["-p", parent]);
    let arguments = [&["commit-tree", "-S", "-F", "-"], parent.as_slice(), &[tree]].concat();
    let answer = git.call(&arguments, Some(message.as_bytes().to_vec()), Duration::from_mins(2))?;
    if answer.succeeded {
        return Ok(answer.text());
    }
    Err(NotRecorded::refused(format!("the commit cannot be signed: {}", answer.words.replace('\n', "; ")))
        .help("check that `git commit -S` works here, or record without signing"))
}

fn no_remote(remote: &str, folder: &Path, outside: Option<&str>) -> NotRecorded {
    let name = "name an address with `--remote` or `results.remote`";
    let Some(words) = outside else {
        let fault = format!("there is no remote `{remote}` in the repository of `{}`", folder.display());
        let help = format!("add it with `git remote add`, {name}, or commit here with `--mode local`");
        return NotRecorded::refused(fault).help(help);
    };
    let fault = format!("cannot resolve the remote `{remote}` of `{}`: {words}", folder.display());
    let help = answer::help(words).map(str::to_owned);
    NotRecorded::refused(fault).help(help.unwrap_or_else(|| format!("record from a clone, or {name}")))
}

fn refuse_remote(url: &str, remote: &str) -> Result<(), NotRecorded> {
    place::refuse_address(url).map_err(|why| {
        let shown = Redactor::default().clean(if url == remote { url } else { remote });
        NotRecorded::refused(format!("the remote `{shown}` is refused: {why}")).help(
            "write `https://git.example/team/benchmarks.git` or `git@git.example:team/benchmarks.git`; keep passwords \
             and tokens in a credential helper of git or in the Secret of `results.credential`",
        )
    })
}

fn refuse_ref(full: &str, name: &str, what: &str) -> Result<(), NotRecorded> {
    if full.starts_with("refs/") && !name.starts_with('-') && git2::Reference::is_valid_name(full) {
        return Ok(());
    }
    Err(NotRecorded::refused(format!("`{}` is not a valid name for a {what}", name.escape_debug()))
        .help("write `kubebench/results` for a branch, `refs/kubebench/inbox` for an inbox"))
}

/// Returns the folder that a relative address means: it starts where the work tree does, as in git.
fn absolute(git: &Git, folder: &Path, url: &str) -> Result<String, NotRecorded> {
    let top = git.at(folder).ask(&["rev-parse", "--show-toplevel"])?;
    let base = if top.succeeded { PathBuf::from(top.text()) } else { folder.to_owned() };
    let place = base.join(url);
    let place = if place.is_dir() { place } else { folder.join(url) };
    Ok(place.canonicalize().unwrap_or(place).display().to_string())
}
