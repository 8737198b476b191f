//! The kept log of a replica: all of it, or its first and its last half where it grows beyond its limit.

mod checkpoint;
mod segments;

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use checkpoint::{Checkpoint, Ended, Slots};
use kubebench_syntax::invariant::Invariant as _;
use segments::{Naming, Segments, read_part};

/// Behind the name of a log, that of its checkpoint.
const CHECKPOINT: &str = ".checkpoint";

/// Writes a log.
///
/// Beyond half of the limit it goes into segments of half the limit each, of which the last two stay, so that the last half
/// is there when the log ends; it is put behind the first half then.
///
/// A log that can be resumed says in a checkpoint how far it is. Its segments have names, and what a checkpoint needs is removed
/// only after the next one is written: killed at any point, it resumes from the last checkpoint.
#[derive(Debug)]
pub struct KeptLog {
    head: File,
    half: u64,
    segments: Segments,
    slots: Option<Slots>,
    /// The first fault; what comes after it is lost.
    fault: Option<io::Error>,
    /// How many bytes came.
    came: u64,
    /// How many bytes in the file did not come.
    notice: u64,
    /// Whether the files may hold more than `came`: what was written after the last checkpoint.
    has_more: bool,
    /// What became of it, if it had ended before.
    ended: Option<Kept>,
    /// The last mark.
    mark: String,
    /// What else is wrong with it.
    blame: Option<String>,
}

/// What became of a log.
#[derive(Debug)]
pub struct Kept {
    /// How many bytes are missing in it.
    pub dropped: u64,
    /// Why, when it is not the limit.
    pub fault: Option<io::Error>,
}

