//! Logs of containers as streams that never grow in memory and never hang.

use std::io::{self, Read};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::AsyncBufReadExt as _;
use kube::api::{GetParams, Request};
use kube::{Client, Error};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

use super::answer::{Hope, hope};
use super::call::{Rules, is_final, pause};
use super::connect::Connection;
use super::fault::{Fault, Refusal, words};
use super::purpose::Purpose;
use super::resource::{Resource, segment};
use kubebench_syntax::invariant::Invariant as _;

/// How long a log may be silent before the connection is taken for dead.
const SILENCE: Duration = Duration::from_secs(30);

/// How long the opening waits. A container that has not written yet makes some API servers answer only when it does.
const OPENING: Duration = Duration::from_secs(5);

/// Pieces that are read ahead; the server waits when they are full.
const AHEAD: usize = 4;

/// Which part of a log is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogQuery {
    /// The log of the container before its last restart.
    pub previous: bool,
    /// Continue as the container writes.
    pub follow: bool,
    /// Each line begins with its time on the node, RFC 3339 with nanoseconds, and a space.
    pub timestamps: bool,
    /// From this time on, RFC 3339; API servers know whole seconds only, so lines of that second come again.
    pub since: Option<String>,
    /// The number of last lines.
    pub tail_lines: Option<u32>,
    /// After how long without a byte the stream ends with `TimedOut`, to be opened again: 30 seconds by default.
    pub silence: Option<Duration>,
    /// After how long without a byte a read fails with `WouldBlock`, so that the reader can see whether there is still something
    /// to wait for; the stream continues. None means that reads wait.
    pub look: Option<Duration>,
}

impl LogQuery {
    fn path(&self, namespace: &str, pod: &str, container: &str) -> Result<String, Fault> {
        let mut path =
            format!("{}/log?container={}", Resource::pods().object_path(namespace, pod)?, segment(container)?);
        for (name, is_set) in [("previous", self.previous), ("follow", self.follow), ("timestamps", self.timestamps)] {
            if is_set {
                path.push_str(&format!("&{name}=true"));
            }
        }
        if let Some(since) = &self.since {
            path.push_str(&format!(
                "&sinceTime={}",
                since.split('+').map(segment).collect::<Result<Vec<_>, _>>()?.join("%2B")
            ));
        }
        if let Some(lines) = self.tail_lines {
            path.push_str(&format!("&tailLines={lines}"));
        }
        Ok(path)
    }
}

/// A log, read as it comes.
///
/// The end of the stream is what the server calls the end, which may be that of its own connection to the node:
/// only the status of the container proves that it writes no more.
pub struct LogStream {
    pieces: mpsc::Receiver<io::Result<Vec<u8>>>,
    piece: Vec<u8>,
    taken: usize,
    task: AbortHandle,
    _connection: Arc<Connection>,
}

impl LogStream {
    pub(super) fn open(
        connection: &Arc<Connection>,
        rules: &Rules,
        namespace: &str,
        pod: &str,
        container: &str,
        query: &LogQuery,
    ) -> Result<Self, Fault> {
        let path = query.path(namespace, pod, container)?;
        let purpose =
            Purpose(format!("read the log of container `{container}` of Pod `{pod}` in namespace `{namespace}`"));
        let silence = query.silence.unwrap_or(SILENCE);
        let patience = Patience { silence, look: query.look.unwrap_or(silence) };
        let (client, address, rules) = (connection.client(), connection.address().to_owned(), rules.clone());
        let handle = connection.handle().clone();
        let (pieces, task) = connection.wait_for(async move {
            let start = Instant::now();
            let mut failures = 0;
            let mut doubtful = None;
            loop {
                let (sender, pieces) = mpsc::channel(AHEAD);
                let (opened, opening) = oneshot::channel();
                let task = handle.spawn(pump(client.clone(), path.clone(), patience, opened, sender)).abort_handle();
                let error = match timeout(OPENING, opening).await {
                    // Silent so far; what comes of it is in the pieces.
                    Err(_) | Ok(Ok(Ok(())) | Err(_)) => return Ok((pieces, task)),
                    Ok(Ok(Err(error))) => error,
                };
                let hope = match &error {
                    Error::Api(status) => hope(status.code, &status.reason, &status.message),
                    error if is_final(error) => Hope::None,
                    _ => Hope::All,
                };
                let left = hope.left(rules.patience, start, &mut doubtful);
                if left.is_zero() || rules.is_stopped() {
                    return Err(match error {
                        Error::Api(status) => Fault::Refused(Refusal {
                            code: status.code,
                            reason: status.reason,
                            message: status.message,
                            asked: purpose.0,
                        }),
                        _ if rules.is_stopped() => Fault::Stopped,
                        error => Fault::Unreachable(format!(
                            "{address} did not answer the request to {}: {}",
                            purpose.0,
                            words(&error)
                        )),
                    });
                }
                rules.pause(pause(failures).min(left)).await;
                failures += 1;
            }
        })??;
        Ok(Self { pieces, piece: Vec::new(), taken: 0, task, _connection: Arc::clone(connection) })
    }
}

