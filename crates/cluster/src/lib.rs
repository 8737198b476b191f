//! A Kubernetes cluster: what the API server says, and what it is asked to do.
//!
//! A blocking interface to one thread of asynchronous work. What is watched comes into the one channel of the caller.
//! Only this crate names `kube` and what it runs on (docs/decisions/0008-kube.md). It knows nothing of benchmarks.
//!
//! ```
//! use kubebench_cluster::Resource;
//!
//! let job = serde_json::json!({"apiVersion": "kubeflow.org/v1", "kind": "TFJob"});
//! assert_eq!(Resource::of(&job).unwrap().plural, "tfjobs");
//! ```

mod answer;
mod ask;
mod call;
mod connect;
mod fault;
mod log;
mod proxy;
mod purpose;
mod resource;
mod watch;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::{Value as Json, json};

use answer::Answer;
use ask::Ask;
use call::Rules;
use connect::Connection;
pub use fault::{Fault, Refusal};
pub use log::LogQuery;
pub(crate) use log::LogStream;
use purpose::Purpose;
pub use resource::Resource;
pub use watch::{Seen, Watch, Watching};

/// How long one call of a step may try again.
const PATIENCE: Duration = Duration::from_mins(10);

/// The maximum number of tries with a name that is taken and belongs to nothing.
const MAX_CREATIONS: u32 = 5;

/// Objects in one answer to a list.
const PAGE: u32 = 500;

/// A cluster, through its API server. Clones share the thread and the connections.
#[derive(Clone)]
pub struct Cluster {
    connection: Arc<Connection>,
    rules: Rules,
}

/// What came of [`Cluster::create`].
#[derive(Clone, Debug, PartialEq)]
pub enum Made {
    /// The object, which did not exist before.
    New(Json),
    /// An object of that kind and name exists: of another owner, or the one of an earlier call whose answer was lost.
    There(Json),
}

/// What came of [`Cluster::delete`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// The API server took it; the object may exist until what it owns is gone.
    Asked,
    /// There is none.
    Absent,
    /// An object with another uid has that name now; it was not touched.
    Other,
}

/// One action, for [`Cluster::may`].
#[derive(Clone, Copy, Debug)]
pub struct Action<'a> {
    /// Where; `None` for objects without a namespace.
    pub namespace: Option<&'a str>,
    /// `get`, `create`, …
    pub verb: &'a str,
    /// The API group, empty for the core.
    pub group: &'a str,
    /// The plural of the resource.
    pub resource: &'a str,
    /// `log` of `pods/log`; empty otherwise.
    pub subresource: &'a str,
}

impl Cluster {
    /// Finds the cluster of the pod that this process runs in, by its service account.
    ///
    /// # Errors
    /// This is not a pod, or its service account is not mounted.
    pub fn inside() -> anyhow::Result<Self> {
        Ok(Self::over(Connection::inside()?))
    }

    /// Finds the cluster that `kubectl` would ask, or that of another `context` of its configuration.
    ///
    /// # Errors
    /// There is no configuration, or it cannot be used.
    pub fn outside(context: Option<&str>) -> anyhow::Result<Self> {
        let places = connect::places();
        if context.is_none() && connect::is_pod() && !places.iter().any(|place| place.is_file()) {
            return Self::inside();
        }
        Self::by_files(&places, context)
    }

    /// Finds the cluster of a context in these configuration files; by default of the current context.
    ///
    /// # Errors
    /// There is no configuration, or it cannot be used.
    pub fn by_files(kubeconfig: &[PathBuf], context: Option<&str>) -> anyhow::Result<Self> {
        Ok(Self::over(Connection::by_files(kubeconfig, context)?))
    }

    fn over(connection: Connection) -> Self {
        Self { connection: Arc::new(connection), rules: Rules { patience: PATIENCE, stop: Arc::default() } }
    }

    /// The address of the API server.
    pub fn address(&self) -> &str {
        self.connection.address()
    }

