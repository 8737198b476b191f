//! Controllers that cannot be had here, played by a script: they see the objects of one kind and do what their documents say,
//! with the labels and the sequence of states that those describe. What is tested is what Kubebench makes of that, not them.

pub(super) mod katib;
pub(super) mod operators;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;

use super::Cluster;
use crate::support::project::Folder;

/// Between two looks of a script at its objects.
const LOOK: Duration = Duration::from_millis(500);

/// What a script does with an object each time that it looks: to its end, it changes nothing any more.
pub(super) type Act = fn(&Hands<'_>, &Value);

/// What a script works with.
pub(super) struct Hands<'c> {
    cluster: &'c Cluster,
    folder: Folder,
    namespace: String,
}

/// A controller that plays its part until it is dropped.
pub(super) struct Scripted {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Scripted {
    /// Plays `act` for all `objects` of a namespace, such as `experiments.kubeflow.org`.
    pub(super) fn play(cluster: &'static Cluster, namespace: &str, objects: &'static str, act: Act) -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        let (until, namespace) = (Arc::clone(&ends), namespace.to_owned());
        let thread = std::thread::spawn(move || {
            let folder = Folder::with([] as [(&str, &str); 0]);
            let hands = Hands { cluster, folder, namespace };
            while !until.load(Ordering::Relaxed) {
                for object in hands.list(objects, "") {
                    act(&hands, &object);
                }
                std::thread::sleep(LOOK);
            }
        });
        Self { ends, thread: Some(thread) }
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        let played = self.thread.take().map(JoinHandle::join);
        if let (Some(Err(_)), false) = (played, std::thread::panicking()) {
            panic!("the script broke off: its own words are above");
        }
    }
}

impl Hands<'_> {
    /// The objects of a kind with these labels.
    pub(super) fn list(&self, objects: &str, labels: &str) -> Vec<Value> {
        let found = self.cluster.json(["-n", &self.namespace, "get", objects, "-l", labels, "-o", "json"]);
        found["items"].as_array().cloned().unwrap_or_default()
    }

    /// Creates an object that is not there yet.
    pub(super) fn create(&self, object: &Value) {
        self.folder.write("object.json", object.to_string());
        let file = self.folder.path().join("object.json").display().to_string();
        let output = self.cluster.kubectl(["-n", &self.namespace, "create", "-f", &file]);
        let is_there = String::from_utf8_lossy(&output.stderr).contains("AlreadyExists");
        assert!(output.status.success() || is_there, "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Writes the status of an object; one that was deleted meanwhile has none.
    pub(super) fn set_status(&self, objects: &str, name: &str, status: &Value) {
        let patch = serde_json::json!({ "status": status }).to_string();
        let arguments =
            ["-n", &self.namespace, "patch", objects, name, "--subresource=status", "--type=merge", "-p", &patch];
        let output = self.cluster.kubectl(arguments);
        let is_gone = String::from_utf8_lossy(&output.stderr).contains("NotFound");
        assert!(output.status.success() || is_gone, "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// What a pod has printed.
    pub(super) fn log(&self, pod: &str) -> String {
        let output = self.cluster.kubectl(["-n", &self.namespace, "logs", pod]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}
