//! Scripts of POSIX shells and of bash, as far as it takes to see which command decides how a script ends.
//!
//! It is a reader and not a shell: nothing is expanded, and a text that it does not understand is not a script.
//! Time is linear in the length of a script, and depth has a limit, so that any text may be read.

mod compound;
mod reader;
mod word;

use reader::Reader;

/// A list of commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// What is run one after another.
    pub items: Vec<Item>,
}

/// Pipelines that `&&` and `||` join, up to the end of the line, a `;` or a `&`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The first pipeline.
    pub first: Pipeline,
    /// What follows it.
    pub rest: Vec<(Joint, Pipeline)>,
    /// Whether the shell waits for it.
    pub end: End,
    /// What its text requests of the command before it.
    pub asks: Asks,
}

/// What a command requests of the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// Nothing.
    Nothing,
    /// How it ended: `$?`.
    Status,
    /// How each command of its pipeline ended: `PIPESTATUS`.
    EachStatus,
}

/// How an item ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The shell waits.
    Foreground,
    /// With a `&`.
    Background,
}

/// What joins two pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    /// `&&`.
    And,
    /// `||`.
    Or,
}

/// Commands that `|` joins, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// The commands.
    pub commands: Vec<Command>,
    /// Whether a `!` inverts its status.
    pub sense: Sense,
}

/// Which way round the status of a pipeline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    /// As it is.
    Plain,
    /// Behind a `!`.
    Negated,
}

/// A command and where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// What it is.
    pub kind: Kind,
    /// The line of the script, from 1.
    pub line: usize,
}

/// What a command is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words.
    Simple(Simple),
    /// `{ …; }`.
    Group(Script),
    /// `( … )`.
    Subshell(Script),
    /// `if`, with its conditions and what it runs.
    If {
        /// What is behind `if` and `elif`.
        conditions: Vec<Script>,
        /// What is behind `then` and `else`.
        bodies: Vec<Script>,
    },
    /// `for`, `select`.
    For(Script),
    /// `while`, `until`.
    While {
        /// The condition for another iteration.
        condition: Script,
        /// What is run.
        body: Script,
    },
    /// `case`, with what it runs.
    Case(Vec<Script>),
    /// The definition of a function.
    Function {
        /// Its name.
        name: String,
        /// What it runs.
        body: Box<Command>,
    },
    /// `[[ … ]]`, `(( … ))`.
    Test,
}

/// A command of words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// Its words behind assignments, without quotes; what would be expanded is as written.
    pub words: Vec<String>,
    /// The variables that it assigns.
    pub assigned: Vec<String>,
    /// The scripts in its words: `$(…)`.
    pub substitutions: Vec<Script>,
}

/// Reads a script; returns none if it is not one, or is nested too deeply.
pub fn read(text: &str) -> Option<Script> {
    Reader::new(text, 0).whole()
}

#[cfg(test)]
mod tests;
