use std::io::{ErrorKind, Read as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::super::{Fault, LogQuery, LogStream};
use super::{cluster, cluster_dead_after};
use kubebench_testing::server::{Act, Server, answer, cut, pieces, status};
use kubebench_testing::snapshot::{assert_text, str};
use kubebench_testing::watchdog::{WATCHDOG, returns, until};

fn open(server: &Server, query: &LogQuery) -> Result<LogStream, Fault> {
    cluster(server).log("n", "p", "main", query)
}

fn following() -> LogQuery {
    LogQuery { follow: true, silence: Some(WATCHDOG), ..LogQuery::default() }
}

fn text(stream: &mut LogStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_log_is_read_to_its_end() {
    let server = Server::new(|_, _| {
        vec![
            pieces(),
            Act::Piece(b"one\ntw".to_vec()),
            Act::Wait(Duration::from_millis(100)),
            Act::Piece(b"o\n".to_vec()),
            Act::End,
        ]
    });
    let query = LogQuery {
        previous: true,
        timestamps: true,
        since: Some("2026-11-21T10:00:00.5+01:00".to_owned()),
        tail_lines: Some(7),
        ..following()
    };
    assert_eq!(text(&mut open(&server, &query).unwrap()), "one\ntwo\n");
    assert_eq!(
        server.requests(),
        ["GET /api/v1/namespaces/n/pods/p/log?container=main&previous=true&follow=true&timestamps=true\
          &sinceTime=2026-11-21T10:00:00.5%2B01:00&tailLines=7"]
    );
}

#[test]
fn an_end_that_is_none_is_an_error() {
    let server = Server::new(|_, _| vec![pieces(), Act::Piece(b"one\n".to_vec())]);
    let mut stream = open(&server, &following()).unwrap();
    let mut bytes = Vec::new();
    let error = stream.read_to_end(&mut bytes).unwrap_err();
    assert_eq!((bytes.as_slice(), error.kind()), (&b"one\n"[..], ErrorKind::UnexpectedEof));
}

#[test]
fn silence_is_an_error() {
    for speaks in [true, false] {
        let server = Server::new(move |_, _| {
            if speaks { vec![pieces(), Act::Piece(b"one\n".to_vec()), Act::Stall] } else { vec![Act::Stall] }
        });
        let query = LogQuery { silence: Some(Duration::from_secs(1)), ..following() };
        let (bytes, error) = returns("a log that is silent", move || {
            let mut bytes = Vec::new();
            let error = open(&server, &query).unwrap().read_to_end(&mut bytes).unwrap_err();
            (bytes, error)
        });
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert_text(error, str! {"no data arrived for 1 s"});
        assert_eq!(bytes, if speaks { &b"one\n"[..] } else { b"" });
    }
}

#[test]
fn a_log_that_cannot_be_opened_is_tried_again_or_refused() {
    let server = Server::new(|_, before| match before {
        0 => cut(),
        1 => status(500, "InternalError", "Get \"https://10.0.0.1:10250/\": dial tcp: connection refused"),
        2 => answer(429, "Retry-After: 1\r\n", "later"),
        _ => vec![pieces(), Act::Piece(b"one\n".to_vec()), Act::End],
    });
    assert_eq!(text(&mut open(&server, &following()).unwrap()), "one\n");

    let waiting = "container \"main\" in pod \"p\" is waiting to start: ContainerCreating";
    let server = Server::new(move |_, _| status(400, "BadRequest", waiting));
    let Err(Fault::Refused(refusal)) = open(&server, &following()) else { panic!() };
    assert_eq!((refusal.code, refusal.message.as_str()), (400, waiting));
    assert_text(refusal.asked, str! {"read the log of container `main` of Pod `p` in namespace `n`"});
    assert_eq!(server.requests().len(), 1);
}

/// A log of `megabytes`, and how many of them were sent.
fn large(megabytes: usize) -> (Server, Arc<AtomicUsize>) {
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    let flood = move |_: &str, _| vec![pieces(), Act::Flood(megabytes, Arc::clone(&count)), Act::End];
    (Server::new(flood), sent)
}

fn read_all(stream: &mut LogStream) -> usize {
    let mut buffer = vec![0; 256 << 10];
    let mut count = 0;
    loop {
        match stream.read(&mut buffer).unwrap() {
            0 => return count,
            read => count += read,
        }
    }
}

#[test]
fn a_reader_that_is_slow_holds_the_server_back() {
    let (server, sent) = large(64);
    let silence = Duration::from_millis(1500);
    let query = LogQuery { silence: Some(silence), ..following() };
    let mut stream = cluster_dead_after(&server, silence).log("n", "p", "main", &query).unwrap();
    // Longer than any limit of silence: it is the reader who is silent.
    thread::sleep(silence + Duration::from_millis(500));
    let ahead = sent.load(Ordering::SeqCst);
    assert!(ahead < 24, "{ahead} MB were read ahead");
    assert_eq!(read_all(&mut stream), 64 << 20);
}

#[test]
fn a_dropped_log_hangs_up() {
    let (server, sent) = large(usize::MAX);
    let mut stream = open(&server, &following()).unwrap();
    stream.read_exact(&mut [0; 1000]).unwrap();
    assert_eq!(Arc::strong_count(&sent), 3, "held here, by the server, and by the log that it sends");
    drop(stream);
    until("the end of a log without an end", || Arc::strong_count(&sent) == 2);
}

#[test]
#[ignore = "a measurement: cargo test --release --lib how_fast -- --ignored --nocapture"]
fn how_fast_a_log_is_read() {
    let (server, _) = large(4096);
    let start = Instant::now();
    let count = read_all(&mut open(&server, &following()).unwrap());
    println!("{:.0} MB/s", count as f64 / 1e6 / start.elapsed().as_secs_f64());
}

#[test]
fn a_reader_of_a_silent_log_may_look_up_and_read_on() {
    let server = Server::new(|_, _| {
        vec![
            pieces(),
            Act::Piece(b"one\n".to_vec()),
            Act::Wait(Duration::from_millis(300)),
            Act::Piece(b"two\n".to_vec()),
            Act::End,
        ]
    });
    let query = LogQuery { look: Some(Duration::from_millis(50)), ..following() };
    let mut stream = open(&server, &query).unwrap();
    let (mut text, mut looks, mut buffer) = (Vec::new(), 0, [0; 64]);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => text.extend_from_slice(&buffer[..count]),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                looks += 1;
            }
        }
    }
    assert_eq!(text, b"one\ntwo\n");
    assert!(looks > 0, "nothing came for 300 ms");
}
