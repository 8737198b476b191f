//! How much of a change an acknowledgement is about.

use super::accepted::{Accepted, Holds, applying};
use super::ack::{is_about, mark};
use super::history::{Request, levels};
use super::line::Origin;
use crate::dataset::{Partition, Series, series_of};
use crate::verdict::{SIGNIFICANT, Scale, measure, worse};
use kubebench_format::result::Ack;
use kubebench_syntax::unit::MetricSelector;

/// Returns the greatest regression that `ack` is about, as a share: by the level that it is compared with, and by what a gate
/// measures; infinite where the level before is 0. Where it is about a metric without a value from there on, that is 0; nothing
/// where nothing got worse.
pub fn extent(request: Request<'_>, ack: &Ack) -> Option<f64> {
    let selector = MetricSelector::of(&ack.metric);
    let of_partition = |partition: &Partition| {
        let origin = Origin { dataset: request.dataset, partition, lineage: request.lineage, extraction: None };
        let about =
            series_of(request.dataset, partition, |definition| definition.is_among(std::slice::from_ref(&selector)));
        let about = about.iter().filter(|series| is_about(ack, request.dataset, partition, &series.metric));
        about.filter_map(|series| of_series(request, ack, origin, series)).max_by(f64::total_cmp)
    };
    request.partitions.iter().filter_map(of_partition).max_by(f64::total_cmp)
}

fn of_series(request: Request<'_>, ack: &Ack, origin: Origin<'_>, series: &Series) -> Option<f64> {
    let policy = request.policies.of(&ack.benchmark, series);
    let place = |places: &[usize]| Accepted::of(vec![(ack, Holds::Still)], origin, series, places).first_level();
    // The newest session is a candidate where it is not of the baseline's commits.
    let members = origin.members(series);
    let with_newest = || -> Vec<usize> {
        let newest = series.points.len().checked_sub(1).filter(|newest| members.last() != Some(newest));
        members.iter().copied().chain(newest).collect()
    };
    let places = if place(&members).is_some() { members.clone() } else { with_newest() };
    let Some(at) = place(&places) else { return ends_before(ack, origin, series).then_some(0.0) };
    let about = || applying(request.acks, origin, &series.metric, request.as_of);
    let accepted = levels(about().into_iter().chain([(ack, Holds::Still)]).collect(), origin, series, &places, policy);
    let before = levels(about(), origin, series, places.get(..at)?, policy);
    let changes = &accepted.found.changes;
    let end = changes.iter().map(|change| change.at).find(|next| *next > at).unwrap_or(accepted.values.len());
    let base: Vec<f64> = before.found.sessions.iter().filter_map(|at| before.values.get(*at).copied()).collect();
    let new = accepted.values.get(at..end)?;
    let effect = Scale::of(&base, new).and_then(|scale| measure(scale, &base, &[], new));
    let scale = Scale::of(&accepted.values, &[])?;
    let from_reference = changes
        .iter()
        .find(|change| change.at == at)
        .map(|change| scale.change(change.difference).unwrap_or(f64::INFINITY));
    let interval = effect.filter(|effect| effect.p <= SIGNIFICANT).and_then(|effect| effect.change_interval());
    let shares = from_reference.into_iter().chain(effect.map(|effect| effect.change().unwrap_or(f64::INFINITY)));
    let shares = shares.chain(interval.into_iter().flat_map(|(low, high)| [low, high]));
    // More than all is not lost by what cannot be negative.
    let most = if policy.loses_all(accepted.values.iter().copied()) { 1.0 } else { f64::INFINITY };
    let lost = shares.filter_map(|share| worse(share, policy.direction));
    lost.filter(|lost| *lost > 0.0).map(|lost| lost.min(most)).max_by(f64::total_cmp)
}

/// Returns whether there are sessions of what `ack` is about, and none of them has a value of the series.
fn ends_before(ack: &Ack, origin: Origin<'_>, series: &Series) -> bool {
    let commits: Vec<Option<String>> = (0..origin.partition.sessions.len()).map(|at| origin.commit(at)).collect();
    let sessions = origin.partition.sessions.iter().zip(&commits);
    let said = sessions.map(|(of, commit)| (of.id.as_str(), of.started_at.as_str(), commit.as_deref()));
    mark(ack, said).is_some_and(|mark| series.points.last().is_none_or(|last| last.session < mark.at))
}
