//! KB0455: scripts that may end well although a program in them failed.

mod programs;
mod script;
mod shells;

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::carried::named_files;
use crate::model::carried::CarriedFile;
use crate::model::{Benchmark, Role};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::shell;
use kubebench_syntax::text::{SourceMap, Span};
use kubebench_syntax::yaml::Node;
use script::{Loss, Way};
use shells::{Call, Called, Options};

/// Reports scripts of a shell whose exit status is not that of every program in them.
pub(super) fn kept(benchmark: &Benchmark, sources: &SourceMap, diagnostics: &mut Diagnostics) {
    let mut reported = BTreeSet::new();
    for workload in benchmark.cases.iter().map(|case| &case.workload) {
        let entrypoint =
            workload.spec_field("entrypoint").and_then(Json::as_str).filter(|_| workload.api.kind == "RayJob");
        if let Some(text) = entrypoint.filter(|_| reported.insert(workload.span)) {
            // Ray has `sh` run it.
            report(text, Options::default(), "sh", &|_| None, &Place::Span(workload.span), diagnostics);
        }
    }
    for role in benchmark.roles() {
        for (words, source) in sources_of_argo(role) {
            let Some(call) = shells::called(&words).filter(|_| reported.insert(source.span)) else { continue };
            let text = source.as_text().unwrap_or_default();
            let place = in_block(source.span, sources);
            report(text, call.options, call.shell, &place, &Place::Span(source.span), diagnostics);
        }
        let words: Vec<&str> = role.command.iter().chain(&role.args).map(String::as_str).collect();
        let call = shells::called(&words);
        if let Some(Call { shell, options, called: Called::Text(index) }) = call {
            let [command, args] = &role.word_spans;
            let of_command = command.get(index).filter(|_| index < role.command.len());
            let of_args = index.checked_sub(role.command.len()).and_then(|index| args.get(index));
            // What a kind adds by itself has no place in the spec.
            let span = *of_command.or(of_args).unwrap_or(&role.span);
            let text = words.get(index).expected("a word that was found");
            if reported.insert(span) {
                report(text, options, shell, &in_block(span, sources), &Place::Span(span), diagnostics);
            }
        }
        for (name, file) in benchmark.files.iter().filter(|(name, _)| names(role, name)) {
            let Some((text, shell, options)) = script_of(name, file, call.filter(|call| call.runs(&words, name)))
            else {
                continue;
            };
            let place = |line| Some(Place::Line(file.path.clone(), line));
            report(text, options, shell, &place, &Place::Span(file.span), diagnostics);
        }
    }
}

/// Returns the scripts that Argo writes into a file, each with the words before the name of the file.
fn sources_of_argo(role: &Role) -> impl Iterator<Item = (Vec<&str>, &Node)> {
    let containers = role.pod_patches.iter().flat_map(|pod| pod.items_of("containers"));
    containers.filter_map(|container| {
        let words = container.items_of("command").iter().filter_map(Node::as_text).chain(["source"]);
        Some((words.collect(), container.get("source")?))
    })
}

/// Returns where the lines of a text are that is a literal block of a spec.
fn in_block(span: Span, sources: &SourceMap) -> impl Fn(usize) -> Option<Place> {
    move |line| sources.get(span.source)?.line_of_block(span, line).map(Place::Span)
}

/// Reports the first loss of each way in one script, at the place of its line or, where that has none, at that of the whole.
fn report(
    text: &str,
    options: Options,
    shell: &str,
    place: &dyn Fn(usize) -> Option<Place>,
    whole: &Place,
    diagnostics: &mut Diagnostics,
) {
    let Some(script) = shell::read(text) else { return };
    let mut ways = Vec::new();
    for loss in script::losses(&script, options) {
        let way = std::mem::discriminant(&loss.way);
        if ways.contains(&way) {
            continue;
        }
        ways.push(way);
        let Loss { program, way, line } = &loss;
        let place = place(*line);
        let line = match place {
            None if text.trim_end().contains('\n') => format!(" in line {line} of the script"),
            _ => String::new(),
        };
        let place = place.unwrap_or_else(|| whole.clone());
        let message = format!("a failure of `{program}`{line} is lost: {}", because(way));
        let fault = Diagnostic::new(&code::KB0455, place, message).note(
            "the shell exits with 0, so a run that crashed counts as succeeded, with the values that it had printed by \
             then",
        );
        diagnostics.push(fault.help(instead(way, shell)));
    }
}

fn because(way: &Way) -> String {
    match way {
        Way::Piped { last } => format!("the status of a pipeline is that of its last command, `{last}`"),
        Way::Answered { by } => format!("`|| {by}` replaces its status"),
        Way::Followed { by } => format!("`{by}` runs regardless, and its status counts instead"),
        Way::Repeated => "the loop continues, and only the status of its last iteration counts".to_owned(),
        Way::Background => "it runs in the background, and no `wait` returns its status".to_owned(),
        Way::Substituted { into } => format!("its output goes into `{into}`, and its status is ignored"),
        Way::Trapped => "a trap exits the shell with 0".to_owned(),
    }
}

fn instead(way: &Way, shell: &str) -> String {
    match way {
        Way::Piped { last } => {
            let first = if last == "tee" { "drop `| tee …`, since the log of a run is kept anyway, or " } else { "" };
            match shell {
                "sh" | "dash" => format!(
                    "{first}write `set -o pipefail` before it and have `bash` run the script: where `{shell}` is dash, as in Debian and \
                     Ubuntu, it does not know `pipefail`"
                ),
                _ => format!("{first}write `set -o pipefail` before it"),
            }
        }
        Way::Answered { .. } => "delete `|| …`, or end it with an error: `|| { …; exit 1; }`".to_owned(),
        Way::Followed { .. } => {
            "append `|| exit 1` to the command, or begin the script with `set -e`, which has no effect in conditions \
             and before `&&` and `||`"
                .to_owned()
        }
        Way::Repeated => "begin the script with `set -e`, or append `|| exit 1` to the command".to_owned(),
        Way::Background => "write `wait $!` as the last command: `wait` without a process returns 0".to_owned(),
        Way::Substituted { .. } => "run it without `$(…)`: what it prints is in the log of the run".to_owned(),
        Way::Trapped => "save the status in the trap: `status=$?; …; exit $status`".to_owned(),
    }
}

/// Returns true for roles that name a carried file.
fn names(role: &Role, name: &str) -> bool {
    role.command.iter().chain(&role.args).any(|word| named_files(word).contains(&name))
}

/// Returns a carried script of a shell with what runs it: a command, or its first line.
fn script_of<'a>(name: &str, file: &'a CarriedFile, call: Option<Call>) -> Option<(&'a str, &'static str, Options)> {
    let text = file.text()?;
    let first = text.lines().next().and_then(|line| line.strip_prefix("#!"));
    let of_first = || shells::called(&first?.split_ascii_whitespace().chain([name]).collect::<Vec<_>>());
    if let Some(Call { shell, options, .. }) = call.or_else(of_first) {
        return Some((text, shell, options));
    }
    let is_script = name.rsplit_once('.').is_some_and(|(_, extension)| extension == "sh");
    (first.is_none() && is_script).then_some((text, "sh", Options::default()))
}
