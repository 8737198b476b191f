//! Files of the repository that travel with a benchmark.

use std::collections::BTreeMap;
use std::sync::Arc;

use kubebench_syntax::digest::Digest;
use kubebench_syntax::text::Span;

/// Where containers find the files.
pub const FOLDER: &str = "/kubebench/files";
/// The variable that names that folder.
pub const VARIABLE: &str = "KUBEBENCH_FILES";
/// The most bytes of all files together: the API server refuses a ConfigMap over 1 MiB.
pub const MAX_BYTES: usize = 900 * 1024;
/// The most files of one benchmark.
pub(crate) const MAX_FILES: usize = 64;

/// The files of a benchmark, read once and shared.
#[derive(Clone, Debug, Default)]
pub struct CarriedFiles {
    by_name: BTreeMap<String, CarriedFile>,
    digest: Option<Digest>,
}

/// One file as it was when the benchmark was compiled.
#[derive(Clone, Debug)]
pub struct CarriedFile {
    /// Where it comes from, relative to the project root.
    pub path: String,
    /// Where that is said.
    pub span: Span,
    /// Its bytes, unchanged.
    pub bytes: Arc<[u8]>,
}

impl CarriedFiles {
    /// Returns these files, by the names that containers know them by.
    pub(crate) fn new(by_name: BTreeMap<String, CarriedFile>) -> Self {
        let fields = by_name.iter().flat_map(|(name, file)| [name.as_bytes(), &file.bytes]);
        let digest = (!by_name.is_empty()).then(|| Digest::of_fields(fields));
        Self { by_name, digest }
    }

    /// Iterates over names and files, ordered by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &CarriedFile)> {
        self.by_name.iter().map(|(name, file)| (name.as_str(), file))
    }

    /// Returns the file called `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&CarriedFile> {
        self.by_name.get(name)
    }

    /// Returns the path of a file whose text names [`FOLDER`], which is there in containers alone.
    pub fn naming_the_folder(&self) -> Option<&str> {
        let folder = format!("{FOLDER}/");
        let names_it = |file: &&CarriedFile| file.bytes.windows(folder.len()).any(|part| part == folder.as_bytes());
        self.by_name.values().find(names_it).map(|file| file.path.as_str())
    }

    /// Returns true when the benchmark carries nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Returns the digest of all names and bytes; none when there is no file.
    pub(crate) fn digest(&self) -> Option<&Digest> {
        self.digest.as_ref()
    }
}

impl CarriedFile {
    /// Returns the content as text that reads the same in every YAML and JSON reader; none for other bytes.
    pub(crate) fn text(&self) -> Option<&str> {
        let is_plain = |c: char| {
            !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') || matches!(c, '\n' | '\r' | '\t')
        };
        std::str::from_utf8(&self.bytes).ok().filter(|text| text.chars().all(is_plain))
    }
}
