//! The wire types, made from what the program works on.

use super::{
    Acknowledged, Comparison, Drift, FactChange, Gated, Geomean, History, LeftOut, LevelChange, Line, OpenChange,
    Outcome, PendingChange, SCHEMA_VERSION, SeriesHistory, SessionValue, Sessions, Size, Turn, Unmatched, Verdict,
    Weakened, Why,
};
use crate::compare::model;

impl From<&model::Comparison> for Comparison {
    fn from(of: &model::Comparison) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            baseline: of.baseline.clone(),
            candidate: of.candidate.clone(),
            lines: of.lines.iter().map(Into::into).collect(),
            geomeans: of.geomeans.iter().map(Into::into).collect(),
            unmatched: of.unmatched.iter().map(Into::into).collect(),
            left_out: of.left_out.iter().map(Into::into).collect(),
            signatures: of.signatures.clone(),
            notes: of.notes.clone(),
        }
    }
}

impl From<&model::GateReport> for Gated {
    fn from(of: &model::GateReport) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            outcome: of.outcome.into(),
            baseline: of.baseline.clone(),
            candidate: of.candidate.clone(),
            results: of.results.clone(),
            as_of: of.as_of.clone(),
            only_new: of.only_new,
            lines: of.lines.iter().map(Into::into).collect(),
            weakened: of.weakened.iter().map(Into::into).collect(),
            left_out: of.left_out.iter().map(Into::into).collect(),
            signatures: of.signatures.clone(),
            notes: of.notes.clone(),
        }
    }
}

impl From<&model::Weakened> for Weakened {
    fn from(model::Weakened { place, code, message, help, fails }: &model::Weakened) -> Self {
        Self { place: place.clone(), code: code.clone(), message: message.clone(), help: help.clone(), fails: *fails }
    }
}

impl From<model::Outcome> for Outcome {
    fn from(of: model::Outcome) -> Self {
        match of {
            model::Outcome::Passed => Self::Passed,
            model::Outcome::Failed => Self::Failed,
            model::Outcome::NoAnswer => Self::NoAnswer,
            model::Outcome::NoHistory => Self::NoHistory,
            model::Outcome::NothingToEvaluate => Self::NothingToEvaluate,
        }
    }
}

impl From<&model::History> for History {
    fn from(of: &model::History) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            series: of.series.iter().map(Into::into).collect(),
            left_out: of.left_out.iter().map(Into::into).collect(),
            signatures: of.signatures.clone(),
            notes: of.notes.clone(),
        }
    }
}

impl From<&model::SeriesHistory> for SeriesHistory {
    fn from(of: &model::SeriesHistory) -> Self {
        Self {
            benchmark: of.benchmark.clone(),
            case: of.case.clone(),
            case_name: of.case_name.clone(),
            environment: of.environment.clone(),
            replaced: of.replaced,
            metric: of.metric.clone(),
            labels: of.labels.clone(),
            unit: of.unit.clone(),
            direction: of.direction,
            kind: of.kind,
            threshold: of.threshold,
            sessions: of.sessions.iter().map(Into::into).collect(),
            aside: of.aside.clone(),
            apart: of.apart.clone(),
            changes: of.changes.iter().map(Into::into).collect(),
            open: of.open.clone(),
            open_size: of.open_size.map(Into::into),
            pending: of.pending.as_ref().map(Into::into),
            environment_changes: of.environment_changes.iter().map(Into::into).collect(),
            drift: of.drift.map(Into::into),
            correlation: of.correlation,
            acks: of.acks.iter().map(Into::into).collect(),
            synthetic: of.synthetic,
        }
    }
}

impl From<&model::PendingChange> for PendingChange {
    fn from(of: &model::PendingChange) -> Self {
        Self {
            session: of.session.clone(),
            since: of.since.clone(),
            sessions: of.sessions,
            why: match of.why {
                model::Why::NotShown => Why::NotShown,
                model::Why::Back(_) => Why::Back,
                model::Why::Shrunk => Why::Shrunk,
            },
            back: if let model::Why::Back(sessions) = of.why { Some(sessions) } else { None },
            size: of.size.map(Into::into),
        }
    }
}

impl From<&model::LevelChange> for LevelChange {
    fn from(of: &model::LevelChange) -> Self {
        Self {
            session: of.session.clone(),
            since: of.since.clone(),
            turn: of.turn.into(),
            commit: of.commit.clone(),
            after: of.after.clone(),
            change: of.change,
            interval: of.interval,
            levels: of.levels,
        }
    }
}

impl From<model::Size> for Size {
    fn from(of: model::Size) -> Self {
        Self { change: of.change, interval: of.interval, levels: of.levels }
    }
}