impl KeptLog {
    /// Starts the log `path`, which takes `limit` bytes at most.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn create(path: &Path, limit: u64) -> io::Result<Self> {
        let head = File::options().read(true).write(true).create_new(true).open(path)?;
        let half = half(limit);
        Ok(Self::new(head, half, Segments::new(Naming::Unnamed(path.to_owned()), half), None))
    }

    /// Keeps nothing, since the log cannot be written, as `fault` says: what comes is counted alone.
    ///
    /// # Errors
    /// `fault`, where the machine has no place for what is kept nowhere.
    pub fn nowhere(fault: io::Error) -> io::Result<Self> {
        let Ok(head) = File::options().read(true).write(true).open("/dev/null") else { return Err(fault) };
        let mut log = Self::new(head, 1, Segments::new(Naming::Unnamed(PathBuf::new()), 1), None);
        log.fault = Some(fault);
        Ok(log)
    }

    fn new(head: File, half: u64, segments: Segments, slots: Option<Slots>) -> Self {
        Self {
            head,
            half,
            segments,
            slots,
            fault: None,
            came: 0,
            notice: 0,
            has_more: false,
            ended: None,
            mark: String::new(),
            blame: None,
        }
    }

    /// Returns the names of logs that were begun, by what is kept for them in the folder `state`.
    pub fn begun(state: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(state).into_iter().flatten().flatten();
        let name = |file: std::fs::DirEntry| Some(file.file_name().to_str()?.strip_suffix(CHECKPOINT)?.to_owned());
        let mut names: Vec<String> = entries.filter_map(name).collect();
        names.sort();
        names
    }

    /// Returns the last mark of the log called `name`, if it was begun.
    pub fn last_mark(state: &Path, name: &str) -> Option<String> {
        checkpoint::newest(&state.join(format!("{name}{CHECKPOINT}"))).map(|checkpoint| checkpoint.mark)
    }

    /// Removes the folder `state`, once it is kept elsewhere what became of its logs.
    pub fn forget(state: &Path) {
        // What stays takes some space, and does no harm.
        let _ = std::fs::remove_dir_all(state);
    }

    /// Starts the log `path`, which takes `limit` bytes at most, or resumes it; also returns its last mark, which is empty at the
    /// beginning. What is needed for that is kept in the folder `state` until the caller removes it.
    ///
    /// # Errors
    /// When a file cannot be made or read.
    pub fn resume(path: &Path, state: &Path, limit: u64) -> io::Result<(Self, String)> {
        // A job that mounts the volume can put a link there, to what is not its own.
        let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        if is_link(path) || path.parent().is_some_and(is_link) {
            return Err(io::Error::other("its path is a link, and links are not followed"));
        }
        let named = state.join(path.file_name().expected("the name of a file"));
        let mut checkpoint = named.as_os_str().to_owned();
        checkpoint.push(CHECKPOINT);
        let checkpoint = PathBuf::from(checkpoint);
        if !checkpoint.exists() && path.metadata().is_ok_and(|file| file.len() > 0) {
            let fault = "it already existed without a checkpoint and was not changed";
            return Ok((Self::ended(path, 0, Some(fault.to_owned()))?, String::new()));
        }
        let (slots, found) = Slots::open(&checkpoint)?;
        // The limit may have changed; the files are as they were.
        let half = found.first().map_or_else(|| half(limit), |found| found.half.max(1));
        let mut segments = Segments::find(Naming::Named(named), half)?;
        if let Some(Checkpoint { ended: Some(ended), mark, .. }) = found.first() {
            segments.remove();
            return Ok((Self::ended(path, ended.dropped, ended.fault.clone())?, mark.clone()));
        }
        let head = options().create(true).truncate(false).open(path)?;
        if !head.metadata()?.is_file() {
            return Err(io::Error::other("its path is not a regular file"));
        }
        if !segments.is_empty() && head.metadata()?.len() > half {
            // It was killed while the halves were put together.
            head.set_len(half)?;
        }
        let mut log = Self::new(head, half, segments, Some(slots));
        let end = log.end_of_files();
        // A disk may have forgotten the last bytes when the machine died.
        let last = found.into_iter().find(|found| found.came <= end);
        log.has_more = last.is_some();
        let (came, mark) = last.map_or_else(Default::default, |last| (last.came, last.mark));
        log.came = came;
        if !log.has_more {
            log.cut()?;
        }
        log.mark.clone_from(&mark);
        log.record(None)?;
        Ok((log, mark))
    }

    fn ended(path: &Path, dropped: u64, fault: Option<String>) -> io::Result<Self> {
        let head = File::open(path)?;
        let mut log = Self::new(head, 1, Segments::new(Naming::Unnamed(PathBuf::new()), 1), None);
        log.ended = Some(Kept { dropped, fault: fault.map(io::Error::other) });
        Ok(log)
    }

    /// Returns whether the log has ended, so that nothing can be written any more.
    pub fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Takes the next bytes. A fault of the disk is remembered, so that the run continues.
    pub fn write(&mut self, bytes: &[u8]) {
        if self.has_ended() {
            return;
        }
        if self.fault.is_none() {
            self.fault = self.try_write(bytes).err();
        }
        self.came += bytes.len() as u64;
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.has_more && !bytes.is_empty() {
            self.cut()?;
        }
        let room = usize::try_from(self.half.saturating_sub(self.came)).unwrap_or(usize::MAX).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.write_all(first)?;
        self.segments.write((self.came + room as u64).saturating_sub(self.half), rest)
    }

    /// Says where the writer of the log resumes behind what came so far; [`Self::resume`] returns it. Nothing of a log that
    /// cannot be resumed.
    pub fn mark(&mut self, mark: &str) {
        mark.clone_into(&mut self.mark);
        if self.fault.is_none()
            && !self.has_ended()
            && let Err(error) = self.record(None)
        {
            self.fault = Some(error);
        }
    }

    fn record(&mut self, ended: Option<Ended>) -> io::Result<()> {
        let Some(slots) = &mut self.slots else { return Ok(()) };
        let is_synced = ended.is_some() || slots.is_due(self.came);
        let checkpoint = Checkpoint { came: self.came, half: self.half, mark: self.mark.clone(), ended };
        if is_synced {
            self.head.sync_data()?;
            self.segments.sync()?;
            slots.write_synced(checkpoint)?;
        } else {
            slots.write(checkpoint)?;
        }
        if !self.has_more {
            self.segments.forget_old();
        }
        Ok(())
    }

    /// Says what else is wrong with the log: if it is resumed once it has ended, that is its fault.
    pub fn blame(&mut self, why: Option<String>) {
        self.blame = why;
    }

    /// Reads what came so far, and returns how many bytes in the middle are left out by the limit. A line ends there.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn read_back(&self, mut take: impl FnMut(&[u8])) -> io::Result<u64> {
        if let Some(ended) = &self.ended {
            read_part(&self.head, 0, self.bytes(), take)?;
            return Ok(ended.dropped);
        }
        let in_head = self.came.min(self.half);
        read_part(&self.head, 0, in_head, &mut take)?;
        let behind = self.came - in_head;
        let begin = self.segments.begin().min(behind);
        if begin > 0 {
            take(b"\n");
        }
        Ok(begin + self.segments.read(begin, behind, take)?)
    }

    /// Keeps what was written after the last checkpoint, if nothing was written since: its writer does not give it
    /// again.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn take_in_rest(&mut self, take: impl FnMut(&[u8])) -> io::Result<()> {
        if !std::mem::take(&mut self.has_more) {
            return Ok(());
        }
        let (from, to) = (self.came, self.end_of_files());
        self.came = to;
        if to <= self.half { read_part(&self.head, from, to, take) } else { self.read_rest(from, to, take) }
    }

    fn read_rest(&self, from: u64, to: u64, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        if from < self.half {
            read_part(&self.head, from, self.half, &mut take)?;
        }
        self.segments.read(from.saturating_sub(self.half), to - self.half, take).map(drop)
    }

    /// Returns how far the files go.
    fn end_of_files(&self) -> u64 {
        if self.segments.is_empty() { self.bytes() } else { self.half + self.segments.end() }
    }

    /// Removes from the files what is more than came.
    fn cut(&mut self) -> io::Result<()> {
        self.has_more = false;
        self.head.set_len(self.came.min(self.half))?;
        self.head.seek(SeekFrom::End(0))?;
        self.segments.cut(self.came.saturating_sub(self.half))
    }

    /// Returns how long the file is.
    fn bytes(&self) -> u64 {
        self.head.metadata().map_or(0, |file| file.len())
    }

    /// Puts the last half behind the first, and says between them what is missing.
    fn join(&mut self) -> io::Result<()> {
        if self.segments.is_empty() {
            return Ok(());
        }
        self.head.seek(SeekFrom::End(0))?;
        let end = self.segments.end();
        let left_out = end.saturating_sub(self.half);
        if left_out > 0 {
            let notice = format!("\n[kubebench: {left_out} bytes are left out here by the log limit]\n");
            let before = self.bytes();
            let written = self.head.write_all(notice.as_bytes());
            self.notice = self.bytes().saturating_sub(before);
            written?;
        }
        let mut written = Ok(());
        self.segments.read(left_out, end, |bytes| {
            if written.is_ok() {
                written = self.head.write_all(bytes);
            }
        })?;
        written
    }

    /// Ends the log.
    pub fn finish(mut self) -> Kept {
        if let Some(ended) = self.ended {
            return ended;
        }
        let taken_in = self.take_in_rest(|_| {});
        let joined = taken_in.and_then(|()| self.join());
        // What a fault cut off in the middle is known by what is there alone.
        let kept = self.bytes().saturating_sub(self.notice);
        let dropped = self.came.saturating_sub(kept);
        let fault = self.fault.take();
        let words: Vec<String> = self.blame.take().into_iter().chain(fault.as_ref().map(ToString::to_string)).collect();
        let blame = Some(words.join("; ")).filter(|words| !words.is_empty());
        // A log whose halves could not be put together stays as it is, and may be resumed.
        let ended = joined.and_then(|()| {
            self.record(Some(Ended { dropped, fault: blame }))?;
            self.segments.remove();
            Ok(())
        });
        Kept { dropped, fault: fault.or(ended.err()) }
    }
}

/// A job that mounts the volume can put a link anywhere, at any time.
fn options() -> OpenOptions {
    let mut options = File::options();
    options.read(true).write(true).custom_flags(OFlag::O_NOFOLLOW.bits());
    options
}

fn half(limit: u64) -> u64 {
    (limit / 2).max(1)
}

#[cfg(test)]
mod tests;
