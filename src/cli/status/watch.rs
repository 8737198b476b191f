//! `kubebench status --watch`: by watches, not by asking again and again.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value as Json;

use super::{SHOWN, add_last_lines, add_lists, cron_workflows, job_kinds, page, tidy, typed, wanted};
use crate::cli::ExitStatus;
use crate::cli::outside::{Outside, clean};
use crate::edge::cluster::{Resource, Seen, Watch, Watching};
use crate::edge::{machine, terminal};
use crate::manifest::meta;
use crate::status::{Namespace, RunState, Session, sessions};
use crate::steps::Config;

/// How often ages and last lines are renewed.
const RENEW: Duration = Duration::from_secs(3);
/// What changes at once is shown at once.
const GATHER: Duration = Duration::from_millis(300);

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
    let (watchings, changes) = watch(outside);
    let mut known = Known::default();
    let mut screen = Screen::new();
    loop {
        known.gather(&changes)?;
        if known.is_listed {
            let mut found = wanted(sessions(&known.namespace(outside), SHOWN), names);
            if screen.is_terminal() {
                add_last_lines(outside, &mut found);
            }
            tidy(&mut found);
            screen.show(outside, &found, names, &known.trouble)?;
        } else if let Some(trouble) = known.trouble.values().next() {
            screen.say(trouble);
        }
        if watchings.is_empty() {
            return Ok(ExitStatus::Yes);
        }
    }
}

fn watch(outside: &Outside<'_>) -> (Vec<Watching>, Receiver<Change>) {
    let (sender, changes) = channel();
    let namespace = outside.target.namespace.as_str();
    let start = |resource: Resource, labels: &str, wrap: fn(Seen) -> Change| {
        outside.cluster.watch(Watch::all(namespace, resource).labels(labels), sender.clone(), wrap)
    };
    let mut watchings = vec![
        start(Resource::workflows(), meta::BENCHMARK, Change::Workflow),
        start(cron_workflows(), meta::BENCHMARK, Change::Schedule),
        start(Resource::pods(), meta::RUN, Change::Pod),
        start(Resource::events(), "", Change::Event),
    ];
    let kinds = job_kinds(outside).into_iter();
    watchings.extend(kinds.map(|kind| start(kind, meta::RUN, Change::Job)));
    (watchings, changes)
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
            Change::Workflow(seen) => ("Workflows", &mut self.workflows, seen),
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
                self.is_listed |= what == "Workflows";
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
        if self.trouble.is_empty() {
            add_lists(&outside.cluster, &outside.target.namespace, &mut seen, &mut self.lists);
        } else {
            seen.lists = self.lists.iter().map(|(name, config)| (name.clone(), config.list.clone())).collect();
        }
        seen
    }
}

/// Where changes are shown: in place on a terminal, as lines elsewhere.
struct Screen {
    page: Option<ProgressBar>,
    /// What was said last of each run and Workflow.
    said: BTreeMap<String, String>,
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
        Self { page, said: BTreeMap::new() }
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
        for why in trouble.values() {
            self.say(why);
        }
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
                    format!("{}: {} is {}{why}", session.benchmark, run.name(), run.state.name()),
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

    /// Says a trouble, once while it lasts.
    fn say(&mut self, trouble: &str) {
        if self.said.get("trouble").map(String::as_str) == Some(trouble) {
            return;
        }
        match &self.page {
            Some(page) => page.set_message(trouble.to_owned()),
            None => terminal::tell(&format!("note: {trouble}")),
        }
        self.said.insert("trouble".to_owned(), trouble.to_owned());
    }
}
