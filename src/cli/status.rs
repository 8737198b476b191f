//! `kubebench status`: what runs where, since when, and what comes next.

mod watch;

use anyhow::{Result, bail};
use serde_json::{Value as Json, json};

use super::ExitStatus;
use super::args::{Global, StatusArgs};
use super::outside;
use crate::app::cluster::{SHOWN, TargetCluster, add_last_lines, elapsed, read, tidy, wanted};
use kubebench_executor::status::{WorkflowStatus, sessions, show};
use kubebench_host::terminal;
use kubebench_syntax::diag::render::Format;

/// Shows the benchmarks of a target.
pub(super) fn run(global: &Global, args: &StatusArgs) -> Result<ExitStatus> {
    if args.watch && global.output_format == Format::Json {
        bail!("--watch is for people; call `kubebench status --output-format json` as often as needed instead");
    }
    let target = outside::open(global, &args.outside)?;
    target.check_names(&args.benchmarks)?;
    if args.watch {
        return watch::run(&target, &args.benchmarks);
    }
    let mut seen = read(&target)?;
    let unread = std::mem::take(&mut seen.unread);
    let mut found = wanted(sessions(&seen, SHOWN), &args.benchmarks);
    add_last_lines(&target, &mut found);
    tidy(&mut found);
    if global.output_format == Format::Json {
        terminal::print(&format!("{:#}\n", document(&target, &found, &unread)))?;
    } else {
        terminal::print(&page(&target, &found, &args.benchmarks))?;
        for note in unread {
            terminal::tell(&format!("note: {note}"));
        }
    }
    Ok(ExitStatus::Yes)
}

/// Returns all that is shown to people.
fn page(target: &TargetCluster, found: &[WorkflowStatus], names: &[String]) -> String {
    let mut text = show(found, &elapsed);
    let silent: Vec<&str> = target
        .benchmarks()
        .filter(|name| names.is_empty() || names.iter().any(|wanted| wanted == name))
        .filter(|name| !found.iter().any(|session| session.is_of(name)))
        .collect();
    if !silent.is_empty() {
        let gap = if text.is_empty() { "" } else { "\n" };
        text.push_str(&format!(
            "{gap}no Workflow in the cluster: {}\n  (`kubebench doctor` says whether the manifests are applied)\n",
            silent.join(", ")
        ));
    }
    text
}

fn document(target: &TargetCluster, sessions: &[WorkflowStatus], unread: &[String]) -> Json {
    let run = |run: &kubebench_executor::status::RunStatus| {
        let reasons: Vec<Json> =
            run.reasons.iter().map(|reason| json!({ "code": reason.code, "message": reason.message })).collect();
        let job = run.job.as_ref().map(|job| {
            json!({
                "name": job.name, "podsStarted": job.started, "podsWanted": job.wanted, "nodes": job.nodes,
                "lastLine": job.last_line,
            })
        });
        json!({
            "id": run.id, "benchmark": run.member, "case": run.case, "round": run.round, "state": run.state.name(), "since": run.since,
            "reasons": reasons, "job": job,
        })
    };
    let list: Vec<Json> = sessions
        .iter()
        .map(|session| {
            json!({
                "benchmark": session.benchmark, "workflow": session.workflow, "phase": session.phase,
                "message": session.message, "waitsFor": session.waits_for, "since": session.since, "finished": session.finished,
                "step": session.step, "notes": session.notes, "next": session.next,
                "runs": session.runs.iter().map(run).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "schemaVersion": 1, "target": target.target.name, "namespace": target.target.namespace,
        "workflows": list, "unread": unread,
    })
}
