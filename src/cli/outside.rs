//! The cluster of a target as commands take it.

use anyhow::Result;

use super::args::{Global, OutsideArgs};
use super::findings::refuse_report_places;
use super::project::tell_more;
use crate::app::cluster::TargetCluster;

/// Compiles the project, and finds the target that is meant and its cluster.
pub(super) fn open(global: &Global, args: &OutsideArgs) -> Result<TargetCluster> {
    let outside = TargetCluster::open(&global.start(), args.target.as_deref(), args.context.as_deref())?;
    refuse_report_places(global, &outside.project.root, &outside.project.own_folders())?;
    tell_more(global, &outside.project);
    Ok(outside)
}
