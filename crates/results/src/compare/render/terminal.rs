//! What `gate` prints: what got worse first and, in one line, last.

use std::collections::BTreeMap;

use super::super::model::{GateReport, LeftOut, Line, NOT_SHOWN, Outcome, Size, Verdict, Weakened};
use super::super::words;
use super::alike::{Alike, alike};
use super::human::details;
use super::layout::{Table, fits, fitting, wrap, wrap_command};
use super::parts::{Group, Parts, Places, Standing};
use super::summary::{brief, summary};
use super::{cells, clean, plain};

/// How much a person wants to read, and the room for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// The columns of the terminal.
    pub width: usize,
    /// Whether all that is known is printed.
    pub detail: Detail,
}

/// How much is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Three lines for a regression, and as many rows as one looks at.
    Short,
    Full,
}

/// What a column of a table shows.
#[derive(Clone, Copy, Debug)]
enum Column {
    /// The series, in full.
    Name,
    /// The change alone: without their intervals, all have as many digits.
    Size,
    Verdict,
}

/// Sentences are no wider than this, whatever room there is.
const WIDEST: usize = 100;
/// Names of regressions in a list are cut to this many columns before their intervals are left out.
const NAMED: usize = 32;
/// The maximum number of inconclusive or improved series that are named.
const MOST_NAMED: usize = 3;

impl Detail {
    /// Returns how many of many are printed.
    fn most(self, short: usize) -> usize {
        if self == Self::Short { short } else { usize::MAX }
    }
}

/// Returns what `gate` prints.
pub fn gated(answer: &GateReport, view: View) -> String {
    let answer = &GateReport { lines: answer.lines.iter().map(clean).collect(), ..answer.clone() };
    let mut page = Page { text: String::new(), view, places: Places::of(&answer.lines), answer };
    if let Some(origin) = &answer.origin {
        page.sentence("", 2, &plain(origin));
    }
    if answer.outcome == Outcome::NothingToEvaluate {
        page.rest();
        page.sentence("", 2, &format!("nothing to evaluate: {}", words::nothing_to_evaluate(answer)));
        return page.text;
    }
    let parts = Parts::of(&answer.lines);
    page.draw(&parts);
    page.text
}

/// Returns the last line of what `gate` prints, where the gate passes and not everything was decided.
pub fn unsettled(answer: &GateReport) -> Option<String> {
    let parts = Parts::of(&answer.lines);
    let is_open = matches!(parts.standing(answer), Standing::Pending | Standing::Inconclusive | Standing::New);
    (answer.outcome == Outcome::Passed && is_open).then(|| last_line(answer))
}

/// Returns the last line of what `gate` prints.
pub fn last_line(answer: &GateReport) -> String {
    summary(answer, &Parts::of(&answer.lines), WIDEST)
}

/// A page that is being written.
struct Page<'a> {
    text: String,
    view: View,
    places: Places,
    answer: &'a GateReport,
}

