//! The edge against a server that misbehaves.

mod calls;
mod connections;
mod logs;
mod watches;

use std::time::Duration;

use kubebench_scripted_server::Server;

use crate::Cluster;

fn cluster(server: &Server) -> Cluster {
    Cluster::of_test(server.url()).patience(Duration::from_secs(20))
}
