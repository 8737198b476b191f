//! A change of a field, as programs read it.

use kubebench_compiler::difference::Change;
use kubebench_format::plan::v1::FieldChange;

/// Returns it for programs.
pub(super) fn answer(Change { file, path, old, new, fields }: &Change) -> FieldChange {
    let [old, new] = [old, new].map(|value| value.as_ref().map(|value| value.text().to_owned()));
    FieldChange { file: file.clone(), path: path.clone(), old, new, fields: *fields as u64 }
}
