use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use tokio::runtime::Builder;

use super::super::call::Rules;
use super::super::{Action, Cluster, Fault, Made, Refusal, Removed, Resource};
use super::cluster;
use kubebench_testing::server::{Act, Server, answer, cut, object, stall, status};
use kubebench_testing::snapshot::{assert_text, str};
use kubebench_testing::watchdog::{WATCHDOG, returns, until};

fn pod(name: &str, uid: &str) -> Json {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "uid": uid}})
}

fn refusal(fault: Fault) -> Refusal {
    match fault {
        Fault::Refused(refusal) => refusal,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_call_continues_through_whatever_passes() {
    let server = Server::new(|_, before| match before {
        0 => cut(),
        1 => answer(503, "", "upstream connect error"),
        2 => status(500, "InternalError", "failed calling webhook: connection refused"),
        // The body ends before its length.
        3 => vec![Act::Send(b"HTTP/1.1 200 X\r\nContent-Length: 1000\r\n\r\n{\"kind\":".to_vec())],
        4 => answer(401, "", "Unauthorized"),
        _ => object(&pod("x", "1")),
    });
    let found = cluster(&server).get(&Resource::pods(), "n", "x").unwrap();
    assert_eq!(found, Some(pod("x", "1")));
    let requests = server.requests();
    assert_eq!(requests.len(), 6);
    assert!(requests.iter().all(|request| request == "GET /api/v1/namespaces/n/pods/x"), "{requests:?}");
}

#[test]
fn an_answer_that_says_when_is_obeyed() {
    let server = Server::new(|_, before| match before {
        0 => answer(429, "Retry-After: 1\r\n", "Too many requests, please try again later."),
        _ => object(&pod("x", "1")),
    });
    let start = Instant::now();
    cluster(&server).get(&Resource::pods(), "n", "x").unwrap().unwrap();
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_server_that_starts_again_is_waited_for() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let call = thread::spawn(move || {
        Cluster::of_test(&format!("http://{free}"), WATCHDOG).patience(WATCHDOG).read("/version")
    });
    // Some connections are refused meanwhile.
    thread::sleep(Duration::from_millis(300));
    let listener = TcpListener::bind(free).unwrap();
    // On a busy machine a first connection may have been given up before it is answered.
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = std::io::Write::write_all(&mut stream, b"HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\n{}");
        }
    });
    assert_eq!(call.join().unwrap().unwrap(), Some(json!({})));
}

/// A server that is never well gives no other reason to return.
#[test]
fn patience_ends() {
    const PATIENCE: Duration = Duration::from_secs(1);
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let cluster = Cluster::of_test(&format!("http://{free}"), WATCHDOG).patience(PATIENCE);
    let refused = returns("a call that nobody takes", move || cluster.get(&Resource::pods(), "n", "x"));
    let Err(Fault::Unreachable(why)) = refused else { panic!() };
    for part in [&format!("http://{free}"), "get Pod `x` in namespace `n`", "onnection refused", "tried "] {
        assert!(why.contains(part), "{why}");
    }

    let server = Server::new(|_, _| status(503, "ServiceUnavailable", "etcd is not there"));
    let cluster = super::cluster(&server).patience(PATIENCE);
    let refused = refusal(returns("a call that is refused", move || cluster.read("/version")).unwrap_err());
    assert_eq!((refused.code, refused.message.as_str()), (503, "etcd is not there"));
    assert!(server.requests().len() > 1);

    let server = Server::new(|_, _| stall());
    let cluster = super::cluster_dead_after(&server, PATIENCE).patience(PATIENCE);
    let silent = returns("a call that is not answered", move || cluster.read("/version"));
    assert!(matches!(silent, Err(Fault::Unreachable(_))), "{silent:?}");
}

