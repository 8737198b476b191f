//! Why results count for no branch: said before what may take hours, and again at its end.

use std::collections::BTreeSet;
use std::path::Path;

use kubebench_git::CheckedOut;
use kubebench_syntax::diag::render::on_one_line;

/// What keeps the results of benchmarks that ran from being of a commit.
#[derive(Debug, Default)]
pub(super) struct Origins {
    /// Why the commit is unknown.
    unknown: Option<String>,
    /// The files that differ from the commit.
    differing: BTreeSet<String>,
}

impl Origins {
    /// Takes what is known before a benchmark runs; returns what people should know then, unless they do.
    pub(super) fn add(&mut self, root: &Path, known: &Result<Option<CheckedOut>, String>) -> Option<String> {
        match known {
            Ok(None) => None,
            Ok(Some(known)) => {
                let before = self.differing.len();
                self.differing.extend(known.differing.iter().cloned());
                (self.differing.len() > before).then(|| {
                    format!("note: results will not count for any branch, because {}", differ(&self.differing))
                })
            }
            Err(why) if self.unknown.as_ref() == Some(why) => None,
            Err(why) => {
                self.unknown = Some(why.clone());
                Some(format!("note: results will not name the commit of {}: {why}", root.display()))
            }
        }
    }

    /// Says it again.
    pub(super) fn warnings(&self) -> Vec<String> {
        let unknown = self.unknown.as_ref().map(|why| {
            format!(
                "warning: these results name no commit, so `gate` ignores them if other results of the project name \
                 one: {why}"
            )
        });
        let differing = Some(&self.differing).filter(|files| !files.is_empty()).map(|files| {
            format!(
                "warning: these results do not count for any branch, because {}: commit, and run again (`git status` \
                 lists what differs)",
                differ(files)
            )
        });
        unknown.into_iter().chain(differing).collect()
    }
}

fn differ(files: &BTreeSet<String>) -> String {
    let first = files.first().map_or_else(String::new, |first| on_one_line(first).into_owned());
    match files.len() {
        1 => format!("{first} differs from the commit that is checked out"),
        2 => format!("{first} and 1 more file differ from the commit that is checked out"),
        count => format!("{first} and {} more files differ from the commit that is checked out", count - 1),
    }
}
