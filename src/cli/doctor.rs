//! `kubebench doctor`: is the cluster as the benchmarks of a target need it?

use std::cell::RefCell;
use std::collections::BTreeMap;

use anyhow::{Result, bail};
use serde_json::{Value as Json, json};

use super::ExitStatus;
use super::args::{DoctorArgs, Global};
use super::findings::{Output, counted, tell};
use super::outside::{Outside, clean};
use kubebench_cluster::{Action, Cluster, Fault};
use kubebench_executor::doctor::{Fact, Facts, Finding, Level, Needs, Right, Who, examine};
use kubebench_host::terminal;
use kubebench_syntax::diag::render::Format;

/// Checks the cluster of a target.
pub(super) fn run(global: &Global, args: &DoctorArgs) -> Result<ExitStatus> {
    let outside = Outside::open(global, &args.outside)?;
    let Outside { session, target, cluster } = &outside;
    let Some(project) = &session.compilation.project else { return Ok(ExitStatus::NoAnswer) };
    // Whoever cannot be reached is not asked a hundred times.
    if let Err(fault) = cluster.read("/version") {
        bail!("{fault}");
    }
    let folder = format!("{}/", target.name);
    let files = session.compilation.tree.iter().filter(|(path, _)| path.starts_with(&folder));
    let needs = Needs::read(target, &project.settings, files.map(|(_, file)| file.body()));
    let asked = Asked { cluster, answers: RefCell::default(), rights: RefCell::default(), fault: RefCell::default() };
    let mut findings = examine(&needs, &asked);
    if let Some(fault) = asked.fault.into_inner() {
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
    // Lints are the business of `validate`; what does not compile was not held against the cluster.
    let about_specs = if session.compilation.has_errors() {
        session.report_beside(Output::of_answer(global.output_format), session.diagnostics())?
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
    tell(global, &if words.is_empty() { "all is as it should be".to_owned() } else { words.join(", ") });
}

fn document(outside: &Outside<'_>, findings: &[Finding]) -> Json {
    let Outside { target, cluster, .. } = outside;
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

/// The cluster, each question asked once.
struct Asked<'a> {
    cluster: &'a Cluster,
    answers: RefCell<BTreeMap<String, Fact>>,
    rights: RefCell<BTreeMap<String, Option<bool>>>,
    /// Why nobody can be asked any more.
    fault: RefCell<Option<Fault>>,
}

impl Asked<'_> {
    fn ask(&self, path: &str) -> Fact {
        if self.fault.borrow().is_some() {
            return Fact::Absent;
        }
        match self.cluster.read(path) {
            Ok(Some(found)) => Fact::There(without_values(found)),
            Ok(None) => Fact::Absent,
            Err(Fault::Refused(refusal)) => Fact::Forbidden(clean(&refusal.message)),
            Err(fault) => {
                *self.fault.borrow_mut() = Some(fault);
                Fact::Absent
            }
        }
    }

    fn judge(&self, who: Who<'_>, right: &Right, namespace: &str) -> Option<bool> {
        let Right { group, resource, verb } = right;
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        match who {
            Who::Me => self.cluster.may(Action { namespace: Some(namespace), verb, group, resource, subresource }).ok(),
            Who::Account(account) => {
                let review = json!({
                    "apiVersion": "authorization.k8s.io/v1",
                    "kind": "LocalSubjectAccessReview",
                    "metadata": { "namespace": namespace },
                    "spec": {
                        "groups": ["system:serviceaccounts", format!("system:serviceaccounts:{namespace}"), "system:authenticated"],
                        "resourceAttributes": {
                            "group": group, "namespace": namespace, "resource": resource, "subresource": subresource, "verb": verb,
                        },
                        "user": format!("system:serviceaccount:{namespace}:{account}"),
                    },
                });
                let path = format!("/apis/authorization.k8s.io/v1/namespaces/{namespace}/localsubjectaccessreviews");
                let answer = self.cluster.post(&path, &review).ok()?;
                answer.pointer("/status/allowed").and_then(Json::as_bool)
            }
        }
    }
}

impl Facts for Asked<'_> {
    fn read(&self, path: &str) -> Fact {
        if let Some(known) = self.answers.borrow().get(path) {
            return known.clone();
        }
        let fact = self.ask(path);
        self.answers.borrow_mut().insert(path.to_owned(), fact.clone());
        fact
    }

    fn allows(&self, who: Who<'_>, right: &Right, namespace: &str) -> Option<bool> {
        let key = format!("{who:?} {right:?}");
        if let Some(known) = self.rights.borrow().get(&key) {
            return *known;
        }
        let answer = self.judge(who, right, namespace);
        self.rights.borrow_mut().insert(key, answer);
        answer
    }
}

/// Takes the values out of a Secret: only the names of its keys are anybody's business here.
fn without_values(mut object: Json) -> Json {
    if object.get("kind").and_then(Json::as_str) == Some("Secret") {
        for field in ["data", "stringData"] {
            for value in
                object.get_mut(field).and_then(Json::as_object_mut).into_iter().flat_map(serde_json::Map::values_mut)
            {
                *value = Json::Null;
            }
        }
        if let Some(metadata) = object.get_mut("metadata").and_then(Json::as_object_mut) {
            metadata.remove("annotations");
        }
    }
    object
}