#[test]
fn refusals_are_not_tried_again_and_come_back_whole() {
    let denied = "admission webhook \"validate.example.com\" denied the request: no GPUs on Fridays";
    let quota = "pods \"x\" is forbidden: exceeded quota: team, requested: pods=1, used: pods=9, limited: pods=9";
    for (code, reason, message) in
        [(400, "BadRequest", denied), (403, "Forbidden", quota), (422, "Invalid", "no image")]
    {
        let server = Server::new(move |_, _| status(code, reason, message));
        let refused = refusal(cluster(&server).create("n", &pod("x", "1")).unwrap_err());
        assert_eq!((refused.code, refused.reason.as_str(), refused.message.as_str()), (code, reason, message));
        assert_text(refused.asked, str! {"create Pod `x` in namespace `n`"});
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn roles_that_an_api_server_does_not_know_yet_are_waited_for() {
    let forbidden =
        "pods \"x\" is forbidden: User \"system:serviceaccount:n:r\" cannot get resource \"pods\" in API group \"\"";
    let server = Server::new(move |_, before| match before {
        0 | 1 => status(403, "Forbidden", forbidden),
        _ => object(&pod("x", "1")),
    });
    cluster(&server).get(&Resource::pods(), "n", "x").unwrap().unwrap();

    let server = Server::new(move |_, _| status(403, "Forbidden", forbidden));
    let patient = cluster(&server).patience(Duration::from_secs(2));
    let refused = refusal(patient.get(&Resource::pods(), "n", "x").unwrap_err());
    assert_eq!((refused.code, refused.message.as_str()), (403, forbidden));
    // In a tenth of the patience there are at most six, and at least eight in all of it.
    assert!(server.requests().len() <= 6, "{} requests", server.requests().len());
}

#[test]
fn a_create_whose_answer_was_lost_finds_its_object() {
    let server = Server::new(|request, before| match (request, before) {
        ("POST /api/v1/namespaces/n/pods?", 0) => cut(),
        ("POST /api/v1/namespaces/n/pods?", _) => status(409, "AlreadyExists", "pods \"x\" already exists"),
        ("GET /api/v1/namespaces/n/pods/x", _) => object(&pod("x", "7")),
        _ => status(404, "NotFound", "?"),
    });
    assert_eq!(cluster(&server).create("n", &pod("x", "")).unwrap(), Made::There(pod("x", "7")));
}

#[test]
fn a_name_that_becomes_free_is_taken() {
    let server = Server::new(|_, before| match before {
        0 => status(409, "AlreadyExists", "pods \"x\" already exists"),
        1 => status(404, "NotFound", "pods \"x\" not found"),
        2 => status(409, "Conflict", "Operation cannot be fulfilled on resourcequotas \"team\""),
        _ => object(&pod("x", "8")),
    });
    assert_eq!(cluster(&server).create("n", &pod("x", "")).unwrap(), Made::New(pod("x", "8")));
}

#[test]
fn a_name_that_is_taken_by_nothing_is_given_up() {
    let server = Server::new(|request, _| match request {
        "POST /api/v1/namespaces/n/pods?" => status(409, "AlreadyExists", "pods \"x\" already exists"),
        _ => status(404, "NotFound", "pods \"x\" not found"),
    });
    assert_eq!(refusal(cluster(&server).create("n", &pod("x", "")).unwrap_err()).code, 409);
}

#[test]
fn only_the_api_server_itself_says_that_an_object_is_not_there() {
    let gone = Server::new(|_, _| status(404, "NotFound", "pods \"x\" not found"));
    assert_eq!(cluster(&gone).get(&Resource::pods(), "n", "x").unwrap(), None);
    assert_eq!(cluster(&gone).delete(&Resource::pods(), "n", "x", "1").unwrap(), Removed::Absent);
    // A load balancer, or an API server that does not have the kind.
    let other = Server::new(|_, _| answer(404, "", "404 page not found\n"));
    assert_eq!(refusal(cluster(&other).get(&Resource::pods(), "n", "x").unwrap_err()).message, "404 page not found");
    assert_eq!(refusal(cluster(&other).delete(&Resource::pods(), "n", "x", "1").unwrap_err()).code, 404);
    assert_eq!(cluster(&other).read("/apis/x.example/v1").unwrap(), None);
}

#[test]
fn another_object_of_the_name_is_not_deleted() {
    let message = "Operation cannot be fulfilled on pods \"x\": the UID in the precondition (1) does not match the UID in \
                   record (2). Precondition failed: UID in precondition: 1, UID in object meta: 2";
    let server = Server::new(move |_, _| status(409, "Conflict", message));
    assert_eq!(cluster(&server).delete(&Resource::pods(), "n", "x", "1").unwrap(), Removed::Other);
    let requests = server.requests();
    let body: Json = serde_json::from_str(requests[0].split_once(' ').unwrap().1.split_once(' ').unwrap().1).unwrap();
    assert_eq!(body["preconditions"]["uid"], "1");
    assert_eq!(body["propagationPolicy"], "Foreground");
    assert_eq!(requests.len(), 1);
}

#[test]
fn lists_come_in_pages_and_begin_again_when_their_place_is_forgotten() {
    let page = |names: &[&str], next: &str| {
        let items: Vec<Json> =
            names.iter().map(|name| json!({"metadata": {"name": name, "managedFields": [{}]}})).collect();
        object(&json!({"kind": "PodList", "metadata": {"continue": next}, "items": items}))
    };
    let server = Server::new(move |_, before| match before {
        0 | 2 => page(&["a", "b"], "t1"),
        1 => status(410, "Expired", "The provided continue parameter is too old"),
        _ => page(&["c"], ""),
    });
    let pods = cluster(&server).list(&Resource::pods(), "n", "run=x").unwrap();
    let expected = |name| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}});
    assert_eq!(pods, ["a", "b", "c"].map(expected));
    assert_eq!(server.requests()[3], "GET /api/v1/namespaces/n/pods?&labelSelector=run%3Dx&limit=500&continue=t1");
}

