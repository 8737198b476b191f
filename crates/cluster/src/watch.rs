//! Watches that survive whatever happens to the API server and the network.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use kube::api::{DynamicObject, ListParams, TypeMeta, WatchEvent, WatchParams};
use kube::{Api, Error};
use serde_json::Value as Json;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout};

use super::PAGE;
use super::call::{READ, pause};
use super::connect::Connection;
use super::fault::words;
use super::resource::Resource;
use kubebench_syntax::invariant::Invariant as _;

/// A watch that is silent for this much longer than the API server lets it be is dead.
const GRACE: Duration = Duration::from_millis(if cfg!(test) { 500 } else { 5000 });

/// A watch that lasts this long without a failure is well. One that ends earlier is not started again at once, or
/// an API server that ends them all would be asked thousands of times a second.
pub(super) const SHORT: Duration = Duration::from_millis(if cfg!(test) { 100 } else { 1000 });

/// Failures after which they are reported; a single one heals by itself.
const REPORTED_AFTER: u32 = 2;

/// Which objects are watched.
#[derive(Clone, Debug)]
pub struct Watch {
    /// Where.
    pub namespace: String,
    /// Their kind.
    pub resource: Resource,
    /// A field selector such as `metadata.name=x`; empty for all.
    pub fields: String,
    /// A label selector; empty for all.
    pub labels: String,
}

impl Watch {
    /// All objects of a kind in a namespace.
    pub fn all(namespace: &str, resource: Resource) -> Self {
        Self { namespace: namespace.to_owned(), resource, fields: String::new(), labels: String::new() }
    }

    /// The object of this name.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        self.fields(&format!("metadata.name={name}"))
    }

    /// Those that a field selector chooses.
    #[must_use]
    pub(crate) fn fields(mut self, selector: &str) -> Self {
        selector.clone_into(&mut self.fields);
        self
    }

    /// Those that a label selector chooses.
    #[must_use]
    pub fn labels(mut self, selector: &str) -> Self {
        selector.clone_into(&mut self.labels);
        self
    }
}

/// What a watch saw.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// An object as it is, or as it was when it was deleted: then `Gone` follows.
    Applied(Json),
    /// There is no object with this uid any more, or the selectors do not choose it any more.
    Gone { uid: String },
    /// All objects there are have been seen: for the first time, or again after an outage.
    Listed,
    /// Nothing is seen at the moment, and why. The watch keeps trying.
    Trouble(String),
    /// The trouble is over.
    Fine,
}

/// A watch, until it is dropped.
#[must_use = "a watch ends when it is dropped"]
pub struct Watching {
    task: AbortHandle,
    _connection: Arc<Connection>,
}

impl Watching {
    pub(super) fn start(
        connection: Arc<Connection>,
        what: Watch,
        send: impl FnMut(Seen) -> bool + Send + 'static,
    ) -> Self {
        let resource = what.resource.as_kube();
        let api = Api::namespaced_with(connection.client(), &what.namespace, &resource);
        let purpose =
            format!("watch {} in namespace `{}` on {}", resource.plural, what.namespace, connection.address());
        let seconds = connection.watch_seconds();
        let watcher = Watcher { api, what, purpose, seconds, known: BTreeSet::new(), failures: 0, send };
        let task = connection.handle().spawn(watcher.run()).abort_handle();
        Self { task, _connection: connection }
    }
}

