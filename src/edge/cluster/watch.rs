//! Watches that survive whatever happens to the API server and the network.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use kube::Api;
use kube::api::{DynamicObject, TypeMeta};
use kube::runtime::watcher::{self, Event};
use serde_json::Value as Json;
use tokio::task::AbortHandle;
use tokio::time::sleep;

use super::call::pause;
use super::connect::Connection;
use super::fault::words;
use super::resource::Resource;

/// Failures after which people are told; a single one heals by itself.
const TOLD_AFTER: u32 = 2;

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
    pub fn fields(mut self, selector: &str) -> Self {
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
    Gone {
        /// The uid.
        uid: String,
    },
    /// All objects there are have been seen: for the first time, or again after an outage.
    Listed,
    /// Nothing is seen at the moment, and why. The watch goes on trying.
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

impl Drop for Watching {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Nobody listens any more.
struct Deaf;

struct Watcher<S> {
    api: Api<DynamicObject>,
    what: Watch,
    purpose: String,
    seconds: u32,
    /// The uids that were seen and are not gone.
    known: BTreeSet<String>,
    /// Failures since something was seen.
    failures: u32,
    send: S,
}

impl<S: FnMut(Seen) -> bool> Watcher<S> {
    /// Watches for ever. Every failure leads to a new listing, so that nothing that happened meanwhile is missed.
    async fn run(mut self) {
        loop {
            let mut config = watcher::Config::default().timeout(self.seconds);
            config.field_selector = (!self.what.fields.is_empty()).then(|| self.what.fields.clone());
            config.label_selector = (!self.what.labels.is_empty()).then(|| self.what.labels.clone());
            let mut stream = watcher::watcher(self.api.clone(), config).boxed();
            let mut listed = BTreeSet::new();
            let failure = loop {
                match stream.next().await {
                    Some(Ok(event)) => match self.see(event, &mut listed) {
                        Ok(()) => {}
                        Err(Deaf) => return,
                    },
                    Some(Err(error)) => break words(&error),
                    None => break "the watch ended".to_owned(),
                }
            };
            drop(stream);
            if self.fail(&failure).is_err() {
                return;
            }
            sleep(pause(self.failures.saturating_sub(1)).max(Duration::from_millis(100))).await;
        }
    }

    fn see(&mut self, event: Event<DynamicObject>, listed: &mut BTreeSet<String>) -> Result<(), Deaf> {
        // The start of a listing is said before the API server is asked.
        if !matches!(event, Event::Init) {
            self.recover()?;
        }
        match event {
            Event::Init => listed.clear(),
            Event::InitApply(object) => {
                listed.extend(object.metadata.uid.clone());
                self.applied(object)?;
            }
            Event::InitDone => {
                let gone: Vec<String> = self.known.difference(listed).cloned().collect();
                for uid in gone {
                    self.gone(uid)?;
                }
                self.tell(Seen::Listed)?;
            }
            Event::Apply(object) => self.applied(object)?,
            Event::Delete(object) => {
                let uid = object.metadata.uid.clone();
                self.applied(object)?;
                if let Some(uid) = uid {
                    self.gone(uid)?;
                }
            }
        }
        Ok(())
    }

    fn applied(&mut self, mut object: DynamicObject) -> Result<(), Deaf> {
        object.metadata.managed_fields = None;
        let (api_version, kind) = (self.what.resource.api_version(), self.what.resource.kind.clone());
        object.types.get_or_insert(TypeMeta { api_version, kind });
        self.known.extend(object.metadata.uid.clone());
        // It was JSON before, so it can be again.
        serde_json::to_value(&object).map_or(Ok(()), |json| self.tell(Seen::Applied(json)))
    }

    fn gone(&mut self, uid: String) -> Result<(), Deaf> {
        self.known.remove(&uid);
        self.tell(Seen::Gone { uid })
    }

    fn fail(&mut self, why: &str) -> Result<(), Deaf> {
        self.failures = self.failures.saturating_add(1);
        if self.failures == TOLD_AFTER {
            let trouble = format!("cannot {}: {why}", self.purpose);
            return self.tell(Seen::Trouble(trouble));
        }
        Ok(())
    }

    fn recover(&mut self) -> Result<(), Deaf> {
        if std::mem::take(&mut self.failures) >= TOLD_AFTER { self.tell(Seen::Fine) } else { Ok(()) }
    }

    fn tell(&mut self, seen: Seen) -> Result<(), Deaf> {
        if (self.send)(seen) { Ok(()) } else { Err(Deaf) }
    }
}
