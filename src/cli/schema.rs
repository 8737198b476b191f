//! `kubebench schema`: the JSON Schema that editors and validators use.

use anyhow::Result;

use super::ExitStatus;
use super::args::{SchemaArgs, SchemaKind};
use crate::edge::terminal;
use crate::schema::{DocumentKind, generate};
use crate::workload;

/// Prints the schema.
pub(super) fn run(args: &SchemaArgs) -> Result<ExitStatus> {
    let kind = match args.kind {
        SchemaKind::Benchmark => DocumentKind::Benchmark,
        SchemaKind::Suite => DocumentKind::Suite,
        SchemaKind::Project => DocumentKind::Project,
    };
    terminal::print(&text(kind))?;
    Ok(ExitStatus::Yes)
}

/// Returns the bytes of the committed schema file.
pub(super) fn text(kind: DocumentKind) -> String {
    format!("{:#}\n", generate(kind, &workload::forms()))
}
