//! Which failures of a script's programs its exit status does not show.
//!
//! A failure is shown when the program is the last thing that is run, when `set -e` ends the shell, or when something looks at its
//! status: a condition, `$?`, another program behind `||`.

use std::collections::BTreeSet;

use super::programs::{base, measured};
use super::shells::{self, Call, Called, Options};
use kubebench_syntax::shell::{self, Asks, Command, End, Item, Joint, Kind, Pipeline, Script, Sense, Simple};

/// How deep scripts may lie in words of scripts: `bash -c "sh -c '…'"`.
const DEPTH: usize = 3;
/// The most characters of a program's name that a message shows.
const SHOWN: usize = 40;

/// A program whose failure is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loss {
    /// Its name.
    pub(super) program: String,
    /// How it is lost.
    pub(super) way: Way,
    /// The line, from 1.
    pub(super) line: usize,
}

/// How a failure is lost.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// Another command of its pipeline comes last.
    Piped { last: String },
    /// Something that succeeds is behind `||`.
    Answered { by: String },
    /// Another command is run next.
    Followed { by: String },
    /// It is run again.
    Repeated,
    /// Nobody waits for it.
    Background,
    /// Its output is a word of another command.
    Substituted { into: String },
}

/// What becomes of the status of a command.
#[derive(Clone)]
enum Fate {
    /// It is that of the script, or somebody looks at it.
    Shown,
    /// Somebody looks at the status of each command of its pipeline.
    EachShown,
    /// It is lost in this way, unless `set -e` ends the shell.
    Ignored(Way),
    /// It is lost in this way, whatever is set.
    Lost(Way),
}

/// A walk through a script.
struct Walk {
    options: Options,
    /// Functions that run nothing which may be measured.
    plain: BTreeSet<String>,
    found: Vec<(usize, Loss)>,
    /// How many programs in the foreground were passed.
    passed: usize,
    waits: bool,
    depth: usize,
}

/// Returns the losses of a script, in the order of its lines.
pub(super) fn losses(script: &Script, options: Options) -> Vec<Loss> {
    let mut walk = Walk { options, plain: BTreeSet::new(), found: Vec::new(), passed: 0, waits: false, depth: 0 };
    walk.script(script, &Fate::Shown);
    // A server in the background, and a version that is printed, are not measured where a program follows.
    let (passed, waits) = (walk.passed, walk.waits);
    let is_last = |at: usize, way: &Way| match way {
        Way::Background => at == passed && !waits,
        Way::Substituted { .. } => at == passed,
        _ => true,
    };
    walk.found.into_iter().filter(|(at, loss)| is_last(*at, &loss.way)).map(|(_, loss)| loss).collect()
}

impl Walk {
    fn lose(&mut self, program: &str, line: usize, fate: &Fate) {
        let way = match fate {
            Fate::Shown | Fate::EachShown => return,
            Fate::Ignored(_) if self.options.errexit => return,
            Fate::Ignored(way) | Fate::Lost(way) => way.clone(),
        };
        self.found.push((self.passed, Loss { program: shown(program), way, line }));
    }

    fn script(&mut self, script: &Script, fate: &Fate) {
        for (index, item) in script.items.iter().enumerate() {
            let next = script.items.get(index + 1);
            let fate = match (next, fate) {
                _ if item.end == End::Background => Fate::Lost(Way::Background),
                (Some(Item { asks: Asks::EachStatus, .. }), _) => Fate::EachShown,
                (Some(next), _) if next.asks == Asks::Status || passes_on(next) => Fate::Shown,
                (None, fate) | (Some(_), fate @ Fate::Lost(_)) => fate.clone(),
                (Some(next), _) => Fate::Ignored(Way::Followed { by: shown(&first_name(&next.first)) }),
            };
            self.item(item, &fate);
        }
    }

