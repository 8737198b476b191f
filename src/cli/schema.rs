//! `kubebench schema`: the JSON Schema that editors and validators use.

use anyhow::Result;

use super::ExitStatus;
use super::args::{SchemaArgs, SchemaKind};
use crate::app::templates::schema;
use kubebench_format::schema::{DocumentKind, generate_result};
use kubebench_host::terminal;
use kubebench_results::compare::v1::{COMPARE_FILE, GATE_FILE, HISTORY_FILE, schemas};

/// Prints the schema.
pub(super) fn run(args: &SchemaArgs) -> Result<ExitStatus> {
    terminal::print(&match args.kind {
        SchemaKind::Benchmark => schema(DocumentKind::Benchmark),
        SchemaKind::Suite => schema(DocumentKind::Suite),
        SchemaKind::Fragment => schema(DocumentKind::Fragment),
        SchemaKind::Project => schema(DocumentKind::Project),
        SchemaKind::Ack => schema(DocumentKind::Ack),
        SchemaKind::Result => format!("{:#}\n", generate_result()),
        SchemaKind::Compare => answer(COMPARE_FILE),
        SchemaKind::Gate => answer(GATE_FILE),
        SchemaKind::History => answer(HISTORY_FILE),
        SchemaKind::Report => format!("{:#}\n", kubebench_report::v1::schema()),
        SchemaKind::Plan => format!("{:#}\n", kubebench_format::plan::v1::schema()),
        SchemaKind::Diff => format!("{:#}\n", kubebench_format::diff::v1::schema()),
        SchemaKind::Attestation => format!("{:#}\n", kubebench_format::attestation::v1::schema()),
        SchemaKind::Verify => format!("{:#}\n", kubebench_format::attestation::v1::verify_schema()),
        SchemaKind::Sweep => format!("{:#}\n", kubebench_results::scaling::v1::schema()),
    })?;
    Ok(ExitStatus::Yes)
}

fn answer(file: &str) -> String {
    let found = schemas().into_iter().find(|(name, _)| *name == file);
    found.map_or_else(String::new, |(_, schema)| format!("{schema:#}\n"))
}
