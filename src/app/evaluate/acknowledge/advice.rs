//! What to write where no regression is open, and the gate calls the newest sessions regressed nevertheless: it takes one session, and a
//! change of level takes several.

use anyhow::{Error, Result, anyhow};

use super::super::{BadFiles, Decides, Evaluation, GateQuery, GatesEvaluated, PassOrFail};
use super::AckQuery;
use kubebench_results::compare::matches;
use kubebench_results::compare::model::{Line, Verdict};
use kubebench_syntax::diag::Diagnostics;
use kubebench_syntax::text::shell_word;
use kubebench_syntax::unit::MetricSelector;

/// Returns the refusal, with the commands that accept what the gate calls regressed now.
pub(super) fn nothing_open(evaluation: &Evaluation, query: &AckQuery) -> Error {
    // Where the gate has no answer, it says why itself.
    let commands: Vec<String> = regressed(evaluation, query)
        .into_iter()
        .flatten()
        .filter_map(|line| command(&line, query))
        .map(|command| format!("\n  {command}"))
        .collect();
    if commands.is_empty() {
        return anyhow!(
            "no regression is open, so there is nothing to accept; to accept one anyway, pass its first session \
             to `--from`"
        );
    }
    anyhow!(
        "this regression is not open yet, because only the newest session shows it; to accept it anyway, run:{}",
        commands.concat()
    )
}

/// Returns what the gate says, read as it reads it.
fn regressed(evaluation: &Evaluation, query: &AckQuery) -> Result<Vec<Line>> {
    let start = &evaluation.start;
    let mut again = Evaluation::open(start)?;
    again.read_if_any(query.results.as_ref())?;
    let acks = again.acks(&mut Diagnostics::default())?;
    let asked = GateQuery {
        on_weakened: PassOrFail::Pass,
        candidate: None,
        baseline: None,
        results: query.results.clone(),
        decides: Decides::Everything,
        on_inconclusive: None,
        on_missing: PassOrFail::Fail,
        bad_files: BadFiles::Skipped,
        as_of: None,
    };
    let GatesEvaluated { answer, .. } = GatesEvaluated::of(again, &acks, start, &asked)?;
    let metric = MetricSelector::of(&query.metric);
    let is_asked = |line: &Line| {
        let target = line.environment.get("target");
        line.verdict == Verdict::Regressed
            && line.benchmark == query.benchmark
            && metric.has(&line.metric, &line.labels)
            && query.case.as_deref().is_none_or(|case| matches(case, &line.case) || matches(case, &line.case_name))
            && query.target.as_ref().is_none_or(|wanted| target.is_none_or(|own| own == wanted))
    };
    Ok(answer.lines.into_iter().filter(is_asked).collect())
}

/// Returns the command that accepts what began with the first session of a line; nothing for a limit, which `ack` does not accept.
fn command(line: &Line, query: &AckQuery) -> Option<String> {
    line.adjusted_p?;
    let from = &line.candidate.sessions.first()?.session;
    let mut words = vec!["kubebench", "ack", &query.benchmark, "--metric", &query.metric, "--case", &line.case];
    words.extend(query.target.iter().flat_map(|target| ["--target", target.as_str()]));
    words.extend(["--from", from.as_str()]);
    words.extend(query.max_change.iter().flat_map(|share| ["--max-change", share.as_str()]));
    words.extend(["--by", query.by.as_str(), "--reason", query.reason.as_str()]);
    words.extend(query.expires.iter().flat_map(|day| ["--expires", day.as_str()]));
    let results = query.results.as_ref().map(ToString::to_string);
    words.extend(results.iter().flat_map(|named| ["--results", named.as_str()]));
    Some(words.into_iter().map(shell_word).collect::<Vec<_>>().join(" "))
}
