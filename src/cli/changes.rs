//! A change of a field, as people and programs read it.

use kubebench_compiler::difference::Change;
use kubebench_format::plan::v1::FieldChange;
use kubebench_syntax::text::plain;

/// Says what changed, in which file where that is not known from elsewhere.
pub(super) fn said(change: &Change, file: &str) -> String {
    match (file, change.field()) {
        (file, "") => plain(format!("{file} {}", change.fate()).trim_start()),
        ("", field) => valued(field, change),
        (file, field) => valued(&format!("{file}: {field}"), change),
    }
}

/// Says what changed at a place.
pub(super) fn valued(place: &str, change: &Change) -> String {
    let values = match change.values() {
        _ if change.fields > 1 => format!(": {} fields", change.fields),
        Some([old, new]) => format!(": {old} → {new}"),
        None => String::new(),
    };
    plain(&format!("{place}{values}"))
}

/// Returns it for programs.
pub(super) fn answer(Change { file, path, old, new, fields }: &Change) -> FieldChange {
    let [old, new] = [old, new].map(|value| value.as_ref().map(|value| value.text().to_owned()));
    FieldChange { file: file.clone(), path: path.clone(), old, new, fields: *fields as u64 }
}
