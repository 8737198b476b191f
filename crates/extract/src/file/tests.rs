use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read as _};

use super::{Note, json, json_lines, open_metrics, single};
use crate::series::{Series, Window};
use kubebench_format::spec::v1::metric::{Delimiter, Reduce, Row};
use kubebench_syntax::unit::MetricUnit;
use kubebench_testing::snapshot::{assert_text, str};

fn read<Note>(with: impl FnOnce(&mut Series) -> Result<Note, String>) -> Result<Vec<f64>, String> {
    let mut series = Series::new(Window::All);
    with(&mut series).map(|_| series.values().collect())
}

fn csv(text: impl BufRead, column: &str, row: Row, series: &mut Series) -> Result<Note, String> {
    super::csv(text, column, row, Delimiter::Auto, series)
}

#[test]
fn a_mark_of_the_byte_order_hides_nothing() {
    let marked = |text: &str| format!("\u{feff}{text}");
    assert_eq!(read(|series| json(marked("{\"a\": 1}").as_bytes(), "/a", series)), Ok(vec![1.0]));
    let lines = marked("{\"a\": 1}\n{\"a\": 2}\n");
    assert_eq!(read(|series| json_lines(lines.as_bytes(), "/a", &BTreeMap::new(), series)), Ok(vec![1.0, 2.0]));
    assert_eq!(read(|series| csv(marked("a,b\n1,2\n").as_bytes(), "a", Row::All, series)), Ok(vec![1.0]));
    assert_eq!(read(|series| single(marked("7").as_bytes(), series)), Ok(vec![7.0]));
    let utf_16 = b"\xff\xfe1\0";
    assert!(read(|series| single(utf_16.as_slice(), series)).is_err_and(|reason| reason.contains("UTF-16")));
    assert!(
        read(|series| csv(utf_16.as_slice(), "a", Row::All, series)).is_err_and(|reason| reason.contains("UTF-16"))
    );
}

#[test]
fn values_have_units() {
    let text = r#"{"a": ["984us", "1.03 ms", 2]}"#;
    let mut series = Series::new(Window::All).in_unit(Some(MetricUnit::of("ms")));
    json(text.as_bytes(), "/a", &mut series).unwrap();
    assert_eq!(series.values().collect::<Vec<_>>(), [0.984, 1.03, 2.0]);
    let mut series = Series::new(Window::All).in_unit(Some(MetricUnit::of("ms")));
    let note = csv("t\n5 ms\n2 MB\n".as_bytes(), "t", Row::All, &mut series).unwrap();
    assert_eq!(series.values().next(), Some(5.0));
    assert!(note.is_some_and(|note| note.starts_with("line 3: ") && note.contains("cannot be converted")));
}

#[test]
fn the_unit_in_a_name_is_that_of_the_values() {
    let in_ms = |with: &dyn Fn(&mut Series) -> Result<Option<String>, String>| {
        let mut series = Series::new(Window::All).in_unit(Some(MetricUnit::of("ms")));
        let note = with(&mut series)?;
        let units: Vec<&str> = series.converted_from().collect();
        Ok::<_, String>((series.values().collect::<Vec<_>>(), units.join(" "), note))
    };
    let column =
        |name: &str, cell: &str| in_ms(&|series| csv(format!("{name}\n{cell}\n").as_bytes(), name, Row::All, series));
    assert_eq!(column("lat (us)", "350"), Ok((vec![0.35], "us".to_owned(), None)));
    assert_eq!(column("lat [s]", "0.5"), Ok((vec![500.0], "s".to_owned(), None)));
    assert_eq!(column("lat (us)", "2s"), Ok((vec![2000.0], "s".to_owned(), None)), "what a value says of itself");
    assert_eq!(column("lat (mean)", "350"), Ok((vec![350.0], String::new(), None)));
    assert_eq!(column("request(s)", "350"), Ok((vec![350.0], String::new(), None)));
    let (values, _, note) = column("size (MB)", "350").unwrap();
    assert!(values[0].is_nan() && note.is_some_and(|note| note.contains("cannot be converted")));
    let text = r#"{"lat (us)": [350, "1 ms", 7.5e3], "mean (us)": 1500, "rate (MB/s)": 5}"#;
    let at = |pointer: &str| in_ms(&|series| json(text.as_bytes(), pointer, series));
    assert_eq!(at("/lat (us)"), Ok((vec![0.35, 1.0, 7.5], "us".to_owned(), None)));
    assert_eq!(at("/lat (us)/0"), Ok((vec![0.35], "us".to_owned(), None)));
    assert_eq!(at("/mean (us)"), Ok((vec![1.5], "us".to_owned(), None)));
    assert!(at("/rate (MB~1s)").is_err_and(|reason| reason.contains("cannot be converted")));
    let lines = in_ms(&|series| json_lines(text.as_bytes(), "/mean (us)", &BTreeMap::new(), series));
    assert_eq!(lines, Ok((vec![1.5], "us".to_owned(), None)));
}

