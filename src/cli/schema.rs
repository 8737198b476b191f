//! `kubebench schema`: the JSON Schema that editors and validators use.

use anyhow::Result;

use super::ExitStatus;
use super::args::{SchemaArgs, SchemaKind};
use crate::edge::terminal;
use crate::schema::{DocumentKind, generate, generate_result};
use crate::workload;

/// Prints the schema.
pub(super) fn run(args: &SchemaArgs) -> Result<ExitStatus> {
    terminal::print(&match args.kind {
        SchemaKind::Benchmark => text(DocumentKind::Benchmark),
        SchemaKind::Suite => text(DocumentKind::Suite),
        SchemaKind::Project => text(DocumentKind::Project),
        SchemaKind::Result => format!("{:#}\n", generate_result()),
    })?;
    Ok(ExitStatus::Yes)
}

/// Returns the bytes of the committed schema file.
pub(super) fn text(kind: DocumentKind) -> String {
    format!("{:#}\n", generate(kind, &workload::schemas()))
}
