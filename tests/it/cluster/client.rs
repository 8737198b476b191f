//! `kubebench_cluster` against a real API server, through a proxy that cuts, stalls and refuses.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use kubebench_cluster::{Cluster, Fault, LogQuery, Made, Removed, Resource, Seen, Watch};
use serde_json::{Value, json};

use super::{PATIENCE, cluster};

/// A namespace that goes with the value.
pub(super) struct Place {
    pub(super) kube: &'static super::Cluster,
    pub(super) name: String,
}

impl Place {
    pub(super) fn new(kube: &'static super::Cluster, what: &str) -> Self {
        let name = format!("kubebench-client-{what}-{}", std::process::id());
        kube.say(["create", "namespace", &name]);
        Self { kube, name }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.kube.kubectl(["delete", "namespace", &self.name, "--wait=false"]);
    }
}

fn job(name: &str, script: &str) -> Value {
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"backoffLimit": 0, "template": {
            "metadata": {"labels": {"run": name}},
            "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [{
                "name": "main",
                "image": image(),
                "imagePullPolicy": "IfNotPresent",
                "command": ["sh", "-c", script],
            }]},
        }},
    })
}

/// The image of small jobs, as `tests/cluster` imports it.
pub(super) fn image() -> &'static str {
    "busybox:1"
}

pub(super) const PASS: u8 = 0;
/// Takes connections and bytes, and gives nothing on: a network that is cut silently.
const STALL: u8 = 1;
/// Ends all connections, and takes no new one: an API server that restarts.
pub(super) const REFUSE: u8 = 2;

/// A proxy before the API server, and a cluster that is asked through it.
pub(super) struct Proxy {
    mode: Arc<AtomicU8>,
    connections: Arc<AtomicUsize>,
    kubeconfig: tempfile::NamedTempFile,
}

impl Proxy {
    pub(super) fn before(kube: &super::Cluster) -> Self {
        let mut config: Value =
            serde_json::from_str(&kube.say(["config", "view", "--raw", "--minify", "-o", "json"])).unwrap();
        let settings = &mut config["clusters"][0]["cluster"];
        let server = settings["server"].as_str().unwrap().to_owned();
        let target = server.strip_prefix("https://").unwrap().trim_end_matches('/').to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        settings["server"] = format!("https://{}", listener.local_addr().unwrap()).into();
        settings["tls-server-name"] = "kubernetes".into();
        let mut kubeconfig = tempfile::NamedTempFile::new().unwrap();
        kubeconfig.write_all(config.to_string().as_bytes()).unwrap();
        let mode = Arc::new(AtomicU8::new(PASS));
        let connections = Arc::new(AtomicUsize::new(0));
        let (own, count) = (Arc::clone(&mode), Arc::clone(&connections));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if own.load(Ordering::SeqCst) == REFUSE {
                    continue;
                }
                count.fetch_add(1, Ordering::SeqCst);
                let Ok(server) = TcpStream::connect(&target) else { continue };
                for (from, to) in [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)] {
                    let mode = Arc::clone(&own);
                    thread::spawn(move || carry(from, to, &mode));
                }
            }
        });
        Self { mode, connections, kubeconfig }
    }

    pub(super) fn set(&self, mode: u8) {
        self.mode.store(mode, Ordering::SeqCst);
    }

    /// How many connections there were so far.
    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub(super) fn cluster(&self) -> Cluster {
        Cluster::by_files(&[PathBuf::from(self.kubeconfig.path())], None).unwrap().patience(PATIENCE)
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, mode: &AtomicU8) {
    from.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match mode.load(Ordering::SeqCst) {
            REFUSE => break,
            STALL => {
                thread::sleep(Duration::from_millis(20));
                continue;
            }
            _ => {}
        }
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) if to.write_all(&buffer[..count]).is_ok() => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            _ => break,
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}

