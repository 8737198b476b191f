//! `kubebench init`: a project to start from. It asks nothing and overwrites nothing.

use std::path::Path;

use anyhow::Result;

use super::ExitStatus;
use super::args::{Global, InitArgs};
use super::findings::tell;
use super::new::next;
use crate::app::places::{folder_of, top_of};
use crate::app::templates::{ATTRIBUTES, PROJECT, codeowners, owned, schema, spec, workflow, workflow_path};
use kubebench_format::schema::DocumentKind;
use kubebench_host::fs;

const EXAMPLE: &str = "specs/example.yaml";

/// Writes the files that are not there yet.
pub(super) fn run(global: &Global, _: &InitArgs) -> Result<ExitStatus> {
    let root = global.start().folder()?;
    let mut files = vec![
        ("kubebench.yaml".to_owned(), PROJECT.to_owned()),
        (EXAMPLE.to_owned(), spec("job", "example", "../schema/benchmark.v1.json")?),
        (".gitattributes".to_owned(), ATTRIBUTES.to_owned()),
    ];
    files.extend(DocumentKind::ALL.map(|kind| (format!("schema/{}", kind.file_name()), schema(kind))));
    let has_specs = fs::read_sources(&root, &["specs".to_owned()]).iter().any(|read| fs::is_spec(&read.path));
    if has_specs {
        files.retain(|(path, _)| path != EXAMPLE);
    }
    for (path, text) in files {
        create(global, (&root, ""), &path, &text)?;
    }
    // GitHub reads these at the top of a repository and nowhere else.
    let folder = folder_of(&root);
    let (top, shown) = top_of(&root, &folder);
    create(global, (&top, &shown), &workflow_path(&folder), &workflow(&folder))?;
    let is_new = create(global, (&top, &shown), ".github/CODEOWNERS", &codeowners(&folder))?;
    if !is_new && !folder.is_empty() {
        tell(global, &format!("add to it:\n  {}", owned(&folder).trim_end().replace('\n', "\n  ")));
    }
    tell(
        global,
        &if has_specs { "next: edit your specs, then run `kubebench compile`".to_owned() } else { next(EXAMPLE) },
    );
    Ok(ExitStatus::Yes)
}

/// Writes a file that is not there yet; returns whether it was written. The folder is that of `path`, and how it is called.
fn create(global: &Global, (root, shown): (&Path, &str), path: &str, text: &str) -> Result<bool> {
    match fs::create_new(root, path, text) {
        Ok(()) => {
            tell(global, &format!("wrote {shown}{path}"));
            Ok(true)
        }
        Err(_) if fs::exists(root, path) => {
            tell(global, &format!("left {shown}{path} as it is"));
            Ok(false)
        }
        Err(error) => Err(error),
    }
}