impl Page<'_> {
    fn draw(&mut self, parts: &Parts<'_>) {
        self.regressions(&parts.worse, 10);
        if !parts.known.is_empty() || !parts.known_failing.is_empty() {
            self.gap();
            self.sentence("", 2, &format!("{}:", words::sentence_case(&words::already(self.answer))));
            // In addition to what is new, one line of each is enough.
            self.regressions(&parts.known, if parts.worse.is_empty() { 10 } else { 0 });
            self.groups(&parts.known_failing);
        }
        self.pending(&parts.pending);
        let (doubtful, other_doubtful) = parts.doubtful.split_at(parts.doubtful.len().min(self.view.detail.most(2)));
        self.gap_before(!parts.failing.is_empty() || !parts.doubtful.is_empty() || !parts.unmeasured.is_empty());
        self.groups(&parts.failing);
        for line in doubtful {
            self.undecided(line);
        }
        self.groups(&parts.unmeasured);
        self.gap_before(!parts.new.is_empty());
        self.groups(&parts.new);
        // What was just said is not said again; `-v` has a table of all.
        let doubtful = if self.view.detail == Detail::Full { &parts.doubtful } else { other_doubtful };
        let undecided = doubtful.iter().chain(&parts.undecided);
        let mut rest: Vec<&Line> = undecided.chain(&parts.decided).copied().collect();
        if self.view.detail == Detail::Full {
            rest.extend(parts.unmeasured.iter().flat_map(|group| &group.lines));
        }
        self.table(&rest);
        if self.view.detail == Detail::Full {
            self.explained(&parts.undecided);
            self.explained(&parts.decided);
        }
        self.gap();
        self.notes_of_lines();
        self.rest();
        if self.view.detail == Detail::Short && !(parts.worse.is_empty() && parts.known.is_empty()) {
            self.sentence("", 2, "details: `kubebench gate -v`; what to do: `kubebench explain KB0460`");
        }
        self.improved(&parts.decided);
        self.text.push_str(&summary(self.answer, parts, self.view.width.min(WIDEST)));
        self.text.push('\n');
    }

    fn sentence(&mut self, beginning: &str, indent: usize, sentence: &str) {
        wrap(&mut self.text, beginning, indent, sentence, self.view.width.min(WIDEST));
    }

    /// Writes an empty line, unless there is one or nothing is above.
    fn gap(&mut self) {
        self.gap_before(true);
    }

    fn gap_before(&mut self, is_more: bool) {
        if is_more && !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn more(&mut self, count: usize, what: &str) {
        if count > 0 {
            self.sentence("", 2, &format!("and {count} more {what}: `kubebench gate -v` has all"));
        }
    }

    fn regressions(&mut self, lines: &[&Line], most: usize) {
        let most = self.view.detail.most(most);
        let groups = match self.view.detail {
            Detail::Short => alike(lines, &self.answer.candidate),
            Detail::Full => lines.iter().copied().map(Alike::one).collect(),
        };
        for group in groups.iter().take(most) {
            self.block(group);
        }
        if let Some(rest @ [_, ..]) = groups.get(most..) {
            self.list(rest);
        }
    }

    fn pending(&mut self, lines: &[&Line]) {
        let most = self.view.detail.most(5);
        for line in lines.iter().take(most) {
            self.block(&Alike::one(line));
        }
        self.more(lines.len().saturating_sub(most), "pending series");
    }

    fn block(&mut self, group: &Alike<'_>) {
        self.gap();
        self.title(group.worst);
        self.body(group);
    }

    /// Says in one line what a line is about.
    fn title(&mut self, line: &Line) {
        let size = words::shown(line).map(|size| words::size(size, line.unit.as_deref()));
        let said = match (words::limit(line), size) {
            (None, Some(size)) => size,
            // What passed a limit is said by the limit, and by a change where one is open.
            (Some(_), Some(size)) if line.open.is_some() => format!("{size}; {}", line.message),
            _ => line.message.clone(),
        };
        self.sentence("", 2, &format!("{}: {}: {said}", words::verdict(line), self.places.name(line)));
    }

    /// Says the rest of it: since when and what was measured, in which other cases, and what to do next; or all.
    fn body(&mut self, group: &Alike<'_>) {
        let line = group.worst;
        if self.view.detail == Detail::Full {
            if words::shown(line).is_some() && words::limit(line).is_none() {
                self.sentence("  ", 4, &line.message);
            }
            return self.details(line);
        }
        if let Some(fact) = fact(line, &self.answer.candidate) {
            self.sentence("  ", 4, &fact);
        }
        if let Some(also) = group.also(&self.places) {
            self.sentence("  ", 4, &also);
        }
        let next = words::ranges(line).first().map(words::Range::bisect);
        if let Some(next) = next.or_else(|| words::decide(line, self.results()).into_iter().next()) {
            self.next(&next);
        }
    }

    fn details(&mut self, line: &Line) {
        for detail in details(line) {
            self.sentence("  ", 4, &detail);
        }
        for next in words::next(line, self.results()) {
            self.next(&next);
        }
    }

    fn next(&mut self, next: &str) {
        let width = self.view.width.min(WIDEST);
        let at = ["kubebench ", "git "].iter().find_map(|program| {
            let is_begin = |at: &usize| *at == 0 || next.get(..*at).is_some_and(|before| before.ends_with(": "));
            next.match_indices(program).map(|(at, _)| at).find(is_begin)
        });
        match at.and_then(|at| next.split_at_checked(at)) {
            Some((said, command)) if said.is_empty() || fits(&format!("  next: {next}"), width) => {
                wrap_command(&mut self.text, &format!("  next: {said}"), 8, command, width);
            }
            // What is copied begins its line.
            Some((said, command)) => {
                wrap(&mut self.text, "  next: ", 8, said, width);
                wrap_command(&mut self.text, "        ", 8, command, width);
            }
            None => wrap(&mut self.text, "  next: ", 8, next, width),
        }
    }

    fn results(&self) -> Option<&str> {
        self.answer.results.as_deref()
    }

    /// Says of what is inconclusive what was measured, and what would settle it.
    fn undecided(&mut self, line: &Line) {
        let size = words::shown(line).map(|size| words::size(size, line.unit.as_deref()));
        let size = size.map_or_else(String::new, |size| format!(" {size}"));
        let size = if line.change.is_none() && !size.is_empty() { format!("{size},") } else { size };
        self.sentence("", 2, &format!("inconclusive: {}:{size} {}", self.places.name(line), line.message));
        if self.view.detail == Detail::Full {
            self.details(line);
        }
    }

    fn groups(&mut self, groups: &[Group<'_>]) {
        let most = self.view.detail.most(10);
        for group in groups.iter().take(most) {
            let [said, names] = group.sentence(&self.places);
            self.sentence("", 2, &said);
            match (self.view.detail, group.lines.as_slice()) {
                (Detail::Full, [line]) => self.details(line),
                (Detail::Full, lines) => {
                    for line in lines {
                        self.sentence("  ", 4, &self.places.name(line));
                    }
                }
                (Detail::Short, lines) => {
                    if !names.is_empty() {
                        self.sentence("  ", 4, &names);
                    }
                    if let Some(next) =
                        lines.first().and_then(|line| words::decide(line, self.results()).into_iter().next())
                    {
                        self.next(&next);
                    }
                }
            }
        }
        self.more(groups.len().saturating_sub(most), "of this kind");
    }

    /// Says of what is no problem why, where more than the table has is known.
    fn explained(&mut self, lines: &[&Line]) {
        for line in lines {
            self.gap();
            self.title(line);
            self.sentence("  ", 4, &line.message);
            self.details(line);
        }
    }

    /// Lists regressions for which there is no room in three lines: by how much, since when, and which.
    fn list(&mut self, groups: &[Alike<'_>]) {
        let most = self.view.detail.most(20);
        let none = || "-".to_owned();
        let row = |group: &Alike<'_>| {
            let line = group.worst;
            let began = words::began(line, &self.answer.candidate);
            let since = began.map_or_else(none, |began| words::day(began.at).to_owned());
            let better = words::better(line.direction).and_then(|better| better.split(' ').next());
            [group.change(), since, better.map_or_else(none, str::to_owned), group.name(&self.places)]
        };
        let head = ["CHANGE", "SINCE", "BETTER", "SERIES"].map(str::to_owned);
        let whole: Vec<_> = [head].into_iter().chain(groups.iter().take(most).map(row)).collect();
        let rows = |columns: &[usize], shortest: usize| {
            let kept = |row: &[String; 4]| columns.iter().filter_map(|at| row.get(*at).cloned()).collect::<Vec<_>>();
            Table { rows: whole.iter().map(kept).collect(), name: columns.len() - 1, shortest }
        };
        // Where an interval has no room at all, the size alone is left.
        let short = |row: &mut Vec<String>| {
            if let Some(change) = row.first_mut() {
                change.truncate(change.find(" [").unwrap_or(change.len()));
            }
        };
        let mut narrow = rows(&[0, 1, 3], NAMED);
        let mut narrowest = rows(&[0, 3], 0);
        narrow.rows.iter_mut().chain(&mut narrowest.rows).for_each(short);
        self.gap();
        self.push_all(fitting([rows(&[0, 1, 2, 3], NAMED), narrow, narrowest], self.view.width));
        let left: usize = groups.iter().skip(most).map(Alike::count).sum();
        self.more(left, "regressions");
    }

    fn cell(&self, line: &Line, column: Column) -> String {
        match column {
            Column::Name => self.places.name(line),
            Column::Size => {
                let size = words::shown(line).map(|size| Size { interval: None, ..size });
                let size = size.map(|size| words::amount(size, line.unit.as_deref()));
                size.unwrap_or_else(|| "-".to_owned())
            }
            Column::Verdict => words::verdict(line).to_owned(),
        }
    }

    /// Counts what improved, and names what did most.
    fn improved(&mut self, decided: &[&Line]) {
        let better: Vec<&Line> = decided.iter().copied().filter(|line| line.verdict == Verdict::Improved).collect();
        let named: Vec<String> = brief(&better).take(MOST_NAMED).collect();
        let most = if better.len() > named.len() { "; the largest changes:" } else { ":" };
        if !named.is_empty() {
            self.sentence("", 2, &format!("{} series improved{most} {}", better.len(), named.join(", ")));
        }
    }

    fn table(&mut self, lines: &[&Line]) {
        let most = self.view.detail.most(20);
        if lines.is_empty() {
            return;
        }
        let is_placed = self.places.are_needed(lines);
        let shown = || lines.iter().take(most);
        let mut wide = vec![
            ["BENCHMARK", "CASE", "METRIC", "BASELINE", "CANDIDATE", "CHANGE", "VERDICT"].map(str::to_owned).to_vec(),
        ];
        wide.extend(shown().map(|line| cells(line, "-").to_vec()));
        if is_placed {
            let places = shown().map(|line| self.places.place(line).unwrap_or_else(|| "-".to_owned()));
            for (row, place) in wide.iter_mut().zip(["ON".to_owned()].into_iter().chain(places)) {
                row.insert(2, place);
            }
        }
        let values = if is_placed { 4..6 } else { 3..5 };
        let without = |row: &Vec<String>| {
            let kept = row.iter().enumerate().filter(|(at, _)| !values.contains(at));
            kept.map(|(_, cell)| cell.clone()).collect()
        };
        let middle: Vec<Vec<String>> = wide.iter().map(without).collect();
        let narrow = [Column::Name, Column::Size, Column::Verdict];
        let head = ["SERIES", "CHANGE", "VERDICT"].map(str::to_owned).to_vec();
        let narrow = shown().map(|line| narrow.iter().map(|column| self.cell(line, *column)).collect());
        let narrow = [head].into_iter().chain(narrow).collect();
        let tables = [wide, middle, narrow].map(|rows| Table { rows, name: 0, shortest: usize::MAX });
        self.gap();
        self.push_all(fitting(tables, self.view.width));
        self.more(lines.len().saturating_sub(most), "series, none of which got worse");
    }

    fn push_all(&mut self, lines: Vec<String>) {
        for line in lines {
            self.text.push_str(&line);
            self.text.push('\n');
        }
    }

    /// Says of the lines which results did not count, and the like: each once.
    fn notes_of_lines(&mut self) {
        const MOST: usize = 10;
        if self.view.detail == Detail::Full {
            return;
        }
        let mut series: BTreeMap<&str, Vec<&Line>> = BTreeMap::new();
        for line in &self.answer.lines {
            for note in line.notes.iter().filter(|note| !note.starts_with(words::AUTOCORRELATED)) {
                series.entry(note).or_default().push(line);
            }
        }
        let mut sorted: Vec<(&str, Vec<&Line>)> = series.into_iter().collect();
        sorted.sort_by_key(|(_, lines)| std::cmp::Reverse(lines.len()));
        let said: Vec<String> = sorted
            .iter()
            .take(MOST)
            .map(|(note, lines)| match lines.as_slice() {
                [line] => format!("{}: {note}", self.places.name(line)),
                lines => format!("{note} ({} series)", lines.len()),
            })
            .collect();
        for note in &said {
            self.sentence("note: ", 6, note);
        }
        self.more(sorted.len().saturating_sub(MOST), "notes");
    }

    /// Says what concerns all, and which files did not count.
    fn rest(&mut self) {
        const SHOWN: usize = 10;
        let answer = self.answer;
        for note in &answer.notes {
            self.sentence("note: ", 6, &plain(note));
        }
        for Weakened { place, code, message, help, fails } in &answer.weakened {
            let label = if *fails { "fails: " } else { "weakened: " };
            let help = help.as_ref().map_or_else(String::new, |help| format!("; {}", plain(help)));
            self.sentence(label, label.len(), &format!("{}: {code}: {}{help}", plain(place), plain(message)));
        }
        for LeftOut { path, code, message } in answer.left_out.iter().take(SHOWN) {
            self.sentence("left out: ", 10, &format!("{}: {code}: {}", plain(path), plain(message)));
        }
        if answer.left_out.len() > SHOWN {
            self.sentence("left out: ", 10, &format!("{} more result files", answer.left_out.len() - SHOWN));
        }
    }
}

/// Says in one line since when a line is as it is, and what was measured.
fn fact(line: &Line, candidate: &str) -> Option<String> {
    if line.reason == NOT_SHOWN {
        return None;
    }
    let better = words::better(line.direction).map_or_else(String::new, |better| format!(" ({better})"));
    // Of an open change, the levels that its size is between: the newest session alone may say something else.
    let of_open = line.open.as_ref().and_then(|open| open.size).map(|size| size.levels);
    let levels = of_open.or_else(|| line.baseline.median.zip(line.candidate.median));
    let values = levels.map(|(before, after)| words::from_to(before, after, line.unit.as_deref()) + &better);
    let began = words::began(line, candidate).map(|began| began.sentence());
    let mut said = began.into_iter().chain(values).collect::<Vec<_>>().join(": ");
    said.push_str(&words::state(line));
    if line.open.is_none() && words::shown(line).is_some() {
        // What changed from 0 has no share, and so no threshold.
        let is_share = words::shown(line).is_some_and(|size| size.change.is_some());
        let threshold = if is_share { format!(", {} threshold", words::share(line.threshold)) } else { String::new() };
        let sure = words::sureness(line).map(|sure| sure + &threshold);
        said.push_str(&format!("; {}", sure.unwrap_or_else(|| line.message.clone())));
    }
    Some(said).filter(|said| !said.is_empty())
}