/// Takes what was seen until `wanted` says that it is what was waited for; all of it comes back.
fn until(events: &Receiver<Seen>, mut wanted: impl FnMut(&Seen) -> bool) -> Vec<Seen> {
    let end = Instant::now() + PATIENCE;
    let mut all = Vec::new();
    loop {
        match events.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(seen) => {
                let is_it = wanted(&seen);
                all.push(seen);
                if is_it {
                    return all;
                }
            }
            Err(RecvTimeoutError::Timeout) => panic!("what was waited for did not come, only {all:#?}"),
            Err(RecvTimeoutError::Disconnected) => panic!("a watch ended by itself after {all:#?}"),
        }
    }
}

#[test]
fn what_happens_during_an_outage_is_found_after_it() {
    let Some(kube) = cluster("what_happens_during_an_outage_is_found_after_it") else { return };
    let place = Place::new(kube, "outage");
    let proxy = Proxy::before(kube);
    let cluster = proxy.cluster();
    let namespace = place.name.as_str();

    let made = cluster.create(namespace, &job("x", "sleep 600")).unwrap();
    let Made::New(made) = made else { panic!("{made:?}") };
    let uid = made["metadata"]["uid"].as_str().unwrap().to_owned();
    let again = cluster.create(namespace, &job("x", "true")).unwrap();
    assert!(matches!(&again, Made::There(there) if there["metadata"]["uid"] == uid.as_str()), "{again:?}");

    let (sender, events) = channel();
    let _watching = cluster.watch(Watch::all(namespace, Resource::jobs()).named("x"), sender, |seen| seen);
    let first = until(&events, |seen| *seen == Seen::Listed);
    let Seen::Applied(object) = &first[0] else { panic!("{first:#?}") };
    assert_eq!((&object["kind"], &object["apiVersion"]), (&json!("Job"), &json!("batch/v1")));
    assert_eq!(object["metadata"].get("managedFields"), None);

    proxy.set(REFUSE);
    kube.say(["delete", "job", "x", "-n", namespace, "--cascade=foreground", "--wait=true"]);
    until(&events, |seen| matches!(seen, Seen::Trouble(_)));
    proxy.set(PASS);
    let after = until(&events, |seen| *seen == Seen::Fine);
    assert_eq!(after, [Seen::Gone { uid: uid.clone() }, Seen::Listed, Seen::Fine]);

    assert_eq!(cluster.get(&Resource::jobs(), namespace, "x").unwrap(), None);
    assert_eq!(cluster.delete(&Resource::jobs(), namespace, "x", &uid).unwrap(), Removed::Absent);
}

#[test]
fn a_log_is_read_through_a_cut() {
    let Some(kube) = cluster("a_log_is_read_through_a_cut") else { return };
    let place = Place::new(kube, "log");
    let proxy = Proxy::before(kube);
    let cluster = proxy.cluster();
    let namespace = place.name.as_str();
    let script = "i=0; while [ $i -lt 60 ]; do echo line $i; i=$((i+1)); sleep 0.2; done; echo last";
    cluster.create(namespace, &job("writer", script)).unwrap();
    let (sender, events) = channel();
    let _watching = cluster.watch(Watch::all(namespace, Resource::pods()).labels("run=writer"), sender, |seen| seen);
    let mut pod = String::new();
    until(&events, |seen| match seen {
        Seen::Applied(object) => {
            pod = object["metadata"]["name"].as_str().unwrap().to_owned();
            object["status"]["containerStatuses"][0]["state"]["running"].is_object()
        }
        _ => false,
    });

    let mut query =
        LogQuery { follow: true, timestamps: true, silence: Some(Duration::from_secs(2)), ..LogQuery::default() };
    let mut lines: Vec<String> = Vec::new();
    let mut cuts = 0;
    loop {
        let mut stream = cluster.log(namespace, &pod, "main", &query).unwrap();
        let mut text = Vec::new();
        let mut buffer = [0; 1000];
        let end = loop {
            match stream.read(&mut buffer) {
                Ok(0) => break Ok(()),
                Ok(count) => text.extend_from_slice(&buffer[..count]),
                Err(error) => break Err(error.kind()),
            }
            if cuts == 0 && text.len() > 500 {
                cuts += 1;
                proxy.set(STALL);
            }
        };
        proxy.set(PASS);
        let text = String::from_utf8(text).unwrap();
        // What came after the last end of line comes again.
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        for line in whole.lines() {
            if lines.last().is_none_or(|last| last.as_str() < line) {
                lines.push(line.to_owned());
            }
        }
        match end {
            Ok(()) => break,
            Err(kind) => assert!(matches!(kind, io::ErrorKind::TimedOut | io::ErrorKind::UnexpectedEof), "{kind}"),
        }
        query.since = lines.last().and_then(|line| line.split_once(' ')).map(|(time, _)| time.to_owned());
    }
    assert_eq!(cuts, 1);
    let said: Vec<&str> = lines.iter().map(|line| line.split_once(' ').unwrap().1).collect();
    let expected: Vec<String> = (0..60).map(|i| format!("line {i}")).chain(["last".to_owned()]).collect();
    assert_eq!(said, expected);
}