#[test]
fn json_by_pointer() {
    let text = r#"{"a": {"b": [1, "2,500", 3.5]}, "c": "x", "d": null}"#;
    let at = |pointer: &str| read(|series| json(text.as_bytes(), pointer, series));
    assert_eq!(at("/a/b"), Ok(vec![1.0, 2500.0, 3.5]));
    assert_eq!(at("/a/b/1"), Ok(vec![2500.0]));
    assert_eq!(at("/a/x"), Err("there is nothing at `/a/x`; at `/a` there are `b`".to_owned()));
    assert_eq!(at("/c"), Err("at `/c`: `x` is not a number".to_owned()));
    assert!(at("/d").is_ok_and(|values| values.len() == 1 && values[0].is_nan()));
    let of = |text: &str| read(|series| json(text.as_bytes(), "/a", series));
    assert!(of("{\"a\": 1").is_err_and(|reason| reason.contains("ends early, at line 1,")));
    assert!(of("{\"a\": NaN, \"b\": \"NaN \\\" NaN\"}").is_ok_and(|values| values[0].is_nan()));
    assert_eq!(of("{\"a\": -Infinity}"), Ok(vec![f64::NEG_INFINITY]));
    assert!(of("").is_err() && of("{\"a\": []}").is_err() && of("hello").is_err());
}

#[test]
fn json_lines_among_noise() {
    let text = "hello\n{\"event\": \"step\", \"step\": 1, \"loss\": 2}\n{\"event\": \"eval\", \"loss\": 9}\n{\"event\": \"step\", \"step\": 2, \"loss\": NaN}\n{\"ev";
    let filter = BTreeMap::from([("/event".to_owned(), "step".to_owned())]);
    let mut series = Series::new(Window::Steps(1, 1));
    json_lines(text.as_bytes(), "/loss", &filter, &mut series).unwrap();
    assert_eq!((series.last(), series.reduce(Reduce::Last).line), (Some(2.0), Some(2)));
    let found = read(|series| json_lines(text.as_bytes(), "/loss", &filter, series)).unwrap();
    assert!(found.len() == 3 && found[1].is_nan() && found[2].is_nan(), "the last line is cut");
    let missing = read(|series| json_lines(text.as_bytes(), "/x", &filter, series));
    assert_eq!(missing, Err("no line has a value at `/x`: of 5 lines 3 are JSON objects, 2 pass `where`".to_owned()));
}

#[test]
fn csv_columns() {
    let text = "\u{feff}step,loss,\"tok/s\"\n1,2.5,\"1,200\"\n2,,900\n3,nan,\n";
    let column = |name: &str, row| read(|series| csv(text.as_bytes(), name, row, series));
    assert_eq!(column("tok/s", Row::All), Ok(vec![1200.0, 900.0]));
    assert_eq!(column("tok/s", Row::First), Ok(vec![1200.0]));
    assert_eq!(column("step", Row::Last), Ok(vec![3.0]));
    assert!(column("loss", Row::Last).is_ok_and(|values| values[0].is_nan()));
    assert_eq!(
        column("accuracy", Row::All),
        Err("there is no column `accuracy`; the columns are `step`, `loss`, `tok/s`".to_owned())
    );
    assert!(read(|series| csv(&b""[..], "a", Row::All, series)).is_err());
}

