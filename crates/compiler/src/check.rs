//! Semantic rules about a resolved benchmark, one file each; [`RULES`] is the ordered list.
//!
//! A rule reads the model and reports; it changes nothing and never looks at another benchmark.
//! Rules run for each target and look at each case: a fault that several share is reported with the same words and place
//! every time, so that sorting the findings leaves one.

mod amounts;
mod api_token;
mod budget;
mod carried;
mod claim_sharing;
mod download;
mod extended_resources;
mod file_metric;
mod fixed_name;
mod gang;
mod image;
mod kueue;
mod launcher_egress;
mod lost_status;
mod metric_collision;
mod metric_direction;
mod metric_duration;
mod metric_replica;
mod metric_role;
mod metric_unit;
mod mpi_restricted;
mod name_budget;
mod narrow_group;
mod one_word;
mod part_metric;
mod plain_http;
mod pod_security;
mod pods;
mod primary_metric;
mod prometheus_server;
mod pytorch_restricted;
mod resources;
mod runs_cap;
mod runtime_ref;
mod scaling;
mod secret;
mod server_egress;
mod server_sharing;
mod shared_memory;
mod ssh_home;
mod stepless_window;
mod timeout;
mod tool_metric;
mod unexpanded;
mod unknown_metric;
mod unknown_tool;
mod unreadable_text;
mod unused;

use crate::model::Benchmark;
use kubebench_syntax::diag::Diagnostics;
use kubebench_syntax::text::SourceMap;

pub(crate) use budget::within_budget;
pub(crate) use image::of_steps;
pub(crate) use plain_http::of_results;
pub(crate) use resources::{REFUSED_POD, above_limit};
pub(crate) use unreadable_text::in_document;

pub(crate) type Rule = fn(&Benchmark, &mut Diagnostics);

/// Every rule, in the order in which they run.
pub(crate) static RULES: &[Rule] = &[
    budget::within,
    amounts::usable,
    metric_collision::distinguishable,
    unknown_metric::measured,
    unknown_tool::known,
    tool_metric::reported,
    metric_role::exists,
    metric_replica::exists,
    part_metric::exists,
    metric_duration::is_there,
    metric_unit::fits,
    stepless_window::counted,
    narrow_group::wide,
    image::pinned,
    resources::stated,
    resources::within_limits,
    extended_resources::whole_and_equal,
    name_budget::fits,
    unused::used,
    secret::absent,
    shared_memory::kept,
    metric_direction::given,
    primary_metric::chosen,
    primary_metric::single,
    timeout::set,
    scaling::followed,
    mpi_restricted::possible,
    pytorch_restricted::prepared,
    runs_cap::respected,
    pod_security::kept,
    api_token::shown,
    file_metric::reachable,
    prometheus_server::named,
    claim_sharing::possible,
    ssh_home::readable,
    launcher_egress::open,
    kueue::managed,
    gang::scheduled,
    carried::present,
    carried::runnable,
    unreadable_text::of_files,
    unexpanded::meant,
    runtime_ref::carried,
    fixed_name::alone,
    server_sharing::one_at_a_time,
    server_egress::open,
    download::open,
    one_word::separated,
];

/// Runs every rule on `benchmark`, which was read from these sources.
pub(crate) fn check(benchmark: &Benchmark, sources: &SourceMap, diagnostics: &mut Diagnostics) {
    for rule in RULES {
        rule(benchmark, diagnostics);
    }
    lost_status::kept(benchmark, sources, diagnostics);
}

#[cfg(test)]
mod tests;
