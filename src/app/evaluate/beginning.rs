//! From when on a project looks at regressions: `spec.judgeFrom`.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};

use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_format::result::{ANY, Accepts, Ack, Before};
use kubebench_git::{Commits, Earlier};
use kubebench_syntax::unit::{Beginning, is_time};

/// Returns the acknowledgement that `judgeFrom` is: of every change that began before.
pub(super) fn before(from: &str, commits: Option<&Commits>) -> Result<Ack> {
    let written = from.to_owned();
    let before = if is_time(from) {
        let time = Beginning::parse(from).map_or_else(|_| written.clone(), |time| time.to_string());
        Before { written, time, commits: BTreeSet::new() }
    } else {
        let Earlier { commits, time } =
            earlier(from, commits).with_context(|| format!("`judgeFrom: {from}` in {PROJECT_FILE} cannot be found"))?;
        Before { written, time, commits }
    };
    Ok(Ack {
        file: PROJECT_FILE.to_owned(),
        benchmark: ANY.to_owned(),
        case: ANY.to_owned(),
        metric: ANY.to_owned(),
        target: None,
        accepts: Accepts::Before(before),
        max_change: None,
        reason: format!("judgeFrom: {from}"),
        by: "the project".to_owned(),
        expires: None,
    })
}

fn earlier(name: &str, commits: Option<&Commits>) -> Result<Earlier> {
    commits
        .context("a revision needs a git repository, and this is not one; write a day such as 2026-01-31")?
        .earlier_than(name)
}
