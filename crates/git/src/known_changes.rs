//! What commits change, kept in the user's cache: a commit never changes something else, and finding out takes about a millisecond.
//!
//! The cache is disposable: without it, with a damaged one, or where nothing can be written, the same comes out, later.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use git2::{Error, Oid, Repository};

use kubebench_format::result::v1::Patch;
use kubebench_host::fs::cache_folder;
use kubebench_syntax::digest::Digest;

/// The first line of a cache; another version of the program reads another.
const HEAD: &str = concat!("kubebench changes 1 ", env!("CARGO_PKG_VERSION"), "\n");
/// The length of the digest at its end.
const DIGITS: usize = 64;
/// What is said of nothing.
const NONE: &str = "-";
/// Of more commits than this, the cache begins again.
const MOST: usize = 200_000;

/// What a commit changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// The digest of the names of the files; nothing where none changes.
    pub(super) files: Option<String>,
    /// As `git patch-id --stable` names it, where that was asked for.
    pub(super) id: Option<String>,
}

impl Change {
    /// Returns what a result keeps of it.
    pub(super) fn into_patch(self) -> Option<Patch> {
        Some(Patch { files: self.files?, id: self.id? })
    }
}

/// What is known of the changes of a repository's commits.
pub(super) struct KnownChanges {
    cache: Option<PathBuf>,
    known: BTreeMap<Oid, Change>,
    is_new: bool,
}

impl KnownChanges {
    /// Reads what is known of the commits of `repository`, where recorded results are in the folder `results`.
    pub(super) fn of(repository: &Repository, results: &str) -> Self {
        let place = repository.commondir().to_string_lossy();
        let name = Digest::of_fields([place.as_bytes(), results.as_bytes()]).short();
        let cache = cache_folder().map(|folder| folder.join("archive").join(format!("changes-{name}.txt")));
        let known = cache.as_deref().and_then(load).filter(|known| known.len() <= MOST).unwrap_or_default();
        Self { cache, known, is_new: false }
    }

    /// Returns the id of what a commit changes, if that is in files that are `wanted`; `find` is asked where it is not known.
    pub(super) fn change<W: Fn(&str) -> bool>(
        &mut self,
        commit: Oid,
        wanted: W,
        find: impl FnOnce(&dyn Fn(&str) -> bool) -> Result<Change, Error>,
    ) -> Option<String> {
        let is_wanted = |change: &Change| change.files.as_deref().is_some_and(&wanted);
        if let Some(known) = self.known.get(&commit).filter(|known| known.id.is_some() || !is_wanted(known)) {
            return known.id.clone().filter(|_| is_wanted(known));
        }
        let found = find(&wanted).ok()?;
        self.is_new = true;
        let id = found.id.clone();
        self.known.insert(commit, found);
        id
    }

    /// Keeps what was found. Without room for a cache, it takes longer and gives the same result.
    pub(super) fn keep(&self) {
        if let Some(cache) = self.cache.as_ref().filter(|_| self.is_new) {
            drop(store(cache, &self.known));
        }
    }
}

/// Reads a cache; nothing where it is not there, damaged, or of another version.
fn load(cache: &Path) -> Option<BTreeMap<Oid, Change>> {
    let text = fs::read_to_string(cache).ok()?;
    let rest = text.strip_prefix(HEAD)?;
    let (body, digest) = rest.split_at_checked(rest.len().checked_sub(DIGITS)?)?;
    if digest != Digest::of(body).hex() {
        return None;
    }
    let word = |word: &str| (word != NONE).then(|| word.to_owned());
    let line = |line: &str| {
        let mut words = line.split(' ');
        let (commit, files, id) = (words.next()?, words.next()?, words.next()?);
        Some((Oid::from_str(commit).ok()?, Change { files: word(files), id: word(id) }))
    };
    body.lines().map(line).collect()
}

/// Writes a cache next to the old one, and then replaces that.
fn store(cache: &Path, known: &BTreeMap<Oid, Change>) -> io::Result<()> {
    let mut body = String::new();
    for (commit, Change { files, id }) in known {
        let [files, id] = [files, id].map(|word| word.as_deref().unwrap_or(NONE));
        body.push_str(&format!("{commit} {files} {id}\n"));
    }
    fs::create_dir_all(cache.parent().unwrap_or(Path::new(".")))?;
    let temp = cache.with_extension(format!("{}.tmp", std::process::id()));
    let digest = Digest::of(&body).hex();
    let stored = fs::write(&temp, format!("{HEAD}{body}{digest}")).and_then(|()| fs::rename(&temp, cache));
    if stored.is_err() {
        drop(fs::remove_file(&temp));
    }
    stored
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> BTreeMap<Oid, Change> {
        let id = |digit: &str| Oid::from_str(&digit.repeat(40)).unwrap();
        let text = |text: &str| Some(text.to_owned());
        BTreeMap::from([
            (id("1"), Change { files: text("f1"), id: text("p1") }),
            (id("2"), Change { files: text("f2"), id: None }),
            (id("3"), Change::default()),
        ])
    }

    #[test]
    fn what_is_kept_is_read_back_and_nothing_of_what_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("archive/changes.txt");
        assert_eq!(load(&cache), None);
        store(&cache, &known()).unwrap();
        assert_eq!(load(&cache), Some(known()));
        let whole = fs::read_to_string(&cache).unwrap();
        for damaged in [
            "",
            HEAD,
            &whole.replace("p1", "p2"),
            whole.strip_suffix(|_| true).unwrap(),
            &whole.replace("changes 1", "changes 0"),
        ] {
            fs::write(&cache, damaged).unwrap();
            assert_eq!(load(&cache), None, "{damaged}");
        }
        store(&cache, &BTreeMap::new()).unwrap();
        assert_eq!(load(&cache), Some(BTreeMap::new()));
    }

    #[test]
    fn what_is_known_is_not_looked_up_again() {
        let mut known = KnownChanges { cache: None, known: known(), is_new: false };
        let [first, second, third, fourth] =
            ["1", "2", "3", "4"].map(|digit| Oid::from_str(&digit.repeat(40)).unwrap());
        let never = |_: &dyn Fn(&str) -> bool| -> Result<Change, Error> { panic!("it is known") };
        assert_eq!(known.change(first, |files| files == "f1", never), Some("p1".to_owned()));
        assert_eq!(known.change(first, |_| false, never), None);
        assert_eq!(known.change(second, |files| files == "f1", never), None);
        assert_eq!(known.change(third, |_| true, never), None);
        assert!(!known.is_new);
        // Its files are known, and its id was not asked for before.
        let found = Change { files: Some("f2".to_owned()), id: Some("p2".to_owned()) };
        assert_eq!(known.change(second, |files| files == "f2", |_| Ok(found.clone())), Some("p2".to_owned()));
        assert_eq!(known.change(second, |files| files == "f2", never), Some("p2".to_owned()));
        assert!(known.is_new);
        // What cannot be read is asked for again.
        assert_eq!(known.change(fourth, |_| true, |_| Err(Error::from_str("it is not here"))), None);
        assert_eq!(known.change(fourth, |_| true, |_| Ok(found)), Some("p2".to_owned()));
    }
}
