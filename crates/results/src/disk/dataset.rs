//! Reads all results of one place, and keeps what was read in the user's cache, so that the next time only new files are read.
//!
//! The cache is disposable: without it, with a damaged one, or where nothing can be written, the same comes out, later.
#![expect(clippy::disallowed_methods, reason = "the one module of this crate that reaches the disk")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::dataset::{Dataset, Extract, Kept, KeptOf, Row};
use kubebench_attestation::{self as attestation, Key, Signature, verify};
use kubebench_format::attestation::{place as attested, result_of};
use kubebench_format::result::{self, Sealed};
use kubebench_host::fs::{Content, cache_folder, find_results, read_result};
use kubebench_syntax::digest::{Digest, Hasher};
use kubebench_syntax::invariant::Invariant as _;

/// The first line of a cache; another version of the program reads another.
const HEAD: &str = concat!("kubebench archive 7 ", env!("CARGO_PKG_VERSION"), "\n");
/// The length of the digest at its end.
const DIGITS: usize = 64;

/// A place that holds result files.
pub trait Files: Sync {
    /// Where one of them is.
    type File: Send + Sync;

    /// Returns the bytes of a file; what is longer than a result may be cut off.
    fn bytes(&self, file: &Self::File) -> Result<Vec<u8>, Content>;

    /// Returns what shows that a file is the one that was read.
    fn stamp(&self, file: &Self::File) -> Option<Stamp>;
}

/// The files of a place by their paths, or why one of them is not read.
pub type Found<F> = BTreeMap<String, Result<F, Content>>;
/// One of them.
type Listed<F> = (String, Result<F, Content>);

/// A folder.
#[derive(Clone, Copy, Debug)]
pub struct Folder;

impl Files for Folder {
    type File = PathBuf;

    fn bytes(&self, file: &PathBuf) -> Result<Vec<u8>, Content> {
        read_result(file, result::MAX_BYTES)
    }

    fn stamp(&self, file: &PathBuf) -> Option<Stamp> {
        let file = fs::symlink_metadata(file).ok()?;
        Some(Stamp::File(file.size(), file.mtime(), file.mtime_nsec(), file.ctime(), file.ctime_nsec(), file.ino()))
    }
}

/// What was read of a place.
#[derive(Debug)]
pub struct Read {
    /// The results.
    pub dataset: Dataset,
    /// Envelopes of results that are not there.
    pub orphans: Vec<String>,
    /// Files that are no results, by their path.
    pub bad: BTreeMap<String, Bad>,
    /// How many files were opened, and not known from the cache.
    pub opened: usize,
}

/// A file that is no result.
#[derive(Clone, Debug)]
pub enum Bad {
    /// Its bytes, for a report of what is wrong with them.
    Bytes(Vec<u8>),
    /// Why it was not read.
    Unread(Content),
}

/// What shows that a file is the one that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Stamp {
    /// Its size, when it and its entry were changed, and its number.
    File(u64, i64, i64, i64, i64, u64),
    /// The name of its content.
    Content(String),
    /// Those of a file and of its envelope.
    Signed(Box<Self>, Option<Box<Self>>),
}

#[derive(Deserialize)]
struct Loaded {
    stamps: Vec<Stamp>,
    dataset: Kept,
}

#[derive(Serialize)]
struct Cache<'a> {
    stamps: Vec<Stamp>,
    dataset: KeptOf<'a>,
}

/// Returns the place of the cache for the results of the place that `identity` names, by the keys that it was read with, unless this user
/// has no place for caches.
pub fn cache_for(identity: &str, keys: &[Key]) -> Option<PathBuf> {
    let keys = if keys.is_empty() { String::new() } else { format!("\0{}", attestation::identity(keys)) };
    let name = Digest::of(format!("{identity}{keys}").as_bytes()).hex();
    Some(cache_folder()?.join("archive").join(format!("{}.json", name.get(..16)?)))
}

/// The number of files that are read at once: what is kept of a file is a fraction of it.
const AT_ONCE: usize = 1024;

