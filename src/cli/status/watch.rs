//! `kubebench status --watch`: by watches, not by asking again and again.

use std::collections::BTreeMap;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::page;
use crate::app::cluster::{SHOWN, TargetCluster, Watched, add_last_lines, tidy, wanted};
use crate::cli::ExitStatus;
use kubebench_executor::status::{RunState, WorkflowStatus, sessions};
use kubebench_host::machine;
use kubebench_host::terminal;

/// Watches until the process is ended.
pub(super) fn run(target: &TargetCluster, names: &[String]) -> Result<ExitStatus> {
    let mut watched = Watched::begin(target);
    let mut screen = Screen::new();
    loop {
        let Some(seen) = watched.await_change()? else {
            screen.say(watched.trouble());
            continue;
        };
        let mut found = wanted(sessions(&seen, SHOWN), names);
        if screen.is_terminal() {
            add_last_lines(target, &mut found);
        }
        tidy(&mut found);
        screen.show(target, &found, names, watched.trouble())?;
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
        target: &TargetCluster,
        found: &[WorkflowStatus],
        names: &[String],
        trouble: &BTreeMap<&'static str, String>,
    ) -> Result<()> {
        if let Some(page_bar) = &self.page {
            let now = machine::second();
            let mut text =
                format!("{}: namespace {} at {now}; Ctrl-C ends this\n", target.target.name, target.target.namespace);
            for (what, why) in trouble {
                text.push_str(&format!(
                    "{what} cannot be read at the moment, so the following may be outdated: {why}\n"
                ));
            }
            text.push('\n');
            text.push_str(&page(target, found, names));
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
                let now = machine::second();
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

    /// Records the current trouble, and returns what is new of it.
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
