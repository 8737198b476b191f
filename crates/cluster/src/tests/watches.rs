use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::super::{Resource, Seen, Watch, Watching};
use super::cluster;
use kubebench_scripted_server::{Act, Server, answer, object, pieces, stall, status};

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

fn start(server: &Server) -> (Watching, Receiver<Seen>) {
    let (sender, events) = channel();
    let what = Watch::all("n", Resource::pods()).labels("run=x");
    (cluster(&server).watch(what, sender, |seen| seen), events)
}

fn next(events: &Receiver<Seen>) -> Seen {
    events.recv_timeout(Duration::from_secs(20)).unwrap()
}

/// Takes what is seen until `wanted` comes; all before it comes back.
fn until(events: &Receiver<Seen>, wanted: impl Fn(&Seen) -> bool) -> Vec<Seen> {
    let end = Instant::now() + Duration::from_secs(20);
    let mut all = Vec::new();
    loop {
        let seen = next(events);
        if wanted(&seen) {
            return all;
        }
        all.push(seen);
        assert!(Instant::now() < end, "{all:?}");
    }
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
    assert_eq!(events.recv_timeout(Duration::from_secs(2)), Err(RecvTimeoutError::Disconnected));
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
fn trouble_is_told_once_and_its_end_too() {
    let server = Server::new(|request, before| match before {
        0..3 => status(403, "Forbidden", "events is forbidden: User \"x\" cannot list resource \"events\""),
        3 => answer(500, "", "etcd"),
        5 => stall(),
        _ if is_watch(request) => vec![pieces(), Act::Stall],
        _ => list(&[], "5"),
    });
    let (_watching, events) = start(&server);
    let Seen::Trouble(why) = next(&events) else { panic!() };
    for part in ["watch pods in namespace `n`", "http://127.0.0.1:", "User \"x\" cannot list"] {
        assert!(why.contains(part), "{why}");
    }
    assert!(!why.contains("ApiError"), "{why}");
    assert_eq!(next(&events), Seen::Listed);
    // The watch hung once; that is not told again.
    assert_eq!(next(&events), Seen::Listed);
    assert_eq!(next(&events), Seen::Fine);
}

#[test]
fn a_watch_that_goes_dead_is_noticed() {
    let server = Server::new(|request, before| match (is_watch(request), before) {
        (false, _) => list(&["a"], "5"),
        // It answers and is silent; it does not answer.
        (true, 1) => vec![pieces(), Act::Stall],
        (true, 2) => stall(),
        _ => vec![pieces(), event("MODIFIED", &pod("a", "6")), Act::Stall],
    });
    let (_watching, events) = start(&server);
    let begin = Instant::now();
    until(&events, |seen| *seen == Seen::Applied(pod("a", "6")));
    assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
}

#[test]
fn a_listing_that_hangs_is_asked_for_again() {
    let server = Server::new(|request, before| match (is_watch(request), before) {
        (false, 0) => stall(),
        (false, 1) => vec![Act::Send(b"HTTP/1.1 200 X\r\nContent-Length: 1000\r\n\r\n{\"kind\":".to_vec()), Act::Stall],
        (false, _) => list(&["a"], "5"),
        _ => vec![pieces(), Act::Stall],
    });
    let (_watching, events) = start(&server);
    assert!(matches!(next(&events), Seen::Trouble(_)));
    let seen: Vec<Seen> = (0..3).map(|_| next(&events)).collect();
    assert_eq!(seen, [Seen::Applied(pod("a", "5")), Seen::Listed, Seen::Fine]);
}

#[test]
fn a_watch_that_the_server_ends_goes_on_where_it_was() {
    let server = Server::new(|request, before| match (is_watch(request), before) {
        (false, _) => list(&["a"], "5"),
        (true, 1) => {
            let bookmark = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": "8"}});
            vec![pieces(), event("BOOKMARK", &bookmark), Act::Wait(Duration::from_millis(300)), Act::End]
        }
        // Cut in the middle of an event.
        (true, 2) => vec![pieces(), Act::Piece(b"{\"type\":\"MODIF".to_vec())],
        (true, _) => vec![pieces(), event("MODIFIED", &pod("a", "9")), Act::Stall],
    });
    let (_watching, events) = start(&server);
    until(&events, |seen| *seen == Seen::Applied(pod("a", "9")));
    let requests = server.requests();
    assert!(requests[2].contains("resourceVersion=8"), "{requests:?}");
}

#[test]
fn nobody_who_listens_ends_a_watch() {
    let server = Server::new(|request, _| if is_watch(request) { stall() } else { list(&["a"], "5") });
    let (_watching, events) = start(&server);
    drop(events);
    std::thread::sleep(Duration::from_secs(1));
    assert!(server.requests().len() <= 2);
}

#[test]
fn watches_that_end_at_once_are_not_started_in_a_loop() {
    for speaks in [false, true] {
        let server = Server::new(move |request, _| {
            let bookmark = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": "8"}});
            match is_watch(request) {
                false => list(&["a"], "5"),
                true if speaks => vec![pieces(), event("BOOKMARK", &bookmark), Act::End],
                true => vec![pieces(), Act::End],
            }
        });
        let (_watching, events) = start(&server);
        until(&events, |seen| *seen == Seen::Listed);
        std::thread::sleep(Duration::from_secs(3));
        assert!(server.requests().len() < 25, "{} requests in 3 s", server.requests().len());
        // One that speaks is of use; nobody sees anything through the other.
        let trouble = events.try_iter().any(|seen| matches!(seen, Seen::Trouble(_)));
        assert_eq!(trouble, !speaks);
    }
}
