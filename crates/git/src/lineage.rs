//! Which commits a branch, tag or revision reaches, and what the generated trees of these commits ask clusters to run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use git2::{Commit, Error, ErrorCode, ObjectType, Oid, Repository, Revwalk, Sort, Tree};

use super::content::Comparison;
use super::history::{hint, prefix};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::text::shell_word;

/// The manifest that names the run digest of a benchmark.
pub(super) const CONFIG_FILE: &str = "config.yaml";

/// Commits that a name reaches, and what the generated trees of these commits ask the cluster to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// The commits by their full names.
    pub commits: BTreeSet<String>,
    /// The first of them whose tree holds a run digest: by target, benchmark and the first 8 digits.
    pub trees: BTreeMap<(String, String, String), String>,
    /// Where the walk began.
    pub(super) tips: Vec<Oid>,
    /// Where it ended before the first commit.
    pub(super) forks: Vec<Oid>,
    /// The commits, ancestors first.
    pub(super) order: Vec<Oid>,
}

/// A repository whose commits are looked up.
pub struct Commits {
    repository: Repository,
    /// The project's path inside the repository: empty, or ending in a slash.
    folder: String,
    /// The generated tree's path inside the repository.
    output: String,
    /// The path of recorded results inside the repository.
    results: String,
}

impl Commits {
    /// Opens the repository of the project at `root`, whose generated tree is `output` and whose recorded results are in `results`;
    /// nothing where there is none.
    pub fn open(root: &Path, output: &str, results: &str) -> Result<Option<Self>> {
        let Some(repository) = discover(root)? else { return Ok(None) };
        // Before the first commit there is nothing to look up, whatever the branch is to be called.
        let is_unborn = repository.head().is_err_and(|error| error.code() == ErrorCode::UnbornBranch);
        let has_references = repository.references().is_ok_and(|mut references| references.next().is_some());
        if is_unborn && !has_references || repository.is_bare() {
            return Ok(None);
        }
        let folder = prefix(&repository, root)?;
        let [output, results] = [output, results].map(|path| format!("{folder}{path}"));
        Ok(Some(Self { repository, folder, output, results }))
    }