/// Reads the results below `folder`, as far as `cache` does not know them.
pub fn read_folder(folder: &Path, keys: &[Key], cache: Option<&Path>) -> Read {
    read(&Folder, find_results(folder, ""), keys, cache)
}

/// The files of a place, each result with its envelope.
struct Signed<'p, F: Files> {
    place: &'p F,
    envelopes: BTreeMap<String, Result<F::File, Content>>,
    keys: &'p [Key],
}

/// Reads the results that were `found` in a place, as far as `cache` does not know them, and by `keys` who recorded them.
pub fn read<F: Files>(place: &F, mut found: Found<F::File>, keys: &[Key], cache: Option<&Path>) -> Read {
    let envelopes: Vec<String> = found.keys().filter(|path| result_of(path).is_some()).cloned().collect();
    let envelopes: BTreeMap<String, Result<F::File, Content>> =
        envelopes.into_iter().filter_map(|path| found.remove_entry(&path)).collect();
    let is_orphan = |path: &&String| result_of(path).is_none_or(|result| !found.contains_key(&result));
    let orphans = envelopes.keys().filter(is_orphan).cloned().collect();
    let place = &Signed { place, envelopes, keys };
    let found: Vec<Listed<F::File>> = found.into_iter().collect();
    let (stamps, mut old) = cache.and_then(load).unwrap_or_default();
    let known: BTreeMap<&str, (usize, &Stamp)> =
        old.rows().iter().zip(&stamps).enumerate().map(|(at, (row, stamp))| (row.path.as_str(), (at, stamp))).collect();
    let fresh: Vec<Option<usize>> =
        found.par_iter().map(|(path, file)| place.is_known(path, file, known.get(path.as_str()))).collect();
    let is_all_known = fresh.iter().all(Option::is_some) && fresh.len() == old.rows().len();
    drop(known);
    if is_all_known {
        return Read { dataset: old, orphans, bad: BTreeMap::new(), opened: 0 };
    }
    let (mut dataset, mut bad, mut new, mut opened) = (Dataset::default(), BTreeMap::new(), Vec::new(), 0);
    let mut rows: Vec<Option<Row>> = old.take_rows().into_iter().map(Some).collect();
    for (files, fresh) in found.chunks(AT_ONCE).zip(fresh.chunks(AT_ONCE)) {
        let read = |((path, file), known): (&Listed<F::File>, &Option<usize>)| match (known, file) {
            (Some(at), _) => Outcome::Known(*at),
            (None, Ok(file)) => place.outcome(path, file),
            (None, Err(content)) => Outcome::Bad(Bad::Unread(content.clone())),
        };
        let outcomes: Vec<Outcome> = files.par_iter().zip(fresh).map(read).collect();
        for ((path, _), outcome) in files.iter().zip(outcomes) {
            match outcome {
                Outcome::Known(at) => {
                    if let Some((row, stamp)) = rows.get_mut(at).and_then(Option::take).zip(stamps.get(at)) {
                        dataset.adopt(row, &old);
                        new.push(stamp.clone());
                    }
                }
                Outcome::Read(extract, stamp) => {
                    dataset.add(*extract);
                    new.push(stamp);
                    opened += 1;
                }
                Outcome::Bad(fault) => {
                    bad.insert(path.clone(), fault);
                }
            }
        }
    }
    if opened > 0 || new.len() != stamps.len() {
        // Without room for a cache, it takes longer and gives the same result.
        let _ = cache.is_none_or(|cache| store(cache, &Cache { stamps: new, dataset: dataset.to_kept() }).is_ok());
    }
    Read { dataset, orphans, bad, opened }
}

enum Outcome {
    Known(usize),
    Read(Box<Extract>, Stamp),
    Bad(Bad),
}

