//! Which failures of a script's programs its exit status does not show.
//!
//! A failure is shown when the program is the last thing that is run, when `set -e` ends the shell, or when something looks at its
//! status: a condition, `$?`, another program behind `||`.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::programs::{base, measured};
use super::shells::{self, Call, Called, Options};
use kubebench_syntax::shell::{self, Asks, Command, End, Item, Joint, Kind, Pipeline, Script, Sense, Simple};

/// How deep scripts may be nested in words of scripts: `bash -c "sh -c '…'"`.
const DEPTH: usize = 3;
/// How many calls of functions are followed.
const CALLS: usize = 200;
/// How deep functions may call each other.
const CALL_DEPTH: usize = 8;
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
    /// A trap ends the shell with 0.
    Trapped,
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
    /// It is lost in this way, whatever options are set.
    Lost(Way),
}

/// Where `set -e` is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Errexit {
    /// A command that fails ends the shell, where it is set.
    Obeyed,
    /// In a condition, before `&&` and `||`, behind `!`, and in all that is called there.
    Suspended,
}

/// A function of the script.
#[derive(Clone)]
struct Function {
    body: Rc<Command>,
    /// Whether it surely ends with 0.
    succeeds: bool,
}

/// The state of one shell, which other shells do not share.
#[derive(Clone)]
struct Shell {
    options: Options,
    errexit: Errexit,
    functions: BTreeMap<String, Function>,
    /// The arguments of the function that runs.
    arguments: Vec<String>,
    /// Whether a trap ends it with 0.
    is_trapped: bool,
}

impl Shell {
    fn started(options: Options) -> Self {
        Self { options, errexit: Errexit::Obeyed, functions: BTreeMap::new(), arguments: Vec::new(), is_trapped: false }
    }
}

/// A walk through a script.
struct Walk {
    shell: Shell,
    /// The losses; one with a number counts only if no program is passed after that many.
    found: Vec<(Option<usize>, Loss)>,
    /// How many programs in the foreground were passed.
    passed: usize,
    waits: bool,
    depth: usize,
    /// How many functions were called, and how many of them still run.
    calls: usize,
    call_depth: usize,
}

/// Returns the losses of a script, in the order in which they are met.
pub(super) fn losses(script: &Script, options: Options) -> Vec<Loss> {
    let shell = Shell::started(options);
    let mut walk = Walk { shell, found: Vec::new(), passed: 0, waits: false, depth: 0, calls: 0, call_depth: 0 };
    walk.script(script, &Fate::Shown);
    // A server in the background, and a version that is printed, are not measured where a program follows.
    let (passed, waits) = (walk.passed, walk.waits);
    let is_lost =
        |at: Option<usize>, way: &Way| at.is_none_or(|at| at == passed) && !(waits && *way == Way::Background);
    walk.found.into_iter().filter(|(at, loss)| is_lost(*at, &loss.way)).map(|(_, loss)| loss).collect()
}

impl Walk {
    fn lose(&mut self, program: &str, line: usize, fate: &Fate) {
        let is_obeyed = self.shell.options.errexit && self.shell.errexit == Errexit::Obeyed;
        let way = match fate {
            Fate::Lost(way) => way.clone(),
            Fate::Ignored(way) if !is_obeyed => way.clone(),
            _ if self.shell.is_trapped => Way::Trapped,
            _ => return,
        };
        let at = matches!(way, Way::Background | Way::Substituted { .. }).then_some(self.passed);
        self.found.push((at, Loss { program: shown(program), way, line }));
    }

