//! The kept log of a replica: all of it, or its first and its last half where it grows beyond its limit.

#![expect(clippy::disallowed_methods, reason = "the edge writes files")]

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

/// Writes a log.
///
/// Beyond half of the limit it goes into two files by turns, each of half the limit, so that the last half is there when
/// the log ends; they are joined then.
#[derive(Debug)]
pub struct KeptLog {
    path: PathBuf,
    head: File,
    head_left: u64,
    half: u64,
    tail: Option<Tail>,
    /// The first fault; what comes after it is lost.
    fault: Option<io::Error>,
    /// How many bytes came.
    came: u64,
    /// How many bytes in the file did not come.
    notice: u64,
}

#[derive(Debug)]
struct Tail {
    current: File,
    current_bytes: u64,
    /// The one before, full.
    previous: Option<File>,
    total: u64,
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
        let head = File::options().write(true).create_new(true).open(path)?;
        let half = (limit / 2).max(1);
        Ok(Self { path: path.to_owned(), head, head_left: half, half, tail: None, fault: None, came: 0, notice: 0 })
    }

    /// Takes in the next bytes. A fault of the disk is remembered, so that the run goes on.
    pub fn write(&mut self, bytes: &[u8]) {
        self.came += bytes.len() as u64;
        if self.fault.is_none() {
            self.fault = self.try_write(bytes).err();
        }
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let room = usize::try_from(self.head_left).unwrap_or(usize::MAX).min(bytes.len());
        let (first, mut rest) = bytes.split_at(room);
        self.head.write_all(first)?;
        self.head_left -= first.len() as u64;
        while !rest.is_empty() {
            let tail = match &mut self.tail {
                Some(tail) => tail,
                None => {
                    self.tail.insert(Tail { current: scratch(&self.path)?, current_bytes: 0, previous: None, total: 0 })
                }
            };
            if tail.current_bytes == self.half {
                let next = scratch(&self.path)?;
                tail.previous = Some(std::mem::replace(&mut tail.current, next));
                tail.current_bytes = 0;
            }
            let room = usize::try_from(self.half - tail.current_bytes).unwrap_or(usize::MAX).min(rest.len());
            let (part, more) = rest.split_at(room);
            tail.current.write_all(part)?;
            tail.current_bytes += part.len() as u64;
            tail.total += part.len() as u64;
            rest = more;
        }
        Ok(())
    }

    /// Ends the log.
    pub fn finish(mut self) -> Kept {
        let joined = self.tail.take().map_or(Ok(()), |tail| self.join(tail));
        // What a fault cut off in the middle is known by what is there alone.
        let kept = self.bytes().saturating_sub(self.notice);
        Kept { dropped: self.came.saturating_sub(kept), fault: self.fault.or(joined.err()) }
    }

    /// Returns how long the file is.
    fn bytes(&self) -> u64 {
        self.head.metadata().map_or(0, |file| file.len())
    }

    /// Puts the last half behind the first, and says between them what is missing.
    fn join(&mut self, mut tail: Tail) -> io::Result<()> {
        let left_out = tail.total.saturating_sub(self.half);
        if left_out > 0 {
            let notice = format!("\n[kubebench: {left_out} bytes are left out here, by the limit of the log]\n");
            let before = self.bytes();
            let written = self.head.write_all(notice.as_bytes());
            self.notice = self.bytes().saturating_sub(before);
            written?;
        }
        if let Some(mut previous) = tail.previous {
            previous.seek(io::SeekFrom::Start(tail.current_bytes))?;
            io::copy(&mut previous, &mut self.head)?;
        }
        tail.current.rewind()?;
        io::copy(&mut tail.current.take(tail.current_bytes), &mut self.head)?;
        Ok(())
    }
}

/// Makes a file beside `path` that has no name, so that nothing is left of it whatever happens.
fn scratch(path: &Path) -> io::Result<File> {
    let mut name = path.as_os_str().to_owned();
    name.push(".tail");
    let file = File::options().read(true).write(true).create(true).truncate(true).open(&name)?;
    std::fs::remove_file(&name)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::KeptLog;

    fn kept(limit: u64, total: u64) -> (String, u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = KeptLog::create(&path, limit).unwrap();
        let text: String = (0..total).map(|index| char::from(b'a' + u8::try_from(index % 26).unwrap())).collect();
        text.as_bytes().chunks(3).for_each(|chunk| log.write(chunk));
        let kept = log.finish();
        assert!(kept.fault.is_none());
        (std::fs::read_to_string(path).unwrap(), kept.dropped)
    }

    #[test]
    fn the_first_and_the_last_half_are_kept() {
        assert_eq!(kept(10, 9), ("abcdefghi".to_owned(), 0));
        assert_eq!(kept(10, 10), ("abcdefghij".to_owned(), 0));
        let notice = |bytes: u64| format!("\n[kubebench: {bytes} bytes are left out here, by the limit of the log]\n");
        assert_eq!(kept(10, 11), (format!("abcde{}ghijk", notice(1)), 1));
        assert_eq!(kept(10, 26), (format!("abcde{}vwxyz", notice(16)), 16));
        assert_eq!(kept(10, 25), (format!("abcde{}uvwxy", notice(15)), 15));
    }
}