    /// Returns the repository.
    pub(super) fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Returns what compares its commits.
    pub(super) fn comparison(&self) -> Comparison<'_> {
        Comparison::without(&self.results, &self.repository)
    }

    /// Returns the project's path inside the repository: empty, or ending in a slash.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// Returns the name of the default branch: that of the remote `origin`, else `main` or `master`; nothing where there is none of them.
    pub fn default_branch(&self) -> Option<String> {
        default_branch(&self.repository)
    }

    /// Returns the address of the remote `origin`.
    pub fn origin(&self) -> Option<String> {
        let remote = self.repository.find_remote("origin").ok()?;
        remote.url().ok().map(str::to_owned)
    }

    /// Returns the commit that is checked out, where there is one.
    pub fn head(&self) -> Option<String> {
        let head = self.repository.head().and_then(|head| head.peel_to_commit());
        head.ok().map(|commit| commit.id().to_string())
    }

    /// Returns the name of the branch that is checked out, where one is.
    pub fn checked_out_branch(&self) -> Option<String> {
        let head = self.repository.head().ok().filter(git2::Reference::is_branch)?;
        head.shorthand().ok().map(str::to_owned)
    }

    /// Returns what a branch reaches, here and as it was last fetched.
    pub fn of_branch(&self, name: &str) -> Result<Reached> {
        let tips = branch_tips(&self.repository, name);
        if tips.is_empty() {
            // Clones of one branch have no other.
            let fetch = self.origin().map_or_else(String::new, |_| {
                format!(": run `git fetch origin {}`", shell_word(&format!("{name}:refs/remotes/origin/{name}")))
            });
            return Err(anyhow!("there is no branch `{name}` here{fetch}{}", hint(&self.repository)));
        }
        self.reached(&tips)
    }

    /// Returns what a commit reaches.
    pub fn of_commit(&self, name: &str) -> Result<Reached> {
        self.reached(&[Oid::from_str(name).with_context(|| format!("`{name}` is not a commit"))?])
    }

    /// Returns whether there is a branch of this name.
    pub fn is_branch(&self, name: &str) -> bool {
        !branch_tips(&self.repository, name).is_empty()
    }

    /// Returns what a tag reaches.
    pub fn of_tag(&self, name: &str) -> Result<Reached> {
        let tag = self.repository.find_reference(&format!("refs/tags/{name}"));
        let commit = tag.and_then(|tag| tag.peel_to_commit());
        let commit = commit.with_context(|| format!("there is no tag `{name}` here: fetch it (`git fetch --tags`)"))?;
        self.reached(&[commit.id()])
    }

    /// Returns a single commit, and what its tree asks to run.
    pub fn of_revision(&self, revision: &str) -> Result<Reached> {
        let commit = self.repository.revparse_single(revision).and_then(|object| object.peel_to_commit());
        let commit = commit.map_err(|error| {
            if error.code() == ErrorCode::Ambiguous {
                anyhow!("several commits or files of this repository begin with `{revision}`: write more digits")
            } else {
                anyhow!("`{revision}` is neither a folder nor a commit here{}", hint(&self.repository))
            }
        })?;
        Ok(Reached { forks: commit.parent_ids().collect(), ..self.described(&[commit.id()], [Ok(commit.id())])? })
    }

    /// Walks from the oldest commit to `tips`, so that what a tree asks for is known by the commit that brought it.
    fn reached(&self, tips: &[Oid]) -> Result<Reached> {
        let walk = ancestors_first(&self.repository, tips).context("cannot walk the history")?;
        let reached = self.described(tips, walk)?;
        self.refuse_cut_off(&reached)?;
        Ok(reached)
    }

    /// Refuses commits some of whose ancestors are not here.
    pub(super) fn refuse_cut_off(&self, reached: &Reached) -> Result<()> {
        if self.cut_off()?.iter().any(|commit| reached.commits.contains(commit)) {
            return Err(anyhow!("cannot determine which results belong to which branch{}", hint(&self.repository)));
        }
        Ok(())
    }

    /// Returns the commits whose ancestors are not here: of another branch than the one that is walked they cut off nothing.
    pub(super) fn cut_off(&self) -> Result<BTreeSet<String>> {
        if !self.repository.is_shallow() {
            return Ok(BTreeSet::new());
        }
        let list = fs::read_to_string(self.repository.commondir().join("shallow"));
        Ok(list.context("cannot read which commits of this clone are shallow")?.lines().map(str::to_owned).collect())
    }

    /// Returns these commits, and what their trees ask to run.
    pub(super) fn described(&self, tips: &[Oid], ids: impl IntoIterator<Item = Result<Oid, Error>>) -> Result<Reached> {
        let mut reached = Reached { tips: tips.to_vec(), ..Reached::default() };
        let mut seen = Seen::default();
        for id in ids {
            let id = id.context("cannot walk the history")?;
            let commit = self.repository.find_commit(id).context("cannot read a commit")?;
            reached.commits.insert(id.to_string());
            reached.order.push(id);
            self.tree(&commit, &mut seen, &mut reached.trees);
        }
        Ok(reached)
    }

    /// Adds the run digests of the generated tree of a commit; what was at the same place before says nothing new.
    fn tree(&self, commit: &Commit<'_>, seen: &mut Seen, trees: &mut BTreeMap<(String, String, String), String>) {
        let found = commit.tree().and_then(|tree| tree.get_path(Path::new(&self.output)));
        let Some(output) = found.ok().filter(|entry| seen.is_new("", entry.id())) else { return };
        for (target, folder) in self.folders(output.id(), "", seen) {
            for (benchmark, folder) in self.folders(folder, &target, seen) {
                let config = self.repository.find_tree(folder).ok().and_then(|tree| file(&tree));
                let place = format!("{target}/{benchmark}/{CONFIG_FILE}");
                let Some(blob) = config.filter(|id| seen.is_new(&place, *id)) else { continue };
                let Ok(blob) = self.repository.find_blob(blob) else { continue };
                for digest in digests(blob.content(), &benchmark) {
                    let key = (target.clone(), benchmark.clone(), digest);
                    trees.entry(key).or_insert_with(|| commit.id().to_string());
                }
            }
        }
    }

    /// Returns the folders of a tree that were not seen at this place before.
    fn folders(&self, id: Oid, place: &str, seen: &mut Seen) -> Vec<(String, Oid)> {
        let Ok(tree) = self.repository.find_tree(id) else { return Vec::new() };
        let mut last = seen.last.remove(place).unwrap_or_default();
        let (mut at, mut now, mut folders) = (0, Vec::with_capacity(last.len()), Vec::new());
        for entry in tree.iter().filter(|entry| entry.kind() == Some(ObjectType::Tree)) {
            let name = entry.name_bytes();
            // Both trees are in one order, so that a folder that stayed is mostly the next one, and needs no look at what was seen.
            let rest = last.get_mut(at..).expected("what follows the folder that was found");
            let known = rest.iter_mut().enumerate().find(|(_, (own, _))| own == name);
            let (own, before) = match known {
                Some((skipped, (own, id))) => {
                    at += skipped + 1;
                    (std::mem::take(own), Some(*id))
                }
                None => (name.to_vec(), None),
            };
            if before != Some(entry.id())
                && let Ok(name) = entry.name()
                && seen.is_new(&format!("{place}/{name}"), entry.id())
            {
                folders.push((name.to_owned(), entry.id()));
            }
            now.push((own, entry.id()));
        }
        seen.last.insert(place.to_owned(), now);
        folders
    }
}

