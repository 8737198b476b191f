//! What a run in the cluster left behind, for the rules to read.

use std::io::BufRead;
use std::path::PathBuf;

use crate::collect::range_query;
use kubebench_extract::measure::{Evidence, Used};
use kubebench_extract::preset;
use kubebench_extract::prometheus;
use kubebench_format::result::Composition;
use kubebench_format::result::v1::{Server, Timings, Usage};
use kubebench_format::spec::v1::metric::{DurationSource, ProcessSource, WhichTrials};
use kubebench_host::experiment::RunOutputs;
use kubebench_host::http;

/// The accelerators that DCGM watches.
const NVIDIA: &str = "nvidia.com/";
/// The preset of their energy.
const ENERGY: &str = "dcgm-energy";

/// The evidence of one run.
pub(super) struct RunEvidence {
    pub(super) left: RunOutputs,
    pub(super) timings: Timings,
    /// What the run was made of.
    pub(super) composition: Composition,
    pub(super) prometheus: Option<String>,
    /// The file of the authorities by which servers are known, where these are not the public ones.
    pub(super) authorities: Option<PathBuf>,
    /// Start and end in seconds since the Unix epoch.
    pub(super) window: (f64, f64),
    pub(super) namespace: String,
    /// The name of the job, with which those of its pods begin.
    pub(super) job: String,
    /// The server that it loaded, with whose name those of its pods begin.
    pub(super) server: Option<Server>,
    /// The names of the nodes that it ran on.
    pub(super) nodes: Vec<String>,
}

impl RunEvidence {
    /// Returns the joules that the GPUs of the run took; nothing where it had none that DCGM knows, or no target's Prometheus does.
    ///
    /// # Errors
    /// Why a Prometheus that is there does not say it.
    pub(super) fn energy(&self, usage: &Usage) -> Result<Option<f64>, String> {
        let is_known = usage.accelerators.keys().any(|name| name.starts_with(NVIDIA));
        let Some(preset) = preset::preset(ENERGY).filter(|_| is_known && self.prometheus.is_some()) else {
            return Ok(None);
        };
        let values = self.query(preset.query)?;
        let last = values.last().copied().filter(|joules| joules.is_finite() && *joules >= 0.0);
        last.map(|joules| Some(joules.round())).ok_or_else(|| "Prometheus has no number for it".to_owned())
    }
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

    fn process(&self, _: ProcessSource) -> Used {
        Err("the step cannot see what the processes of pods use: read it from Prometheus, such as \
             `container_cpu_usage_seconds_total` and `container_memory_working_set_bytes`"
            .to_owned())
    }

    fn duration(&self, what: DurationSource) -> Used {
        let is_kept = self.server.as_ref().is_some_and(|server| !server.brought_up);
        let (seconds, of) = match what {
            DurationSource::Ready if is_kept => {
                return Err("the server was already running: the run that started it has the time".to_owned());
            }
            DurationSource::Ready => (
                self.timings.ready_seconds,
                "the server became ready; only runs with a server \
                                                                   have this time",
            ),
            DurationSource::Queue => (self.timings.queue_seconds, "all pods were scheduled"),
            DurationSource::Startup => (self.timings.startup_seconds, "all containers were started"),
            DurationSource::Run => (self.timings.run_seconds, "all containers that count had ended"),
        };
        seconds.ok_or_else(|| format!("no step saw when {of}"))
    }

    fn node(&self, name: &str) -> Result<Vec<f64>, String> {
        let workflow = self.composition.workflow.as_ref();
        workflow.ok_or_else(|| "the run was not a Workflow, or no step saw its nodes".to_owned())?.seconds(name)
    }

    fn trials(&self, metric: &str, of: WhichTrials) -> Result<Vec<f64>, String> {
        let experiment = self.composition.experiment.as_ref();
        let experiment =
            experiment.ok_or_else(|| "the run was not an Experiment, or no step saw its trials".to_owned())?;
        match of {
            WhichTrials::Best => experiment.best(metric).map(|value| vec![value]),
            WhichTrials::All => experiment.all(metric),
        }
    }