/// The form of a performance log of ReFrame: cells hold commas, quotes and blanks.
const PERFLOG: &str = "\
job_completion_time|version|display_name|system|partition|environ|jobid|result|Triad_value|Triad_unit|Triad_ref\n\
2024-04-12T09:18:33+00:00|4.5.2|StreamTest %n=1, 2 \"a\"|archer2|compute|gcc, default|123|pass|1200.5|MB/s|null\n\
2024-04-13T09:18:33+00:00|4.5.2|StreamTest %n=1|archer2|compute|gcc|124|pass|1199|MB/s|null\n";

#[test]
fn tables_whose_header_says_what_separates_their_cells() {
    let column = |text: &str, name: &str| read(|series| csv(text.as_bytes(), name, Row::All, series));
    assert_eq!(column(PERFLOG, "Triad_value"), Ok(vec![1200.5, 1199.0]));
    assert_eq!(column("step\tlat (us)\n1\t 5\n2\t6 \n", "lat (us)"), Ok(vec![5.0, 6.0]));
    assert_eq!(column("\u{feff}a;b\r\n1;2\r\n", "a"), Ok(vec![1.0]));
    assert_eq!(column("\n\n\"a;b\";\"c\nd\"\n1;2\n", "c\nd"), Ok(vec![2.0]), "a header in quotes");
    assert_eq!(column("\"a|b\",c\n\"1\",\"2,000\"\n", "a|b"), Ok(vec![1.0]), "a name that holds another separator");
    assert_eq!(column("\"x\"|\"y\"\n\"1|2\"|3\n", "y"), Ok(vec![3.0]), "a cell that holds the separator");
    assert_eq!(column("v\n5\n", "v"), Ok(vec![5.0]), "one column");
    // The comma comes first, so that no table is read otherwise than before there was a choice.
    assert_eq!(column("a;x,b\n1;2,3\n", "b"), Ok(vec![3.0]));
    assert_eq!(column("a;x,b\n1;2,3\n", "a"), Ok(vec![1.0]), "with the comma there is no such column");
    assert_eq!(column("a,b|c;d\te\n1,2|3;4\t5\n", "a"), Ok(vec![1.0]));
}

#[test]
fn a_comma_within_a_number_separates_nothing() {
    // `1,5` is 1.5 in half of Europe: no guess, and never two cells or 15.
    for (text, column) in [("t;v\n1;2,5\n", "v"), ("v\n2,5\n", "v"), ("t\tv\n1\t2,5\n", "v")] {
        let values = read(|series| csv(text.as_bytes(), column, Row::All, series)).unwrap();
        assert!(values.len() == 1 && values[0].is_nan(), "{text:?}: {values:?}");
    }
}

