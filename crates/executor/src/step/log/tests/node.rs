//! A kubelet for tests: it gives logs as the real one does, and cuts them as networks do.

use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;

use super::super::{Ask, LogOrigin, NoLog};
use crate::observe::Pod;

/// One entry of the file of a container runtime.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) stamp: i64,
    pub(super) text: Vec<u8>,
    pub(super) is_end: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Instance {
    pub(super) entries: Vec<Entry>,
    pub(super) is_over: bool,
}

#[derive(Debug, Default)]
pub(super) struct FakePod {
    pub(super) name: String,
    pub(super) instances: Vec<Instance>,
    pub(super) is_gone: bool,
}

#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) pods: Vec<FakePod>,
    /// The number of bytes after which each of the next streams is cut.
    pub(super) cuts: Vec<usize>,
    /// What is answered instead of opening a log.
    pub(super) down: Option<NoLog>,
    /// What the kubelet says at the end of the next stream.
    pub(super) says: Option<String>,
    /// Whether streams that follow a log give nothing and never end.
    pub(super) is_deaf: bool,
    pub(super) asked: Vec<Ask>,
    /// What the runtime writes of an instance that is over only after its log was read to the end.
    pub(super) late: Vec<Entry>,
}

#[derive(Default)]
pub(super) struct Node {
    world: Mutex<World>,
    changed: Condvar,
}

impl Node {
    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    pub(super) fn change<R>(&self, change: impl FnOnce(&mut World) -> R) -> R {
        let result = change(&mut self.world());
        self.changed.notify_all();
        result
    }

    /// Writes lines of text into the last instance of the last pod, a second apart.
    pub(super) fn write(&self, text: &str) {
        self.change(|world| {
            let instance = world.pods.last_mut().unwrap().instances.last_mut().unwrap();
            for line in text.split_inclusive('\n') {
                let stamp = 1_795_000_000_000_000_000 + 1_000_000_000 * i64::try_from(instance.entries.len()).unwrap();
                let text = line.trim_end_matches('\n').as_bytes().to_vec();
                instance.entries.push(Entry { stamp, text, is_end: line.ends_with('\n') });
            }
        });
    }

    pub(super) fn pod(&self, name: &str) {
        self.change(|world| {
            let instances = vec![Instance::default()];
            world.pods.push(FakePod { name: name.to_owned(), instances, is_gone: false });
        });
    }

    pub(super) fn end(&self) {
        self.change(|world| world.pods.last_mut().unwrap().instances.last_mut().unwrap().is_over = true);
    }

    pub(super) fn restart(&self) {
        self.change(|world| {
            let pod = world.pods.last_mut().unwrap();
            pod.instances.last_mut().unwrap().is_over = true;
            pod.instances.push(Instance::default());
        });
    }
}

/// Returns the pod as the API server shows it.
pub(super) fn shown(name: &str, created: i64, restarts: usize, state: &str) -> Pod {
    let time = Timestamp::from_second(created).unwrap().to_string();
    let state = match state {
        "terminated" => json!({"terminated": {"exitCode": 0}}),
        other => json!({ other: {} }),
    };
    serde_json::from_value(json!({
        "metadata": {"name": name, "uid": format!("uid-{name}"), "creationTimestamp": time},
        "spec": {"restartPolicy": "OnFailure", "containers": [{"name": "main"}]},
        "status": {"phase": "Running", "containerStatuses": [{
            "name": "main", "restartCount": restarts, "ready": true, "image": "", "imageID": "", "state": state,
        }]},
    }))
    .unwrap()
}

pub(super) struct Origin(pub(super) Arc<Node>);

impl LogOrigin for Origin {
    fn open(&self, ask: &Ask) -> Result<Box<dyn Read + Send>, NoLog> {
        let mut world = self.0.world();
        world.asked.push(ask.clone());
        if let Some(down) = &world.down {
            return Err(down.clone());
        }
        let cut = world.cuts.pop();
        let says = world.says.take();
        let pod = world.pods.iter().position(|pod| pod.name == ask.pod && !pod.is_gone);
        let pod = pod.ok_or_else(|| NoLog::Gone("pods not found".to_owned()))?;
        let instances = world.pods[pod].instances.len();
        let instance = instances.checked_sub(if ask.previous { 2 } else { 1 });
        let instance = instance.ok_or_else(|| NoLog::Refused("previous terminated container not found".to_owned()))?;
        let since = ask.since.as_ref().map_or(i128::MIN, |text| text.parse::<Timestamp>().unwrap().as_nanosecond());
        let node = Arc::clone(&self.0);
        if world.is_deaf && ask.follow {
            return Ok(Box::new(Deaf));
        }
        Ok(Box::new(Stream { node, pod, instance, since, next: 0, is_new: true, ready: Vec::new(), left: cut, says }))
    }
}

/// A stream whose kubelet missed all that it waits for.
struct Deaf;

impl Read for Deaf {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        std::thread::sleep(Duration::from_millis(1));
        Err(io::ErrorKind::WouldBlock.into())
    }
}

struct Stream {
    node: Arc<Node>,
    pod: usize,
    instance: usize,
    since: i128,
    next: usize,
    is_new: bool,
    ready: Vec<u8>,
    left: Option<usize>,
    says: Option<String>,
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut world = self.node.world.lock().unwrap();
        loop {
            let instance = &world.pods[self.pod].instances[self.instance];
            for entry in &instance.entries[self.next..] {
                if i128::from(entry.stamp) >= self.since {
                    if self.is_new {
                        let stamp = Timestamp::from_nanosecond(entry.stamp.into()).unwrap();
                        self.ready.extend_from_slice(format!("{stamp:.9} ").as_bytes());
                    }
                    self.ready.extend_from_slice(&entry.text);
                    self.ready.extend_from_slice(if entry.is_end { b"\n" } else { b"" });
                }
                self.is_new = entry.is_end;
            }
            self.next = instance.entries.len();
            if instance.is_over {
                self.ready.extend(self.says.take().unwrap_or_default().into_bytes());
            }
            if self.left == Some(0) {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            let count = self.ready.len().min(buffer.len()).min(self.left.unwrap_or(usize::MAX)).min(100);
            if count > 0 {
                self.left = self.left.map(|left| left - count);
                self.ready.drain(..count).zip(buffer).for_each(|(from, to)| *to = from);
                return Ok(count);
            }
            if instance.is_over || world.pods[self.pod].is_gone {
                let late = std::mem::take(&mut world.late);
                world.pods[self.pod].instances[self.instance].entries.extend(late);
                return Ok(0);
            }
            let waited = self.node.changed.wait_timeout(world, Duration::from_millis(300)).unwrap();
            world = waited.0;
            if waited.1.timed_out() {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }
}