    /// Sets how long one call may try again before it gives up: 10 minutes by default.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.rules.patience = patience;
        self
    }

    /// Once `stop` is set, no call tries again and each gets five seconds: enough to clean up, never a hang.
    #[must_use]
    pub fn stop_with(mut self, stop: Arc<AtomicBool>) -> Self {
        self.rules.stop = stop;
        self
    }

    /// Creates an object.
    ///
    /// # Errors
    /// The API server refused it, such as by a quota or a webhook, or there was no answer.
    pub fn create(&self, namespace: &str, object: &Json) -> Result<Made, Fault> {
        let resource = Resource::of(object).ok_or_else(|| Fault::invalid("an object has no `apiVersion` or `kind`"))?;
        let name = object.pointer("/metadata/name").and_then(Json::as_str).unwrap_or_default();
        let ask = Ask::Create { path: resource.path(namespace)?, body: object.to_string() };
        let purpose = Purpose::new("create", &resource, namespace, name);
        let mut tries = 0;
        loop {
            let answer = self.call(&ask, &purpose)?;
            tries += 1;
            if answer.is_success() {
                return answer.json(&purpose).map(Made::New);
            }
            if !answer.says("AlreadyExists") || tries == MAX_CREATIONS {
                return Err(answer.refusal(&purpose));
            }
            // Gone in between: its name is free again.
            if let Some(there) = self.get(&resource, namespace, name)? {
                return Ok(Made::There(there));
            }
        }
    }

    /// Reads an object; `None` when there is none of that name.
    ///
    /// # Errors
    /// The API server refused, such as for a kind that it does not know, or there was no answer.
    pub fn get(&self, resource: &Resource, namespace: &str, name: &str) -> Result<Option<Json>, Fault> {
        let purpose = Purpose::new("get", resource, namespace, name);
        let answer = self.call(&Ask::Get { path: resource.object_path(namespace, name)? }, &purpose)?;
        if answer.is_success() {
            answer.json(&purpose).map(Some)
        } else if answer.says("NotFound") {
            Ok(None)
        } else {
            Err(answer.refusal(&purpose))
        }
    }

    /// Lists objects, without `metadata.managedFields`; `selector` is a label selector, empty for all.
    ///
    /// # Errors
    /// The API server refused, or there was no answer.
    pub fn list(&self, resource: &Resource, namespace: &str, selector: &str) -> Result<Vec<Json>, Fault> {
        let purpose = Purpose::new("list", resource, namespace, "");
        let path = resource.path(namespace)?;
        let mut found = Vec::new();
        let mut next: Option<String> = None;
        loop {
            let ask = Ask::List { path: path.clone(), selector: selector.to_owned(), limit: PAGE, next: next.clone() };
            let answer = self.call(&ask, &purpose)?;
            if !answer.is_success() {
                // The place in the list is forgotten after some minutes: from its beginning again.
                if answer.code() == 410 && next.take().is_some() {
                    found.clear();
                    continue;
                }
                return Err(answer.refusal(&purpose));
            }
            let mut page = answer.json(&purpose)?;
            let items = page.get_mut("items").and_then(Json::as_array_mut).map(std::mem::take).unwrap_or_default();
            found.extend(items.into_iter().map(|object| resource.complete(object)));
            next = page
                .pointer("/metadata/continue")
                .and_then(Json::as_str)
                .filter(|token| !token.is_empty())
                .map(str::to_owned);
            if next.is_none() {
                return Ok(found);
            }
        }
    }

    /// Deletes the object with this `uid`, after what it owns.
    ///
    /// # Errors
    /// The API server refused, or there was no answer.
    pub fn delete(&self, resource: &Resource, namespace: &str, name: &str, uid: &str) -> Result<Removed, Fault> {
        let purpose = Purpose::new("delete", resource, namespace, name);
        let ask = Ask::Delete { path: resource.path(namespace)?, name: name.to_owned(), uid: uid.to_owned() };
        let answer = self.call(&ask, &purpose)?;
        if answer.is_success() {
            Ok(Removed::Asked)
        } else if answer.says("NotFound") {
            Ok(Removed::Absent)
        } else if answer.is_other() {
            Ok(Removed::Other)
        } else {
            Err(answer.refusal(&purpose))
        }
    }

    /// Whether the account of this process may do something, as the API server judges it.
    ///
    /// # Errors
    /// The API server refused to say, or there was no answer.
    pub fn may(&self, action: Action<'_>) -> Result<bool, Fault> {
        let mut attributes = json!({
            "verb": action.verb,
            "group": action.group,
            "resource": action.resource,
            "subresource": action.subresource,
        });
        if let (Some(namespace), Some(map)) = (action.namespace, attributes.as_object_mut()) {
            map.insert("namespace".to_owned(), namespace.into());
        }
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        });
        let answer = self.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", &review)?;
        Ok(answer.pointer("/status/allowed").and_then(Json::as_bool).unwrap_or(false))
    }

    /// Posts to a path of the API, such as a review or a dry run (`…?dryRun=All`), and returns the answer.
    ///
    /// # Errors
    /// The API server refused, or there was no answer.
    pub fn post(&self, path: &str, body: &Json) -> Result<Json, Fault> {
        let purpose = Purpose::of_path("post to", path);
        let answer = self.call(&Ask::Create { path: path.to_owned(), body: body.to_string() }, &purpose)?;
        if answer.is_success() { answer.json(&purpose) } else { Err(answer.refusal(&purpose)) }
    }

    /// Reads a path of the API, such as `/version` or `/apis/kubeflow.org/v1`; `None` when there is nothing.
    ///
    /// # Errors
    /// The API server refused, or there was no answer.
    pub fn read(&self, path: &str) -> Result<Option<Json>, Fault> {
        let purpose = Purpose::of_path("read", path);
        let answer = self.call(&Ask::Get { path: path.to_owned() }, &purpose)?;
        match answer.code() {
            404 => Ok(None),
            _ if answer.is_success() => answer.json(&purpose).map(Some),
            _ => Err(answer.refusal(&purpose)),
        }
    }

    /// Sends what is seen of some objects, wrapped, into `events` until the returned value is dropped.
    ///
    /// It never ends by itself. Objects come without `metadata.managedFields`, some of them again after an outage.
    pub fn watch<T: Send + 'static>(
        &self,
        what: Watch,
        events: std::sync::mpsc::Sender<T>,
        wrap: fn(Seen) -> T,
    ) -> Watching {
        Watching::start(Arc::clone(&self.connection), what, move |seen| events.send(wrap(seen)).is_ok())
    }

    /// Opens the log of a container.
    ///
    /// # Errors
    /// The API server refused, such as for a container that has not started, or there was no answer.
    pub fn log(&self, namespace: &str, pod: &str, container: &str, query: &LogQuery) -> Result<LogStream, Fault> {
        LogStream::open(&self.connection, &self.rules, namespace, pod, container, query)
    }

    fn call(&self, ask: &Ask, purpose: &Purpose) -> Result<Answer, Fault> {
        call::call(&self.connection, &self.rules, ask, purpose)
    }
}
