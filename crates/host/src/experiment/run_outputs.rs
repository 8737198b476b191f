//! What a run left behind.

use std::collections::VecDeque;
use std::fs::{DirEntry, File};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};

use kubebench_extract::excerpt::{Excerpt, HALF};
use kubebench_syntax::digest::{Digest, Hasher};
use kubebench_syntax::invariant::Invariant as _;

/// The prefix of the names of artifacts that postprocessing wrote.
const RESULT: &str = "result/";
/// The folder of the logs.
const LOGS: &str = "logs";

/// The names that artifacts of a run get.
#[derive(Debug)]
pub struct Names {
    /// Of those that are listed, in order.
    pub listed: Vec<String>,
    /// Of files of postprocessing that cannot have theirs, because the job wrote one of that name.
    pub hidden: Vec<String>,
    /// How many files there are but for the hidden ones, when that is more than are listed.
    pub of: Option<usize>,
}

/// The folders in which a run left its files.
#[derive(Clone, Debug)]
pub struct RunOutputs {
    /// What the run itself wrote, and its logs.
    pub output: PathBuf,
    /// What postprocessing wrote.
    pub result: PathBuf,
}

impl RunOutputs {
    /// Returns the folders of the run that took place in `folder`.
    pub fn of_run(folder: &Path) -> Self {
        Self { output: folder.join("output"), result: folder.join("result") }
    }

    /// Returns the folders that people mean by `folder`: that of a run, the output folder of one, or one that they filled.
    pub fn named(folder: &Path) -> Self {
        let of_run = Self::of_run(folder);
        if of_run.output.is_dir() {
            return of_run;
        }
        let run = folder.parent().filter(|_| folder.ends_with("output")).unwrap_or(folder);
        Self { output: folder.to_owned(), result: run.join("result") }
    }

    /// Opens a file of the run: below its output folder, or below its result folder.
    ///
    /// # Errors
    /// Why it cannot be opened, for people.
    pub fn open(&self, path: &str) -> Result<Box<dyn BufRead>, String> {
        let Some(found) = self.find(path)? else {
            let [output, result] = [&self.output, &self.result].map(|folder| contents(folder));
            return Err(format!(
                "there is no such file: {output}, {result}; programs write to $KUBEBENCH_EXP_OUTPUT_PATH, `postprocess` to \
                 $KUBEBENCH_EXP_RESULT_PATH"
            ));
        };
        let file = File::open(found).map_err(|error| format!("it cannot be opened: {error}"))?;
        Ok(Box::new(BufReader::with_capacity(256 << 10, file)))
    }

    /// Returns where the file is that a metric calls `path`: what the run itself wrote comes first.
    ///
    /// # Errors
    /// When it leads elsewhere.
    pub fn find(&self, path: &str) -> Result<Option<PathBuf>, String> {
        Ok(inside(&self.output, path)?.or(inside(&self.result, path)?))
    }

    /// Returns the path of an artifact of the run.
    ///
    /// # Errors
    /// When it is not there, or leads elsewhere.
    pub fn artifact(&self, name: &str) -> Result<PathBuf, String> {
        let of_result = || name.strip_prefix(RESULT).map_or(Ok(None), |rest| inside(&self.result, rest));
        inside(&self.output, name)?.map_or_else(of_result, |path| Ok(Some(path)))?.ok_or_else(|| {
            let folder = if name.starts_with(RESULT) { &self.result } else { &self.output };
            format!("{name} is no longer in {}", folder.display())
        })
    }

    /// Returns the name that the file has among the artifacts which a metric calls `path`.
    pub fn name_of(&self, path: &str) -> String {
        let found = self.find(path).ok().flatten();
        let names = [path.to_owned(), format!("{RESULT}{path}")];
        let is_it = |name: &String| found.is_some() && self.artifact(name).ok() == found;
        names.into_iter().find(is_it).unwrap_or_else(|| path.to_owned())
    }

    /// Returns the names of artifacts: those of `first`, which are listed in any case, then at most `most` of the other logs
    /// and of what postprocessing and the job wrote, each sorted.
    ///
    /// Links are not followed: what they lead to is nothing that the run left.
    pub fn files(&self, first: Vec<String>, most: usize) -> Names {
        let enough = most + first.len();
        let logs = below(&self.output, LOGS, enough);
        let of_result = below(&self.result, "", enough);
        let of_job = below(&self.output, "", enough + logs.names.len());
        let results = of_result.names.into_iter().map(|name| format!("{RESULT}{name}"));
        let (hidden, results): (Vec<_>, Vec<_>) = results.partition(|name| self.output.join(name).exists());
        let jobs = of_job.names.into_iter().filter(|name| !Path::new(name).starts_with(LOGS));
        let others = logs.names.into_iter().chain(results).chain(jobs).filter(|name| !first.contains(name)).take(most);
        let others: Vec<String> = others.collect();
        let is_counted = |name: &&String| {
            let path = self.artifact_place(name);
            path.is_some_and(|path| path.symlink_metadata().is_ok_and(|found| found.is_file()))
        };
        let of = (of_job.count + of_result.count).saturating_sub(hidden.len());
        let is_cut = of > others.len() + first.iter().filter(is_counted).count();
        Names { listed: first.into_iter().chain(others).collect(), hidden, of: is_cut.then_some(of) }
    }

