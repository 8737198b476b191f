//! What follows the first half of a log: segments of equal size, of which the last two matter.

use kubebench_syntax::invariant::Invariant as _;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

/// How the files of segments are called.
#[derive(Debug)]
pub(super) enum Naming {
    /// Not at all, so that nothing is left of them whatever happens; for an instant by this with `.tail`.
    Unnamed(PathBuf),
    /// By this with `.tail-` and their number.
    Named(PathBuf),
}

impl Naming {
    fn of(&self, number: u64) -> PathBuf {
        let (path, end) = match self {
            Self::Unnamed(path) => (path, ".tail".to_owned()),
            Self::Named(path) => (path, format!(".tail-{number}")),
        };
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        name.into()
    }

    fn make(&self, number: u64) -> io::Result<File> {
        let path = self.of(number);
        let file = super::options().create(true).truncate(true).open(&path)?;
        if matches!(self, Self::Unnamed(_)) {
            std::fs::remove_file(&path)?;
        }
        Ok(file)
    }

    fn remove(&self, number: u64) {
        if matches!(self, Self::Named(_)) {
            // It is of no use; the next process that resumes tries again.
            let _ = std::fs::remove_file(self.of(number));
        }
    }
}

#[derive(Debug)]
struct Segment {
    number: u64,
    file: File,
    bytes: u64,
}

/// The segments of a log. Segment n begins n times the size behind the first half.
#[derive(Debug)]
pub(super) struct Segments {
    naming: Naming,
    size: u64,
    kept: VecDeque<Segment>,
}

impl Segments {
    /// Returns none, which will be of `size` bytes each.
    pub(super) fn new(naming: Naming, size: u64) -> Self {
        Self { naming, size, kept: VecDeque::new() }
    }

    /// Finds those that a process which died has left.
    pub(super) fn find(naming: Naming, size: u64) -> io::Result<Self> {
        let mut found = Self::new(naming, size);
        let Naming::Named(path) = &found.naming else { return Ok(found) };
        let mut prefix = path.file_name().expected("the name of a file").to_owned();
        prefix.push(".tail-");
        let number = |name: &OsString| -> Option<u64> { name.to_str()?.strip_prefix(prefix.to_str()?)?.parse().ok() };
        let mut numbers = Vec::new();
        for entry in std::fs::read_dir(path.parent().unwrap_or(path))? {
            numbers.extend(number(&entry?.file_name()));
        }
        numbers.sort_unstable();
        for number in numbers {
            let file = super::options().open(found.naming.of(number))?;
            let bytes = file.metadata()?.len().min(size);
            found.kept.push_back(Segment { number, file, bytes });
        }
        Ok(found)
    }

    /// Returns whether all of the log is in its first half.
    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Returns how far behind the first half the first of them begins.
    pub(super) fn begin(&self) -> u64 {
        self.kept.front().map_or(0, |first| first.number * self.size)
    }

    /// Returns how much came after the first half.
    pub(super) fn end(&self) -> u64 {
        self.kept.back().map_or(0, |last| last.number * self.size + last.bytes)
    }

    /// Appends, from `at` bytes behind the first half on.
    pub(super) fn write(&mut self, mut at: u64, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let (number, within) = (at / self.size, at % self.size);
            if self.kept.back().is_none_or(|last| last.number != number) {
                let file = self.naming.make(number)?;
                self.kept.push_back(Segment { number, file, bytes: 0 });
                if matches!(self.naming, Naming::Unnamed(_)) {
                    self.forget_old();
                }
            }
            let Some(last) = self.kept.back_mut() else { break };
            let room = usize::try_from(self.size - within).unwrap_or(usize::MAX).min(bytes.len());
            let (part, rest) = bytes.split_at(room);
            last.file.write_all(part)?;
            last.bytes += part.len() as u64;
            at += part.len() as u64;
            bytes = rest;
        }
        Ok(())
    }

    /// Removes those before the last two.
    pub(super) fn forget_old(&mut self) {
        while self.kept.len() > 2
            && let Some(old) = self.kept.pop_front()
        {
            self.naming.remove(old.number);
        }
    }

    /// Removes all.
    pub(super) fn remove(&mut self) {
        self.kept.drain(..).for_each(|segment| self.naming.remove(segment.number));
    }

    /// Removes what is more than `end` bytes behind the first half.
    pub(super) fn cut(&mut self, end: u64) -> io::Result<()> {
        while let Some(last) = self.kept.back_mut() {
            let begin = last.number * self.size;
            if begin < end {
                last.bytes = last.bytes.min(end - begin);
                last.file.set_len(last.bytes)?;
                last.file.seek(SeekFrom::End(0))?;
                break;
            }
            self.naming.remove(last.number);
            self.kept.pop_back();
        }
        Ok(())
    }

    /// Brings what was written to the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.kept.iter().rev().take(2).try_for_each(|segment| segment.file.sync_data())
    }

    /// Reads what is there between `from` and `to` bytes behind the first half, and returns how many bytes are not.
    pub(super) fn read(&self, from: u64, to: u64, mut take: impl FnMut(&[u8])) -> io::Result<u64> {
        let mut missing = to.saturating_sub(from);
        for segment in &self.kept {
            let begin = segment.number * self.size;
            let (first, last) = (from.max(begin), to.min(begin + segment.bytes));
            if first < last {
                missing = missing.saturating_sub(last - first);
                read_part(&segment.file, first - begin, last - begin, &mut take)?;
            }
        }
        Ok(missing)
    }
}

/// Reads a part of a file, piece by piece, and leaves the place where it is written at its end.
pub(super) fn read_part(mut file: &File, from: u64, to: u64, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    file.seek(SeekFrom::Start(from))?;
    let mut left = to.saturating_sub(from);
    let mut buffer = vec![0; 256 << 10];
    while left > 0 {
        let room = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let count = file.read(buffer.get_mut(..room).expected("at most a buffer of bytes"))?;
        if count == 0 {
            break;
        }
        take(buffer.get(..count).expected("at most a buffer of bytes"));
        left = left.saturating_sub(count as u64);
    }
    file.seek(SeekFrom::End(0)).map(drop)
}