    fn item(&mut self, item: &Item, fate: &Fate) {
        let is_looked_at = item.rest.iter().any(|(_, pipeline)| leaves(pipeline));
        let fate_of = |answer: Option<&Pipeline>, is_last: bool| match (answer, fate) {
            (Some(answer), _) if succeeds(answer) => Fate::Lost(Way::Answered { by: shown(&first_name(answer)) }),
            (Some(_), _) => Fate::Shown,
            (None, _) if is_looked_at => Fate::Shown,
            // Only the last of such a list lets `set -e` end the shell.
            (None, Fate::Ignored(way)) if !is_last => Fate::Lost(way.clone()),
            (None, fate) => fate.clone(),
        };
        // What answers a failure is behind the next `||`, so that the fates are found from the end.
        let (mut answer, mut fates) = (None, Vec::new());
        for (joint, pipeline) in item.rest.iter().rev() {
            fates.push(fate_of(answer, fates.is_empty()));
            if *joint == Joint::Or {
                answer = Some(pipeline);
            }
        }
        self.pipeline(&item.first, &fate_of(answer, fates.is_empty()));
        for ((_, pipeline), fate) in item.rest.iter().zip(fates.into_iter().rev()) {
            self.pipeline(pipeline, &fate);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, fate: &Fate) {
        let Some((last, others)) = pipeline.commands.split_last() else { return };
        let fate = if pipeline.sense == Sense::Negated { &Fate::Shown } else { fate };
        // Each of several commands has a shell of its own.
        let before = (!others.is_empty()).then_some(self.options);
        for command in others {
            let piped = Fate::Lost(Way::Piped { last: shown(&command_name(last)) });
            let is_shown = self.options.pipefail || matches!(fate, Fate::EachShown | Fate::Lost(Way::Background));
            self.command(command, if is_shown { fate } else { &piped });
        }
        self.command(last, fate);
        self.options = before.unwrap_or(self.options);
    }

    fn command(&mut self, command: &Command, fate: &Fate) {
        match &command.kind {
            Kind::Simple(simple) => self.simple(simple, command.line, fate),
            Kind::Group(script) => self.script(script, fate),
            Kind::Subshell(script) => {
                let before = self.options;
                self.script(script, fate);
                self.options = before;
            }
            Kind::If { conditions, bodies } => {
                for condition in conditions {
                    self.condition(condition);
                }
                for body in bodies {
                    self.script(body, fate);
                }
            }
            Kind::For(body) => {
                let repeated = match fate {
                    Fate::Shown | Fate::EachShown => Fate::Ignored(Way::Repeated),
                    fate => fate.clone(),
                };
                self.script(body, &repeated);
            }
            Kind::While { condition, body } => {
                self.condition(condition);
                self.script(body, fate);
            }
            Kind::Case(bodies) => {
                for body in bodies {
                    self.script(body, fate);
                }
            }
            Kind::Function { name, body } => {
                let (passed, before) = (self.passed, self.options);
                self.command(body, &Fate::Shown);
                if self.passed == passed {
                    self.plain.insert(name.clone());
                }
                (self.passed, self.options) = (passed, before);
            }
            Kind::Test => {}
        }
    }

    /// What is a condition is looked at; it only counts as something that is run.
    fn condition(&mut self, script: &Script) {
        let found = self.found.len();
        self.script(script, &Fate::Shown);
        self.found.truncate(found);
    }

    fn simple(&mut self, simple: &Simple, line: usize, fate: &Fate) {
        let words = simple.words.as_slice();
        self.take_options(words);
        let printer = words.first().map(String::as_str).filter(|word| matches!(*word, "echo" | "printf"));
        let into = printer.or_else(|| simple.assigned.first().map(String::as_str).filter(|_| words.is_empty()));
        if let Some(into) = into {
            let way = Way::Substituted { into: into.to_owned() };
            let fate = match fate {
                // `x=$(…)` ends as what is in it does.
                Fate::Shown if printer.is_none() => Fate::Shown,
                _ if printer.is_none() => Fate::Ignored(way),
                _ => Fate::Lost(way),
            };
            simple.substitutions.iter().for_each(|script| self.substitution(script, &fate));
        }
        if let ([exit, status], Fate::Lost(Way::Piped { .. })) = (words, fate)
            && exit == "exit"
            && status != "0"
        {
            self.lose(&words.join(" "), line, fate);
        }
        let Some(program) = measured(words).filter(|program| !self.plain.contains(*program)) else { return };
        // What is run instead of the shell ends as the shell would.
        let replaces = words.first().is_some_and(|word| word == "exec");
        let fate = match fate {
            Fate::Ignored(_) if replaces => &Fate::Shown,
            fate => fate,
        };
        if !matches!(fate, Fate::Lost(Way::Background)) {
            self.passed += 1;
        }
        self.lose(program, line, fate);
        self.inner(words, line);
    }

    /// A script in a word of another, which a shell runs there.
    fn inner(&mut self, words: &[String], line: usize) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let Some(Call { options, called: Called::Text(index), .. }) = shells::called(&words) else { return };
        let Some(script) = words.get(index).filter(|_| self.depth < DEPTH).and_then(|text| shell::read(text)) else {
            return;
        };
        let before = std::mem::replace(&mut self.options, options);
        let found = self.found.len();
        self.depth += 1;
        self.script(&script, &Fate::Shown);
        self.depth -= 1;
        // Its own lines are counted from the word on.
        self.found.iter_mut().skip(found).for_each(|(_, loss)| loss.line = line);
        self.options = before;
    }

