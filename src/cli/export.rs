//! `kubebench export`: results in the formats of other programs.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::ExitStatus;
use super::args::{ExportArgs, Global};
use super::findings::{self, Findings, Output, counted, refuse_report_places, tell};
use crate::app::evaluate::ACKS;
use crate::app::export::{ExportQuery, write};
use crate::app::places;
use crate::app::project::{former_targets_around, rules_around};
use crate::app::results::{ResultFiles, Taken, of_doubt};
use kubebench_results::export::{self, Cells, Format, Shape};
use kubebench_syntax::text::SourceMap;

/// Writes the results that were asked for, and says what was left out.
pub(super) fn run(global: &Global, args: &ExportArgs) -> Result<ExitStatus> {
    refuse_usage(args)?;
    let start = global.start();
    let results = ResultFiles::all(&start, &args.paths)?;
    refuse_report_places(global, results.root(), &[results.folder()])?;
    let is_printed = args.out == Path::new("-");
    let out = start.path(&args.out);
    if !is_printed {
        let asked: Vec<PathBuf> = args.paths.iter().map(|path| start.path(path)).collect();
        let asked = asked.iter().map(|path| Ok(std::path::absolute(path)?.to_string_lossy().into_owned()));
        let asked: Vec<String> = asked.collect::<Result<_>>().context("cannot resolve the folder of results")?;
        let kept: Vec<&str> =
            asked.iter().map(String::as_str).chain([results.folder(), "specs", ACKS, ".git", "generated"]).collect();
        places::refuse_around("exports", &out, results.root())?;
        places::refuse("export", &out, results.root(), &kept)?;
    }

    let mut sources = SourceMap::default();
    let Taken { mut dataset, files, mut checked } = results.take(&mut sources);
    let former_targets = former_targets_around(&start);
    dataset.rename_targets(&former_targets);
    let chosen = export::choose(dataset, results.counted(), &|| rules_around(&start), args.format, &args.include);
    for doubt in &chosen.doubts {
        checked.diagnostics.extend(doubt.paths().iter().map(|path| of_doubt(doubt, path, &str::to_owned)));
    }
    let chosen_files: Vec<_> = files.iter().filter(|(shown, _)| chosen.paths.contains(*shown)).collect();

    let query = ExportQuery {
        format: args.format,
        cells: if args.spreadsheet { Cells::Spreadsheet } else { Cells::Plain },
        out: (!is_printed).then_some(out),
        former_targets,
    };
    // No export replaces an earlier one while what could not be read may still be fixed.
    let left = if checked.unreadable { None } else { Some(write(&start, &query, &chosen, &chosen_files)?) };
    let findings = Findings {
        diagnostics: checked.diagnostics,
        sources: &sources,
        checked: &checked.files,
        unreadable: checked.unreadable,
    };
    let status = findings::report(global, if is_printed { Output::Data } else { Output::Findings }, findings)?;
    let Some(left) = left else {
        tell(global, "nothing was exported");
        return Ok(status);
    };
    let to = if is_printed { "standard output".to_owned() } else { args.out.display().to_string() };
    tell(global, &format!("{} exported to {to}", counted(chosen_files.len(), "result")));
    let words: Vec<String> = [chosen.passed.words(), left.words()].into_iter().flatten().collect();
    if !words.is_empty() {
        tell(global, &format!("left out: {}", words.join(", ")));
    }
    Ok(status)
}

fn refuse_usage(args: &ExportArgs) -> Result<()> {
    let name = args.format.name();
    if args.spreadsheet && args.format != Format::Csv {
        bail!("`--spreadsheet` applies only to csv, and the format is {name}");
    }
    if args.format.is_summary() && !args.include.is_empty() {
        bail!("{name} holds medians of the runs that count, and `--include` would mix in others");
    }
    if args.out == Path::new("-") && args.format.shape() != Shape::Text {
        bail!(
            "{name} is not a text format; name a {} with `--out`",
            if args.format.shape() == Shape::Folder { "folder" } else { "file" }
        );
    }
    Ok(())
}
