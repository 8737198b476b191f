//! A client that we did not write: pytest-lsp, on pygls.

use std::process::Command;

use super::{PROJECT, spec};
use crate::support::judges;
use crate::support::project::{Folder, assert_yes, repository};

#[test]
fn oracle_editor_speaks_with_the_server() {
    let Some(python) = judges::python_with("oracle_editor", "python-with-editor", "pytest_lsp") else { return };
    let folder = Folder::with([
        ("kubebench.yaml", PROJECT.to_owned()),
        (
            "specs/a.yaml",
            spec("a", "  # \u{1f600}\n  matrix: {axes: {size: [1, 2]}}\n")
                .replace("[run]", "[run, \"${{ matrix.size }}\"]"),
        ),
    ]);
    let mut command = Command::new(python);
    command.args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "--override-ini", "asyncio_mode=auto"]);
    command.arg(repository().join("tests/it/lsp/editor.py")).current_dir(folder.path());
    command.env("KUBEBENCH", env!("CARGO_BIN_EXE_kubebench")).env("PYTHONDONTWRITEBYTECODE", "1");
    assert_yes(&command.output().unwrap());
}
