//! Completions: what a shell may put where its cursor is. They start no program, and print no error.

use std::ffi::{OsStr, OsString};

use clap::Command;
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::Shells;

use super::program::program;
use crate::app::catalog;
use crate::app::project::Names;
use crate::app::start::Start;
use crate::app::templates::{kind_names, schema_of};
use kubebench_extract::tool::TOOLS;
use kubebench_format::schema::{DocumentKind, fields};
use kubebench_host::terminal;
use kubebench_syntax::diag::code;
use kubebench_syntax::yaml::Step;

/// The variable by which a shell asks for completions instead of running the program.
const VARIABLE: &str = "KUBEBENCH_COMPLETE";
const NAME: &str = "kubebench";

/// Answers a shell that asks for completions; false where it does not.
pub(super) fn answered() -> bool {
    let folder = terminal::working_directory().ok();
    let asked = CompleteEnv::with_factory(program).var(VARIABLE);
    // Who is typing has no use for an error.
    asked.try_complete(std::env::args_os(), folder.as_deref()).unwrap_or(true)
}

/// Returns what a shell called `shell` reads to ask for completions from then on.
pub(super) fn script(shell: &str) -> Option<String> {
    let mut script = Vec::new();
    Shells::builtins().completer(shell)?.write_registration(VARIABLE, NAME, NAME, NAME, &mut script).ok()?;
    String::from_utf8(script).ok()
}

/// Returns a subcommand whose arguments know the values that the project, or this program, has for them.
pub(super) fn with_values(command: Command) -> Command {
    let name = command.get_name().to_owned();
    command.mut_args(|argument| match values_of(&name, argument.get_id().as_str()) {
        Some(values) => argument.add(ArgValueCompleter::new(move |typed: &OsStr| candidates(values, typed))),
        None => argument,
    })
}

type Values = fn(&str) -> Vec<String>;

fn values_of(command: &str, argument: &str) -> Option<Values> {
    match (command, argument) {
        ("new", "kind") => Some(|_| kind_names().map(str::to_owned).chain(entries()).collect()),
        ("explain", "what") => Some(explained),
        (_, "target") => Some(|_| names().targets),
        (_, "benchmark" | "benchmarks") => Some(|_| names().benchmarks),
        _ => None,
    }
}

fn candidates(values: Values, typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(typed) = typed.to_str() else { return Vec::new() };
    values(typed).into_iter().filter(|value| value.starts_with(typed)).map(CompletionCandidate::new).collect()
}

fn names() -> Names {
    Names::around(&start(std::env::args_os())).unwrap_or_default()
}

/// Returns where the command that is typed would start.
fn start(typed: impl Iterator<Item = OsString>) -> Start {
    let mut words = typed.skip_while(|word| word != "--");
    let mut folder = None;
    while let Some(word) = words.next() {
        if word == "-C" || word == "--directory" {
            folder = words.next();
        } else if let Some(joined) = word.to_str().and_then(|word| word.strip_prefix("--directory=")) {
            folder = Some(joined.into());
        }
    }
    Start::at(folder.map(Into::into))
}

fn entries() -> impl Iterator<Item = String> {
    catalog::ENTRIES.iter().map(|entry| entry.name.to_owned())
}

/// Returns codes, tools, ready benchmarks, and the fields one step below the path that is typed.
fn explained(typed: &str) -> Vec<String> {
    let Some((path, _)) = typed.rsplit_once('.') else {
        let codes = code::ALL.iter().map(|code| code.id.to_owned()).filter(|_| !typed.is_empty());
        let kinds = DocumentKind::ALL.into_iter().map(|kind| format!("{}.", kind.name().to_lowercase()));
        return kinds.chain(["spec.", "tool.", "catalog."].map(str::to_owned)).chain(codes).collect();
    };
    if path == "tool" {
        return TOOLS.iter().map(|tool| format!("tool.{}", tool.name)).collect();
    }
    if path == "catalog" {
        return entries().map(|name| format!("catalog.{name}")).collect();
    }
    let mut steps = path.split('.').peekable();
    let first = steps.peek().copied().unwrap_or_default();
    let kind = DocumentKind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(first));
    if kind.is_some() {
        steps.next();
    }
    let schema = schema_of(kind.unwrap_or(DocumentKind::Benchmark));
    let mut way = Vec::new();
    let mut found = fields(&schema, &way);
    for step in steps {
        way.push(Step::Key(step.to_owned()));
        found = fields(&schema, &way);
        // Elements, and keys that people choose, are left out of a path.
        for skipped in [Step::Index(0), Step::Key(String::new())] {
            if found.is_empty() {
                way.push(skipped);
                found = fields(&schema, &way);
                if found.is_empty() {
                    way.pop();
                }
            }
        }
    }
    found.into_iter().map(|field| format!("{path}.{}", field.name)).collect()
}

/// Returns the kinds as the help of `new` lists them.
pub(super) fn listed_kinds() -> String {
    format!("Kinds: {}", kind_names().collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, expected: &[&str]) {
        let found: Vec<String> = candidates(explained, OsStr::new(typed))
            .iter()
            .map(|candidate| candidate.get_value().to_string_lossy().into_owned())
            .collect();
        assert_eq!(found, expected, "{typed}");
    }

    #[test]
    fn paths_are_completed_step_by_step() {
        check("proj", &["project."]);
        check("KB000", &[]);
        check(
            "KB011",
            &["KB0110", "KB0111", "KB0112", "KB0113", "KB0114", "KB0115", "KB0116", "KB0117", "KB0118", "KB0119"],
        );
        check("tool.fi", &["tool.fio"]);
        check("catalog.osu-a", &["catalog.osu-allreduce"]);
        check("benchmark.spec.mat", &["benchmark.spec.matrix"]);
        check("spec.matrix.", &["spec.matrix.axes", "spec.matrix.exclude", "spec.matrix.include", "spec.matrix.zip"]);
        check("benchmark.spec.metrics.from.cs", &["benchmark.spec.metrics.from.csv"]);
        check("project.spec.targets.queue.ku", &["project.spec.targets.queue.kueue"]);
        check("nothing.like.", &[]);
    }

    #[test]
    fn a_command_starts_where_its_option_says() {
        let of = |words: &[&str]| {
            let words = ["kubebench", "--"].iter().chain(words).map(OsString::from);
            format!("{:?}", start(words))
        };
        assert_eq!(of(&["kubebench", "-C", "a", "plan"]), format!("{:?}", Start::at(Some("a".into()))));
        assert_eq!(of(&["kubebench", "--directory=b"]), format!("{:?}", Start::at(Some("b".into()))));
        assert_eq!(of(&["kubebench", "plan"]), format!("{:?}", Start::default()));
    }

    #[test]
    fn every_shell_has_a_script() {
        for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
            let script = script(shell).unwrap();
            assert!(script.contains(VARIABLE) && script.contains(NAME), "{script}");
        }
        assert_eq!(script("tcsh"), None);
    }
}
