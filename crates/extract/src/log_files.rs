//! Kept logs and files, read instead of a run: what `parse` and fixtures measure.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use super::excerpt::Excerpt;
use super::measure::{Evidence, Log, Measured, ONLY_A_RUN, Used, measure};
use super::naming::Naming;
use super::room::Room;
use super::rules::{Check, From, LogPlace, MetricRule, Rules};
use super::tool::Tool;
use kubebench_format::result::v1::Metric;
use kubebench_format::spec::v1::metric::{DurationSource, ProcessSource, Reports, WhichTrials};
use kubebench_syntax::digest::Digest;
use kubebench_syntax::unit::MetricSelector;

/// Opens a file that a metric is read from, by the name that the spec gives it.
pub(crate) type OpenFile<'a> = dyn Fn(&str) -> Result<Box<dyn BufRead>, String> + 'a;

/// Logs that were read, and the files that may be.
pub struct Kept<'a> {
    open: Box<OpenFile<'a>>,
    logs: Vec<Log>,
    excerpts: BTreeMap<String, Excerpt>,
    room: Room,
}

impl<'a> Kept<'a> {
    /// Starts without logs; `open` opens files.
    pub fn new(open: impl Fn(&str) -> Result<Box<dyn BufRead>, String> + 'a) -> Self {
        Self { open: Box::new(open), logs: Vec::new(), excerpts: BTreeMap::new(), room: Room::default() }
    }

    /// Reads the log of `role`'s replica `index`, which is called `name` in messages, for everything that `rules` extract from it.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn read(
        &mut self,
        rules: &Rules,
        (role, index): (&str, u32),
        name: &str,
        mut text: impl BufRead,
    ) -> io::Result<()> {
        let mut scan = rules.scan(role, index, &self.room);
        let mut excerpt = Excerpt::default();
        loop {
            let bytes = match text.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let taken = bytes.len();
            if taken == 0 {
                break;
            }
            scan.feed(bytes);
            excerpt.feed(bytes);
            text.consume(taken);
        }
        let scanned = scan.finish();
        self.logs.push(Log { role: role.to_owned(), index, artifact: name.to_owned(), scanned });
        self.excerpts.insert(name.to_owned(), excerpt);
        Ok(())
    }

    /// Measures from the logs and files.
    pub fn measure(&self, rules: &Rules) -> Measured {
        measure(rules, &self.logs, 0, self)
    }

    /// Returns true for a metric that was not looked for, because only a run has it.
    pub fn is_left_out(metric: &Metric) -> bool {
        metric.reason.as_deref() == Some(ONLY_A_RUN)
    }
}

impl Evidence for Kept<'_> {
    fn open(&self, path: &str) -> Result<Box<dyn BufRead>, String> {
        (self.open)(path)
    }

    fn excerpt(&self, artifact: &str) -> Option<String> {
        self.excerpts.get(artifact).map(Excerpt::text)
    }

    fn process(&self, _: ProcessSource) -> Used {
        Err(ONLY_A_RUN.to_owned())
    }

    fn duration(&self, _: DurationSource) -> Used {
        Err(ONLY_A_RUN.to_owned())
    }

    fn node(&self, _: &str) -> Result<Vec<f64>, String> {
        Err(ONLY_A_RUN.to_owned())
    }

    fn trials(&self, _: &str, _: WhichTrials) -> Result<Vec<f64>, String> {
        Err(ONLY_A_RUN.to_owned())
    }

    fn fetch(&self, _: &str) -> Result<String, String> {
        Err(ONLY_A_RUN.to_owned())
    }

    fn query(&self, _: &str) -> Result<Vec<f64>, String> {
        Err(ONLY_A_RUN.to_owned())
    }
}

impl Rules {
    /// Returns the rules by which the output of `tool` alone is read: all that it reports, or `metrics`; of several reports
    /// those that `reports` says.
    pub fn of_tool(tool: &'static Tool, reports: Reports, metrics: Option<Vec<String>>) -> Self {
        let is_required = metrics.is_none();
        let metrics = metrics.map(|names| names.iter().map(|name| MetricSelector::of(name)).collect());
        let naming = Naming::default();
        let from = From::Tool { tool, metrics, naming, file: None, place: LogPlace::default(), reports };
        let rule = MetricRule {
            name: None,
            unit: None,
            better: None,
            is_primary: false,
            is_required,
            window: super::series::Window::All,
            reduce: None,
            from,
        };
        Self { digest: Digest::of(tool.name), metrics: vec![rule], checks: Vec::new() }
    }

    /// Allows every metric of a log to be read from any log, regardless of the role in the spec.
    #[must_use]
    pub fn of_any_log(mut self) -> Self {
        for rule in &mut self.metrics {
            if let From::Log { place, .. } | From::Tool { place, .. } = &mut rule.from {
                *place = LogPlace::default();
            }
        }
        self
    }

    /// Wants no more of what only a run has than that it is named.
    #[must_use]
    pub fn without_a_run(mut self) -> Self {
        for rule in &mut self.metrics {
            if rule.from.is_of_a_run() {
                (rule.is_primary, rule.is_required) = (false, false);
                self.checks
                    .retain(|check| !matches!(check, Check::Metric { metric, .. } if rule.name.as_deref() == Some(metric.name())));
            }
        }
        self
    }

    /// Keeps only the rules for the metrics called `names`. A tool that reports all its metrics is asked for those that no
    /// other rule gives.
    #[must_use]
    pub fn about(mut self, names: &[String]) -> Self {
        let own: Vec<String> = self.metrics.iter().filter_map(|rule| rule.name.clone()).collect();
        let asked: Vec<MetricSelector> = names.iter().map(|name| MetricSelector::of(name)).collect();
        let of_tools = names.iter().zip(&asked).filter(|(name, _)| !own.contains(name)).map(|(_, selector)| selector);
        self.metrics.retain_mut(|rule| match (&rule.name, &mut rule.from) {
            (None, From::Tool { metrics, naming, .. }) => {
                let is_asked = |listed: &&MetricSelector| {
                    let brought = naming.selector(listed);
                    asked.iter().any(|selector| selector.has(brought.name(), brought.labels()))
                };
                let wanted: Vec<MetricSelector> = match metrics.as_deref() {
                    Some(list) => list.iter().filter(is_asked).cloned().collect(),
                    None => of_tools.clone().map(|selector| naming.of_brought(selector)).collect(),
                };
                let is_wanted = !wanted.is_empty();
                *metrics = Some(wanted);
                is_wanted
            }
            (name, _) => name.as_ref().is_some_and(|name| names.contains(name)),
        });
        self.checks.retain(|check| match check {
            Check::Metric { metric, .. } => names.iter().any(|name| name == metric.name()),
            Check::Restarts(_) | Check::FailedRequests(_) | Check::Cautions(_) => true,
        });
        self
    }

    /// Returns the names of metrics, as far as they are known before a tool reports its own.
    pub fn names(&self) -> Option<Vec<String>> {
        let mut known = Vec::new();
        for rule in &self.metrics {
            match (&rule.name, &rule.from) {
                (None, From::Tool { metrics: None, .. }) => return None,
                (None, From::Tool { metrics: Some(selectors), naming, .. }) => {
                    known.extend(selectors.iter().map(|selector| naming.selector(selector).to_string()));
                }
                (name, _) => known.extend(name.clone()),
            }
        }
        Some(known)
    }
}
