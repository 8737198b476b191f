//! The wire types, made from what the program works on.

use super::{Estimate, Front, FrontMetric, FrontPoint, Group, Row, SCHEMA_VERSION, Swept, UnitCost};
use crate::scaling::model;

impl From<&model::ScalingReport> for Swept {
    fn from(of: &model::ScalingReport) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            axis: of.axis.clone(),
            groups: of.groups.iter().map(Into::into).collect(),
            fronts: of.fronts.iter().map(Into::into).collect(),
            left_out: of.left_out.iter().map(Into::into).collect(),
            notes: of.notes.clone(),
        }
    }
}

impl From<&model::Group> for Group {
    fn from(of: &model::Group) -> Self {
        Self {
            benchmark: of.benchmark.clone(),
            params: of.params.clone(),
            environment: of.environment.clone(),
            metric: of.metric.clone(),
            labels: of.labels.clone(),
            unit: of.unit.clone(),
            direction: of.direction,
            kind: of.kind,
            numeric: of.numeric,
            base: of.base.clone(),
            rows: of.rows.iter().map(Into::into).collect(),
            notes: of.notes.clone(),
            synthetic: of.synthetic,
        }
    }
}

impl From<&model::Row> for Row {
    fn from(of: &model::Row) -> Self {
        Self {
            value: of.value.clone(),
            number: of.number,
            case: of.case.clone(),
            case_name: of.case_name.clone(),
            environment: of.environment.clone(),
            sessions: of.sessions,
            runs: of.runs,
            since: of.since.clone(),
            until: of.until.clone(),
            median: of.median,
            interval: of.interval,
            ratio: of.ratio.map(Into::into),
            speedup: of.speedup.map(Into::into),
            efficiency: of.efficiency.map(Into::into),
            method: of.method.clone(),
            cost: of.cost.as_ref().map(Into::into),
            open: of.open.clone(),
            notes: of.notes.clone(),
        }
    }
}

impl From<model::Estimate> for Estimate {
    fn from(of: model::Estimate) -> Self {
        Self { value: of.value, interval: of.interval }
    }
}

impl From<&model::UnitCost> for UnitCost {
    fn from(of: &model::UnitCost) -> Self {
        Self { amount: of.amount, currency: of.currency.clone(), per: of.per, of: of.of.clone() }
    }
}

impl From<&model::Front> for Front {
    fn from(of: &model::Front) -> Self {
        Self {
            benchmark: of.benchmark.clone(),
            environment: of.environment.clone(),
            metrics: ((&of.metrics.0).into(), (&of.metrics.1).into()),
            points: of.points.iter().map(Into::into).collect(),
            notes: of.notes.clone(),
            synthetic: of.synthetic,
        }
    }
}

impl From<&model::FrontMetric> for FrontMetric {
    fn from(of: &model::FrontMetric) -> Self {
        Self { name: of.name.clone(), unit: of.unit.clone(), direction: of.direction }
    }
}

impl From<&model::FrontPoint> for FrontPoint {
    fn from(of: &model::FrontPoint) -> Self {
        Self {
            case: of.case.clone(),
            case_name: of.case_name.clone(),
            values: (of.values.0.into(), of.values.1.into()),
            sessions: of.sessions,
            dominated_by: of.dominated_by.clone(),
            perhaps_by: of.perhaps_by.clone(),
        }
    }
}