impl Reached {
    /// Returns where the walk ended before the first commit.
    pub fn forks(&self) -> BTreeSet<String> {
        self.forks.iter().map(Oid::to_string).collect()
    }

    /// Returns where in the order of commits one of these trees is held, by tree.
    pub(super) fn holding<'t>(
        &self,
        repository: &Repository,
        trees: impl Iterator<Item = &'t str>,
    ) -> Result<BTreeMap<String, Vec<usize>>> {
        let wanted: BTreeSet<Oid> = trees.filter_map(|tree| Oid::from_str(tree).ok()).collect();
        let mut holding: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, id) in self.order.iter().enumerate() {
            let tree = repository.find_commit(*id).context("cannot read a commit")?.tree_id();
            if wanted.contains(&tree) {
                holding.entry(tree.to_string()).or_default().push(at);
            }
        }
        Ok(holding)
    }
}

/// Opens the repository around `root`; nothing where there is none.
pub(super) fn discover(root: &Path) -> Result<Option<Repository>> {
    match Repository::discover(root) {
        Ok(repository) => Ok(Some(repository)),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => {
            let hint = match error.code() {
                ErrorCode::Owner => "; if you trust it, run `git config --global --add safe.directory FOLDER`",
                _ => "",
            };
            Err(anyhow!("cannot open the git repository of {}: {}{hint}", root.display(), error.message()))
        }
    }
}

/// Returns the name of the default branch: that of the remote `origin`, else `main` or `master`; nothing where there is none of them.
pub(super) fn default_branch(repository: &Repository) -> Option<String> {
    let head = repository.find_reference("refs/remotes/origin/HEAD").ok();
    let target = head.as_ref().and_then(|head| head.symbolic_target().ok().flatten());
    let of_remote = target.and_then(|target| target.strip_prefix("refs/remotes/origin/"));
    let mut names = of_remote.into_iter().chain(["main", "master"]);
    names.find(|name| !branch_tips(repository, name).is_empty()).map(str::to_owned)
}

/// Returns where a branch ends, here and as it was last fetched.
pub(super) fn branch_tips(repository: &Repository, name: &str) -> Vec<Oid> {
    let mut names = vec![format!("refs/heads/{name}"), format!("refs/remotes/origin/{name}")];
    if name.contains('/') {
        names.push(format!("refs/remotes/{name}"));
    }
    let tip = |name: &String| repository.find_reference(name).ok()?.peel_to_commit().ok();
    names.iter().filter_map(tip).map(|commit| commit.id()).collect()
}

/// Walks from the oldest commit to `tips`.
pub(super) fn ancestors_first<'r>(repository: &'r Repository, tips: &[Oid]) -> Result<Revwalk<'r>, Error> {
    let mut walk = repository.revwalk()?;
    walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE)?;
    for tip in tips {
        walk.push(*tip)?;
    }
    Ok(walk)
}

/// What a walk has seen, by place: the same file under two targets is two.
#[derive(Default)]
struct Seen {
    ids: BTreeMap<String, BTreeSet<Oid>>,
    /// The folders of the tree that was seen last at a place, by name.
    last: BTreeMap<String, Vec<(Vec<u8>, Oid)>>,
}

impl Seen {
    fn is_new(&mut self, place: &str, id: Oid) -> bool {
        match self.ids.get_mut(place) {
            Some(ids) => ids.insert(id),
            None => self.ids.insert(place.to_owned(), BTreeSet::from([id])).is_none(),
        }
    }
}

fn file(tree: &Tree<'_>) -> Option<Oid> {
    tree.get_name(CONFIG_FILE).filter(|entry| entry.kind() == Some(ObjectType::Blob)).map(|entry| entry.id())
}

/// Returns the run digests, first 8 digits, by which a manifest is called: `  name: <benchmark>-<digest8>`.
pub(super) fn digests(manifest: &[u8], benchmark: &str) -> Vec<String> {
    let text = String::from_utf8_lossy(manifest);
    let name = format!("  name: {benchmark}-");
    let digests = text.lines().filter_map(|line| line.strip_prefix(&name));
    let is_digest = |digest: &&str| digest.len() == 8 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    digests.filter(is_digest).map(str::to_owned).collect()
}
