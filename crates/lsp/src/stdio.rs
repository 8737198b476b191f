//! The server on standard input and output.

use kubebench_syntax::invariant::Invariant as _;
use lsp_server::{Connection, Message, Response};

use crate::files::Files;
use crate::server::Server;

/// Serves the client until it says that it ends, or is gone.
pub fn serve(files: Box<dyn Files>, version: &'static str) -> Result<(), String> {
    let (connection, threads) = Connection::stdio();
    let served = run(&connection, files, version);
    // The thread that writes ends with the connection.
    drop(connection);
    served?;
    threads.join().map_err(|error| format!("the client cannot be read or written: {error}"))
}

fn run(connection: &Connection, files: Box<dyn Files>, version: &'static str) -> Result<(), String> {
    let fault = |error: lsp_server::ProtocolError| format!("the client does not speak the protocol: {error}");
    let (id, params) = connection.initialize_start().map_err(fault)?;
    let params = serde_json::from_value(params).map_err(|error| format!("`initialize` cannot be read: {error}"))?;
    let mut server = Server::new(files, version, &params);
    let result = serde_json::to_value(server.capabilities()).expected("JSON of the types of the protocol");
    connection.initialize_finish(id, result).map_err(fault)?;
    let send = |messages: Vec<Message>| {
        // A client that is gone reads nothing: the next receive says so.
        for message in messages {
            drop(connection.sender.send(message));
        }
    };
    send(server.handle(lsp_server::Notification::new("initialized".to_owned(), serde_json::json!({})).into()));
    let mut is_ending = false;
    loop {
        let message = if let Ok(message) = connection.receiver.try_recv() {
            message
        } else {
            // Nobody waits for anything else: what was typed is evaluated.
            send(server.settle());
            let Ok(message) = connection.receiver.recv() else { return Ok(()) };
            message
        };
        match message {
            Message::Request(request) if request.method == "shutdown" => {
                is_ending = true;
                send(vec![Response::new_ok(request.id, ()).into()]);
            }
            Message::Notification(notification) if notification.method == "exit" => {
                return if is_ending { Ok(()) } else { Err("the client ended without `shutdown`".to_owned()) };
            }
            message => send(server.handle(message)),
        }
    }
}