impl Read for LogStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken >= self.piece.len() {
            match self.pieces.blocking_recv() {
                Some(piece) => (self.piece, self.taken) = (piece?, 0),
                None => return Ok(0),
            }
        }
        let rest = self.piece.get(self.taken..).expected("what is left of a piece");
        let count = rest.len().min(buffer.len());
        if let (Some(target), Some(source)) = (buffer.get_mut(..count), rest.get(..count)) {
            target.copy_from_slice(source);
        }
        self.taken += count;
        Ok(count)
    }
}

impl Drop for LogStream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// How long nothing may come.
#[derive(Clone, Copy)]
struct Patience {
    /// Until the connection is taken for dead.
    silence: Duration,
    /// Until the reader gets to look.
    look: Duration,
}

impl Patience {
    /// Waits for what `work` gives; returns none when it took too long or there is no reader any more.
    async fn wait<T>(self, work: impl Future<Output = T>, pieces: &mpsc::Sender<io::Result<Vec<u8>>>) -> Option<T> {
        let (mut work, start) = (pin!(work), Instant::now());
        loop {
            if let Ok(done) = timeout(self.look, &mut work).await {
                return Some(done);
            }
            let is_dead = start.elapsed() >= self.silence;
            let kind = if is_dead { io::ErrorKind::TimedOut } else { io::ErrorKind::WouldBlock };
            let silent = io::Error::new(kind, format!("no data arrived for {} s", self.silence.as_secs()));
            if pieces.send(Err(silent)).await.is_err() || is_dead {
                return None;
            }
        }
    }
}

/// Reads a log into `pieces`, as fast as they are taken.
async fn pump(
    client: Client,
    path: String,
    patience: Patience,
    opened: oneshot::Sender<Result<(), Error>>,
    pieces: mpsc::Sender<io::Result<Vec<u8>>>,
) {
    let request = match Request::new("").get(path.trim_start_matches('/'), &GetParams::default()) {
        Ok(request) => request,
        Err(error) => return drop(opened.send(Err(Error::BuildRequest(error)))),
    };
    let mut stream = match patience.wait(client.request_stream(request), &pieces).await {
        None => return,
        Some(Err(error)) => {
            if let Err(Err(error)) = opened.send(Err(error)) {
                let _ = pieces.send(Err(io::Error::other(words(&error)))).await;
            }
            return;
        }
        Some(Ok(stream)) => {
            let _ = opened.send(Ok(()));
            Box::pin(stream)
        }
    };
    loop {
        let piece = match patience.wait(stream.fill_buf(), &pieces).await {
            None | Some(Ok([])) => return,
            Some(Ok(bytes)) => Ok(bytes.to_vec()),
            Some(Err(error)) => Err(io::Error::new(io::ErrorKind::UnexpectedEof, words(&error))),
        };
        let count = piece.as_ref().map_or(0, Vec::len);
        if pieces.send(piece).await.is_err() || count == 0 {
            return;
        }
        stream.consume_unpin(count);
    }
}
