//! What a local run left behind, for the rules to read.

use std::io::BufRead;

use crate::collect::range_query;
use crate::local::Engine;
use kubebench_extract::measure::{Evidence, Used};
use kubebench_format::spec::v1::metric::{DurationSource, ProcessSource, WhichTrials};
use kubebench_host::experiment::RunOutputs;
use kubebench_host::http;
use kubebench_host::process::Usage;

/// The evidence of one run.
pub(super) struct RunEvidence {
    pub(super) left: RunOutputs,
    pub(super) engine: Engine,
    /// Of each replica that was started; none where its supervisor was killed.
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
        self.left.open(path)
    }

    fn name_of(&self, path: &str) -> String {
        self.left.name_of(path)
    }

    fn excerpt(&self, artifact: &str) -> Option<String> {
        self.left.excerpt(artifact)
    }

    fn process(&self, what: ProcessSource) -> Used {
        if self.engine.runs_images() {
            return Err(format!("processes of containers belong to {}, not to the run", self.engine.name()));
        }
        let known: Vec<Usage> = self.usages.iter().copied().flatten().collect();
        if self.usages.is_empty() {
            return Err("nothing was started".to_owned());
        }
        if known.len() < self.usages.len() {
            return Err("what the processes used is unknown, because their supervisor was killed".to_owned());
        }
        if !cfg!(target_os = "linux") && what != ProcessSource::CpuSeconds {
            return Err("local monitoring needs Linux".to_owned());
        }
        let storage = |of: fn(&Usage) -> Option<f64>| {
            let all = known.iter().map(of).sum::<Option<f64>>();
            all.ok_or_else(|| {
                "this system does not count what processes read and write: /proc/self/io has no counts".to_owned()
            })
        };
        Ok(match what {
            ProcessSource::CpuSeconds => known.iter().map(|usage| usage.cpu_seconds).sum(),
            // The largest of: all processes at one time, as sampled; one process alone, which is exact.
            ProcessSource::MaxRss => {
                let peaks = known.iter().filter_map(|usage| usage.max_rss_bytes);
                let most = peaks.fold(self.peak_rss, f64::max);
                if most <= 0.0 {
                    return Err(
                        "the processes were smaller than their supervisor and ended within a tenth of a second, too soon to see their peak"
                            .to_owned(),
                    );
                }
                most
            }
            ProcessSource::ReadBytes => storage(|usage| usage.read_bytes)?,
            ProcessSource::WriteBytes => storage(|usage| usage.write_bytes)?,
        })
    }

    fn duration(&self, what: DurationSource) -> Used {
        match what {
            DurationSource::Queue => Err("a local run does not queue".to_owned()),
            DurationSource::Ready => Err("a local run has no server".to_owned()),
            DurationSource::Startup => self.startup.ok_or_else(|| "nothing was started".to_owned()),
            DurationSource::Run => self.run.ok_or_else(|| {
                let was_started = self.startup.is_some();
                if was_started { "a supervisor was killed before it reported the time" } else { "nothing was started" }
                    .to_owned()
            }),
        }
    }

    fn node(&self, _: &str) -> Result<Vec<f64>, String> {
        Err("a local run has no nodes: Argo runs Workflows in a cluster".to_owned())
    }

    fn trials(&self, _: &str, _: WhichTrials) -> Result<Vec<f64>, String> {
        Err("a local run has no trials: Katib creates them in a cluster".to_owned())
    }

    fn fetch(&self, url: &str) -> Result<String, String> {
        http::get(url)
    }

    fn query(&self, query: &str) -> Result<Vec<f64>, String> {
        range_query(self.prometheus.as_deref(), query, self.window, http::get)
    }
}