impl From<&model::FactChange> for FactChange {
    fn from(of: &model::FactChange) -> Self {
        Self {
            session: of.session.clone(),
            since: of.since.clone(),
            fact: of.fact.clone(),
            before: of.before.clone(),
            after: of.after.clone(),
        }
    }
}

impl From<model::Drift> for Drift {
    fn from(of: model::Drift) -> Self {
        Self { per_session: of.per_session, p: of.p, sessions: of.sessions }
    }
}

impl From<&model::Line> for Line {
    fn from(of: &model::Line) -> Self {
        Self {
            benchmark: of.benchmark.clone(),
            baseline_benchmark: of.baseline_benchmark.clone(),
            case: of.case.clone(),
            case_name: of.case_name.clone(),
            environment: of.environment.clone(),
            metric: of.metric.clone(),
            labels: of.labels.clone(),
            unit: of.unit.clone(),
            direction: of.direction,
            kind: of.kind,
            verdict: of.verdict.into(),
            reason: of.reason.clone(),
            message: of.message.clone(),
            change: of.change,
            interval: of.interval,
            p: of.p,
            adjusted_p: of.adjusted_p,
            method: of.method.clone(),
            threshold: of.threshold,
            detectable: of.detectable,
            more_sessions: of.more_sessions,
            next_run: of.next_run,
            correlation: of.correlation,
            baseline: (&of.baseline).into(),
            candidate: (&of.candidate).into(),
            open: of.open.as_ref().map(Into::into),
            acks: of.acks.iter().map(Into::into).collect(),
            notes: of.notes.clone(),
            on_default: of.on_default,
            synthetic: of.synthetic,
        }
    }
}

impl From<&model::Sessions> for Sessions {
    fn from(of: &model::Sessions) -> Self {
        Self {
            median: of.median,
            variation: of.variation,
            runs: of.runs,
            sessions: of.sessions.iter().map(Into::into).collect(),
        }
    }
}

impl From<&model::SessionValue> for SessionValue {
    fn from(of: &model::SessionValue) -> Self {
        Self {
            session: of.session.clone(),
            started_at: of.started_at.clone(),
            commit: of.commit.clone(),
            value: of.value,
            results: of.results.clone(),
            neighbors: of.neighbors.clone(),
        }
    }
}

impl From<&model::OpenChange> for OpenChange {
    fn from(of: &model::OpenChange) -> Self {
        Self {
            session: of.session.clone(),
            since: of.since.clone(),
            commit: of.commit.clone(),
            after: of.after.clone(),
            sessions: of.sessions,
            measured: of.measured,
            change: of.size.and_then(|size| size.change),
            interval: of.size.and_then(|size| size.interval),
            levels: of.size.map(|size| size.levels),
            steps: of.steps.iter().map(Into::into).collect(),
            further: of.further.map(Into::into),
        }
    }
}

impl From<&model::Acknowledged> for Acknowledged {
    fn from(of: &model::Acknowledged) -> Self {
        Self {
            file: of.file.clone(),
            by: of.by.clone(),
            reason: of.reason.clone(),
            session: of.session.clone(),
            max_change: of.max_change,
            expires: of.expires.clone(),
            expired: of.expired,
        }
    }
}

impl From<&model::Geomean> for Geomean {
    fn from(of: &model::Geomean) -> Self {
        Self { metric: of.metric.clone(), change: of.change, cases: of.cases, excluded: of.excluded }
    }
}

impl From<&model::Unmatched> for Unmatched {
    fn from(of: &model::Unmatched) -> Self {
        Self { benchmark: of.benchmark.clone(), case_name: of.case_name.clone(), only: of.only.clone() }
    }
}

impl From<&model::LeftOut> for LeftOut {
    fn from(of: &model::LeftOut) -> Self {
        Self { path: of.path.clone(), code: of.code.clone(), message: of.message.clone() }
    }
}

impl From<model::Verdict> for Verdict {
    fn from(of: model::Verdict) -> Self {
        match of {
            model::Verdict::Regressed => Self::Regressed,
            model::Verdict::Pending => Self::Pending,
            model::Verdict::Invalid => Self::Invalid,
            model::Verdict::Missing => Self::Missing,
            model::Verdict::Incomparable => Self::Incomparable,
            model::Verdict::Inconclusive => Self::Inconclusive,
            model::Verdict::New => Self::New,
            model::Verdict::Improved => Self::Improved,
            model::Verdict::NoChangeSeen => Self::NoChangeSeen,
            model::Verdict::Unchanged => Self::Unchanged,
        }
    }
}

impl From<model::Turn> for Turn {
    fn from(of: model::Turn) -> Self {
        match of {
            model::Turn::Worse => Self::Worse,
            model::Turn::Accepted => Self::Accepted,
            model::Turn::Better => Self::Better,
            model::Turn::Back => Self::Back,
            model::Turn::Neither => Self::Neither,
        }
    }
}