    fn substitution(&mut self, script: &Script, fate: &Fate) {
        let (found, passed) = (self.found.len(), self.passed);
        let [Item { first, rest, end: End::Foreground, .. }] = script.items.as_slice() else { return };
        let [command] = first.commands.as_slice() else { return };
        if rest.is_empty() {
            self.command(command, fate);
        }
        // It counts as nothing that follows itself.
        self.passed = passed;
        self.found.iter_mut().skip(found).for_each(|(at, _)| *at = passed);
    }

    fn take_options(&mut self, words: &[String]) {
        let [first, rest @ ..] = words else { return };
        match first.as_str() {
            "set" => self.options.set(rest.iter().map(String::as_str)),
            "wait" => self.waits |= !rest.is_empty(),
            "trap" => self.options.errexit |= rest.iter().any(|word| word == "ERR"),
            _ => {}
        }
    }
}

/// Returns true for what passes the status of the command before it on: `exit` without a status.
fn passes_on(item: &Item) -> bool {
    let [Command { kind: Kind::Simple(simple), .. }] = item.first.commands.as_slice() else { return false };
    matches!(simple.words.as_slice(), [word] if matches!(word.as_str(), "exit" | "return"))
}

/// Returns true for what leaves a loop, a function or the shell, so that the list around it decides by the status before.
fn leaves(pipeline: &Pipeline) -> bool {
    let [command] = pipeline.commands.as_slice() else { return false };
    let Kind::Simple(simple) = &command.kind else { return false };
    simple.words.first().is_some_and(|word| matches!(word.as_str(), "break" | "continue" | "exit" | "return"))
}

/// Returns true for what is behind `||` and surely succeeds: what prints or does nothing, and does not end with another status.
fn succeeds(pipeline: &Pipeline) -> bool {
    let Some(Command { kind, .. }) = pipeline.commands.last() else { return false };
    match kind {
        Kind::Simple(simple) => match simple.words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            [":" | "true" | "echo" | "printf" | "sleep" | "cat" | "date", ..] | ["exit" | "return", "0"] => {
                !simple.words.iter().any(|word| word.contains("$?"))
            }
            _ => false,
        },
        Kind::Group(script) | Kind::Subshell(script) => {
            let never_leaves = |item: &Item| !leaves(&item.first) && !item.rest.iter().any(|(_, next)| leaves(next));
            script.items.last().is_some_and(|item| item.rest.is_empty() && succeeds(&item.first))
                && script.items.iter().rev().skip(1).all(never_leaves)
        }
        _ => false,
    }
}

fn first_name(pipeline: &Pipeline) -> String {
    pipeline.commands.first().map(command_name).unwrap_or_default()
}

/// Returns the name of a command, or the word that begins it.
fn command_name(command: &Command) -> String {
    match &command.kind {
        Kind::Simple(simple) => match simple.words.first() {
            Some(word) => base(word).to_owned(),
            None => simple.assigned.first().map(|name| format!("{name}=…")).unwrap_or_default(),
        },
        Kind::Group(_) => "{ … }".to_owned(),
        Kind::Subshell(_) => "( … )".to_owned(),
        Kind::If { .. } => "if".to_owned(),
        Kind::For(_) => "for".to_owned(),
        Kind::While { .. } => "while".to_owned(),
        Kind::Case(_) => "case".to_owned(),
        Kind::Function { name, .. } => name.clone(),
        Kind::Test => "[[ … ]]".to_owned(),
    }
}

/// Returns a name as a message shows it.
fn shown(name: &str) -> String {
    let name = name.replace(['`', '\n'], " ");
    if name.chars().count() <= SHOWN { name } else { name.chars().take(SHOWN).chain(['…']).collect() }
}

#[cfg(test)]
mod tests;
