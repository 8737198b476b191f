//! Space that is held back, so that a run which fills the disk does not lose its own result.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::RunFolder;
use crate::machine;
use kubebench_format::result::MAX_BYTES;
use kubebench_syntax::digest::Digest;

/// Room for the largest result and the folders above it.
const BYTES: usize = MAX_BYTES + (64 << 10);

/// Space of a disk that is reserved until this is dropped. Its file has no name, so that nothing stays when the
/// program is killed.
#[derive(Debug)]
pub struct Reserve(#[expect(dead_code, reason = "the open file is what holds the space")] File);

impl Reserve {
    /// Takes the space on the file system of `folder`, which is made if need be.
    ///
    /// # Errors
    /// When the disk is too full for it.
    pub fn hold(folder: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let name = machine::random_id().map_err(io::Error::other)?;
        let path = folder.join(format!(".{name}.reserve"));
        let mut file = File::create_new(&path)?;
        std::fs::remove_file(&path)?;
        file.write_all(&noise(BYTES))?;
        file.sync_all()?;
        Ok(Self(file))
    }
}

/// What a run writes that has no job: folders, a snapshot, the attempt, its result.
const BYTES_OF_A_RUN: usize = 64 << 10;
/// More is not held back, however many runs there are.
const MOST_BYTES: usize = 32 << 20;

/// Space of a volume that stays taken between the steps of one Workflow: if the volume fills up meanwhile, it is given back
/// for the results that say so.
#[derive(Debug)]
pub struct Spare {
    experiments: PathBuf,
    name: String,
}

impl Spare {
    /// The spare space of the Workflow `uid` on a volume.
    pub fn of(experiments: &Path, uid: &str) -> Self {
        Self { experiments: experiments.to_owned(), name: format!(".spare-{}", Digest::of(uid).short()) }
    }

    /// Takes space for the results of `runs` runs, unless that was done before.
    ///
    /// # Errors
    /// When the volume does not have it.
    pub fn take(&self, runs: usize) -> io::Result<()> {
        let bytes = BYTES.saturating_add(runs.saturating_mul(BYTES_OF_A_RUN)).min(MOST_BYTES);
        let file = std::fs::symlink_metadata(self.place());
        if file.is_ok_and(|file| file.is_file() && file.len() == bytes as u64) {
            return Ok(());
        }
        RunFolder::open(&self.experiments, ".")?.put(&self.name, &noise(bytes))
    }

    /// Gives the space back, and returns whether there was any.
    pub fn give_up(&self) -> bool {
        std::fs::remove_file(self.place()).is_ok()
    }

    fn place(&self) -> PathBuf {
        self.experiments.join(&self.name)
    }
}

/// Returns bytes that no file system stores in less space than they have.
fn noise(bytes: usize) -> Vec<u8> {
    let (mut noise, mut state) = (Vec::with_capacity(bytes + 4), 1_u64);
    while noise.len() < bytes {
        noise.extend_from_slice(&((state >> 32) as u32).to_le_bytes());
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    }
    noise.truncate(bytes);
    noise
}

#[cfg(test)]
mod tests {
    use super::Spare;

    #[test]
    fn space_is_taken_once_and_given_back_once() {
        let folder = tempfile::tempdir().unwrap();
        let spare = Spare::of(folder.path(), "../5f0c");
        spare.take(2).unwrap();
        let taken = || {
            let entry = std::fs::read_dir(folder.path()).unwrap().next()?.unwrap();
            Some(std::os::unix::fs::MetadataExt::ino(&entry.metadata().unwrap()))
        };
        let first = taken();
        assert!(first.is_some());
        Spare::of(folder.path(), "../5f0c").take(2).unwrap();
        assert_eq!(taken(), first);
        spare.take(usize::MAX).unwrap();
        assert_ne!(taken(), first);
        assert!(spare.give_up() && !spare.give_up());
        assert_eq!(taken(), None);
    }
}
