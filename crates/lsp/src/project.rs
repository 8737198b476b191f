//! A project with what is open of it.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use kubebench_compiler::compile::{Compilation, Input, Session, Workspace};
use kubebench_compiler::lower::{PROJECT_FILE, Unreadable};
use kubebench_format::schema::DocumentKind;
use kubebench_format::spec::v1::API_VERSION;
use kubebench_syntax::diag::fix::fix;
use kubebench_syntax::diag::{Diagnostic, Diagnostics};

use crate::files::Files;
use crate::outline::Outline;
use crate::position::Encoding;
use crate::publish::Published;
use lsp_types::PublishDiagnosticsParams;

/// The texts that are open, by path. They count for what is on disk.
pub(crate) type Open = Arc<Mutex<BTreeMap<PathBuf, Arc<str>>>>;
type Read = Result<Vec<u8>, Unreadable>;

/// A text of a project.
pub(crate) struct Text {
    pub(crate) text: Arc<str>,
    outline: OnceCell<Outline>,
}

impl Text {
    fn new(text: &str) -> Self {
        Self { text: text.into(), outline: OnceCell::new() }
    }

    pub(crate) fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| Outline::of(&self.text))
    }

    /// Returns the kind of document that it declares.
    pub(crate) fn kind(&self) -> Option<DocumentKind> {
        let word = self.outline().text(&self.text, &["kind"])?;
        DocumentKind::ALL.into_iter().find(|kind| kind.name() == word)
    }
}

/// Returns whether a file is a spec by its name, or would be with another one.
pub(crate) fn may_be_spec(path: &Path) -> bool {
    let end = path.extension().unwrap_or_default();
    ["yaml", "yml", "json"].iter().any(|known| end.eq_ignore_ascii_case(known))
}

/// Returns the text at a path with the certain fixes of findings; none if these are of another text, or there are none.
fn with_fixes(compilation: &Compilation, path: &str, text: &str) -> Option<String> {
    let (id, source) = compilation.sources.iter().find(|(_, it)| it.path == path && it.text == text)?;
    Some(fix(id, source, &compilation.diagnostics)).filter(|fixed| fixed != text)
}

/// A project that is open.
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    open: Open,
    version: &'static str,
    file: Option<Text>,
    specs: BTreeMap<String, Text>,
    /// Findings about files themselves.
    found: Diagnostics,
    session: Session,
    /// The files that specs read, until the client reports that they changed.
    carried: Arc<Mutex<BTreeMap<String, Read>>>,
    /// The paths of files that specs may carry; empty until they are needed.
    listed: OnceCell<Vec<String>>,
    /// The compilation of the texts; none since the last change.
    compilation: Option<Compilation>,
    published: Published,
    /// Whether the client has received it.
    is_shown: bool,
}

impl Project {
    /// Opens the project at `root`.
    pub(crate) fn open(root: PathBuf, open: Open, files: &dyn Files, version: &'static str) -> Self {
        let mut project = Self {
            session: Session::new(Workspace::open(None, version)),
            root,
            open,
            version,
            file: None,
            specs: BTreeMap::new(),
            found: Diagnostics::default(),
            carried: Arc::default(),
            listed: OnceCell::new(),
            compilation: None,
            published: Published::default(),
            is_shown: false,
        };
        project.read_again(files);
        project
    }

    /// Reads everything again.
    pub(crate) fn read_again(&mut self, files: &dyn Files) {
        self.listed = OnceCell::new();
        self.forget_carried(None);
        let on_disk = || files.project_file(&self.root).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let file = self.open_text(PROJECT_FILE).map(|text| text.to_string()).or_else(on_disk);
        self.file = file.as_deref().map(Text::new);
        self.begin(files);
        let (inputs, found) =
            files.specs(&self.root, self.project_input().as_ref(), &self.session.workspace().spec_dirs());
        self.found = found;
        self.specs.clear();
        for Input { path, bytes } in inputs {
            self.specs.insert(path, Text::new(&String::from_utf8_lossy(&bytes)));
        }
        let open: Vec<(String, Arc<str>)> = {
            let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.iter().filter_map(|(path, text)| Some((self.below(path)?, Arc::clone(text)))).collect()
        };
        for (path, text) in open {
            if self.is_spec(&path) {
                self.specs.insert(path, Text::new(&text));
            }
        }
        self.fill();
    }

