//! Logs from a cluster.

use std::io::Read;
use std::time::Duration;

use super::{Ask, LogOrigin, NoLog};
use kubebench_cluster::{Cluster, Fault, LogQuery};

/// How often a reader of a silent log looks whether its container has ended.
const LOOK: Duration = Duration::from_secs(1);

/// The logs of the containers of a namespace.
pub struct OfCluster {
    /// The cluster. Its patience is how long one opening of a log takes at most.
    pub cluster: Cluster,
    pub namespace: String,
}

impl LogOrigin for OfCluster {
    fn open(&self, ask: &Ask) -> Result<Box<dyn Read + Send>, NoLog> {
        let query = LogQuery {
            previous: ask.previous,
            follow: ask.follow,
            timestamps: true,
            since: ask.since.clone(),
            look: ask.follow.then_some(LOOK),
            ..LogQuery::default()
        };
        match self.cluster.log(&self.namespace, &ask.pod, &ask.container, &query) {
            Ok(stream) => Ok(Box::new(stream)),
            Err(Fault::Refused(refusal)) if refusal.code == 404 => Err(NoLog::Gone(refusal.message)),
            Err(Fault::Refused(refusal)) => Err(NoLog::Refused(refusal.message)),
            Err(fault) => Err(NoLog::Later(fault.to_string())),
        }
    }
}