#[test]
fn refusals_come_back_whole() {
    let Some(kube) = cluster("refusals_come_back_whole") else { return };
    let place = Place::new(kube, "refusals");
    let namespace = place.name.as_str();
    let cluster = Proxy::before(kube).cluster();
    let mut wrong = job("x", "true");
    wrong["spec"]["template"]["spec"]["restartPolicy"] = "Always".into();
    let Err(Fault::Refused(refusal)) = cluster.create(namespace, &wrong) else { panic!() };
    assert_eq!((refusal.code, refusal.reason.as_str()), (422, "Invalid"));
    assert!(refusal.message.contains("restartPolicy"), "{}", refusal.message);
    kube.say(["create", "quota", "none", "--hard=count/jobs.batch=0", "-n", namespace]);
    let start = Instant::now();
    let refusal = loop {
        match cluster.create(namespace, &job("x", "true")) {
            Err(Fault::Refused(refusal)) => break refusal,
            // The quota is counted a moment after it was made.
            _ if start.elapsed() < PATIENCE => {
                let _ = kube.kubectl(["delete", "job", "x", "-n", namespace]);
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refusal.code, 403);
    assert!(refusal.message.contains("exceeded quota: none"), "{}", refusal.message);

    let Err(Fault::Refused(refusal)) = cluster.log(namespace, "nobody", "main", &LogQuery::default()) else { panic!() };
    assert_eq!((refusal.code, refusal.reason.as_str()), (404, "NotFound"));
    let unknown = Resource::new("example.com", "v1", "Thing", "things");
    let Err(Fault::Refused(refusal)) = cluster.get(&unknown, namespace, "x") else { panic!() };
    assert_eq!(refusal.code, 404);
    assert_eq!(cluster.read("/apis/example.com/v1").unwrap(), None);
    assert!(cluster.read("/version").unwrap().unwrap()["gitVersion"].is_string());
}

#[test]
#[ignore = "three minutes: cargo test --test it silent_minutes -- --ignored --nocapture"]
fn silent_minutes_change_nothing() {
    let Some(kube) = cluster("silent_minutes_change_nothing") else { return };
    let place = Place::new(kube, "silent");
    let proxy = Proxy::before(kube);
    let cluster = proxy.cluster();
    let (sender, events) = channel();
    let _watching = cluster.watch(Watch::all(&place.name, Resource::pods()), sender, |seen| seen);
    until(&events, |seen| *seen == Seen::Listed);
    let before = proxy.connections();
    assert_eq!(events.recv_timeout(Duration::from_secs(170)), Err(RecvTimeoutError::Timeout));
    println!("{} connections in 170 s", proxy.connections() - before);

    // A network that is cut silently for a minute: the watch that hung is given up, and what happened is found.
    proxy.set(STALL);
    let begin = Instant::now();
    kube.say(["create", "job", "x", "-n", &place.name, "--image", image(), "--", "true"]);
    thread::sleep(Duration::from_mins(1));
    proxy.set(PASS);
    until(&events, |seen| matches!(seen, Seen::Applied(_)));
    println!("found {} s after the cut began, {} connections", begin.elapsed().as_secs(), proxy.connections() - before);
}
