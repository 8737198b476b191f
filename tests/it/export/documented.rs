//! The columns that docs/reference/exports.md lists are those that there are.

use std::fs;

use kubebench_results::export::Format;
use kubebench_results::export::column::{Column, METRIC, REST, RUN};

use crate::support::project::repository;

fn page() -> String {
    fs::read_to_string(repository().join("docs/reference/exports.md")).unwrap()
}

fn table<T>(columns: &[Column<T>]) -> String {
    let row = |column: &Column<T>| {
        format!("| `{}` | {} | {} |\n", column.name, format!("{:?}", column.of).to_lowercase(), column.about)
    };
    columns.iter().map(row).collect()
}

#[test]
fn every_column_is_documented() {
    let page = page();
    for (name, table) in [("run", table(RUN)), ("metric", table(METRIC)), ("database", table(REST))] {
        assert!(page.contains(&format!("|---|---|---|\n{table}\n")), "the table of the {name} should be:\n{table}");
    }
}

#[test]
fn every_format_has_a_chapter() {
    let page = page();
    for format in Format::ALL {
        assert!(page.contains(&format!("\n## {}\n", format.name())), "{format:?}");
        assert!(page.contains(&format!("\n| `{}` | ", format.name())), "{format:?}");
    }
}
