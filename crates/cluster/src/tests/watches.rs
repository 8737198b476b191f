use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::super::watch::SHORT;
use super::super::{Cluster, Resource, Seen, Watch, Watching};
use super::{cluster, cluster_dead_after};
use kubebench_testing::server::{Act, Server, answer, object, pieces, stall, status};
use kubebench_testing::snapshot::{assert_text, named, str};
use kubebench_testing::watchdog;

/// After so long a silence a server counts as dead, where a test waits for that.
const DEAD: Duration = Duration::from_millis(500);

fn pod(name: &str, version: &str) -> Json {
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "uid": format!("uid-{name}"), "resourceVersion": version}})
}

fn list(names: &[&str], version: &str) -> Vec<Act> {
    let mut items: Vec<Json> = names.iter().map(|name| pod(name, version)).collect();
    for item in &mut items {
        item.as_object_mut().unwrap().retain(|key, _| key == "metadata");
        item["metadata"]["managedFields"] = json!([{"manager": "kubelet"}]);
    }
    object(&json!({"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": version}, "items": items}))
}

fn event(kind: &str, object: &Json) -> Act {
    Act::Piece(format!("{}\n", json!({"type": kind, "object": object})).into_bytes())
}

/// What a watch shows that is well.
fn bookmark() -> Act {
    event("BOOKMARK", &json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": "8"}}))
}

fn watch(cluster: &Cluster) -> (Watching, Receiver<Seen>) {
    let (sender, events) = channel();
    let what = Watch::all("n", Resource::pods()).labels("run=x");
    (cluster.watch(what, sender, |seen| seen), events)
}

fn start(server: &Server) -> (Watching, Receiver<Seen>) {
    watch(&cluster(server))
}

/// Answers lists and watches by how many of the same came before.
fn counted(answer: impl Fn(bool, usize) -> Vec<Act> + Send + Sync + 'static) -> Server {
    let (lists, watches) = (AtomicUsize::new(0), AtomicUsize::new(0));
    Server::new(move |request, _| {
        let count = if is_watch(request) { &watches } else { &lists };
        answer(is_watch(request), count.fetch_add(1, Ordering::SeqCst))
    })
}

fn next(events: &Receiver<Seen>) -> Seen {
    watchdog::next("what a watch sees", events)
}

/// Takes what is seen until `wanted` comes; all before it comes back.
fn until(events: &Receiver<Seen>, wanted: &Seen) -> Vec<Seen> {
    let mut all = Vec::new();
    watchdog::until(&format!("{wanted:?}"), || {
        all.push(next(events));
        all.last() == Some(wanted)
    });
    all.pop();
    all
}

fn gone(name: &str) -> Seen {
    Seen::Gone { uid: format!("uid-{name}") }
}

fn is_watch(request: &str) -> bool {
    request.contains("watch=true")
}

#[test]
fn objects_come_and_go() {
    let server = Server::new(|request, _| {
        if !is_watch(request) {
            return list(&["a"], "5");
        }
        vec![pieces(), event("ADDED", &pod("b", "6")), event("DELETED", &pod("a", "7")), Act::Stall]
    });
    let (watching, events) = start(&server);
    let seen: Vec<Seen> = (0..5).map(|_| next(&events)).collect();
    let applied = |name, version| Seen::Applied(pod(name, version));
    assert_eq!(seen, [applied("a", "5"), Seen::Listed, applied("b", "6"), applied("a", "7"), gone("a")]);
    let requests = server.requests();
    assert_eq!(requests[0], "GET /api/v1/namespaces/n/pods?&labelSelector=run%3Dx&limit=500");
    assert!(
        requests[1].contains("allowWatchBookmarks=true") && requests[1].contains("resourceVersion=5"),
        "{requests:?}"
    );
    drop(watching);
    watchdog::ended("a watch", &events);
}

#[test]
fn what_went_while_nobody_watched_is_gone_after_the_next_listing() {
    for forgotten in ["event", "answer"] {
        let server = Server::new(move |request, before| match (is_watch(request), before) {
            (false, 0) => list(&["a", "b"], "5"),
            (false, _) => list(&["b", "c"], "9"),
            (true, 1) if forgotten == "event" => {
                let status =
                    json!({"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"});
                vec![pieces(), event("ERROR", &status), Act::End]
            }
            (true, 1) => status(410, "Expired", "too old resource version"),
            _ => stall(),
        });
        let (_watching, events) = start(&server);
        let seen: Vec<Seen> = (0..7).map(|_| next(&events)).collect();
        assert_eq!(seen[2], Seen::Listed);
        assert_eq!(seen[3..], [Seen::Applied(pod("b", "9")), Seen::Applied(pod("c", "9")), gone("a"), Seen::Listed]);
    }
}

#[test]
fn trouble_is_reported_once_and_its_end_too() {
    let server = counted(|is_watch, before| match (is_watch, before) {
        (false, 0..3) => status(403, "Forbidden", "events is forbidden: User \"x\" cannot list resource \"events\""),
        (false, 3) => answer(500, "", "etcd"),
        (false, _) => list(&[], "5"),
        (true, 0) => stall(),
        (true, _) => vec![pieces(), bookmark(), Act::Stall],
    });
    let (_watching, events) = watch(&cluster_dead_after(&server, DEAD));
    let Seen::Trouble(why) = next(&events) else { panic!() };
    assert_text(
        named(why, &[(server.url(), "SERVER")]),
        str! {[r#"cannot watch pods in namespace `n` on SERVER: events is forbidden: User "x" cannot list resource "events" (403)"#]},
    );
    // The watch hung once; that is not reported again.
    let before = until(&events, &Seen::Fine);
    assert!(before.len() > 1 && before.iter().all(|seen| *seen == Seen::Listed), "{before:?}");
}

#[test]
fn a_watch_that_goes_dead_is_noticed() {
    let server = counted(|is_watch, before| match (is_watch, before) {
        (false, _) => list(&["a"], "5"),
        // It answers and is silent; it does not answer.
        (true, 0) => vec![pieces(), Act::Stall],
        (true, 1) => stall(),
        (true, _) => vec![pieces(), event("MODIFIED", &pod("a", "6")), Act::Stall],
    });
    let (_watching, events) = watch(&cluster_dead_after(&server, DEAD));
    until(&events, &Seen::Applied(pod("a", "6")));
}

/// On a connection that is not dead.
#[test]
fn a_watch_that_the_server_does_not_end_is_noticed() {
    let server = counted(|is_watch, before| match (is_watch, before) {
        (false, _) => list(&["a"], "5"),
        (true, 0) => vec![pieces(), Act::Stall],
        (true, _) => vec![pieces(), event("MODIFIED", &pod("a", "6")), Act::Stall],
    });
    let (_watching, events) = start(&server);
    until(&events, &Seen::Applied(pod("a", "6")));
}

#[test]
fn a_listing_that_hangs_is_asked_for_again() {
    let server = counted(|is_watch, before| match (is_watch, before) {
        (false, 0) => stall(),
        (false, 1) => vec![Act::Send(b"HTTP/1.1 200 X\r\nContent-Length: 1000\r\n\r\n{\"kind\":".to_vec()), Act::Stall],
        (false, _) => list(&["a"], "5"),
        (true, _) => vec![pieces(), bookmark(), Act::Stall],
    });
    let (_watching, events) = watch(&cluster_dead_after(&server, DEAD));
    assert!(matches!(next(&events), Seen::Trouble(_)));
    let before = until(&events, &Seen::Fine);
    assert_eq!(before.get(..2), Some(&[Seen::Applied(pod("a", "5")), Seen::Listed][..]));
    assert!(!before.iter().any(|seen| matches!(seen, Seen::Trouble(_))), "{before:?}");
}

#[test]
fn a_watch_that_the_server_ends_continues_where_it_was() {
    let server = Server::new(|request, before| match (is_watch(request), before) {
        (false, _) => list(&["a"], "5"),
        (true, 1) => vec![pieces(), bookmark(), Act::Wait(Duration::from_millis(100)), Act::End],
        // Cut in the middle of an event.
        (true, 2) => vec![pieces(), Act::Piece(b"{\"type\":\"MODIF".to_vec())],
        (true, _) => vec![pieces(), event("MODIFIED", &pod("a", "9")), Act::Stall],
    });
    let (_watching, events) = start(&server);
    until(&events, &Seen::Applied(pod("a", "9")));
    let requests = server.requests();
    assert!(requests[2].contains("resourceVersion=8"), "{requests:?}");
}

#[test]
fn nobody_who_listens_ends_a_watch() {
    let server = Server::new(|request, _| if is_watch(request) { stall() } else { list(&["a"], "5") });
    let (watching, events) = watch(&cluster_dead_after(&server, DEAD));
    drop(events);
    watchdog::until("the end of the watch", || watching.is_over());
}

#[test]
fn watches_that_end_at_once_are_not_started_in_a_loop() {
    // Half of what the pauses after five failures may be, and the least that so many watches last.
    for (speaks, least) in [(false, Duration::from_millis(25 + 50 + 100 + 200) / 2), (true, 4 * SHORT)] {
        let server = Server::new(move |request, _| match is_watch(request) {
            false => list(&["a"], "5"),
            true if speaks => vec![pieces(), bookmark(), Act::End],
            // In one piece, so that no machine is so slow that it looks like a watch that lasted.
            true => {
                let empty = b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n";
                vec![Act::Send(empty.to_vec())]
            }
        });
        let begin = Instant::now();
        let (_watching, events) = start(&server);
        let watches = || server.requests().iter().filter(|request| is_watch(request)).count();
        watchdog::until("the fifth watch", || watches() >= 5);
        assert!(begin.elapsed() >= least, "five watches in {:?}", begin.elapsed());
        // One that speaks is of use; the other shows nothing.
        let trouble = events.try_iter().any(|seen| matches!(seen, Seen::Trouble(_)));
        assert_eq!(trouble, !speaks);
    }
}
