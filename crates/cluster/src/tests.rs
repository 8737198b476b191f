//! The edge against a server that misbehaves.

mod calls;
mod connections;
mod logs;
mod watches;

use std::time::Duration;

use kubebench_testing::server::Server;
use kubebench_testing::watchdog::WATCHDOG;

use crate::Cluster;

fn cluster(server: &Server) -> Cluster {
    cluster_dead_after(server, WATCHDOG)
}

/// One for which the server is dead after so long a silence.
fn cluster_dead_after(server: &Server, silence: Duration) -> Cluster {
    Cluster::of_test(server.url(), silence).patience(WATCHDOG)
}
