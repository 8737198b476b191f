//! Cases that the default branch never ran: there is nothing to compare with, and so nothing that got worse.

use std::collections::BTreeSet;

use super::super::line::Origin;
use super::super::model::{LeftOut, Line, NO_SESSION};
use super::super::words;
use super::{Candidate, Request};
use crate::dataset::Session;
use crate::verdict::Verdict;

/// The results that could not be read: of a case among them it is unknown whether it ran.
#[derive(Clone, Copy, Debug)]
pub enum Unread<'a> {
    /// All that is recorded: the branch is not here.
    Recorded,
    /// These files.
    Files(&'a [LeftOut]),
}

/// A case on a target: benchmark, target and id.
pub(super) type Place<'a> = (&'a str, &'a str, &'a str);

impl<'a> Request<'a> {
    /// Returns the gated cases that the default branch never ran. A session that is of no branch may be one of it, so that its case is none
    /// of these.
    pub(super) fn new_cases(&self) -> BTreeSet<Place<'a>> {
        let Unread::Files(left_out) = self.unread else { return BTreeSet::new() };
        let mut ran: BTreeSet<Place<'a>> = BTreeSet::new();
        for partition in self.partitions {
            let origin = Origin { dataset: self.dataset, partition, lineage: self.default_lineage(), extraction: None };
            for (at, session) in partition.sessions.iter().enumerate() {
                if origin.has(at) || self.is_of_no_branch(session) {
                    let targets = session.rows(self.dataset).map(|row| self.dataset.subject(row).target.as_str());
                    ran.extend(targets.map(|target| (partition.benchmark.as_str(), target, partition.case.as_str())));
                }
            }
        }
        let is_unread = |benchmark: &str, case: &str| {
            let folder = format!("{benchmark}/{case}/");
            left_out.iter().any(|file| file.path.starts_with(&folder))
        };
        let cases = self.rules.iter().flat_map(|rule| {
            rule.cases.iter().map(|(case, _)| (rule.benchmark.as_str(), rule.target.as_str(), case.as_str()))
        });
        cases.filter(|place| !ran.contains(place) && !is_unread(place.0, place.2)).collect()
    }

    /// Returns whether the branch of a session is unknown.
    fn is_of_no_branch(&self, session: &Session) -> bool {
        let (Some(lineage), Some(row)) = (self.default_lineage(), session.first(self.dataset)) else { return true };
        let origin = self.dataset.origin(row);
        origin.commit.is_none() || origin.dirty == Some(true) || lineage.is_unreachable(self.dataset, row)
    }

    /// Says of a line of such a case that it is new, where it has no verdict of its own.
    pub(super) fn mark_new(&self, line: &mut Line, new: &BTreeSet<Place<'_>>) {
        let target = line.environment.get("target").map_or("", String::as_str);
        let is_new = new.contains(&(line.benchmark.as_str(), target, line.case.as_str()));
        // Who names a candidate that has no result at all gets no answer about it.
        let is_asked = line.reason == NO_SESSION && !matches!(self.candidate, Candidate::Rows(rows) if rows.is_empty());
        if !is_new || !is_asked && line.verdict != Verdict::Inconclusive {
            return;
        }
        let branch = self.default.map(words::branch);
        if line.verdict == Verdict::Inconclusive {
            let branch = branch.unwrap_or("the default branch");
            line.message = format!("{branch} has no session of this case yet, so there is nothing to compare with");
            "noBaseline".clone_into(&mut line.reason);
        } else {
            let nor = branch.map_or_else(String::new, |branch| format!(", and {branch} has none"));
            line.message = format!("there is no result yet{nor}");
        }
        (line.verdict, line.more_sessions) = (Verdict::New, None);
    }
}
