//! What the process says by its exit status: the statuses, and what they mean for each command.

/// What the process says by its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitStatus {
    /// Yes: nothing to complain about.
    Yes = 0,
    /// The answer is no: errors or drift.
    No = 1,
    /// Kubebench could not answer: usage, I/O, an internal fault.
    NoAnswer = 2,
    /// Results are not durably recorded; another time they may be.
    NotRecorded = 3,
    /// Recording was refused, and would be again.
    Refused = 4,
    /// A step was ended with its pod, and another pod continues: what a program says that SIGTERM ended.
    Ended = 143,
}

/// A status as people read it: the number, a short meaning, and what it includes.
type Status = (ExitStatus, &'static str, &'static str);

const STATUSES: [Status; 5] = [
    (ExitStatus::Yes, "success", "the command succeeded, and nothing is wrong"),
    (
        ExitStatus::No,
        "failed",
        "an error in a spec, or a warning with `--deny-warnings`; drift, a failed run, a regression",
    ),
    (
        ExitStatus::NoAnswer,
        "could not decide",
        "an unknown option, target or tool; an unreadable file, a full disk, an internal error",
    ),
    (ExitStatus::NotRecorded, "not recorded, try again", "a result is not in git yet"),
    (
        ExitStatus::Refused,
        "refused, do not try again",
        "the result cannot be recorded; trying again gives the same answer",
    ),
];

/// What `1` and `2` mean for some commands in addition; empty where nothing is added.
const OF_COMMANDS: [(&[&str], &str, &str); 12] = [
    (&["validate"], "a fixture gives another value; a result file was edited", ""),
    (
        &["compile", "fmt"],
        "`compile` refuses to overwrite a manifest; with `--check` or `--diff`, something would change",
        "",
    ),
    (&["run"], "a run did not succeed, or a result could not be kept", "nothing could start"),
    (&["parse"], "a metric is missing, or the run would not count", ""),
    (
        &["gate"],
        "a metric got worse, or a benchmark has no result",
        "a file that cannot be trusted decides; there are no specs, or neither gate nor result",
    ),
    (&["compare", "history", "report"], "a result cannot be trusted or compared, or a side has none", ""),
    (&["ack"], "", "nothing is open, or the file exists"),
    (&["export"], "an edited result was left out", ""),
    (&["verify"], "a result has no signature that counts", ""),
    (&["fold"], "a ref was set aside", ""),
    (&["migrate"], "a value is lost; with `--check`, a spec is missing", ""),
    (
        &["doctor", "status", "logs"],
        "`doctor` finds an error; `logs` finds no pods",
        "a cluster does not answer or refuses",
    ),
];

/// Returns the last lines of `kubebench --help`.
pub(super) fn summary() -> String {
    let all: Vec<String> = STATUSES.iter().map(|(status, short, _)| format!("{} {short}", *status as u8)).collect();
    format!("Exit status: {}.", all.join("; "))
}

/// Returns number and meaning of the statuses of a command, or of all commands where it has none itself.
pub(super) fn of(command: &str) -> Vec<(String, String)> {
    let own = OF_COMMANDS.iter().find(|(commands, _, _)| commands.contains(&command));
    let line = |(status, short, more): &Status| {
        let own = own.map_or("", |(_, no, no_answer)| match status {
            ExitStatus::No => no,
            ExitStatus::NoAnswer => no_answer,
            _ => "",
        });
        let own = if own.is_empty() { String::new() } else { format!("; {own}") };
        ((*status as u8).to_string(), format!("{short}: {more}{own}"))
    };
    STATUSES.iter().map(line).collect()
}

/// Returns the tables of the documentation, in Markdown: of the statuses, and of what commands add.
pub fn tables() -> [String; 2] {
    let rows = STATUSES.iter().map(|(status, short, more)| format!("| {} | {short} | {more} |\n", *status as u8));
    let statuses = format!("| status | meaning | examples |\n|---|---|---|\n{}", rows.collect::<String>());
    let row = |(commands, no, no_answer): &(&[&str], &str, &str)| {
        let names: Vec<String> = commands.iter().map(|name| format!("`{name}`")).collect();
        format!("| {} | {no} | {no_answer} |\n", names.join(", "))
    };
    let of_commands: String = OF_COMMANDS.iter().map(row).collect();
    [statuses, format!("| command | 1 | 2 |\n|---|---|---|\n{of_commands}")]
}