    /// Walks through what is run where `set -e` does not count.
    fn suspended(&mut self, walk: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.shell.errexit, Errexit::Suspended);
        walk(self);
        self.shell.errexit = before;
    }

    fn script(&mut self, script: &Script, fate: &Fate) {
        let last = script.items.last().map(|item| shown(&first_name(&item.first))).unwrap_or_default();
        for (index, item) in script.items.iter().enumerate() {
            let next = script.items.get(index + 1);
            let fate = match (next, fate) {
                _ if item.end == End::Background => Fate::Lost(Way::Background),
                (Some(Item { asks: Asks::EachStatus, .. }), _) => Fate::EachShown,
                (Some(next), _) if next.asks == Asks::Status || passes_on(next) => Fate::Shown,
                (None, fate) | (Some(_), fate @ Fate::Lost(_)) => fate.clone(),
                (Some(_), _) => Fate::Ignored(Way::Followed { by: last.clone() }),
            };
            self.item(item, &fate);
        }
    }

    fn item(&mut self, item: &Item, fate: &Fate) {
        let is_looked_at = item.rest.iter().any(|(_, pipeline)| leaves(pipeline));
        let fate_of = |answer: Option<&Pipeline>, is_last: bool| match (answer, fate) {
            (Some(answer), _) if self.succeeds(answer) => Fate::Lost(Way::Answered { by: shown(&first_name(answer)) }),
            (Some(_), _) => Fate::Shown,
            (None, _) if is_looked_at => Fate::Shown,
            // Only the last command of such a list makes `set -e` end the shell.
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
        fates.push(fate_of(answer, fates.is_empty()));
        let pipelines = std::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipeline)| pipeline));
        for (index, (pipeline, fate)) in pipelines.zip(fates.into_iter().rev()).enumerate() {
            if index == item.rest.len() {
                self.pipeline(pipeline, &fate);
            } else {
                self.suspended(|walk| walk.pipeline(pipeline, &fate));
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, fate: &Fate) {
        match pipeline.sense {
            Sense::Plain => self.commands(&pipeline.commands, fate),
            Sense::Negated => self.suspended(|walk| walk.commands(&pipeline.commands, &Fate::Shown)),
        }
    }

    fn commands(&mut self, commands: &[Command], fate: &Fate) {
        let Some((last, others)) = commands.split_last() else { return };
        // Each of several commands has a shell of its own.
        let before = (!others.is_empty()).then_some(self.shell.options);
        for command in others {
            let piped = Fate::Lost(Way::Piped { last: shown(&command_name(last)) });
            let is_shown = self.shell.options.pipefail
                || matches!(fate, Fate::EachShown | Fate::Lost(Way::Background | Way::Substituted { .. }));
            self.command(command, if is_shown { fate } else { &piped });
        }
        self.command(last, fate);
        self.shell.options = before.unwrap_or(self.shell.options);
    }

    fn command(&mut self, command: &Command, fate: &Fate) {
        match &command.kind {
            Kind::Simple(simple) => self.simple(simple, command.line, fate),
            Kind::Group(script) => self.script(script, fate),
            Kind::Subshell(script) => {
                let before = (self.shell.options, self.shell.is_trapped);
                self.script(script, fate);
                (self.shell.options, self.shell.is_trapped) = before;
            }
            Kind::If { conditions, bodies } => {
                for condition in conditions {
                    self.condition(condition);
                }
                for body in bodies {
                    self.script(body, fate);
                }
            }
            Kind::For(body) => self.turns(body, fate),
            Kind::While { condition, body } => {
                self.condition(condition);
                self.turns(body, fate);
            }
            Kind::Case(bodies) => {
                for body in bodies {
                    self.script(body, fate);
                }
            }
            Kind::Function { name, body } => {
                let succeeds = self.command_succeeds(body);
                let function = Function { body: Rc::new(Command::clone(body)), succeeds };
                self.shell.functions.insert(name.clone(), function);
            }
            Kind::Test => {}
        }
    }

    /// Walks through the body of a loop.
    fn turns(&mut self, body: &Script, fate: &Fate) {
        let repeated = match fate {
            Fate::Shown | Fate::EachShown => Fate::Ignored(Way::Repeated),
            fate => fate.clone(),
        };
        self.script(body, &repeated);
    }

    /// Walks through a condition, which checks the status. A reader of a program's output requests that output.
    fn condition(&mut self, script: &Script) {
        let found = self.found.len();
        self.suspended(|walk| walk.script(script, &Fate::Shown));
        let is_lost = |way: &Way| match way {
            Way::Piped { last } => last == "tee",
            Way::Followed { .. } | Way::Answered { .. } | Way::Repeated => true,
            Way::Background | Way::Substituted { .. } | Way::Trapped => false,
        };
        let of_condition = self.found.split_off(found);
        self.found.extend(of_condition.into_iter().filter(|(_, loss)| is_lost(&loss.way)));
    }

    /// Follows a call into the body of a function; returns true if there is such a function.
    fn call(&mut self, words: &[String], fate: &Fate) -> bool {
        let [name, arguments @ ..] = words else { return false };
        let Some(body) = self.shell.functions.get(name).map(|function| Rc::clone(&function.body)) else { return false };
        if self.calls < CALLS && self.call_depth < CALL_DEPTH {
            self.calls += 1;
            self.call_depth += 1;
            let before = std::mem::replace(&mut self.shell.arguments, arguments.to_vec());
            self.command(&body, fate);
            self.shell.arguments = before;
            self.call_depth -= 1;
        }
        true
    }

    /// Returns words with what a function was given in place of its `"$@"`.
    fn given(&self, words: &[String]) -> Vec<String> {
        let mut words = words.to_vec();
        let at = words.iter().position(|word| word == "$@").filter(|_| !self.shell.arguments.is_empty());
        if let Some(at) = at {
            words.splice(at..=at, self.shell.arguments.iter().cloned());
        }
        words
    }

    fn simple(&mut self, simple: &Simple, line: usize, fate: &Fate) {
        let words = self.given(&simple.words);
        let words = words.as_slice();
        self.take_options(words, fate);
        let is_printer =
            |word: &&str| matches!(*word, "echo" | "printf" | "export" | "local" | "readonly" | "declare" | "typeset");
        let printer = words.first().map(String::as_str).filter(is_printer);
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
        if self.call(words, fate) {
            return;
        }
        let Some(program) = measured(words) else { return };
        let passed = self.passed;
        if self.inner(words, line) && self.passed == passed {
            return;
        }
        self.passed = passed;
        if !matches!(fate, Fate::Lost(Way::Background)) {
            self.passed += 1;
        }
        // A program that replaces the shell ends as the shell would, and without its traps.
        let replaces = words.first().is_some_and(|word| word == "exec");
        if !replaces || matches!(fate, Fate::Lost(_)) {
            self.lose(program, line, fate);
        }
    }

    /// Follows a script in a word of another, which a shell runs there; returns true if there is one.
    fn inner(&mut self, words: &[String], line: usize) -> bool {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let Some(Call { options, called: Called::Text(index), .. }) = shells::called(&words) else { return false };
        let Some(script) = words.get(index).filter(|_| self.depth < DEPTH).and_then(|text| shell::read(text)) else {
            return false;
        };
        let before = std::mem::replace(&mut self.shell, Shell::started(options));
        let found = self.found.len();
        self.depth += 1;
        self.script(&script, &Fate::Shown);
        self.depth -= 1;
        // Its own lines are counted from the word on.
        self.found.iter_mut().skip(found).for_each(|(_, loss)| loss.line = line);
        self.shell = before;
        true
    }

    fn substitution(&mut self, script: &Script, fate: &Fate) {
        let (found, passed) = (self.found.len(), self.passed);
        let [Item { first, rest, end: End::Foreground, .. }] = script.items.as_slice() else { return };
        let before = (self.shell.options, self.shell.is_trapped);
        if rest.is_empty() {
            self.pipeline(first, fate);
        }
        (self.shell.options, self.shell.is_trapped) = before;
        // It counts as nothing that follows itself.
        self.passed = passed;
        self.found.iter_mut().skip(found).for_each(|(at, _)| *at = Some(passed));
    }

    fn take_options(&mut self, words: &[String], fate: &Fate) {
        let [first, rest @ ..] = words else { return };
        match first.as_str() {
            "set" => self.shell.options.set(rest.iter().map(String::as_str)),
            // It ends as the last process that it is given.
            "wait" => {
                let is_shown = match fate {
                    Fate::Ignored(Way::Repeated) => self.shell.options.errexit,
                    _ => true,
                };
                self.waits |= rest.len() == 1 && is_shown;
            }
            "trap" => self.trap(rest),
            "." | "source" if !rest.first().is_some_and(|file| shells::keeps_options(file)) => {
                self.shell.options = Options { errexit: true, pipefail: true };
            }
            _ => {}
        }
    }

    fn trap(&mut self, words: &[String]) {
        let [action, signals @ ..] = words else { return };
        self.shell.options.errexit |= words.iter().any(|word| word == "ERR");
        if signals.iter().any(|signal| matches!(signal.as_str(), "EXIT" | "0")) {
            self.shell.is_trapped = match self.shell.functions.get(action) {
                Some(function) => ends_well(&function.body),
                None => shell::read(action).is_some_and(|script| exits_well(&script)),
            };
        }
    }

    /// Returns true for a command after `||` that surely succeeds: it prints or does nothing, and does not end with another status.
    fn succeeds(&self, pipeline: &Pipeline) -> bool {
        pipeline.sense == Sense::Plain && pipeline.commands.last().is_some_and(|last| self.command_succeeds(last))
    }

    fn command_succeeds(&self, command: &Command) -> bool {
        match &command.kind {
            Kind::Simple(simple) => match simple.words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
                [":" | "true" | "echo" | "printf" | "sleep" | "cat" | "date" | "break" | "continue", ..]
                | ["exit" | "return", "0"] => !simple.words.iter().any(|word| word.contains("$?")),
                [name, ..] => self.shell.functions.get(*name).is_some_and(|function| function.succeeds),
                [] => false,
            },
            Kind::Group(script) | Kind::Subshell(script) => {
                let Some((last, others)) = script.items.split_last() else { return false };
                last.rest.is_empty() && self.succeeds(&last.first) && others.iter().all(keeps_nothing)
            }
            _ => false,
        }
    }
}

/// Returns true for the body of a function that ends with `exit 0`.
fn ends_well(body: &Command) -> bool {
    match &body.kind {
        Kind::Group(script) => exits_well(script),
        _ => false,
    }
}

/// Returns true for a script that ends with `exit 0`.
fn exits_well(script: &Script) -> bool {
    let Some(Item { first, rest, .. }) = script.items.last() else { return false };
    let [Command { kind: Kind::Simple(simple), .. }] = first.commands.as_slice() else { return false };
    rest.is_empty() && simple.words == ["exit", "0"]
}

/// Returns true for what neither leaves nor assigns a variable that somebody may look at later.
fn keeps_nothing(item: &Item) -> bool {
    std::iter::once(&item.first).chain(item.rest.iter().map(|(_, next)| next)).all(|pipeline| {
        let assigns = |command: &Command| matches!(&command.kind, Kind::Simple(simple) if simple.words.is_empty());
        !leaves(pipeline) && !pipeline.commands.iter().any(assigns)
    })
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