#[cfg(test)]
impl Watching {
    /// Whether it has given up by itself.
    pub(super) fn is_over(&self) -> bool {
        self.task.is_finished()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Why a watch is not continued where it was.
enum Stop {
    /// There is no receiver any more.
    Deaf,
    /// Something failed, or the place is forgotten: everything is listed again.
    Again(String),
}

struct Watcher<S> {
    api: Api<DynamicObject>,
    what: Watch,
    purpose: String,
    seconds: u32,
    /// The uids that were seen and are not gone.
    known: BTreeSet<String>,
    /// Failures since a watch was well.
    failures: u32,
    send: S,
}

impl<S: FnMut(Seen) -> bool> Watcher<S> {
    /// Watches forever. Every failure leads to a new listing, so that nothing that happened meanwhile is missed.
    async fn run(mut self) {
        loop {
            let Err(stop) = self.once().await;
            match stop {
                Stop::Deaf => return,
                Stop::Again(why) => {
                    if self.fail(&why).is_err() {
                        return;
                    }
                }
            }
            sleep(pause(self.failures.saturating_sub(1))).await;
        }
    }

    /// Lists and watches until something fails.
    async fn once(&mut self) -> Result<Infallible, Stop> {
        let mut version = self.list().await?;
        loop {
            let begin = Instant::now();
            version = self.watch(version).await?;
            sleep(SHORT.saturating_sub(begin.elapsed())).await;
        }
    }

    /// Lists all objects, and returns the version of the list.
    async fn list(&mut self) -> Result<String, Stop> {
        let mut params = ListParams::default().limit(PAGE);
        params.field_selector = self.fields();
        params.label_selector = self.labels();
        let mut listed = BTreeSet::new();
        loop {
            let page = within(READ, self.api.list(&params)).await?;
            for object in page.items {
                listed.extend(object.metadata.uid.clone());
                self.applied(object)?;
            }
            params.continue_token = page.metadata.continue_.filter(|token| !token.is_empty());
            if params.continue_token.is_none() {
                let gone: Vec<String> = self.known.difference(&listed).cloned().collect();
                for uid in gone {
                    self.gone(uid)?;
                }
                self.tell(Seen::Listed)?;
                let version = page.metadata.resource_version.filter(|version| !version.is_empty());
                return version.ok_or_else(|| Stop::Again("the list has no `resourceVersion`".to_owned()));
            }
        }
    }

    /// Watches from `version` until the API server ends the watch, and returns where it resumes.
    async fn watch(&mut self, mut version: String) -> Result<String, Stop> {
        let mut params = WatchParams::default().timeout(self.seconds);
        params.field_selector = self.fields();
        params.label_selector = self.labels();
        let mut stream = Box::pin(within(READ, self.api.watch(&params, &version)).await?);
        let mut is_well = false;
        loop {
            // The API server sends a bookmark before it ends a watch, so that a healthy one is never silent for so long.
            let limit = if is_well { Duration::from_secs(u64::from(self.seconds)) + GRACE } else { SHORT };
            let event = match timeout(limit, stream.next()).await {
                Err(_) if !is_well => None,
                Err(_) | Ok(None) if is_well => return Ok(version),
                Err(_) | Ok(None) => return Err(Stop::Again("the watch ends as soon as it starts".to_owned())),
                Ok(Some(event)) => Some(event.map_err(|error| Stop::Again(words(&error)))?),
            };
            if let Some(event) = event {
                version = self.see(event)?.unwrap_or(version);
            }
            if !is_well {
                is_well = true;
                self.recover()?;
            }
        }
    }

    /// Reports an event, and returns the version of what it saw.
    fn see(&mut self, event: WatchEvent<DynamicObject>) -> Result<Option<String>, Stop> {
        let (object, is_deleted) = match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => (object, false),
            WatchEvent::Deleted(object) => (object, true),
            WatchEvent::Bookmark(bookmark) => {
                return Ok(Some(bookmark.metadata.resource_version).filter(|version| !version.is_empty()));
            }
            WatchEvent::Error(status) => return Err(Stop::Again(words(&Error::Api(status)))),
        };
        let (version, uid) = (object.metadata.resource_version.clone(), object.metadata.uid.clone());
        self.applied(object)?;
        if let (true, Some(uid)) = (is_deleted, uid) {
            self.gone(uid)?;
        }
        Ok(version)
    }

    fn applied(&mut self, mut object: DynamicObject) -> Result<(), Stop> {
        object.metadata.managed_fields = None;
        let (api_version, kind) = (self.what.resource.api_version(), self.what.resource.kind.clone());
        object.types.get_or_insert(TypeMeta { api_version, kind });
        self.known.extend(object.metadata.uid.clone());
        self.tell(Seen::Applied(serde_json::to_value(&object).expected("JSON of an object that was JSON")))
    }

    fn gone(&mut self, uid: String) -> Result<(), Stop> {
        self.known.remove(&uid);
        self.tell(Seen::Gone { uid })
    }

    fn fail(&mut self, why: &str) -> Result<(), Stop> {
        self.failures = self.failures.saturating_add(1);
        if self.failures == REPORTED_AFTER {
            let trouble = format!("cannot {}: {why}", self.purpose);
            return self.tell(Seen::Trouble(trouble));
        }
        Ok(())
    }

    fn recover(&mut self) -> Result<(), Stop> {
        if std::mem::take(&mut self.failures) >= REPORTED_AFTER { self.tell(Seen::Fine) } else { Ok(()) }
    }

    fn tell(&mut self, seen: Seen) -> Result<(), Stop> {
        if (self.send)(seen) { Ok(()) } else { Err(Stop::Deaf) }
    }

    fn fields(&self) -> Option<String> {
        Some(self.what.fields.clone()).filter(|selector| !selector.is_empty())
    }

    fn labels(&self) -> Option<String> {
        Some(self.what.labels.clone()).filter(|selector| !selector.is_empty())
    }
}

async fn within<T>(limit: Duration, work: impl Future<Output = Result<T, Error>>) -> Result<T, Stop> {
    match timeout(limit, work).await {
        Err(_) => Err(Stop::Again(format!("no answer within {} s", limit.as_secs()))),
        Ok(result) => result.map_err(|error| Stop::Again(words(&error))),
    }
}
