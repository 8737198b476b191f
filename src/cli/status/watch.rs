//! `kubebench status --watch`: by watches, not by asking again and again.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value as Json;

use super::{SHOWN, add_last_lines, add_lists, cron_workflows, job_kinds, page, serves, tidy, typed, wanted};
use crate::cli::ExitStatus;
use crate::cli::outside::{Outside, clean};
use kubebench_cluster::{Resource, Seen, Watch, Watching};
use kubebench_contract::Config;
use kubebench_contract::labels;
use kubebench_executor::status::{Namespace, RunState, Session, sessions};
use kubebench_host::machine;
use kubebench_host::terminal;

/// How often ages and last lines are renewed.
const RENEW: Duration = Duration::from_secs(3);
/// What changes at once is shown at once.
const GATHER: Duration = Duration::from_millis(300);

const WORKFLOWS: &str = "Workflows";

/// What a watch saw, by what it watches.
enum Change {
    Workflow(Seen),
    Schedule(Seen),
    Job(Seen),
    Pod(Seen),
    Event(Seen),
}

/// The namespace as the watches know it, by uid.
#[derive(Default)]
struct Known {
    workflows: BTreeMap<String, Json>,
    schedules: BTreeMap<String, Json>,
    jobs: BTreeMap<String, Json>,
    pods: BTreeMap<String, Json>,
    events: BTreeMap<String, Json>,
    lists: BTreeMap<String, Config>,
    /// What is not seen at the moment, and why.
    trouble: BTreeMap<&'static str, String>,
    /// Whether the Workflows were listed once.
    is_listed: bool,
}

/// Watches until the process is ended.
pub(super) fn run(outside: &Outside<'_>, names: &[String]) -> Result<ExitStatus> {
    let (sender, changes) = channel();
    let mut watchers = Watchers::begin(outside, sender);
    let mut known = Known::default();
    let mut screen = Screen::new();
    loop {
        known.gather(&changes)?;
        if known.is_listed {
            let seen = known.namespace(outside);
            watchers.add_jobs(&known.lists);
            let mut found = wanted(sessions(&seen, SHOWN), names);
            if screen.is_terminal() {
                add_last_lines(outside, &mut found);
            }
            tidy(&mut found);
            screen.show(outside, &found, names, &known.trouble)?;
        } else {
            screen.say(&known.trouble);
        }
    }
}

/// The watches, until it is dropped.
struct Watchers<'a> {
    outside: &'a Outside<'a>,
    sender: Sender<Change>,
    running: Vec<Watching>,
    /// The kinds of jobs that were looked at.
    kinds: Vec<Resource>,
    /// How many run lists were looked at.
    lists: Option<usize>,
}

impl<'a> Watchers<'a> {
    fn begin(outside: &'a Outside<'a>, sender: Sender<Change>) -> Self {
        let mut watchers = Self { outside, sender, running: Vec::new(), kinds: Vec::new(), lists: None };
        watchers.start(Resource::workflows(), super::WORKFLOWS, Change::Workflow);
        watchers.start(cron_workflows(), labels::BENCHMARK, Change::Schedule);
        watchers.start(Resource::pods(), labels::RUN, Change::Pod);
        watchers.start(Resource::events(), "", Change::Event);
        watchers
    }

    fn start(&mut self, resource: Resource, labels: &str, wrap: fn(Seen) -> Change) {
        let watch = Watch::all(&self.outside.target.namespace, resource).labels(labels);
        self.running.push(self.outside.cluster.watch(watch, self.sender.clone(), wrap));
    }

    /// Watches the kinds of jobs too that another commit brought.
    fn add_jobs(&mut self, lists: &BTreeMap<String, Config>) {
        if self.lists.replace(lists.len()) == Some(lists.len()) {
            return;
        }
        for kind in job_kinds(self.outside, lists) {
            if !self.kinds.contains(&kind) {
                self.kinds.push(kind.clone());
                if serves(&self.outside.cluster, &kind) {
                    self.start(kind, labels::RUN, Change::Job);
                }
            }
        }
    }
}

