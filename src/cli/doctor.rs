//! `kubebench doctor`: is the cluster as the benchmarks of a target need it?

use anyhow::{Result, bail};
use serde_json::{Value as Json, json};

use super::ExitStatus;
use super::args::{DoctorArgs, Global};
use super::findings::{Output, counted, tell};
use super::{outside, project};
use crate::app::cluster::{ClusterFacts, TargetCluster, clean};
use kubebench_executor::doctor::{Finding, Level, Needs, examine};
use kubebench_host::terminal;
use kubebench_syntax::diag::render::Format;

/// Checks the cluster of a target.
pub(super) fn run(global: &Global, args: &DoctorArgs) -> Result<ExitStatus> {
    let outside = outside::open(global, &args.outside)?;
    let TargetCluster { project: compiled, target, cluster } = &outside;
    let Some(project) = &compiled.compilation.project else { return Ok(ExitStatus::NoAnswer) };
    // An unreachable server is not asked a hundred times.
    if let Err(fault) = cluster.read("/version") {
        bail!("{fault}");
    }
    let folder = format!("{}/", target.name);
    let files = compiled.compilation.tree.iter().filter(|(path, _)| path.starts_with(&folder));
    let needs = Needs::read(target, &project.settings, files.map(|(_, file)| file.body()));
    let asked = ClusterFacts::of(cluster);
    let mut findings = examine(&needs, &asked);
    if let Some(fault) = asked.into_fault() {
        bail!("{fault}");
    }
    for finding in &mut findings {
        finding.seen = clean(&finding.seen);
    }
    if global.output_format == Format::Json {
        terminal::print(&format!("{:#}\n", document(&outside, &findings)))?;
    } else {
        let place = format!("{}: namespace {} at {}\n", target.name, target.namespace, cluster.address());
        terminal::print(&format!("{place}{}", lines(&findings)))?;
        summarize(global, &findings);
    }
    // Lints are the business of `validate`; what does not compile was not compared with the cluster.
    let about_specs = if compiled.compilation.has_errors() {
        project::report_beside(global, compiled, Output::Data, compiled.diagnostics())?
    } else {
        ExitStatus::Yes
    };
    let is_bad =
        |finding: &Finding| finding.level == Level::Error || (global.deny_warnings && finding.level == Level::Warning);
    let about_cluster = if findings.iter().any(is_bad) { ExitStatus::No } else { ExitStatus::Yes };
    Ok(about_specs.max(about_cluster))
}

fn lines(findings: &[Finding]) -> String {
    let width = findings.iter().map(|finding| finding.check.len()).max().unwrap_or_default();
    let mut shown = String::new();
    for Finding { check, level, seen, advice } in findings {
        shown.push_str(&format!("{:<7}  {check:<width$}  {seen}\n", level.name()));
        if let Some(advice) = advice {
            shown.push_str(&format!("{:<7}  {:<width$}  -> {advice}\n", "", ""));
        }
    }
    shown
}

fn count(findings: &[Finding], level: Level) -> usize {
    findings.iter().filter(|finding| finding.level == level).count()
}

fn summarize(global: &Global, findings: &[Finding]) {
    let words: Vec<String> = [(Level::Error, "error"), (Level::Warning, "warning"), (Level::Note, "note")]
        .into_iter()
        .map(|(level, word)| (count(findings, level), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| counted(count, word))
        .collect();
    tell(global, &if words.is_empty() { "no problems found".to_owned() } else { words.join(", ") });
}

fn document(outside: &TargetCluster, findings: &[Finding]) -> Json {
    let TargetCluster { target, cluster, .. } = outside;
    let list: Vec<Json> = findings
        .iter()
        .map(|finding| {
            json!({
                "check": finding.check, "level": finding.level.name(), "seen": finding.seen, "advice": finding.advice,
            })
        })
        .collect();
    json!({
        "schemaVersion": 1,
        "target": target.name,
        "cluster": target.cluster,
        "namespace": target.namespace,
        "server": cluster.address(),
        "findings": list,
        "summary": {
            "errors": count(findings, Level::Error),
            "warnings": count(findings, Level::Warning),
            "notes": count(findings, Level::Note),
        },
    })
}