#[test]
fn a_delimiter_that_a_spec_names() {
    let column = |text: &str, name: &str, delimiter| {
        read(|series| super::csv(text.as_bytes(), name, Row::All, delimiter, series))
    };
    for (delimiter, text) in [
        (Delimiter::Comma, "a,b\n1,2\n"),
        (Delimiter::Semicolon, "a;b\n1;2\n"),
        (Delimiter::Bar, "a|b\n1|2\n"),
        (Delimiter::Tab, "a\tb\n1\t2\n"),
        (Delimiter::Semicolon, "x,a;b\n7,1;2\n"),
    ] {
        assert_eq!(column(text, "b", delimiter), Ok(vec![2.0]), "{text:?}");
    }
    let fault = |text: &str, name: &str, delimiter| column(text, name, delimiter).unwrap_err();
    assert_text(
        fault(PERFLOG, "Triad_value", Delimiter::Comma),
        str! {[r#"there is no column `Triad_value`: the header is one cell that holds `|`; write `delimiter: "|"`, or no `delimiter`"#]},
    );
    assert_text(
        fault("a\tb\n1\t2\n", "b", Delimiter::Semicolon),
        str! {"there is no column `b`: the header is one cell that holds a tab; write `delimiter: tab`, or no `delimiter`"},
    );
    assert_text(
        fault("a;b\n1;2\n", "b", Delimiter::Bar),
        str! {[r#"there is no column `b`: the header is one cell that holds `;`; write `delimiter: ";"`, or no `delimiter`"#]},
    );
    assert_text(
        fault("a;b\n1;2\n", "c", Delimiter::Auto),
        str! {[r#"there is no column `c`; the columns, with `delimiter: ";"`, are `a`, `b`"#]},
    );
    assert_text(
        fault("a,b\n1,2\n", "c", Delimiter::Tab),
        str! {[r#"there is no column `c`: the header is one cell that holds `,`; write `delimiter: ","`, or no `delimiter`"#]},
    );
    assert_text(
        fault("a\n1\n", "c", Delimiter::Bar),
        str! {[r#"there is no column `c`; the columns, with `delimiter: "|"`, are `a`"#]},
    );
    assert_text(fault("", "c", Delimiter::Auto), str! {"there is no column `c`: the table has no header"});
}

#[test]
fn two_columns_of_one_name_are_none() {
    let text = "step,latency,latency\n1,5,9\n";
    let column = |name: &str| read(|series| csv(text.as_bytes(), name, Row::All, series));
    assert_eq!(column("step"), Ok(vec![1.0]));
    assert_text(column("latency").unwrap_err(), str! {"2 columns are called `latency`: give each a different name"});
}

#[test]
fn a_file_with_one_number() {
    assert_eq!(read(|series| single(&b" 3.5\n"[..], series)), Ok(vec![3.5]));
    assert!(read(|series| single(&b"3.5 4"[..], series)).is_err());
    assert!(read(|series| single(&b""[..], series)).is_err());
    assert!(read(|series| single(&b"\xff"[..], series)).is_err());
}

type Read<'a> = &'a dyn Fn(&mut Series) -> Result<Note, String>;

/// The same values in each form, of which two are no numbers and one is not finite.
#[test]
fn a_missing_number_is_not_passed_over() {
    let lines = "{\"a\": 1}\n{\"a\": null}\n{\"a\": \"n/a\"}\n{\"a\": {}}\n{\"x\": 1}\n";
    let list = "{\"a\": [1, null, \"n/a\", {}]}";
    let table = "a,x\n1,\nNaN,\nn/a,\n{},\n,1\n";
    let none = BTreeMap::new();
    let forms: [(Read<'_>, &str); 3] = [
        (
            &|series| json_lines(lines.as_bytes(), "/a", &none, series),
            "line 2: null is not a number, the first of 3 such values",
        ),
        (&|series| json(list.as_bytes(), "/a", series), "at `/a/1`: null is not a number, the first of 3 such values"),
        (
            &|series| csv(table.as_bytes(), "a", Row::All, series),
            "line 4: `n/a` is not a number, the first of 2 such values; 1 of 5 rows are blank in this column, and do not count",
        ),
    ];
    for (read, wanted) in forms {
        let mut series = Series::new(Window::All);
        assert_eq!(read(&mut series).unwrap().unwrap(), wanted);
        for how in [Reduce::Mean, Reduce::Last] {
            let reduced = series.reduce(how);
            assert_eq!((reduced.value, reduced.n, reduced.non_finite), (None, 4, 3), "{wanted}");
        }
        assert_eq!(series.reduce(Reduce::First).value, Some(1.0));
    }
}

/// A truncated file has an unreadable last value: an older one must not replace it.
#[test]
fn a_cut_line_is_not_passed_over() {
    let step = BTreeMap::from([("/event".to_owned(), "step".to_owned())]);
    let lines = |text: &str, filter: &BTreeMap<String, String>| {
        let mut series = Series::new(Window::All);
        let note = json_lines(text.as_bytes(), "/v", filter, &mut series).unwrap();
        (series.reduce(Reduce::Last).value, note.unwrap_or_default())
    };
    let all = BTreeMap::new();
    let one = "line 2 is truncated, or not JSON".to_owned();
    assert_eq!(lines("{\"v\": 1}\n{\"v\": 2", &all), (None, one.clone()));
    assert_eq!(lines("{\"v\": 1}\n{\"v\": 2{\"v\": 3}\n", &all), (None, one.clone()));
    assert_eq!(lines("{\"v\": 1}\n{\"v\": 2{\"v\": 3}\n{\"v\": 4}\n", &all), (Some(4.0), one.clone()));
    assert_eq!(lines("{\"event\": \"step\", \"v\": 1}\n{\"event\": \"eval\", \"v\": 2", &step), (Some(1.0), one));
    let two = "2 lines are truncated, or not JSON (the first is line 1)".to_owned();
    assert_eq!(lines("{\"v\": \n{\"v\": \n{\"v\": 1}", &all), (Some(1.0), two));
    let table = |text: &str, column: &str, row| {
        let mut series = Series::new(Window::All);
        let note = csv(text.as_bytes(), column, row, &mut series).unwrap();
        (series.reduce(Reduce::Last).value, note.unwrap_or_default())
    };
    let cut = "line 3: the file ends before this column".to_owned();
    assert_eq!(table("step,loss\n1,2.5\n2", "loss", Row::Last), (None, cut.clone()));
    assert_eq!(table("step,loss\n1,2.5\n2", "loss", Row::All), (None, cut));
    assert_eq!(table("step,loss\n1,2.5\n2", "loss", Row::First), (Some(2.5), String::new()));
    let open = "the file ends in line 3, whose value may be truncated".to_owned();
    assert_eq!(table("step,loss\n1,2.5\n2,1.", "loss", Row::Last), (Some(1.0), open));
    assert_eq!(table("step,loss\n1,2.5\n2,1.", "step", Row::Last), (Some(2.0), String::new()));
    assert!(csv(&b"step,loss"[..], "loss", Row::Last, &mut Series::new(Window::All)).is_err());
    let blank = "1 of 2 rows are blank in this column, and do not count".to_owned();
    assert_eq!(table("step,loss\n1,2.5\n2\n", "loss", Row::Last), (Some(2.5), blank));
}

#[test]
fn blank_cells_are_reported() {
    let text = "step,train,eval\n1,2.5,\n2,,0.5\n3,,\n";
    let note = |column: &str, row| csv(text.as_bytes(), column, row, &mut Series::new(Window::All)).unwrap();
    assert_eq!(note("step", Row::All), None);
    assert_eq!(note("train", Row::First), None);
    assert_text(note("train", Row::Last).unwrap(), str! {"2 of 3 rows are blank in this column, and do not count"});
    assert_text(note("eval", Row::First).unwrap(), str! {"1 of 2 rows are blank in this column, and do not count"});
}

#[test]
fn no_line_is_held_whatever_its_size() {
    let endless = |start: &'static [u8]| BufReader::new(start.chain(std::io::repeat(b'x').take(1 << 40)));
    let lines = read(|series| json_lines(endless(b"{\"a\": 1}\n"), "/a", &BTreeMap::new(), series));
    assert_eq!(lines, Err("line 2 is longer than 16 MiB".to_owned()));
    let row = |start| read(|series| csv(endless(start), "a", Row::All, series));
    assert_eq!(row(b"a\n1\n\""), Err("row 2 is longer than 16 MiB".to_owned()));
    assert!(row(b"").is_err() && row(b"a,").is_err());
    let many = format!("1,{}\n", "x".repeat(1 << 20)).repeat(20);
    let text = std::io::Cursor::new(format!("a,b\n{many}"));
    assert_eq!(read(|series| csv(text, "a", Row::All, series)), Ok(vec![1.0; 20]), "the limit is that of a row");
}

#[test]
fn a_sample_that_cannot_be_read_is_a_value() {
    let read_open = |text: &str| {
        let mut series = Series::new(Window::All);
        let (_, note) = open_metrics(text, "lat", &BTreeMap::new(), &mut series).unwrap();
        (series.count(), series.values().filter(|value| value.is_finite()).count(), note.unwrap_or_default())
    };
    for second in ["lat n/a", "lat 0x10", "lat{a=\"} 5", "lat 5ms", "lat 1 2 3"] {
        let (count, finite, note) = read_open(&format!("lat 0.984\n{second}\n"));
        assert!((count, finite) == (2, 1) && note.starts_with("line 2: "), "{second}: {note}");
    }
    let (_, _, note) = read_open("lat{a=\"1\"} 0.9\nlat{a=\"2\"} 0.8\n");
    assert_eq!(note, "2 sets of labels have this name: choose one of them with `labels`");
}

#[test]
fn a_row_with_too_many_cells_is_no_row() {
    let values = read(|series| csv("a,v\n1,5\n2,1,234.5\n".as_bytes(), "v", Row::All, series)).unwrap();
    assert!(values.len() == 2 && values[1].is_nan(), "{values:?}");
}

/// Returns the values of `column`, and the note.
fn table(text: &str, column: &str, row: Row) -> (Vec<String>, String) {
    let mut series = Series::new(Window::All);
    let note = csv(text.as_bytes(), column, row, &mut series).unwrap().unwrap_or_default();
    (series.values().map(|value| value.to_string()).collect(), note)
}

#[test]
fn a_quote_that_nothing_closes_loses_no_row_in_silence() {
    let never = "a quote in this row is never closed, so the rows below are part of its cell";
    for (text, column, line) in [
        ("lat,note\n1,\"fast\n2,ok\n3,ok\n", "lat", 2),
        ("lat,note\n1,\"fast\n2,ok\n3,ok", "lat", 2),
        ("lat,note\n1,ok\n\n2,\"fast", "lat", 4),
        ("a,lat\n\"x,3\n4,5\n6,7", "lat", 2),
        ("a,lat\r\n1,2\r\n\"x,3\r\n4,5\r\n", "lat", 3),
    ] {
        for row in [Row::All, Row::Last] {
            let (values, note) = table(text, column, row);
            assert_eq!((values.last().unwrap().as_str(), note), ("NaN", format!("line {line}: {never}")), "{text:?}");
        }
    }
    // The quotes of these are closed.
    for text in ["lat,note\n1,\"a\nb\"\n", "lat,note\n1,\"a\nb\"", "lat,note\r\n1,\"\"\"\"\r\n", "lat,note\n1,\"\""] {
        assert_eq!(table(text, "lat", Row::All), (vec!["1".to_owned()], String::new()), "{text:?}");
    }
    let (values, note) = table("lat,note\n1,ok\n2,\"fast\n", "lat", Row::First);
    assert_eq!((values, note), (vec!["1".to_owned()], String::new()), "the first row is whole");
}

#[test]
fn a_line_is_the_one_that_an_editor_shows() {
    for (text, line) in [
        ("a,b\n1,2\nx,2\n", 3),
        ("a,b\r\n1,2\r\nx,2\r\n", 3),
        ("a,b\r1,2\rx,2\r", 3),
        ("\n\na,b\n1,2\n\n\nx,2\n", 7),
        ("\r\n\r\na,b\r\n1,2\r\n\r\n\r\nx,2\r\n", 7),
        ("a,b\n1,\"two\n\nlines\"\nx,2\n", 5),
        ("a,b\r\n1,\" lines \r\n\"\r\nx,\"\r\n\"", 4),
    ] {
        let (_, note) = table(text, "a", Row::All);
        assert_eq!(note, format!("line {line}: `x` is not a number"), "{text:?}");
    }
}

#[test]
fn a_comma_that_may_be_a_point_is_no_number_where_commas_do_not_separate_cells() {
    for text in ["t;lat\n1;12,345\n", "t\tlat\n1\t12,345\n", "t|lat\n1|-12,345 ms\n"] {
        let (values, note) = table(text, "lat", Row::All);
        assert_eq!(values, ["NaN"], "{text:?}");
        assert!(note.contains("12,345") && note.contains("may be 12345 or 12.345") || note.contains("-12"), "{note}");
    }
    assert_eq!(table("t;lat\n1;1,234,567\n2;1,234.5\n3;7.5\n", "lat", Row::All).0, ["1234567", "1234.5", "7.5"]);
    assert_eq!(table("t,lat\n1,\"12,345\"\n", "lat", Row::All).0, ["12345"]);
}

#[test]
fn steps_that_pandas_prints_with_a_point_are_steps() {
    let window = Window::Steps(2, 3);
    let values = |text: &str| {
        let mut series = Series::new(window);
        csv(text.as_bytes(), "lat", Row::All, &mut series).unwrap();
        series.values().collect::<Vec<f64>>()
    };
    assert_eq!(values("step,lat\n1.0,5\n2.0,6\n"), [6.0]);
}
