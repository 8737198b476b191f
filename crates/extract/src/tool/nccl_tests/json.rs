//! The JSON of nccl-tests' `-J`. Its dump of the environment may hold secrets: the document is not kept, and no other key
//! than those named here is read.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{KINDS, Measured, PLACES, Row, Table, push_tables};
use crate::json_document::{list, reading};
use crate::tool::Report;

pub(super) fn read(text: &str, report: &mut Report) {
    report.withhold_document();
    let found = report.documents(text);
    let tables: Vec<Table> = found.values.iter().map(table).collect();
    if tables.iter().all(|table| table.rows.is_empty()) {
        report.invalid("the JSON holds no `results`");
    }
    push_tables(&tables, report);
}

fn table(document: &Value) -> Table {
    let value = |pointer: &str| document.pointer(pointer).map(reading);
    Table {
        rows: list(document, "results").iter().filter_map(row).collect(),
        average: value("/average_bus_bandwidth/bandwidth"),
        out_of_bounds: value("/out_of_bounds/count"),
        ..Table::default()
    }
}

fn row(result: &Value) -> Option<Row> {
    let size = result.get("size")?.as_u64()?;
    let places = PLACES.map(|place| {
        let measured = result.get(place).filter(|measured| measured.is_object())?;
        let value = |key: &str| measured.get(key).map(reading);
        // A negative count is that of a test that checked nothing.
        let wrong = value("nwrong").filter(|wrong| wrong.value().is_none_or(|count| count >= 0.0));
        Some(Measured { time: value("time"), busbw: value("bus_bw"), wrong, ..Measured::default() })
    });
    let mut row = Row { size, kind: BTreeMap::new(), places };
    for key in KINDS {
        row.take_kind(key, result.get(key).and_then(Value::as_str).unwrap_or_default());
    }
    Some(row)
}
