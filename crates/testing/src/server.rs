//! An HTTP server that does what a test says: answers, refuses, cuts, stalls.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::watchdog::until;

/// What the server does with a request, one after the other; then it closes the connection.
#[derive(Clone)]
pub enum Act {
    Send(Vec<u8>),
    /// One piece of a body of pieces.
    Piece(Vec<u8>),
    /// The end of a body of pieces.
    End,
    Wait(Duration),
    /// This many pieces of a megabyte, counted as they go.
    Flood(usize, Arc<AtomicUsize>),
    /// Nothing comes until it is so, or the client hangs up.
    Until(Arc<dyn Fn() -> bool + Send + Sync>),
    /// The connection stays open, and nothing more comes.
    Stall,
}

pub struct Server {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts one; `answer` gets the request's line and how many came before it.
    pub fn new(answer: impl Fn(&str, usize) -> Vec<Act> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&requests), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                thread::spawn(move || serve(stream, &seen, answer.as_ref()));
            }
        });
        Self { url, requests }
    }

    /// Starts one with these files, by path without the first `/`; others are 404.
    pub fn of_files(files: BTreeMap<String, Vec<u8>>) -> Self {
        Self::new(move |request, _| {
            let file = request.strip_prefix("GET /").and_then(|path| files.get(path.trim()));
            let (code, body) = file.map_or((404, &b"gone"[..]), |body| (200, body));
            let head = format!("HTTP/1.1 {code} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            vec![Act::Send([head.as_bytes(), body].concat())]
        })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// `METHOD /path?query body` of each request so far.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, seen: &Mutex<Vec<String>>, answer: &(dyn Fn(&str, usize) -> Vec<Act> + Send + Sync)) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    if reader.read_line(&mut line).unwrap_or(0) == 0 {
        return;
    }
    let mut length = 0;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header).unwrap_or(0) == 0 {
            return;
        }
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if header.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let request = line.rsplit_once(' ').unwrap().0.to_owned();
    let before = {
        let mut seen = seen.lock().unwrap();
        seen.push(format!("{request} {}", String::from_utf8(body).unwrap()).trim_end().to_owned());
        seen.len() - 1
    };
    for act in answer(&request, before) {
        let sent = match act {
            Act::Send(bytes) => stream.write_all(&bytes),
            Act::Piece(bytes) => stream.write_all(&piece(&bytes)),
            Act::Flood(count, sent) => {
                let piece = piece(&vec![b'x'; 1 << 20]);
                (0..count).try_for_each(|_| {
                    sent.fetch_add(1, Ordering::SeqCst);
                    stream.write_all(&piece)
                })
            }
            Act::End => stream.write_all(b"0\r\n\r\n"),
            Act::Wait(time) => {
                thread::sleep(time);
                Ok(())
            }
            Act::Until(is_so) => {
                stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
                let hangs_up = || matches!(stream.peek(&mut [0]), Ok(0));
                until("what the server waits for", || is_so() || hangs_up());
                Ok(())
            }
            Act::Stall => loop {
                thread::sleep(Duration::from_mins(1));
            },
        };
        if sent.is_err() {
            return;
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
}

fn piece(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// An answer with a body.
pub fn answer(code: u16, headers: &str, body: &str) -> Vec<Act> {
    let head = format!("HTTP/1.1 {code} X\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n", body.len());
    vec![Act::Send(format!("{head}{body}").into_bytes())]
}

pub fn object(body: &Json) -> Vec<Act> {
    answer(200, "Content-Type: application/json\r\n", &body.to_string())
}

/// The API server's own refusal.
pub fn status(code: u16, reason: &str, message: &str) -> Vec<Act> {
    let body = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "code": code, "reason": reason, "message": message});
    answer(code, "Content-Type: application/json\r\n", &body.to_string())
}

/// The head of an answer whose body comes in pieces.
pub fn pieces() -> Act {
    Act::Send(b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n".to_vec())
}

/// An answer that never comes.
pub fn stall() -> Vec<Act> {
    vec![Act::Stall]
}

/// A connection that ends without an answer.
pub fn cut() -> Vec<Act> {
    Vec::new()
}
