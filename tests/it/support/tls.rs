//! A server of HTTPS in front of one of HTTP, with a certificate that an authority of its own has signed.
//!
//! The certificate is made by openssl, and Python takes TLS off; a test without them says so and passes.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::judges::{missing, tool};

/// The server; it ends with this.
pub(crate) struct Tls {
    place: PathBuf,
    port: u16,
    child: Child,
}

impl Tls {
    /// Starts it below `place` in front of `backend`, a host and port; `None` after a visible line where a program is missing.
    pub(crate) fn before(test: &str, place: &Path, backend: &str) -> Option<Self> {
        let Some(python) = tool("python3") else {
            missing(test, "python3", "install Python, which takes TLS off");
            return None;
        };
        let place = place.join("tls");
        std::fs::create_dir(&place).unwrap();
        std::fs::write(place.join("of-server"), "subjectAltName = IP:127.0.0.1\nbasicConstraints = CA:FALSE\n")
            .unwrap();
        let key = ["-newkey", "rsa:2048", "-nodes"];
        let made = [
            [
                &["req", "-x509", "-days", "2", "-subj", "/CN=Authority", "-keyout", "ca.key", "-out", "ca.crt"],
                &key[..],
            ]
            .concat(),
            [
                &["req", "-x509", "-days", "2", "-subj", "/CN=Other", "-keyout", "other.key", "-out", "other.crt"],
                &key[..],
            ]
            .concat(),
            [&["req", "-subj", "/CN=server.example", "-keyout", "key.pem", "-out", "request.pem"], &key[..]].concat(),
            ["x509", "-req", "-days", "2", "-in", "request.pem", "-CA", "ca.crt", "-CAkey", "ca.key"]
                .into_iter()
                .chain(["-CAcreateserial", "-extfile", "of-server", "-out", "cert.pem"])
                .collect(),
        ]
        .into_iter()
        .all(|arguments: Vec<&str>| {
            let output = Command::new("openssl").args(arguments).current_dir(&place).output();
            output.is_ok_and(|output| output.status.success())
        });
        if !made {
            missing(test, "openssl", "install it; it makes the certificates");
            return None;
        }
        std::fs::write(place.join("tls.py"), PROGRAM).unwrap();
        let mut child = Command::new(python)
            .args(["tls.py", backend])
            .current_dir(&place)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Some(Self { place, port: port.trim().parse().unwrap(), child })
    }

    /// Returns an address below it.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://127.0.0.1:{}/{path}", self.port)
    }

    /// The certificate of the authority.
    pub(crate) fn authority(&self) -> PathBuf {
        self.place.join("ca.crt")
    }

    /// The certificate of an authority that has signed nothing.
    pub(crate) fn other_authority(&self) -> PathBuf {
        self.place.join("other.crt")
    }
}

impl Drop for Tls {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Ends with its standard input.
const PROGRAM: &str = r#"
import os, socket, ssl, sys, threading
host, port = sys.argv[1].split(":")
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
def serve(raw):
    try:
        client = context.wrap_socket(raw, server_side=True)
    except (OSError, ssl.SSLError):
        return
    server = socket.create_connection((host, int(port)))
    threading.Thread(target=pump, args=(client, server), daemon=True).start()
    pump(server, client)
while True:
    raw, _ = listener.accept()
    threading.Thread(target=serve, args=(raw,), daemon=True).start()
"#;
