//! The schemas for editors that a project has: whether they are those of this version.

use std::path::Path;

use super::stamp;
use super::templates::{schema, schema_path};
use kubebench_format::schema::DocumentKind;
use kubebench_syntax::diag::{Diagnostic, Severity, code};

/// Returns a finding of level `severity` for each schema that this version would write in another way. A project need not have them.
pub fn stale(root: &Path, severity: Severity) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for kind in DocumentKind::ALL {
        let path = schema_path(kind);
        let Ok(bytes) = std::fs::read(root.join(&path)) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        if stamp::unix(&text) == schema(kind) {
            continue;
        }
        let help = if stamp::is_intact(&text) {
            "run `kubebench init` and commit the result"
        } else {
            "run `kubebench init --force`, which replaces the file, and commit the result"
        };
        let message = format!("`{path}` is not the schema of this version of kubebench");
        let finding = Diagnostic::in_file(&code::KB0508, path, message)
            .note("editors that use it would mark valid fields, and miss invalid ones")
            .help(help);
        found.push(Diagnostic { severity, ..finding });
    }
    found
}