    /// Opens a session of the project file as it is.
    fn begin(&mut self, files: &dyn Files) {
        let workspace = Workspace::open(self.project_input(), self.version).carrying(self.reader(files));
        self.session = Session::new(workspace);
        self.compilation = None;
        self.is_shown = false;
    }

    fn fill(&mut self) {
        for (path, text) in &self.specs {
            self.session.set(Input { path: path.clone(), bytes: text.text.as_bytes().to_vec() });
        }
    }

    fn project_input(&self) -> Option<Input> {
        let bytes = self.file.as_ref()?.text.as_bytes().to_vec();
        Some(Input { path: PROJECT_FILE.to_owned(), bytes })
    }

    /// Returns what reads a file: as it is open, as it was read before, or from disk.
    fn reader(&self, files: &dyn Files) -> impl Fn(&str) -> Read + Send + Sync + use<> {
        let (open, carried, root) = (Arc::clone(&self.open), Arc::clone(&self.carried), self.root.clone());
        let read = files.carried(&self.root);
        move |path| {
            if let Some(text) = open.lock().unwrap_or_else(PoisonError::into_inner).get(&root.join(path)) {
                return Ok(text.as_bytes().to_vec());
            }
            if let Some(known) = carried.lock().unwrap_or_else(PoisonError::into_inner).get(path) {
                return known.clone();
            }
            let file = read(path);
            carried.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), file.clone());
            file
        }
    }

    fn open_text(&self, path: &str) -> Option<Arc<str>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).get(&self.root.join(path)).cloned()
    }

    /// Returns a path below the root as specs write it.
    pub(crate) fn below(&self, path: &Path) -> Option<String> {
        Some(path.strip_prefix(&self.root).ok()?.to_str()?.replace('\\', "/"))
    }

    /// Returns whether the file at a path below the root is one of the specs, by its place and name.
    pub(crate) fn is_spec(&self, path: &str) -> bool {
        let is_yaml = [".yaml", ".yml"].iter().any(|end| path.ends_with(end));
        is_yaml && path != PROJECT_FILE && self.is_in_specs(path)
    }

    /// Returns whether a path below the root is in one of the folders of specs.
    fn is_in_specs(&self, path: &str) -> bool {
        let is_in = |folder: &String| {
            let rest = if folder == "." { Some(path) } else { path.strip_prefix(folder.as_str()) };
            rest.is_some_and(|rest| {
                (folder == "." || rest.starts_with('/')) && !rest.split('/').any(|name| name.starts_with('.'))
            })
        };
        self.session.workspace().spec_dirs().iter().any(is_in)
    }

    /// Returns whether anything of the folder is Kubebench's: without a project file, `specs/` may be somebody else's.
    pub(crate) fn is_ours(&self) -> bool {
        self.file.is_some() || self.specs.values().any(|text| text.text.contains(API_VERSION))
    }

    /// Sets the text at a path, which changed in an editor or on disk; none if it no longer exists.
    pub(crate) fn set(&mut self, path: &str, text: Option<&str>, files: &dyn Files) {
        if path == PROJECT_FILE {
            let before = self.session.workspace().spec_dirs();
            self.file = text.map(Text::new);
            self.begin(files);
            if self.session.workspace().spec_dirs() == before { self.fill() } else { self.read_again(files) }
        } else if self.is_spec(path) {
            if let Some(text) = text {
                self.specs.insert(path.to_owned(), Text::new(text));
                self.session.set(Input { path: path.to_owned(), bytes: text.as_bytes().to_vec() });
            } else {
                self.specs.remove(path);
                self.session.remove(path);
            }
        }
        self.forget_carried(Some(path));
    }

    /// Reads the file at a path from disk.
    pub(crate) fn set_from_disk(&mut self, path: &str, files: &dyn Files) {
        self.listed = OnceCell::new();
        if path == PROJECT_FILE {
            let text = files.project_file(&self.root).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            self.set(path, text.as_deref(), files);
        } else if self.is_spec(path) {
            let (inputs, _) = files.specs(&self.root, self.project_input().as_ref(), &[path.to_owned()]);
            let input = inputs.into_iter().find(|input| input.path == path);
            let text = input.map(|input| String::from_utf8_lossy(&input.bytes).into_owned());
            self.set(path, text.as_deref(), files);
        } else if may_be_spec(Path::new(path)) && self.is_in_specs(path) {
            // A file with a name that no spec has is a finding.
            self.read_again(files);
        } else {
            self.forget_carried(Some(path));
        }
    }

    /// Has the file at a path read again, or all of them.
    pub(crate) fn forget_carried(&mut self, path: Option<&str>) {
        let mut carried = self.carried.lock().unwrap_or_else(PoisonError::into_inner);
        match path {
            Some(path) => drop(carried.remove(path)),
            None => carried.clear(),
        }
        self.compilation = None;
        self.is_shown = false;
    }

    /// Returns what the texts compile to.
    pub(crate) fn compilation(&mut self) -> &Compilation {
        let (session, found) = (&mut self.session, &self.found);
        self.compilation.get_or_insert_with(|| {
            let mut compilation = session.compile();
            // Which folders hold specs is unknown while the project file has errors.
            let keeps =
                |fault: &Diagnostic| compilation.project.is_some() || fault.path(&compilation.sources) != PROJECT_FILE;
            let found = found.as_slice().iter().filter(|fault| keeps(fault)).cloned().collect();
            compilation.add(found);
            compilation
        })
    }

    /// Returns the text at a path with all certain fixes, and those of the findings after that; none if there are none.
    pub(crate) fn fixed(&mut self, path: &str, text: &str) -> Option<String> {
        const ROUNDS: usize = 8;
        let input = |text: &str| Input { path: path.to_owned(), bytes: text.as_bytes().to_vec() };
        let mut fixed = with_fixes(self.compilation(), path, text)?;
        if path != PROJECT_FILE {
            for _ in 0..ROUNDS {
                self.session.set(input(&fixed));
                let Some(more) = with_fixes(&self.session.compile(), path, &fixed) else { break };
                fixed = more;
            }
            self.session.set(input(text));
        }
        Some(fixed)
    }

    /// Returns the findings that the client does not show yet; none for the folder of another owner.
    pub(crate) fn publish(&mut self, encoding: Encoding) -> Vec<PublishDiagnosticsParams> {
        if std::mem::replace(&mut self.is_shown, true) {
            return Vec::new();
        }
        self.compilation();
        let is_ours = self.is_ours();
        match &self.compilation {
            Some(compilation) if is_ours => self.published.update(&self.root, compilation, encoding),
            _ => self.published.clear(&self.root),
        }
    }

    /// Returns the text at a path.
    pub(crate) fn text(&self, path: &str) -> Option<&Text> {
        if path == PROJECT_FILE { self.file.as_ref() } else { self.specs.get(path) }
    }

    /// Iterates over all specs.
    pub(crate) fn specs(&self) -> impl Iterator<Item = (&str, &Text)> {
        self.specs.iter().map(|(path, text)| (path.as_str(), text))
    }

    /// Returns the paths of files that specs may carry: those on disk, and those that are open and not saved yet.
    pub(crate) fn carriable(&self, files: &dyn Files) -> Vec<String> {
        let workspace = self.session.workspace();
        let output = workspace.project().map_or("generated", |project| &project.settings.output).to_owned();
        let listed = self.listed.get_or_init(|| files.listed(&self.root, &[output, workspace.results_dir()]));
        let is_own = |path: &String| path == PROJECT_FILE || self.is_spec(path);
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let open = open.keys().filter_map(|path| self.below(path));
        let all: BTreeSet<String> = listed.iter().cloned().chain(open).filter(|path| !is_own(path)).collect();
        all.into_iter().collect()
    }

    /// Returns whether a file that specs may carry exists.
    pub(crate) fn has_file(&self, path: &str, files: &dyn Files) -> bool {
        matches!(self.reader(files)(path), Ok(_) | Err(Unreadable::TooLarge))
    }
}
