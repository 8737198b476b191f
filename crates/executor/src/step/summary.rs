//! `kubebench step summary`: what became of all runs, and whether the Workflow failed.

use std::path::Path;

use anyhow::Result;

use super::attempt::Workflow;
use super::volume_state::{Found, result_of};
use super::{Answer, Environment, inputs, word};
use kubebench_contract::Config;
use kubebench_contract::Run;
use kubebench_format::result::BenchmarkResult;
use kubebench_format::result::v1::Status;
use kubebench_host::terminal;
use kubebench_syntax::diag::render::on_one_line;
use kubebench_syntax::text::columns;

/// How much of a reason fits.
const REASON: usize = 160;

/// Prints the table; the answer is that of the worst run.
///
/// # Errors
/// When the step has no inputs, or cannot read the volume.
pub fn run(environment: &Environment) -> Result<Answer> {
    let inputs = inputs::read(environment)?;
    let experiments = environment.experiments()?;
    let workflow = Workflow::of(environment)?;
    let mut rows = vec![["RUN", "CASE", "STATUS", "SECONDS", "PRIMARY METRIC", "WHY"].map(str::to_owned)];
    let mut failed = 0;
    for run in &inputs.config.list.runs {
        let job_of = |number| inputs.config.job_of(run, number, workflow.session());
        let last = last_result(experiments, &inputs.config.list.benchmark, job_of)?;
        failed += usize::from(last.as_ref().is_none_or(|result| result.run.status != Status::Succeeded));
        rows.push(row(&inputs.config, run, last.as_ref()));
    }
    terminal::print(&table(&rows))?;
    let total = inputs.config.list.runs.len();
    if failed == 0 {
        terminal::tell(&format!("all {total} runs succeeded"));
        return Ok(Answer::Succeeded);
    }
    terminal::tell(&format!(
        "{failed} of {total} runs did not succeed, so the Workflow fails; their results are recorded too"
    ));
    Ok(Answer::Failed)
}

/// Returns the result of the last attempt at a run, where `job_of` gives the names of the jobs of its attempts.
pub(super) fn last_result(
    experiments: &Path,
    benchmark: &str,
    job_of: impl Fn(u32) -> String,
) -> Result<Option<BenchmarkResult>> {
    let mut last = None;
    // As many as there are: a Workflow that is deleted and made again tries again what did not succeed.
    for number in 1.. {
        let job = job_of(number);
        match result_of(experiments, benchmark, &job)? {
            Found::Own(result) => last = Some(result),
            Found::Nothing => break,
            Found::Foreign(why) => {
                terminal::tell(&on_one_line(&format!("note: the result of `{job}` does not count: {why}")));
                break;
            }
        }
    }
    Ok(last)
}

fn row(config: &Config, run: &Run, result: Option<&BenchmarkResult>) -> [String; 6] {
    let case = config.list.cases.get(&run.case).map_or(run.case.as_str(), |case| case.name.as_str());
    let round = run.round();
    let Some(result) = result else {
        let why = "its step wrote none; see its log".to_owned();
        return [round, case.to_owned(), "no result".to_owned(), "-".to_owned(), "-".to_owned(), why];
    };
    let value = result.primary().and_then(|metric| {
        let unit =
            metric.unit.as_deref().filter(|unit| *unit != "1").map_or_else(String::new, |unit| format!(" {unit}"));
        Some(format!("{} {}{unit}", metric.name, metric.value?))
    });
    let why =
        result.run.reasons.first().map_or_else(String::new, |reason| reason.message.chars().take(REASON).collect());
    let seconds = format!("{:.1}", result.run.duration_seconds);
    [round, case.to_owned(), word(result.run.status), seconds, value.unwrap_or_else(|| "-".to_owned()), why]
}

/// Returns the rows with their columns below each other, each on one line.
pub(super) fn table<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    let rows: Vec<[String; COLUMNS]> =
        rows.iter().map(|row| row.each_ref().map(|cell| on_one_line(cell).into_owned())).collect();
    columns(&rows).into_iter().map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn a_case_is_one_line_whatever_it_is_called() {
        let row = |case: &str| ["r1", case, "succeeded", "1.0", "rate 1", ""].map(str::to_owned);
        let table = table(&[row("word=two\nlines \u{1b}[31m\u{202e}x"), row("word=plain")]);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 2, "{table}");
        assert!(!table.contains(['\u{1b}', '\u{202e}']), "{table:?}");
        assert_eq!(lines[0].find("succeeded"), lines[1].find("succeeded"), "columns: {table}");
    }
}