impl Known {
    /// Takes in what changed: waits for the first, and a moment for more.
    fn gather(&mut self, changes: &Receiver<Change>) -> Result<()> {
        let end = Instant::now() + RENEW;
        let mut until = end;
        loop {
            match changes.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(change) => {
                    // Events come in crowds, and alone they change little.
                    if !matches!(change, Change::Event(_)) {
                        until = until.min(Instant::now() + GATHER);
                    }
                    self.take(change);
                }
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => anyhow::bail!("the watches ended"),
            }
        }
    }

    fn take(&mut self, change: Change) {
        let (what, objects, seen) = match change {
            Change::Workflow(seen) => (WORKFLOWS, &mut self.workflows, seen),
            Change::Schedule(seen) => ("CronWorkflows", &mut self.schedules, seen),
            Change::Job(seen) => ("jobs", &mut self.jobs, seen),
            Change::Pod(seen) => ("pods", &mut self.pods, seen),
            Change::Event(seen) => ("events", &mut self.events, seen),
        };
        match seen {
            Seen::Applied(object) => {
                let uid = object.pointer("/metadata/uid").and_then(Json::as_str).unwrap_or_default().to_owned();
                objects.insert(uid, object);
            }
            Seen::Gone { uid } => drop(objects.remove(&uid)),
            Seen::Listed => {
                self.is_listed |= what == WORKFLOWS;
                self.trouble.remove(what);
            }
            Seen::Trouble(why) => drop(self.trouble.insert(what, clean(&why))),
            Seen::Fine => drop(self.trouble.remove(what)),
        }
    }

    fn namespace(&mut self, outside: &Outside<'_>) -> Namespace {
        let all = |objects: &BTreeMap<String, Json>| objects.values().cloned().collect::<Vec<_>>();
        let mut seen = Namespace {
            workflows: all(&self.workflows),
            schedules: all(&self.schedules),
            jobs: all(&self.jobs),
            pods: typed(all(&self.pods)),
            events: typed(all(&self.events)),
            ..Namespace::default()
        };
        // Who may not see one thing may see the others; in an outage nobody sees any.
        if self.trouble.contains_key(WORKFLOWS) {
            seen.lists = self.lists.iter().map(|(name, config)| (name.clone(), config.list.clone())).collect();
        } else {
            add_lists(&outside.cluster, &outside.target.namespace, &mut seen, &mut self.lists);
        }
        seen
    }
}

/// Where changes are shown: in place on a terminal, as lines elsewhere.
struct Screen {
    page: Option<ProgressBar>,
    /// What was said last of each run and Workflow.
    said: BTreeMap<String, String>,
    /// The trouble that was said and lasts, by what is not seen.
    trouble: BTreeMap<&'static str, String>,
}

impl Screen {
    fn new() -> Self {
        let page = terminal::is_terminal(terminal::Stream::Output).then(|| {
            let page = ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout());
            if let Ok(style) = ProgressStyle::with_template("{msg}") {
                page.set_style(style);
            }
            page
        });
        Self { page, said: BTreeMap::new(), trouble: BTreeMap::new() }
    }

    fn is_terminal(&self) -> bool {
        self.page.is_some()
    }

    fn show(
        &mut self,
        outside: &Outside<'_>,
        found: &[Session],
        names: &[String],
        trouble: &BTreeMap<&'static str, String>,
    ) -> Result<()> {
        if let Some(page_bar) = &self.page {
            let (now, _) = machine::now();
            let mut text =
                format!("{}: namespace {} at {now}; Ctrl-C ends this\n", outside.target.name, outside.target.namespace);
            for (what, why) in trouble {
                text.push_str(&format!("{what} are not seen at the moment, what follows is older: {why}\n"));
            }
            text.push('\n');
            text.push_str(&page(outside, found, names));
            page_bar.set_message(text.trim_end().to_owned());
            return Ok(());
        }
        self.say(trouble);
        let mut lines = Vec::new();
        for session in found {
            lines.push((
                session.uid.clone(),
                format!("{}: Workflow {} is {}", session.benchmark, session.workflow, session.phase.to_lowercase()),
            ));
            for run in session.runs.iter().filter(|run| run.state != RunState::Left) {
                let why = run.reasons.first().map(|reason| format!(": {}", reason.message)).unwrap_or_default();
                lines.push((
                    format!("{}/{}", session.uid, run.id),
                    format!("{}: {} is {}{why}", session.benchmark, run.name(), run.state.shown()),
                ));
            }
        }
        for (key, line) in lines {
            if self.said.get(&key) != Some(&line) {
                let (now, _) = machine::now();
                terminal::print(&format!("{now}  {line}\n"))?;
                self.said.insert(key, line);
            }
        }
        Ok(())
    }

    /// Says the trouble there is, each once while it lasts.
    fn say(&mut self, trouble: &BTreeMap<&'static str, String>) {
        for text in self.news(trouble) {
            match &self.page {
                Some(page) => page.set_message(text),
                None => terminal::tell(&format!("note: {text}")),
            }
        }
    }

    /// Takes in the trouble there is, and returns what is new of it.
    fn news(&mut self, trouble: &BTreeMap<&'static str, String>) -> Vec<String> {
        let is_new = |(what, why): &(&&'static str, &String)| self.trouble.get(*what) != Some(*why);
        let news = trouble.iter().filter(is_new).map(|(_, why)| why.clone()).collect();
        self.trouble.clone_from(trouble);
        news
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Screen;

    #[test]
    fn trouble_is_said_once_while_it_lasts() {
        let mut screen = Screen { page: None, said: BTreeMap::new(), trouble: BTreeMap::new() };
        let all = BTreeMap::from([("pods", "cannot watch pods".to_owned()), ("jobs", "cannot watch jobs".to_owned())]);
        assert_eq!(screen.news(&all), ["cannot watch jobs", "cannot watch pods"]);
        assert_eq!(screen.news(&all), Vec::<String>::new());
        assert_eq!(screen.news(&BTreeMap::new()), Vec::<String>::new());
        assert_eq!(screen.news(&all).len(), 2, "it came again");
    }
}
