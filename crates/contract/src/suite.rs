//! `suite.json`: the benchmarks of a suite, in order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Run;
use super::config::text;
use super::instance::{Session, job_name};
use super::{Fault, read, write};
use kubebench_syntax::invariant::Invariant as _;

/// `suite.json`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteList {
    pub suite: String,
    /// Its benchmarks, in order.
    pub benchmarks: Vec<Member>,
}

/// A benchmark of a suite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// The name.
    pub benchmark: String,
    /// Earlier benchmarks that must succeed before it is run.
    pub needs: Vec<String>,
    /// The identity of what it executes: `sha256:` and 64 hex digits.
    pub run_digest: String,
    /// The ids of its runs.
    pub runs: Vec<String>,
}

impl SuiteList {
    /// Its key in the ConfigMap.
    pub const FILE: &str = "suite.json";

    /// Returns its text.
    pub fn write(&self) -> String {
        write(self)
    }

    /// Reads the ConfigMap's `files`, by key.
    ///
    /// # Errors
    /// Why they cannot be used; without any, that the session is superseded.
    pub fn read(files: &BTreeMap<String, String>) -> Result<Self, Fault> {
        if files.is_empty() {
            return Err(Fault::Superseded);
        }
        let list: Self = read(Self::FILE, text(files, Self::FILE)?)?;
        let ids = list.benchmarks.iter().flat_map(|member| &member.runs);
        match ids.into_iter().find(|id| Run::of_id(id).is_none()) {
            None => Ok(list),
            Some(id) => {
                let reason = format!("`{id}` is not the id of a run, such as `CASE-r1`");
                Err(Fault::Malformed { file: Self::FILE.to_owned(), reason })
            }
        }
    }

    /// Returns the benchmark called `name`.
    pub fn member(&self, name: &str) -> Option<&Member> {
        self.benchmarks.iter().find(|member| member.benchmark == name)
    }
}

impl Member {
    /// Iterates over its runs, which do not say the names of their jobs.
    pub fn runs(&self) -> impl Iterator<Item = Run> {
        self.runs.iter().map(|id| Run::of_id(id).expected("ids, which `read` has looked at"))
    }

    /// Returns the name of the job of an attempt at `run`.
    pub fn job_of(&self, run: &Run, attempt: u32, session: Session<'_>) -> String {
        job_name(&self.benchmark, &self.run_digest, &run.case, &run.round(), attempt, session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_gives_the_names_of_jobs_as_the_run_list_of_its_benchmark_does() {
        let text = r#"{"schemaVersion": 1, "suite": "nightly", "benchmarks": [{"benchmark": "disk", "needs": [],
            "runDigest": "sha256:00", "runs": ["default-44136fa3-r1", "default-44136fa3-w2"]}]}"#;
        let files = [(SuiteList::FILE.to_owned(), text.to_owned())].into();
        let list = SuiteList::read(&files).unwrap();
        let member = list.member("disk").unwrap();
        let runs: Vec<Run> = member.runs().collect();
        assert_eq!((runs[1].case.as_str(), runs[1].repeat, runs[1].warmup), ("default-44136fa3", 2, true));
        let job = job_name("disk", "00", "default-44136fa3", "w2", 1, Session::Once);
        assert_eq!(member.job_of(&runs[1], 1, Session::Once), job);
        for id in
            ["default-44136fa3", "default-44136fa3-x1", "r1", "default-r", "default-r01", "default-r-1", "default-é1"]
        {
            let files = [(SuiteList::FILE.to_owned(), text.replace("default-44136fa3-r1", id))].into();
            assert!(matches!(SuiteList::read(&files), Err(Fault::Malformed { .. })), "{id}");
        }
        assert_eq!(SuiteList::read(&BTreeMap::new()).unwrap_err(), Fault::Superseded);
    }
}
