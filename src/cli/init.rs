//! `kubebench init`: a project to start from. It asks nothing and overwrites nothing.

use anyhow::Result;

use super::ExitStatus;
use super::args::{Global, InitArgs};
use super::findings::tell;
use super::new::next;
use crate::app::templates::{ATTRIBUTES, CODEOWNERS, PROJECT, schema, spec, workflow};
use kubebench_format::schema::DocumentKind;
use kubebench_host::fs;

const EXAMPLE: &str = "specs/example.yaml";

/// Writes the files that are not there yet.
pub(super) fn run(global: &Global, _: &InitArgs) -> Result<ExitStatus> {
    let root = global.start().folder()?;
    let mut files = vec![
        ("kubebench.yaml".to_owned(), PROJECT.to_owned()),
        (EXAMPLE.to_owned(), spec("job", "example", "../schema/benchmark.v1.json")?),
        (".github/workflows/kubebench.yml".to_owned(), workflow()),
        (".gitattributes".to_owned(), ATTRIBUTES.to_owned()),
        (".github/CODEOWNERS".to_owned(), CODEOWNERS.to_owned()),
    ];
    files.extend(DocumentKind::ALL.map(|kind| (format!("schema/{}", kind.file_name()), schema(kind))));
    let has_specs = fs::read_sources(&root, &["specs".to_owned()]).iter().any(|read| fs::is_spec(&read.path));
    if has_specs {
        files.retain(|(path, _)| path != EXAMPLE);
    }
    for (path, text) in files {
        match fs::create_new(&root, &path, &text) {
            Ok(()) => tell(global, &format!("wrote {path}")),
            Err(_) if fs::exists(&root, &path) => tell(global, &format!("left {path} as it is")),
            Err(error) => return Err(error),
        }
    }
    tell(
        global,
        &if has_specs { "next: edit your specs, then run `kubebench compile`".to_owned() } else { next(EXAMPLE) },
    );
    Ok(ExitStatus::Yes)
}
