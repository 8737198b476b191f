//! The notebook of the documents opens a Parquet export, and is kept without what it printed.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::judges::python_with;
use crate::support::project::{Folder, repository};

const NOTEBOOK: &str = "docs/notebooks/results.ipynb";

fn notebook() -> Value {
    serde_json::from_str(&fs::read_to_string(repository().join(NOTEBOOK)).unwrap()).unwrap()
}

#[test]
fn it_is_kept_without_outputs() {
    let notebook = notebook();
    for cell in notebook["cells"].as_array().unwrap() {
        if cell["cell_type"] == "code" {
            assert_eq!((&cell["outputs"], &cell["execution_count"]), (&json!([]), &Value::Null), "{cell}");
        }
    }
}

const EXECUTE: &str = "
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
nbformat.validate(notebook)
NotebookClient(notebook, timeout=120, kernel_name='python3', resources={'metadata': {'path': sys.argv[2]}}).execute()
print(''.join(output.get('text', '') + output.get('data', {}).get('text/plain', '') for cell in notebook.cells for output in cell.get('outputs', [])))
";

#[test]
fn oracle_the_notebook_runs() {
    let test = "oracle_the_notebook_runs";
    let Some(python) = python_with(test, "python-with-exports", "nbclient, ipykernel, pandas, pyarrow") else { return };
    let folder = Folder::with::<&str, &str>([]);
    let results = repository().join("results");
    let output = folder.run(&["export", "--format", "parquet", "--out", "results.parquet", results.to_str().unwrap()]);
    assert!(output.status.success());
    let output = Command::new(python)
        .args(["-c", EXECUTE])
        .arg(repository().join(NOTEBOOK))
        .arg(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for word in ["wordpiece", "throughput", "copy-bandwidth", "documents"] {
        assert!(said.contains(word), "{word}: {said}");
    }
}
