//! Real git servers on loopback: `git http-backend` behind a small HTTP server that can fail in chosen ways, and `git daemon`.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What happens to one push instead of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No answer until the client goes away.
    Hang,
    /// The connection ends in the middle of the pack.
    CloseMidPack,
    /// HTTP status 500.
    Status500,
    /// The push takes place, and the connection ends before the answer.
    DropAnswer,
    /// HTTP status 403.
    Forbidden,
}

struct State {
    root: PathBuf,
    /// Faults of the next pushes, one each.
    faults: Mutex<Vec<Fault>>,
    /// The fault of all pushes after those.
    always: Option<Fault>,
    /// `user:password` that every request must bring.
    password: Option<String>,
    pushes: AtomicUsize,
    sent: AtomicUsize,
    stop: AtomicBool,
}

/// An HTTP server that serves the repositories of a folder.
pub(crate) struct Http {
    state: Arc<State>,
    address: std::net::SocketAddr,
}

impl Http {
    /// Serves `root`; the next pushes have `faults`, and all after them `always`.
    pub(crate) fn serve(root: &Path, faults: &[Fault], always: Option<Fault>, password: Option<&str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            root: root.to_owned(),
            faults: Mutex::new(faults.to_vec()),
            always,
            password: password.map(str::to_owned),
            pushes: AtomicUsize::new(0),
            sent: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
        });
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                if shared.stop.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&shared);
                // A client that goes away is what these tests are about.
                std::thread::spawn(move || drop(answer(&shared, &stream)));
            }
        });
        Self { state, address }
    }

    /// The address of a repository.
    pub(crate) fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    /// How many bytes of answers were sent.
    pub(crate) fn sent(&self) -> usize {
        self.state.sent.load(Ordering::SeqCst)
    }

    /// How many packs were pushed, faults included.
    pub(crate) fn pushes(&self) -> usize {
        self.state.pushes.load(Ordering::SeqCst)
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.state.stop.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
    }
}

fn answer(state: &State, mut stream: &TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    if headers.get("expect").is_some_and(|value| value.contains("100")) {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    if let Some(password) = &state.password {
        let brought = headers.get("authorization").and_then(|value| value.strip_prefix("Basic "));
        if brought != Some(base64(password.as_bytes()).as_str()) {
            let head = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"\r\n";
            return stream.write_all(format!("{head}Content-Length: 0\r\nConnection: close\r\n\r\n").as_bytes());
        }
    }
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let is_push = method == "POST" && path.ends_with("/git-receive-pack");
    // Git asks with an empty pack first when it has much to send.
    let mut fault = None;
    if is_push {
        state.pushes.fetch_add(1, Ordering::SeqCst);
        let mut faults = state.faults.lock().unwrap();
        fault = if faults.is_empty() { state.always } else { Some(faults.remove(0)) };
    }
    match fault {
        Some(Fault::CloseMidPack) => {
            let mut some = [0; 200];
            reader.read_exact(&mut some)?;
            return stream.shutdown(Shutdown::Both);
        }
        Some(Fault::Hang) => {
            // The client kills its connection; a hang of ours ends with the process.
            std::io::copy(&mut reader, &mut std::io::sink())?;
            return Ok(());
        }
        _ => {}
    }
    let body = body(&mut reader, &headers)?;
    let refusal = match fault {
        Some(Fault::Status500) => Some("500 Internal Server Error"),
        Some(Fault::Forbidden) => Some("403 Forbidden"),
        _ => None,
    };
    if let Some(status) = refusal {
        return stream
            .write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").as_bytes());
    }
    let output = backend(state, &method, path, query, &headers, &body)?;
    if fault == Some(Fault::DropAnswer) {
        return stream.shutdown(Shutdown::Both);
    }
    let split = output.windows(4).position(|window| window == b"\r\n\r\n").unwrap_or(output.len());
    let (head, rest) = output.split_at(split);
    let head = String::from_utf8_lossy(head);
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK").to_owned();
    let headers: String =
        head.lines().filter(|line| !line.starts_with("Status:")).map(|line| format!("{line}\r\n")).collect();
    let rest = rest.strip_prefix(b"\r\n\r\n").unwrap_or(rest);
    let length = rest.len();
    state.sent.fetch_add(length, Ordering::SeqCst);
    write!(stream, "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n")?;
    stream.write_all(rest)
}

fn body(reader: &mut BufReader<&TcpStream>, headers: &BTreeMap<String, String>) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    if let Some(length) = headers.get("content-length") {
        reader.take(length.parse().unwrap()).read_to_end(&mut body)?;
    } else if headers.contains_key("transfer-encoding") {
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let length = u64::from_str_radix(line.trim(), 16).unwrap_or(0);
            reader.take(length).read_to_end(&mut body)?;
            reader.read_line(&mut String::new())?;
            if length == 0 {
                break;
            }
        }
    }
    Ok(body)
}

/// Runs `git http-backend` as a CGI program.
fn backend(
    state: &State,
    method: &str,
    path: &str,
    query: &str,
    headers: &BTreeMap<String, String>,
    body: &[u8],
) -> std::io::Result<Vec<u8>> {
    let mut command = Command::new("git");
    command.arg("http-backend").env("GIT_PROJECT_ROOT", &state.root).env("GIT_HTTP_EXPORT_ALL", "1");
    command.env("REQUEST_METHOD", method).env("PATH_INFO", path).env("QUERY_STRING", query);
    command.env("REMOTE_ADDR", "127.0.0.1").env("CONTENT_LENGTH", body.len().to_string());
    for (header, variable) in [
        ("content-type", "CONTENT_TYPE"),
        ("content-encoding", "HTTP_CONTENT_ENCODING"),
        ("git-protocol", "GIT_PROTOCOL"),
    ] {
        if let Some(value) = headers.get(header) {
            command.env(variable, value);
        }
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || drop(stdin.write_all(body)));
        let mut output = Vec::new();
        stdout.read_to_end(&mut output)?;
        child.wait()?;
        Ok(output)
    })
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().chain([&0; 3]).take(3).fold(0_usize, |word, byte| word << 8 | usize::from(*byte));
        for place in 0..4 {
            let letter = LETTERS[word >> (18 - 6 * place) & 63];
            text.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

/// `git daemon` on a free port, ended when dropped.
pub(crate) struct Daemon {
    child: Child,
    port: u16,
}

impl Daemon {
    /// Serves `root`, or nothing, visibly, where there is no such program.
    pub(crate) fn serve(test: &str, root: &Path) -> Option<Self> {
        let folder = Command::new("git").arg("--exec-path").output().unwrap().stdout;
        let program = Path::new(String::from_utf8(folder).unwrap().trim()).join("git-daemon");
        if !program.is_file() {
            crate::support::judges::missing(test, "git daemon", "install the package that has `git-daemon`");
            return None;
        }
        for _ in 0..20 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut command = Command::new(&program);
            command.args(["--listen=127.0.0.1", "--export-all", "--enable=receive-pack", "--reuseaddr"]);
            command.arg(format!("--port={port}")).arg(format!("--base-path={}", root.display()));
            let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            for _ in 0..100 {
                if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                    return Some(Self { child, port });
                }
                if child.try_wait().unwrap().is_some() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            drop(child.kill());
            child.wait().unwrap();
        }
        panic!("git daemon does not start");
    }

    /// The address of a repository.
    pub(crate) fn url(&self, name: &str) -> String {
        format!("git://127.0.0.1:{}/{name}", self.port)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
