//! Space that is held back, so that a run which fills the disk does not lose its own result.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use crate::edge::machine;
use crate::result::MAX_BYTES;

/// Room for the largest result and the folders above it.
const BYTES: usize = MAX_BYTES + (64 << 10);

/// Space of a disk that nobody else gets until this is dropped. Its file has no name, so that nothing stays when the
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
        file.write_all(&noise())?;
        file.sync_all()?;
        Ok(Self(file))
    }
}

/// Returns bytes that no file system stores in less space than they have.
fn noise() -> Vec<u8> {
    let next =
        |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    let words = std::iter::successors(Some(1), next).map(|state: u64| (state >> 32) as u32);
    words.flat_map(u32::to_le_bytes).take(BYTES).collect()
}
