//! `kubebench init`: a project to start from. It asks nothing and overwrites nothing.

use anyhow::Result;

use super::ExitStatus;
use super::args::{Global, InitArgs};
use super::findings::tell;
use super::project::{VERSION, start};
use super::{new, schema};
use kubebench_format::schema::DocumentKind;
use kubebench_host::fs;

const PROJECT: &str = "\
# yaml-language-server: $schema=schema/project.v1.json
apiVersion: kubebench.dev/v1
kind: Project
metadata:
  name: benchmarks
spec:
  targets:
    default:
      namespace: default
";

const EXAMPLE: &str = "specs/example.yaml";

const WORKFLOW: &str = "\
# Checks that generated/ is what the specs say.
name: kubebench
on: pull_request
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-latest
    container: ghcr.io/kubebench/kubebench:VERSION
    steps:
      # Pin this to the commit of the release that you reviewed.
      - uses: actions/checkout@v4
        with:
          persist-credentials: false
      - run: kubebench compile --check --output-format github
";

const ATTRIBUTES: &str = "\
# Manifests are compared byte for byte, so git must not change their line ends.
generated/** text eol=lf linguist-generated
";

/// Writes the files that are not there yet.
pub(super) fn run(global: &Global, _: &InitArgs) -> Result<ExitStatus> {
    let root = start(global)?;
    let mut files = vec![
        ("kubebench.yaml".to_owned(), PROJECT.to_owned()),
        (EXAMPLE.to_owned(), new::spec("job", "example", "../schema/benchmark.v1.json")?),
        (".github/workflows/kubebench.yml".to_owned(), WORKFLOW.replace("VERSION", VERSION)),
        (".gitattributes".to_owned(), ATTRIBUTES.to_owned()),
    ];
    files.extend(DocumentKind::ALL.map(|kind| (format!("schema/{}", kind.file_name()), schema::text(kind))));
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
        &if has_specs { "next: edit your specs, then run `kubebench compile`".to_owned() } else { new::next(EXAMPLE) },
    );
    Ok(ExitStatus::Yes)
}
