//! Tables: one row a line, and in the first the names of the columns.

use std::io::{BufRead, BufReader, Read};

use super::super::lines::refuse_utf_16;
use super::super::number::{self, whole};
use super::super::series::{Sample, Series};
use super::super::unit_word;
use super::{MAX_LINE, Note, Strange, joined, listed};
use kubebench_format::spec::v1::metric::{Delimiter, Row};
use kubebench_syntax::invariant::Invariant as _;

/// Possible separators of cells, in the order in which they are tried, with their names in a spec.
const SEPARATORS: [(u8, &str); 4] = [(b',', "\",\""), (b'\t', "tab"), (b'|', "\"|\""), (b';', "\";\"")];

/// A row after the last one: if it is part of a cell, that cell was opened by a quote that was never closed.
const LAST_ROW: &[u8] = b"\n\x00the row behind the last\x00\n";

/// Where a column is.
struct Header {
    separator: u8,
    names: Vec<String>,
    index: usize,
}

impl Header {
    /// Finds `column` in the header that `text` begins with: by the requested delimiter, or by the first one with which
    /// the header has it.
    ///
    /// # Errors
    /// The column does not exist, with the columns that do.
    fn find(text: &[u8], asked: Delimiter, column: &str) -> Result<Self, String> {
        let is_asked = |(separator, _): &&(u8, &str)| asked_for(asked).is_none_or(|asked| asked == *separator);
        let mut widest = Vec::new();
        let mut by = String::new();
        for (separator, name) in SEPARATORS.iter().filter(is_asked) {
            let names = names(text, *separator)?;
            if let Some(index) = names.iter().position(|name| name == column) {
                return Ok(Self { separator: *separator, names, index });
            }
            if names.len() > widest.len() {
                by = if *separator == b',' { String::new() } else { format!(", with `delimiter: {name}`,") };
                widest = names;
            }
        }
        if widest.iter().all(String::is_empty) {
            return Err(format!("there is no column `{column}`: the table has no header"));
        }
        let other = SEPARATORS.iter().find(|(other, _)| {
            asked_for(asked).is_some()
                && widest.len() == 1
                && widest.iter().any(|cell| cell.contains(char::from(*other)))
        });
        if let Some((separator, name)) = other {
            let held = if *separator == b'\t' { "a tab".to_owned() } else { format!("`{}`", char::from(*separator)) };
            return Err(format!(
                "there is no column `{column}`: the header is one cell that holds {held}; write `delimiter: {name}`, or no `delimiter`"
            ));
        }
        Err(format!("there is no column `{column}`; the columns{by} are {}", listed(&widest)))
    }
}

/// Returns the requested byte; none where the header decides.
fn asked_for(delimiter: Delimiter) -> Option<u8> {
    match delimiter {
        Delimiter::Comma => Some(b','),
        Delimiter::Semicolon => Some(b';'),
        Delimiter::Bar => Some(b'|'),
        Delimiter::Tab => Some(b'\t'),
        Delimiter::Auto => None,
    }
}

fn builder(separator: u8) -> csv::ReaderBuilder {
    let mut builder = csv::ReaderBuilder::new();
    builder.delimiter(separator).flexible(true);
    builder
}

/// Returns the names of the columns with this separator.
fn names(text: &[u8], separator: u8) -> Result<Vec<String>, String> {
    let mut reader = builder(separator).from_reader(text);
    let headers = reader.byte_headers().map_err(|error| format!("it is not CSV: {error}"))?;
    Ok(headers
        .iter()
        .map(|name| String::from_utf8_lossy(name).trim_start_matches('\u{feff}').trim().to_owned())
        .collect())
}

/// Reads as many lines as the header may have: to the first that holds something and closes its quotes.
fn start(text: &mut impl BufRead) -> Result<Vec<u8>, String> {
    let mut start = Vec::new();
    let mut text = text.take(MAX_LINE);
    let (mut is_open, mut is_blank) = (false, true);
    loop {
        let before = start.len();
        text.read_until(b'\n', &mut start).map_err(|error| format!("it cannot be read: {error}"))?;
        let Some(line) = start.get(before..).filter(|line| !line.is_empty()) else { return Ok(start) };
        is_open = line.iter().fold(is_open, |is_open, byte| is_open != (*byte == b'"'));
        is_blank &= line.trim_ascii().is_empty();
        if !is_open && !is_blank {
            return Ok(start);
        }
    }
}

