//! What a local run left behind, for the rules to read.

#![expect(clippy::disallowed_methods, reason = "the rim of a run reads its files")]

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Component, Path, PathBuf};

use crate::edge::http;
use crate::edge::process::Usage;
use crate::ingest::measure::{Evidence, Used};
use crate::ingest::prometheus;
use crate::local::Engine;
use crate::spec::v1::metric::{DurationSource, ProcessSource};

/// How much of a log's beginning and end is looked at for a message.
const EXCERPT: u64 = 4 << 20;

/// The evidence of one run.
pub(super) struct RunEvidence {
    pub(super) folders: Folders,
    pub(super) engine: Engine,
    /// Of each replica; none where its supervisor was killed.
    pub(super) usages: Vec<Option<Usage>>,
    pub(super) peak_rss: f64,
    /// Seconds; none where nothing was started.
    pub(super) startup: Option<f64>,
    pub(super) run: Option<f64>,
    pub(super) prometheus: Option<String>,
    /// Start and end in seconds since the Unix epoch.
    pub(super) window: (f64, f64),
}

impl Evidence for RunEvidence {
    fn open(&self, path: &str) -> Result<Box<dyn BufRead>, String> {
        open(&self.folders, path)
    }

    fn excerpt(&self, artifact: &str) -> Option<String> {
        excerpt(&self.folders, artifact)
    }

    fn process(&self, what: ProcessSource) -> Used {
        if self.engine.runs_images() {
            return Err(format!("processes of containers belong to {}, not to the run", self.engine.name()));
        }
        let known: Vec<Usage> = self.usages.iter().copied().flatten().collect();
        if known.is_empty() || known.len() < self.usages.len() {
            return Err("what the processes used is not known, because their supervisor was killed".to_owned());
        }
        if !cfg!(target_os = "linux") && what != ProcessSource::CpuSeconds {
            return Err("local monitoring needs Linux".to_owned());
        }
        let sum = |of: fn(&Usage) -> f64| known.iter().map(of).sum::<f64>();
        Ok(match what {
            ProcessSource::CpuSeconds => sum(|usage| usage.cpu_seconds),
            // The largest of: all processes at one time, as sampled; one process alone, which is exact.
            ProcessSource::MaxRss => {
                let peaks = known.iter().filter_map(|usage| usage.max_rss_bytes);
                let most = peaks.fold(self.peak_rss, f64::max);
                if most <= 0.0 {
                    return Err("the processes ended before anybody could look at their memory".to_owned());
                }
                most
            }
            ProcessSource::ReadBytes => sum(|usage| usage.read_bytes),
            ProcessSource::WriteBytes => sum(|usage| usage.write_bytes),
        })
    }

    fn duration(&self, what: DurationSource) -> Used {
        match what {
            DurationSource::Queue => Err("a local run does not queue".to_owned()),
            DurationSource::Startup => self.startup.ok_or_else(|| "nothing was started".to_owned()),
            DurationSource::Run => self.run.ok_or_else(|| "nothing was started".to_owned()),
        }
    }

    fn fetch(&self, url: &str) -> Result<String, String> {
        http::get(url)
    }

    fn query(&self, query: &str) -> Result<Vec<f64>, String> {
        let Some(server) = &self.prometheus else {
            return Err("the target names no Prometheus (`prometheus.url` in kubebench.yaml)".to_owned());
        };
        let (start, end) = self.window;
        prometheus::values(&http::get(&prometheus::range_url(server, query, start, end))?)
    }
}

/// The folders in which a run left its files.
pub(super) struct Folders {
    pub(super) output: PathBuf,
    pub(super) result: PathBuf,
}

/// Opens a file of a run: below its output folder, or below its result folder.
pub(super) fn open(folders: &Folders, path: &str) -> Result<Box<dyn BufRead>, String> {
    let inside = Path::new(path);
    if inside.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err("it leads out of the run's folders".to_owned());
    }
    let candidates = [folders.output.join(inside), folders.result.join(inside)];
    let Some(found) = candidates.iter().find(|candidate| candidate.is_file()) else {
        return Err(format!("there is no such file; write it to $KUBEBENCH_EXP_OUTPUT_PATH{}", listed(folders)));
    };
    let file = File::open(found).map_err(|error| format!("it cannot be opened: {error}"))?;
    Ok(Box::new(BufReader::with_capacity(256 << 10, file)))
}

/// Returns the beginning and the end of a log, or all of it.
pub(super) fn excerpt(folders: &Folders, artifact: &str) -> Option<String> {
    let mut file = File::open(folders.output.join(artifact)).ok()?;
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
fn listed(folders: &Folders) -> String {
    let mut names: Vec<String> = [&folders.output, &folders.result]
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten())
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| format!("`{}`", entry.file_name().display()))
        .take(8)
        .collect();
    names.sort();
    if names.is_empty() { " (it holds no file)".to_owned() } else { format!(" (it holds {})", names.join(", ")) }
}