    fn fetch(&self, url: &str) -> Result<String, String> {
        match &self.authorities {
            Some(file) => http::get_trusting(url, file),
            None => http::get(url),
        }
    }

    fn query(&self, query: &str) -> Result<Vec<f64>, String> {
        // Of a run that loads a server it is that which is measured.
        let measured = self.server.as_ref().map_or(self.job.as_str(), |server| server.name.as_str());
        let query = prometheus::of_cluster(query, &self.namespace, measured, &self.nodes);
        range_query(self.prometheus.as_deref(), &query, self.window, |url| self.fetch(url))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::RunEvidence;
    use kubebench_extract::measure::Evidence as _;
    use kubebench_format::result::Composition;
    use kubebench_format::result::v1::{Timings, Usage};
    use kubebench_host::experiment::RunOutputs;
    use kubebench_testing::server::{Server as Prometheus, object, status};

    fn evidence(prometheus: Option<&str>) -> RunEvidence {
        RunEvidence {
            left: RunOutputs::of_run(std::path::Path::new("/nowhere")),
            timings: Timings::default(),
            composition: Composition::default(),
            prometheus: prometheus.map(str::to_owned),
            authorities: None,
            window: (1000.0, 1090.0),
            namespace: "n".to_owned(),
            job: "llm-1a2b3c4d".to_owned(),
            server: None,
            nodes: Vec::new(),
        }
    }

    fn holding(name: &str) -> Usage {
        Usage { accelerators: BTreeMap::from([(name.to_owned(), 8)]), ..Usage::default() }
    }

    #[test]
    fn energy_is_what_dcgm_counted_over_the_run() {
        let server = Prometheus::new(|request, _| {
            assert!(request.contains("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION") && request.contains("90s"), "{request}");
            assert!(request.contains("llm-1a2b3c4d"), "{request}");
            let series = json!({"metric": {}, "values": [[1089, "1.0"], [1090, "90123.6"]]});
            object(&json!({"status": "success", "data": {"resultType": "matrix", "result": [series]}}))
        });
        let with = evidence(Some(server.url()));
        assert_eq!(with.energy(&holding("nvidia.com/gpu")), Ok(Some(90124.0)));
        assert_eq!(with.energy(&holding("amd.com/gpu")), Ok(None), "DCGM does not know those");
        assert_eq!(with.energy(&Usage::default()), Ok(None));
        assert_eq!(evidence(None).energy(&holding("nvidia.com/gpu")), Ok(None));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test makes files")]
    fn authorities_that_cannot_be_used_are_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.crt");
        let of = |server: &str| RunEvidence { authorities: Some(file.clone()), ..evidence(Some(server)) };
        let why = |server: &str| of(server).query("up").unwrap_err();
        for text in [None, Some(""), Some("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")] {
            if let Some(text) = text {
                std::fs::write(&file, text).unwrap();
            }
            let words = "the certificates that `results.ca` names cannot be used: ";
            assert!(why("https://127.0.0.1:9").starts_with(words), "{}", why("https://127.0.0.1:9"));
            assert!(of("").fetch("HTTPS://127.0.0.1:9/metrics").unwrap_err().starts_with(words));
            // A Prometheus without TLS is asked as ever.
            assert!(
                why("http://127.0.0.1:9").starts_with("the server did not answer"),
                "{}",
                why("http://127.0.0.1:9")
            );
        }
    }

    #[test]
    fn a_prometheus_that_does_not_say_it_is_said() {
        let empty = Prometheus::new(|_, _| {
            object(&json!({"status": "success", "data": {"resultType": "matrix", "result": []}}))
        });
        let why = evidence(Some(empty.url())).energy(&holding("nvidia.com/gpu")).unwrap_err();
        assert!(why.contains("no sample"), "{why}");
        let away = Prometheus::new(|_, _| status(404, "NotFound", "not found"));
        assert!(evidence(Some(away.url())).energy(&holding("nvidia.com/gpu")).is_err());
    }
}