#[test]
fn a_call_that_has_to_stop_ends() {
    const FOR_EVER: Duration = Duration::from_secs(1 << 20);
    let stop = Arc::new(AtomicBool::new(false));
    let server = Server::new(|_, _| answer(429, "Retry-After: 50\r\n", ""));
    let cluster = cluster(&server).patience(FOR_EVER).stop_with(Arc::clone(&stop));
    let call = thread::spawn(move || cluster.read("/version"));
    until("the first request", || !server.requests().is_empty());
    stop.store(true, Ordering::Relaxed);
    assert!(returns("a call that is told to stop", move || call.join().unwrap()).is_err());
    assert!(server.requests().len() <= 2, "{:?}", server.requests());

    // A pause ends too, however long.
    let rules = Rules { patience: FOR_EVER, stop: Arc::clone(&stop) };
    returns("a pause", move || {
        Builder::new_current_thread().enable_time().build().unwrap().block_on(rules.pause(FOR_EVER));
    });

    // It may still clean up.
    let server = Server::new(|_, _| object(&pod("x", "1")));
    let cluster = super::cluster(&server).stop_with(stop);
    assert_eq!(cluster.delete(&Resource::pods(), "n", "x", "1").unwrap(), Removed::Asked);
}

#[test]
fn whether_something_may_be_done_is_asked() {
    let server = Server::new(|_, _| object(&json!({"status": {"allowed": true}})));
    let action = Action { namespace: Some("n"), verb: "get", group: "", resource: "pods", subresource: "log" };
    assert!(cluster(&server).may(action).unwrap());
    let request = server.requests().remove(0);
    let (head, body) = request.split_once("? ").unwrap();
    assert_eq!(head, "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
    let body: Json = serde_json::from_str(body).unwrap();
    let attributes = &body["spec"]["resourceAttributes"];
    assert_eq!((&attributes["namespace"], &attributes["subresource"]), (&json!("n"), &json!("log")));
}

#[test]
fn no_name_leads_to_another_path() {
    let server = Server::new(|_, _| object(&json!({})));
    for name in ["", "..", "a/b", "a?watch=true", "a b", "a%2fb", "ä"] {
        let refused = refusal(cluster(&server).get(&Resource::pods(), "n", name).unwrap_err());
        assert_eq!(refused.code, 0, "{name}");
        refusal(cluster(&server).get(&Resource::pods(), name, "x").unwrap_err());
    }
    assert_eq!(server.requests(), Vec::<String>::new());
}

#[test]
fn kinds_are_read_from_objects() {
    let of = |api: &str, kind: &str| Resource::of(&json!({"apiVersion": api, "kind": kind}));
    assert_eq!(of("v1", "Service"), Some(Resource::services()));
    assert_eq!(of("batch/v1", "Job"), Some(Resource::jobs()));
    assert_eq!(of("kubeflow.org/v1", "PyTorchJob").unwrap().plural, "pytorchjobs");
    assert_eq!(of("kubeflow.org/v2beta1", "MPIJob").unwrap().plural, "mpijobs");
    assert_eq!(of("networking.k8s.io/v1", "NetworkPolicy").unwrap().plural, "networkpolicies");
    assert_eq!(of("v1", ""), None);
    assert_eq!(Resource::of(&json!(3)), None);
}
