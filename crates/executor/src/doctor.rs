//! Is a cluster as the tree of this project needs it? What is asked of the cluster comes in as answers, findings go out.
//!
//! Pure: the caller gives [`Facts`], which asks the API server. One file a subject. What may not be read is reported as
//! unknown, never to be right.

mod access;
mod admission;
mod apis;
mod argo;
mod authorities;
mod credential;
mod gitops;
mod limits;
mod needs;
mod nodes;
mod operators;
mod platform;
mod queue;
mod references;
mod search;
mod storage;
mod workflows;

use serde_json::Value as Json;

use kubebench_contract::text_at;
use kubebench_syntax::text::first_of;
pub use needs::Needs;
pub(crate) use needs::PodNeed;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// As it should be.
    Ok,
    /// It is unknown from here, or it is good to know.
    Note,
    /// It may cost something.
    Warning,
    /// Benchmarks will not run, or results get lost.
    Error,
}

impl Level {
    /// Returns its name in data and on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at, such as `storage class`.
    pub check: &'static str,
    /// How much it matters.
    pub level: Level,
    /// What was seen.
    pub seen: String,
    /// What to do about it.
    pub advice: Option<String>,
}

/// What the API server answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// The object, or a list with all its items.
    There(Json),
    /// There is none.
    Absent,
    /// The person may not read it; why, in the API server's words.
    Forbidden(String),
}

/// Whose rights are asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who<'a> {
    /// The user.
    Me,
    /// A service account of the target's namespace.
    Account(&'a str),
}

/// A right in a namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Right {
    /// The API group; empty for the core.
    pub group: String,
    /// The resource, with its subresource after a slash.
    pub resource: String,
    /// `get`, `list`, …
    pub verb: String,
}

/// What a cluster answers.
pub trait Facts {
    /// Returns the object at a path of the API, such as `/api/v1/namespaces/x`; lists are complete.
    fn read(&self, path: &str) -> Fact;
    /// Returns whether `who` has `right` in `namespace`; nothing when that may not be asked.
    fn allows(&self, who: Who<'_>, right: &Right, namespace: &str) -> Option<bool>;
}

/// Compares the cluster of a target with what its tree needs.
pub fn examine(needs: &Needs<'_>, facts: &dyn Facts) -> Vec<Finding> {
    let mut report = Report::default();
    let checks: [fn(&Needs<'_>, &dyn Facts, &mut Report); 18] = [
        apis::check,
        argo::check,
        limits::check,
        platform::proxies,
        platform::users,
        search::check,
        storage::check,
        access::check,
        admission::check,
        credential::check,
        credential::check_signing,
        authorities::check,
        references::check,
        queue::check,
        operators::check,
        nodes::check,
        workflows::check,
        gitops::check,
    ];
    for check in checks {
        check(needs, facts, &mut report);
    }
    report.0
}

/// The findings so far.
#[derive(Debug, Default)]
struct Report(Vec<Finding>);

impl Report {
    fn ok(&mut self, check: &'static str, seen: impl Into<String>) {
        self.0.push(Finding { check, level: Level::Ok, seen: seen.into(), advice: None });
    }

    fn add(&mut self, level: Level, check: &'static str, seen: impl Into<String>, advice: impl Into<String>) {
        self.0.push(Finding { check, level, seen: seen.into(), advice: Some(advice.into()) });
    }

    fn note(&mut self, check: &'static str, seen: impl Into<String>, advice: impl Into<String>) {
        self.add(Level::Note, check, seen, advice);
    }

    fn warning(&mut self, check: &'static str, seen: impl Into<String>, advice: impl Into<String>) {
        self.add(Level::Warning, check, seen, advice);
    }

    fn error(&mut self, check: &'static str, seen: impl Into<String>, advice: impl Into<String>) {
        self.add(Level::Error, check, seen, advice);
    }

    /// Says that it is unknown, because `what` may not be read; `why` is the API server's sentence.
    fn unknown(&mut self, check: &'static str, what: &str, why: &str) {
        let advice = match missing_right(why) {
            Some(right) => format!("missing permission: {right}; ask a cluster admin to grant it"),
            None => format!("the API server says: {why}"),
        };
        self.note(check, format!("unknown: you may not read {what}"), advice);
    }
}

/// Returns the right that a refusal names: `list deployments.apps at the cluster scope`.
fn missing_right(why: &str) -> Option<String> {
    let (_, rest) = why.split_once(" cannot ")?;
    let (verb, rest) = rest.split_once(" resource \"")?;
    let (resource, rest) = rest.split_once("\" in API group \"")?;
    let (group, place) = rest.split_once('"')?;
    let dot = if group.is_empty() { "" } else { "." };
    Some(format!("{verb} `{resource}{dot}{group}`{}", place.replace('"', "`")))
}

/// Returns the elements of a list in an object.
fn elements<'a>(object: &'a Json, at: &str) -> impl Iterator<Item = &'a Json> {
    object.pointer(at).and_then(Json::as_array).into_iter().flatten()
}

/// Returns the objects of a list.
fn items(list: &Json) -> impl Iterator<Item = &Json> {
    elements(list, "/items")
}

/// Returns names in backticks, the first few of them.
fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const NAMED: usize = 4;
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    first_of(&names, NAMED)
}

#[cfg(test)]
mod tests;
