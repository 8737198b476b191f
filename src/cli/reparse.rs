//! `kubebench reparse`: the metrics of results, read again from the logs that their runs left.

use anyhow::Result;

use super::ExitStatus;
use super::args::{Global, ReparseArgs, SelectArgs};
use super::findings::{counted, tell};
use super::project;
use crate::app::record::result_files;
use crate::app::reparse::{original, read_again};
use crate::app::runs::secrets;
use kubebench_host::machine;
use kubebench_host::terminal;

/// Writes a new result next to each of `args.results`, and of those below folders.
pub(super) fn run(global: &Global, args: &ReparseArgs) -> Result<ExitStatus> {
    let start = global.start();
    let project = project::open(global, &SelectArgs::default())?;
    let secrets = secrets(args.secret_file.as_deref(), &start.folder()?)?;
    let base = machine::variables(|name| args.pass_env.iter().any(|wanted| wanted == name));
    let files = result_files(&start, &args.results)?;
    let named: Vec<String> = args.results.iter().map(|path| start.path(path).display().to_string()).collect();
    let mut failed = false;
    let mut written = 0;
    for (shown, file) in files {
        let outcome = match original(file) {
            // Of a folder, what the runs wrote.
            Ok((_, result)) if result.source.reparsed.is_some() && !named.contains(&shown) => continue,
            Ok((path, result)) => read_again(&project, &secrets, &base, &path, &result),
            Err(error) => Err(error),
        };
        match outcome {
            Ok(Some(path)) => {
                written += 1;
                terminal::print(&format!("{}\n", path.display()))?;
            }
            Ok(None) => tell(global, &format!("{shown}: read again already, with the same outcome")),
            Err(error) => {
                failed = true;
                terminal::tell(&format!("error: {shown}: {error:#}"));
            }
        }
    }
    tell(global, &format!("{} written", counted(written, "result")));
    Ok(if failed { ExitStatus::NoAnswer } else { ExitStatus::Yes })
}