    /// Returns where the artifact is if it is a file of the run itself.
    fn artifact_place(&self, name: &str) -> Option<PathBuf> {
        let of_output = self.output.join(name);
        let of_result = || Some(self.result.join(name.strip_prefix(RESULT)?));
        if of_output.symlink_metadata().is_ok() { Some(of_output) } else { of_result() }
    }

    /// Returns the beginning and the end of a log, or all of it.
    pub fn excerpt(&self, artifact: &str) -> Option<String> {
        let mut file = File::open(self.artifact(artifact).ok()?).ok()?;
        let half = HALF as u64;
        let mut excerpt = Excerpt::default();
        let mut take = |file: &mut File| {
            let mut bytes = Vec::new();
            file.take(half).read_to_end(&mut bytes).ok()?;
            excerpt.feed(&bytes);
            Some(())
        };
        let size = file.metadata().ok()?.len();
        take(&mut file)?;
        file.seek(SeekFrom::Start(half.max(size.saturating_sub(half)))).ok()?;
        take(&mut file)?;
        if size > 2 * half {
            excerpt.skip();
        }
        Some(excerpt.text())
    }
}

/// Says which files are directly in a folder.
fn contents(folder: &Path) -> String {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| format!("`{}`", entry.file_name().display()))
        .collect();
    names.sort();
    let more = names.len().saturating_sub(8);
    names.truncate(8);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    let files = if names.is_empty() { "no files".to_owned() } else { names.join(", ") };
    format!("`{}` holds {files}", folder.file_name().unwrap_or_default().display())
}

/// Returns the path of a file below `folder`, if there is one; a name or a link that leads elsewhere is refused.
fn inside(folder: &Path, name: &str) -> Result<Option<PathBuf>, String> {
    let relative = Path::new(name);
    let leads_out = || "it points outside the run's folders".to_owned();
    if relative.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(leads_out());
    }
    let Ok(real) = folder.join(relative).canonicalize() else { return Ok(None) };
    if !folder.canonicalize().is_ok_and(|folder| real.starts_with(folder)) {
        return Err(leads_out());
    }
    Ok(Some(real).filter(|path| path.is_file()))
}

/// Some of the files below a folder, sorted, and how many there are.
struct Below {
    names: Vec<String>,
    count: usize,
}

/// Returns at most `most` of the files below a folder of `output`, of folders those first that are less deep.
fn below(output: &Path, folder: &str, most: usize) -> Below {
    let mut found = Below { names: Vec::new(), count: 0 };
    let mut folders = VecDeque::from([folder.to_owned()]);
    while let Some(folder) = folders.pop_front() {
        let mut inside: Vec<_> = std::fs::read_dir(output.join(&folder)).into_iter().flatten().flatten().collect();
        inside.sort_by_key(DirEntry::file_name);
        for entry in inside {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            match entry.file_type() {
                Ok(kind) if kind.is_file() => {
                    found.count += 1;
                    if found.names.len() < most {
                        found.names.push(path);
                    }
                }
                Ok(kind) if kind.is_dir() => folders.push_back(path),
                _ => {}
            }
        }
    }
    found.names.sort();
    found
}

/// Returns the digest and the size of a file.
pub fn digest_of(path: &Path) -> io::Result<(Digest, u64)> {
    let known = digest_while(path, || true)?;
    known.ok_or_else(|| io::ErrorKind::Interrupted.into())
}

/// Returns the digest and the size of a file; none when `goes_on`, which is asked after each piece, says no.
pub fn digest_while(path: &Path, mut continues: impl FnMut() -> bool) -> io::Result<Option<(Digest, u64)>> {
    let mut hasher = Hasher::default();
    let mut bytes = 0;
    let is_whole = pieces(path, |piece| {
        bytes += piece.len() as u64;
        hasher.update(piece);
        if continues() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(is_whole.is_continue().then(|| (hasher.finish(), bytes)))
}

/// Reads a file of any size, piece by piece.
pub fn read_pieces(path: &Path, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    pieces(path, |piece| {
        take(piece);
        ControlFlow::Continue(())
    })
    .map(drop)
}

fn pieces(path: &Path, mut take: impl FnMut(&[u8]) -> ControlFlow<()>) -> io::Result<ControlFlow<()>> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 256 << 10];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(ControlFlow::Continue(()));
        }
        if take(buffer.get(..count).expected("at most a buffer of bytes")).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
}
