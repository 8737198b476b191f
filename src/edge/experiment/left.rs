//! What a run left behind.

use std::fs::{DirEntry, File};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Component, Path, PathBuf};

use crate::digest::{Digest, Hasher};

/// How much of a log's beginning and end is looked at for a message.
const EXCERPT: u64 = 4 << 20;

/// The folders in which a run left its files.
#[derive(Clone, Debug)]
pub struct Left {
    /// What the run itself wrote, and its logs.
    pub output: PathBuf,
    /// What postprocessing wrote.
    pub result: PathBuf,
}

impl Left {
    /// Opens a file of the run: below its output folder, or below its result folder.
    ///
    /// # Errors
    /// Why it cannot be opened, for people.
    pub fn open(&self, path: &str) -> Result<Box<dyn BufRead>, String> {
        let found = [&self.output, &self.result].into_iter().find_map(|folder| inside(folder, path).transpose());
        let Some(found) = found.transpose()? else {
            return Err(format!("there is no such file; write it to $KUBEBENCH_EXP_OUTPUT_PATH{}", self.listed()));
        };
        let file = File::open(found).map_err(|error| format!("it cannot be opened: {error}"))?;
        Ok(Box::new(BufReader::with_capacity(256 << 10, file)))
    }

    /// Returns the path of an artifact of the run.
    ///
    /// # Errors
    /// When it is not there, or leads elsewhere.
    pub fn artifact(&self, name: &str) -> Result<PathBuf, String> {
        inside(&self.output, name)?.ok_or_else(|| format!("{name} is not there"))
    }

    /// Returns the beginning and the end of a log, or all of it.
    pub fn excerpt(&self, artifact: &str) -> Option<String> {
        let mut file = File::open(self.artifact(artifact).ok()?).ok()?;
        let size = file.metadata().ok()?.len();
        let mut bytes = Vec::new();
        file.by_ref().take(EXCERPT).read_to_end(&mut bytes).ok()?;
        if size > 2 * EXCERPT {
            file.seek(SeekFrom::End(-i64::try_from(EXCERPT).ok()?)).ok()?;
        }
        file.read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Names what files there are.
    fn listed(&self) -> String {
        let mut names: Vec<String> = [&self.output, &self.result]
            .into_iter()
            .flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten())
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
            .map(|entry| format!("`{}`", entry.file_name().display()))
            .take(8)
            .collect();
        names.sort();
        if names.is_empty() { " (it holds no file)".to_owned() } else { format!(" (it holds {})", names.join(", ")) }
    }
}

/// Returns the path of a file below `folder`, if there is one; a name or a link that leads elsewhere is refused.
fn inside(folder: &Path, name: &str) -> Result<Option<PathBuf>, String> {
    let relative = Path::new(name);
    let leads_out = || "it leads out of the run's folders".to_owned();
    if relative.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(leads_out());
    }
    let Ok(real) = folder.join(relative).canonicalize() else { return Ok(None) };
    if !folder.canonicalize().is_ok_and(|folder| real.starts_with(folder)) {
        return Err(leads_out());
    }
    Ok(Some(real).filter(|path| path.is_file()))
}

/// Returns the paths of files below `output`: all logs, then at most `most` of what the job wrote, each sorted.
///
/// Links are not followed: what they lead to is nothing that the run left.
pub fn files(output: &Path, most: usize) -> Vec<String> {
    let (logs, mut others) = (below(output, "logs", usize::MAX), below(output, "", most));
    others.retain(|name| !logs.contains(name));
    others.truncate(most);
    logs.into_iter().chain(others).collect()
}

/// Returns the files below a folder of `output`, sorted; once there are `most`, no further folder is looked into.
fn below(output: &Path, folder: &str, most: usize) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let mut inside: Vec<_> = std::fs::read_dir(output.join(&folder)).into_iter().flatten().flatten().collect();
        inside.sort_by_key(DirEntry::file_name);
        for entry in inside {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            match entry.file_type() {
                Ok(kind) if kind.is_file() => names.push(path),
                Ok(kind) if kind.is_dir() && names.len() < most => folders.push(path),
                _ => {}
            }
        }
    }
    names.sort();
    names
}

/// Returns the digest and the size of a file.
pub fn digest_of(path: &Path) -> io::Result<(Digest, u64)> {
    let mut hasher = Hasher::default();
    let mut bytes = 0;
    read_pieces(path, |piece| {
        bytes += piece.len() as u64;
        hasher.update(piece);
    })?;
    Ok((hasher.finish(), bytes))
}

/// Reads a file of any size, piece by piece.
pub fn read_pieces(path: &Path, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 256 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(()),
            count => take(buffer.get(..count).unwrap_or_default()),
        }
    }
}