impl<F: Files> Signed<'_, F> {
    /// Returns the place of the row of a file that is still the one that was read.
    fn is_known(&self, path: &str, file: &Result<F::File, Content>, known: Option<&(usize, &Stamp)>) -> Option<usize> {
        let (at, was) = known?;
        (self.stamp(path, file.as_ref().ok()?)? == **was).then_some(*at)
    }

    fn outcome(&self, path: &str, file: &F::File) -> Outcome {
        // Taken before the file is read: one that is written meanwhile is read again the next time.
        let stamp = self.stamp(path, file);
        let bytes = match self.place.bytes(file) {
            Ok(bytes) => bytes,
            Err(content) => return Outcome::Bad(Bad::Unread(content)),
        };
        match (result::as_written(&bytes), stamp) {
            (Some(result), Some(stamp)) if result::path(&result) == path => {
                let sealed = Sealed { result, bytes };
                let signature = (!self.keys.is_empty()).then(|| self.signature(path, &sealed));
                Outcome::Read(Box::new(Extract::of(path, sealed.result).recorded_by(signature)), stamp)
            }
            _ => Outcome::Bad(Bad::Bytes(bytes)),
        }
    }

    /// Returns what shows that a file and its envelope are those that were read; where there are no keys, envelopes are not
    /// looked at.
    fn stamp(&self, path: &str, file: &F::File) -> Option<Stamp> {
        let stamp = self.place.stamp(file)?;
        if self.keys.is_empty() {
            return Some(stamp);
        }
        let envelope = self.envelopes.get(&attested(path)).and_then(|file| file.as_ref().ok());
        let of_envelope = envelope.map(|file| self.place.stamp(file).map(Box::new));
        // One that cannot be looked at is read each time.
        of_envelope
            .map_or(Some(None), |stamp| stamp.map(Some))
            .map(|of_envelope| Stamp::Signed(Box::new(stamp), of_envelope))
    }

    fn signature(&self, path: &str, sealed: &Sealed) -> Signature {
        let envelope = self.envelopes.get(&attested(path));
        let read = |file: &Result<F::File, Content>| self.place.bytes(file.as_ref().map_err(Clone::clone)?);
        signature(envelope.map(read), sealed, self.keys)
    }
}

/// Returns who recorded a result by its envelope, where it has one.
pub fn signature(envelope: Option<Result<Vec<u8>, Content>>, sealed: &Sealed, keys: &[Key]) -> Signature {
    match envelope {
        None => Signature::Unsigned,
        Some(Ok(bytes)) => verify(&bytes, sealed, keys),
        Some(Err(content)) => Signature::Invalid(format!("its envelope cannot be read: {}", content.reason())),
    }
}

/// Reads a cache; nothing where it is not there, damaged, or of another version.
fn load(cache: &Path) -> Option<(Vec<Stamp>, Dataset)> {
    let bytes = fs::read(cache).ok()?;
    let rest = bytes.strip_prefix(HEAD.as_bytes())?;
    let (body, digest) = rest.split_at_checked(rest.len().checked_sub(DIGITS)?)?;
    let is_whole = digest == Digest::of(body).hex().as_bytes();
    let Loaded { stamps, dataset } = is_whole.then(|| serde_json::from_slice(body).ok())??;
    let dataset = Dataset::of_kept(dataset)?;
    (stamps.len() == dataset.rows().len()).then_some((stamps, dataset))
}

/// Writes a cache next to the old one, and then replaces that.
fn store(cache: &Path, content: &Cache<'_>) -> io::Result<()> {
    fs::create_dir_all(cache.parent().unwrap_or(Path::new(".")))?;
    let temp = cache.with_extension(format!("{}.tmp", std::process::id()));
    let stored = write(&temp, content).and_then(|()| fs::rename(&temp, cache));
    if stored.is_err() {
        let _ = fs::remove_file(&temp);
    }
    stored
}

fn write(path: &Path, content: &Cache<'_>) -> io::Result<()> {
    let mut file = io::BufWriter::new(fs::File::create(path)?);
    file.write_all(HEAD.as_bytes())?;
    let mut hashed = Hashed { file, hasher: Hasher::default() };
    serde_json::to_writer(&mut hashed, content)?;
    let Hashed { mut file, hasher } = hashed;
    file.write_all(hasher.finish().hex().as_bytes())?;
    file.flush()
}

/// A file whose digest is taken while it is written.
struct Hashed<W> {
    file: W,
    hasher: Hasher,
}

impl<W: io::Write> io::Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.hasher.update(bytes.get(..count).expected("at most what was to be written"));
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
