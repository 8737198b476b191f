//! The server as a function: a message of the client in, messages to the client out.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::PoisonError;

use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_compiler::workload;
use kubebench_format::schema::{DocumentKind, generate};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument,
    Initialized, Notification as _, PublishDiagnostics,
};
use lsp_types::request::{
    CodeActionRequest, Completion, DocumentSymbolRequest, Formatting, GotoDefinition, HoverRequest,
    InlayHintRefreshRequest, InlayHintRequest, RegisterCapability, Request as _,
};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionOrCommand, CodeActionParams, CodeActionProviderCapability,
    CompletionOptions, CompletionParams, CompletionResponse, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidChangeWatchedFilesRegistrationOptions, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, DocumentFormattingParams, DocumentSymbolParams, DocumentSymbolResponse,
    FileSystemWatcher, GlobPattern, GotoDefinitionParams, GotoDefinitionResponse, HoverParams, InitializeParams,
    InitializeResult, InlayHintParams, Location, OneOf, Position, PublishDiagnosticsParams, Registration,
    RegistrationParams, ServerCapabilities, ServerInfo, TextDocumentPositionParams, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions, Uri,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::address;
use crate::cursor::{Cursor, cursor};
use crate::document::Document;
use crate::files::Files;
use crate::names::{Around, Sort, sort_at};
use crate::position::{Encoding, Lines};
use crate::project::{Open, Project, may_be_spec};
use crate::{actions, complete, hints, hover, layout, symbols};

/// A folder of specs where no project file names another.
const SPECS: &str = "specs";

/// A language server and what its client has open.
pub struct Server {
    files: Box<dyn Files>,
    version: &'static str,
    encoding: Encoding,
    client: Client,
    documents: BTreeMap<PathBuf, Document>,
    open: Open,
    projects: BTreeMap<PathBuf, Project>,
    schemas: BTreeMap<DocumentKind, OnceCell<Json>>,
    requests: i32,
}

/// The capabilities of the client.
#[derive(Clone, Copy, Debug, Default)]
struct Client {
    watches_files: bool,
    refreshes_hints: bool,
}

/// A document of a project.
struct Here {
    root: PathBuf,
    /// The path below the root.
    path: String,
    full: PathBuf,
}

impl Server {
    /// Begins with what the client said of itself; `version` is this program's.
    pub fn new(files: Box<dyn Files>, version: &'static str, params: &InitializeParams) -> Self {
        let capabilities = &params.capabilities;
        let offered = capabilities.general.as_ref().and_then(|general| general.position_encodings.as_deref());
        let workspace = capabilities.workspace.as_ref();
        let watches = workspace.and_then(|workspace| workspace.did_change_watched_files?.dynamic_registration);
        let refreshes = workspace.and_then(|workspace| workspace.inlay_hint.as_ref()?.refresh_support);
        Self {
            files,
            version,
            encoding: Encoding::among(offered.unwrap_or_default()),
            client: Client {
                watches_files: watches.unwrap_or_default(),
                refreshes_hints: refreshes.unwrap_or_default(),
            },
            documents: BTreeMap::new(),
            open: Open::default(),
            projects: BTreeMap::new(),
            schemas: DocumentKind::ALL.into_iter().map(|kind| (kind, OnceCell::new())).collect(),
            requests: 0,
        }
    }

