//! How far a log is, on disk: small records in a file of fixed size, so that writing one neither needs space nor takes time.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use kubebench_syntax::digest::Digest;

/// What one record takes at most.
const SLOT: usize = 16 << 10;
/// The first slot holds what has reached the disk, the others by turns what the operating system has.
const SLOTS: usize = 3;
/// How often a log is synced to the disk: the machine may die, the operating system with it.
const SYNC_EACH: Duration = Duration::from_secs(10);
const SYNC_BYTES: u64 = 256 << 20;

/// How far a log is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Checkpoint {
    /// How many bytes came.
    pub(super) came: u64,
    /// The size of the head and of each segment.
    pub(super) half: u64,
    /// Where the writer of the log resumes.
    pub(super) mark: String,
    /// What became of it.
    pub(super) ended: Option<Ended>,
}

/// What became of a log that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ended {
    /// How many bytes are missing in it.
    pub(super) dropped: u64,
    /// Why.
    pub(super) fault: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Record {
    number: u64,
    checkpoint: Checkpoint,
}

/// The file of checkpoints.
#[derive(Debug)]
pub(super) struct Slots {
    file: File,
    /// Of the next record.
    number: u64,
    synced: Instant,
    synced_bytes: u64,
}

impl Slots {
    /// Opens the file, or makes it, and returns what it holds, the newest first.
    pub(super) fn open(path: &Path) -> io::Result<(Self, Vec<Checkpoint>)> {
        let file = super::options().create(true).truncate(false).open(path)?;
        if file.metadata()?.len() < (SLOT * SLOTS) as u64 {
            file.write_all_at(&vec![b'\n'; SLOT * SLOTS], 0)?;
        }
        let records = records(&file);
        let number = records.first().map_or(0, |record| record.number + 1);
        let found = records.into_iter().map(|record| record.checkpoint).collect();
        Ok((Self { file, number, synced: Instant::now(), synced_bytes: 0 }, found))
    }

    /// Returns whether a log of `came` bytes is to be synced to the disk now.
    pub(super) fn is_due(&self, came: u64) -> bool {
        self.synced.elapsed() >= SYNC_EACH || came.saturating_sub(self.synced_bytes) >= SYNC_BYTES
    }

    /// Writes a record for the case that this process dies.
    pub(super) fn write(&mut self, checkpoint: Checkpoint) -> io::Result<()> {
        let slot = 1 + usize::from(self.number.is_multiple_of(2));
        self.write_into(slot, checkpoint)
    }

    /// Writes a record, of a log that has reached the disk, for the case that the machine dies.
    pub(super) fn write_synced(&mut self, checkpoint: Checkpoint) -> io::Result<()> {
        (self.synced, self.synced_bytes) = (Instant::now(), checkpoint.came);
        self.write_into(0, checkpoint)?;
        self.file.sync_data()
    }

    fn write_into(&mut self, slot: usize, checkpoint: Checkpoint) -> io::Result<()> {
        let text = serde_json::to_string(&Record { number: self.number, checkpoint })?;
        let line = format!("{} {text}\n", Digest::of(&text).hex());
        if line.len() > SLOT {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the mark of a log is too long"));
        }
        self.number += 1;
        self.file.write_all_at(line.as_bytes(), (slot * SLOT) as u64)
    }
}

/// Returns the newest record of the file at `path`, if there is one.
pub(super) fn newest(path: &Path) -> Option<Checkpoint> {
    let file = super::options().write(false).open(path).ok()?;
    records(&file).into_iter().next().map(|record| record.checkpoint)
}

/// Returns what the file holds, the newest first.
fn records(file: &File) -> Vec<Record> {
    let mut records: Vec<Record> = (0..SLOTS).filter_map(|slot| read(file, slot)).collect();
    records.sort_by_key(|record| std::cmp::Reverse(record.number));
    records
}

/// Returns what a slot holds, unless it was being written when the process died.
fn read(file: &File, slot: usize) -> Option<Record> {
    let mut bytes = vec![0; SLOT];
    file.read_exact_at(&mut bytes, (slot * SLOT) as u64).ok()?;
    let (digest, text) = std::str::from_utf8(bytes.split(|byte| *byte == b'\n').next()?).ok()?.split_once(' ')?;
    if Digest::of(text).hex() != digest {
        return None;
    }
    serde_json::from_str(text).ok()
}
