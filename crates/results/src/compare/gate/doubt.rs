//! Sessions of which it is unknown whether they are of a baseline.

use super::super::line::Origin;
use super::super::side::CLUSTER;
use super::super::words;
use crate::dataset::{Point, Row, Series};

/// Says why they are not, and what is.
pub(super) fn in_doubt(origin: Origin<'_>, series: &Series, name: &str) -> Option<String> {
    let lineage = origin.lineage?;
    let session = |point: &Point| origin.partition.sessions.get(point.session)?.first(origin.dataset);
    let in_doubt = series.points.iter().filter_map(session).filter(|row| lineage.is_in_doubt(origin.dataset, row));
    let (of_cluster, local): (Vec<&Row>, Vec<&Row>) =
        in_doubt.partition(|row| origin.dataset.environment(row).cluster.engine == CLUSTER);
    if !local.is_empty() {
        let (names, they_are) = if local.len() == 1 { ("names", "it is") } else { ("name", "they are") };
        return Some(format!(
            "{} {names} no commit, so it is unknown whether {they_are} from {name}, and {they_are} not in the \
             baseline; run in a checkout of {name}, so that sessions name their commit",
            words::counted(local.len(), "session")
        ));
    }
    (!of_cluster.is_empty()).then(|| {
        format!(
            "results from a cluster do not name their commit, and no commit of {name} has the generated tree that they \
             ran from, so they are not in the baseline"
        )
    })
}