/// Reads the values of a column; blank cells have no value, and are counted in the note.
///
/// # Errors
/// Why there is none.
pub fn csv(
    mut text: impl BufRead,
    column: &str,
    row: Row,
    delimiter: Delimiter,
    series: &mut Series,
) -> Result<Note, String> {
    refuse_utf_16(text.fill_buf().map_err(|error| format!("it cannot be read: {error}"))?)?;
    let mut text = BufReader::new(Newlines { text, is_after_return: false });
    let start = start(&mut text)?;
    let Header { separator, names, index } = Header::find(&start, delimiter, column)?;
    let text = Ending { text: start.chain(text), last: b'\n' }.chain(LAST_ROW).take(MAX_LINE);
    let mut reader = builder(separator).from_reader(text);
    reader.byte_headers().map_err(|error| format!("it is not CSV: {error}"))?;
    let namesakes = names.iter().filter(|name| *name == column).count();
    if namesakes > 1 {
        return Err(format!("{namesakes} columns are called `{column}`: give each a different name"));
    }
    let named = unit_word::before(column);
    let step_column = names.iter().position(|name| matches!(name.as_str(), "step" | "global_step" | "iteration"));
    let mut last = None;
    let (mut rows, mut blank) = (0_u64, 0_u64);
    // How many cells the last row has, and where it is.
    let mut last_row = (0, None);
    let mut strange = Strange::default();
    let mut record = csv::ByteRecord::new();
    let is_whole = loop {
        // The size of a row is limited: an unclosed quote would make all the rest one row.
        let is_over = reader.get_ref().limit() == 0;
        reader.get_mut().set_limit(MAX_LINE);
        let is_record = reader.read_byte_record(&mut record).map_err(|error| format!("it is not CSV: {error}"))?;
        if is_over || reader.get_ref().limit() == 0 {
            return Err(format!("row {} is longer than {} MiB", rows + 1, MAX_LINE >> 20));
        }
        if !is_record || record.as_slice() == LAST_ROW.trim_ascii() {
            break true;
        }
        rows += 1;
        let line = Some(line_of(&reader, &record));
        last_row = (record.len(), line);
        if is_open(&record) {
            let never = Err("a quote in this row is never closed, so the rows below are part of its cell".to_owned());
            let value = strange.or_nan(never, || format!("line {}", line.expected("a place of each record")));
            last = None;
            series.push(Sample { value, step: None, line, rank: None });
            break false;
        }
        let text =
            |index: usize| record.get(index).map(<[u8]>::trim_ascii).map(String::from_utf8_lossy).unwrap_or_default();
        let cell = text(index);
        if cell.is_empty() {
            blank += 1;
            continue;
        }
        // A comma that does not separate cells makes one too many.
        let read = if record.len() > names.len() {
            Err(format!("the row has {} cells, and the header has {}", record.len(), names.len()))
        } else {
            match separator {
                b',' => series.number(&cell, named),
                _ => number::refuse_one_group(&cell).and_then(|()| series.number(&cell, named)),
            }
        };
        let value = strange.or_nan(read, || format!("line {}", line.expected("a place of each record")));
        let step = step_column.and_then(|step| whole(number::parse(&text(step)).ok()?));
        let sample = Sample { value, step, line, rank: None };
        match row {
            Row::First => {
                series.push(sample);
                break false;
            }
            Row::Last => last = Some(sample),
            Row::All => series.push(sample),
        }
    };
    let (cells, line) = last_row;
    let is_cut = is_whole && reader.get_ref().get_ref().get_ref().0.last != b'\n';
    let at = || format!("line {}", line.expected("a place of each record"));
    if is_cut && rows > 0 && cells <= index {
        let value = strange.or_nan(Err("the file ends before this column".to_owned()), at);
        last = None;
        blank -= 1;
        series.push(Sample { value, step: None, line, rank: None });
    }
    if let Some(sample) = last {
        series.push(sample);
    }
    if series.is_empty() {
        return Err(format!("no row of {rows} has a value in column `{column}`"));
    }
    let blank = (blank > 0).then(|| format!("{blank} of {rows} rows are blank in this column, and do not count"));
    let open_end = is_cut && cells == index + 1 && series.last_line() == line;
    let open_end = open_end.then(|| format!("the file ends in {}, whose value may be truncated", at()));
    Ok(joined(joined(strange.note(), blank), open_end))
}

/// Returns the line in which a record that was just read begins, not counting blank lines before it.
fn line_of<R: Read>(reader: &csv::Reader<R>, record: &csv::ByteRecord) -> u64 {
    let inside = record.as_slice().split(|byte| *byte == b'\n').count() as u64 - 1;
    reader.position().line().saturating_sub(inside + u64::from(!is_open(record)))
}

/// Returns whether the text ended within a quoted cell of this record.
fn is_open(record: &csv::ByteRecord) -> bool {
    record.as_slice().ends_with(LAST_ROW)
}

/// A text whose line ends are all read as line feeds, also those with carriage returns.
struct Newlines<R> {
    text: R,
    is_after_return: bool,
}

impl<R: Read> Read for Newlines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            let read = self.text.read(buffer)?;
            let mut kept = 0;
            for at in 0..read {
                let Some(byte) = buffer.get(at).copied() else { break };
                let is_second = byte == b'\n' && self.is_after_return;
                self.is_after_return = byte == b'\r';
                if let Some(place) = buffer.get_mut(kept).filter(|_| !is_second) {
                    *place = if byte == b'\r' { b'\n' } else { byte };
                    kept += 1;
                }
            }
            // Nothing is the end, and must not be said of a line feed that was left out.
            if kept > 0 || read == 0 {
                return Ok(kept);
            }
        }
    }
}

/// A text that records its last byte.
struct Ending<R> {
    text: R,
    last: u8,
}

impl<R: Read> Read for Ending<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.text.read(buffer)?;
        if let Some(last) = count.checked_sub(1).and_then(|last| buffer.get(last)) {
            self.last = *last;
        }
        Ok(count)
    }
}