    /// Returns what it can, for the client.
    pub fn capabilities(&self) -> InitializeResult {
        let sync = TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::Supported(true)),
            ..TextDocumentSyncOptions::default()
        };
        let completion = CompletionOptions {
            trigger_characters: Some([".", "{", " "].map(str::to_owned).to_vec()),
            ..CompletionOptions::default()
        };
        let actions = CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, CodeActionKind::SOURCE_FIX_ALL]),
            ..CodeActionOptions::default()
        };
        InitializeResult {
            capabilities: ServerCapabilities {
                position_encoding: Some(self.encoding.kind()),
                text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
                completion_provider: Some(completion),
                hover_provider: Some(true.into()),
                definition_provider: Some(OneOf::Left(true)),
                code_action_provider: Some(CodeActionProviderCapability::Options(actions)),
                document_formatting_provider: Some(OneOf::Left(true)),
                document_symbol_provider: Some(OneOf::Left(true)),
                inlay_hint_provider: Some(OneOf::Left(true)),
                ..ServerCapabilities::default()
            },
            server_info: Some(ServerInfo { name: "kubebench".to_owned(), version: Some(self.version.to_owned()) }),
        }
    }

    /// Handles a message and returns the immediate replies; changes are evaluated by [`settle`](Self::settle).
    pub fn handle(&mut self, message: Message) -> Vec<Message> {
        match message {
            Message::Request(request) => {
                // What comes out of the compiler comes after its findings; the rest waits for nothing.
                let is_compiled =
                    [CodeActionRequest::METHOD, InlayHintRequest::METHOD].contains(&request.method.as_str());
                let mut messages = if is_compiled { self.settle() } else { Vec::new() };
                messages.push(self.answer(request).into());
                messages
            }
            Message::Notification(notification) => self.take(notification),
            Message::Response(_) => Vec::new(),
        }
    }

    /// Evaluates what changed, and returns the findings that the client does not show yet.
    pub fn settle(&mut self) -> Vec<Message> {
        let mut messages = Vec::new();
        let encoding = self.encoding;
        for project in self.projects.values_mut() {
            messages.extend(project.publish(encoding).into_iter().map(published));
        }
        if !messages.is_empty() && self.client.refreshes_hints {
            messages.push(self.request::<InlayHintRefreshRequest>(()));
        }
        messages
    }

    fn request<R: lsp_types::request::Request>(&mut self, params: R::Params) -> Message
    where
        R::Params: Serialize,
    {
        self.requests += 1;
        Request::new(RequestId::from(self.requests), R::METHOD.to_owned(), params).into()
    }

    fn take(&mut self, Notification { method, params }: Notification) -> Vec<Message> {
        match method.as_str() {
            Initialized::METHOD if self.client.watches_files => return vec![self.watch()],
            DidOpenTextDocument::METHOD => {
                if let Some(DidOpenTextDocumentParams { text_document: it }) = read(params) {
                    self.set(&it.uri, |_, encoding| Some(Document::new(&it.text, encoding)));
                }
            }
            DidChangeTextDocument::METHOD => {
                if let Some(DidChangeTextDocumentParams { text_document, content_changes }) = read(params) {
                    self.set(&text_document.uri, |document, _| {
                        let mut document = document?;
                        document.change(content_changes);
                        Some(document)
                    });
                }
            }
            DidCloseTextDocument::METHOD => {
                if let Some(DidCloseTextDocumentParams { text_document }) = read(params) {
                    self.set(&text_document.uri, |_, _| None);
                }
            }
            DidSaveTextDocument::METHOD if !self.client.watches_files => {
                if let Some(DidSaveTextDocumentParams { .. }) = read(params) {
                    self.projects.values_mut().for_each(|project| project.read_again(&*self.files));
                }
            }
            DidChangeWatchedFiles::METHOD => {
                if let Some(DidChangeWatchedFilesParams { changes }) = read(params) {
                    self.look_again(&changes.iter().filter_map(|change| address::path(&change.uri)).collect());
                }
            }
            _ => {}
        }
        Vec::new()
    }

    /// Asks the client to say which files change on disk.
    fn watch(&mut self) -> Message {
        let watcher = FileSystemWatcher { glob_pattern: GlobPattern::String("**/*".to_owned()), kind: None };
        let options = DidChangeWatchedFilesRegistrationOptions { watchers: vec![watcher] };
        let registration = Registration {
            id: "files".to_owned(),
            method: DidChangeWatchedFiles::METHOD.to_owned(),
            register_options: serde_json::to_value(options).ok(),
        };
        self.request::<RegisterCapability>(RegistrationParams { registrations: vec![registration] })
    }

    /// Handles changes on disk.
    fn look_again(&mut self, paths: &BTreeSet<PathBuf>) {
        /// From how many changes on it is quicker to read all: a branch was checked out.
        const MANY: usize = 50;
        for project in self.projects.values_mut() {
            let below = paths.iter().filter_map(|path| project.below(path));
            let below: Vec<String> = below.filter(|path| !path.starts_with(".git/")).collect();
            // Folders cannot be recognized by their names; files that git ignores are not carried.
            let is_of_many = |path: &String| !path.contains('.') || path.ends_with(".gitignore");
            if below.len() > MANY || below.iter().any(is_of_many) {
                project.read_again(&*self.files);
                continue;
            }
            for path in below {
                if !self.documents.contains_key(&project.root.join(&path)) {
                    project.set_from_disk(&path, &*self.files);
                }
            }
        }
    }

    /// Replaces the document at `uri`; none closes it.
    fn set(&mut self, uri: &Uri, make: impl FnOnce(Option<Document>, Encoding) -> Option<Document>) {
        let Some(full) = address::path(uri) else { return };
        let document = make(self.documents.remove(&full), self.encoding);
        {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            match &document {
                Some(document) => drop(open.insert(full.clone(), document.text().into())),
                None => drop(open.remove(&full)),
            }
        }
        let text = document.as_ref().map(|document| document.text().to_owned());
        self.documents.extend(document.map(|document| (full.clone(), document)));
        let Some(root) = self.root_of(&full) else { return };
        if !self.projects.contains_key(&root) {
            let project = Project::open(root.clone(), self.open.clone(), &*self.files, self.version);
            self.projects.insert(root, project);
            return;
        }
        let Some(project) = self.projects.get_mut(&root) else { return };
        let Some(path) = project.below(&full) else { return };
        match text {
            Some(text) => project.set(&path, Some(&text), &*self.files),
            None => project.set_from_disk(&path, &*self.files),
        }
    }

    /// Returns the folder of the project that a file is in: the nearest one with a project file, or else the one of its `specs/`.
    fn root_of(&self, path: &Path) -> Option<PathBuf> {
        let folder = path.parent().filter(|_| may_be_spec(path))?;
        let has_file = |folder: &&Path| {
            self.documents.contains_key(&folder.join(PROJECT_FILE)) || self.files.has_project_file(folder)
        };
        if let Some(root) = folder.ancestors().find(has_file) {
            return Some(root.to_owned());
        }
        let is_specs = |folder: &&Path| folder.file_name().is_some_and(|name| name == SPECS);
        folder.ancestors().find(is_specs)?.parent().map(Path::to_owned)
    }

    /// Returns the project of a document, if the document is one of its specs or its project file.
    fn here(&self, uri: &Uri) -> Option<Here> {
        let full = address::path(uri)?;
        let root = self.root_of(&full)?;
        let project = self.projects.get(&root)?;
        let path = project.below(&full)?;
        let is_its = path == PROJECT_FILE || project.is_spec(&path);
        (is_its && project.is_ours()).then_some(Here { root, path, full })
    }

    fn answer(&mut self, Request { id, method, params }: Request) -> Response {
        let answer = match method.as_str() {
            Completion::METHOD => read(params).map(|params| json(self.completion(params))),
            HoverRequest::METHOD => read(params).map(|params| json(self.hover(params))),
            GotoDefinition::METHOD => read(params).map(|params| json(self.definition(params))),
            CodeActionRequest::METHOD => read(params).map(|params| json(self.code_actions(&params))),
            Formatting::METHOD => read(params).map(|params| json(self.formatting(&params))),
            DocumentSymbolRequest::METHOD => read(params).map(|params| json(self.symbols(&params))),
            InlayHintRequest::METHOD => read(params).map(|params| json(self.hints(&params))),
            _ => {
                let message = format!("`{method}` is not known");
                return Response::new_err(id, ErrorCode::MethodNotFound as i32, message);
            }
        };
        match answer {
            Some(answer) => Response::new_ok(id, answer),
            None => Response::new_err(
                id,
                ErrorCode::InvalidParams as i32,
                format!("the parameters of `{method}` cannot be read"),
            ),
        }
    }

    /// Calls `then` with the document at a position, and the cursor in it.
    fn at<T>(
        &self,
        TextDocumentPositionParams { text_document, position }: TextDocumentPositionParams,
        then: impl FnOnce(Around<'_>, DocumentKind, &Json, &Document, Cursor) -> Option<T>,
    ) -> Option<T> {
        let Here { root, path, full } = self.here(&text_document.uri)?;
        let project = self.projects.get(&root)?;
        let document = self.documents.get(&full)?;
        let cursor = cursor(document.text(), document.lines().offset(document.text(), position))?;
        let text = project.text(&path)?;
        let of_file = if path == PROJECT_FILE { DocumentKind::Project } else { DocumentKind::Benchmark };
        let kind = text.kind().unwrap_or(of_file);
        let schema = self.schemas.get(&kind)?.get_or_init(|| generate(kind, &workload::schemas()));
        then(Around { project, path: &path, text, files: &*self.files }, kind, schema, document, cursor)
    }

    fn completion(&self, params: CompletionParams) -> Option<CompletionResponse> {
        self.at(params.text_document_position, |around, kind, schema, document, cursor| {
            Some(CompletionResponse::Array(complete::complete(around, kind, schema, document, &cursor)))
        })
    }

    fn hover(&self, params: HoverParams) -> Option<lsp_types::Hover> {
        self.at(params.text_document_position_params, |around, kind, schema, document, cursor| {
            let range = document.lines().range(document.text(), cursor.word.clone());
            hover::hover(around, kind, schema, &cursor, range)
        })
    }

    fn definition(&self, params: GotoDefinitionParams) -> Option<GotoDefinitionResponse> {
        let location = self.at(params.text_document_position_params, |around, kind, schema, document, cursor| {
            let word = document.text().get(cursor.word.clone())?;
            let sort = sort_at(kind, &cursor)?;
            if sort == Sort::File {
                let is_there = !leaves(word) && around.project.has_file(word, &*self.files);
                let uri = address::uri(&around.project.root.join(word)).filter(|_| is_there)?;
                return Some(Location { uri, range: lsp_types::Range::default() });
            }
            let found = around.names(sort, &cursor, schema).into_iter().find(|name| name.name == word)?;
            let (path, range) = found.place?;
            let text = &around.project.text(&path)?.text;
            let range = Lines::of(text, self.encoding).range(text, range);
            Some(Location { uri: address::uri(&around.project.root.join(path))?, range })
        })?;
        Some(GotoDefinitionResponse::Scalar(location))
    }

    fn code_actions(&mut self, params: &CodeActionParams) -> Option<Vec<CodeActionOrCommand>> {
        let uri = &params.text_document.uri;
        let Here { root, path, full } = self.here(uri)?;
        let document = self.documents.get(&full)?;
        let project = self.projects.get_mut(&root)?;
        let only = params.context.only.as_deref();
        let actions = actions::actions(project, &path, uri, document, params.range, only);
        Some(actions.into_iter().map(CodeActionOrCommand::CodeAction).collect())
    }

    fn formatting(&self, params: &DocumentFormattingParams) -> Option<Vec<lsp_types::TextEdit>> {
        let Here { path, full, .. } = self.here(&params.text_document.uri)?;
        layout::format_document(&path, self.documents.get(&full)?)
    }

    fn symbols(&self, params: &DocumentSymbolParams) -> Option<DocumentSymbolResponse> {
        let Here { full, .. } = self.here(&params.text_document.uri)?;
        Some(DocumentSymbolResponse::Nested(symbols::symbols(self.documents.get(&full)?)))
    }

    fn hints(&mut self, params: &InlayHintParams) -> Option<Vec<lsp_types::InlayHint>> {
        let Here { root, path, full } = self.here(&params.text_document.uri)?;
        let document = self.documents.get(&full)?;
        let mut hints = hints::hints(self.projects.get_mut(&root)?.compilation(), &path, document);
        let is_shown = |at: Position| params.range.start <= at && at <= params.range.end;
        hints.retain(|hint| is_shown(hint.position));
        Some(hints)
    }
}

/// Returns whether a path leads out of the folder that it begins in.
fn leaves(path: &str) -> bool {
    !Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

fn read<T: DeserializeOwned>(params: Json) -> Option<T> {
    serde_json::from_value(params).ok()
}

fn json<T: Serialize>(answer: Option<T>) -> Json {
    use kubebench_syntax::invariant::Invariant as _;
    serde_json::to_value(answer).expected("JSON of the types of the protocol")
}

fn published(params: PublishDiagnosticsParams) -> Message {
    Notification::new(PublishDiagnostics::METHOD.to_owned(), params).into()
}

#[cfg(test)]
mod tests;
