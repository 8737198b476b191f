//! What the fuzzer does with any bytes, a function for each target. The test `house::fuzz` runs them too, over the files that the
//! fuzzer starts from, so that they compile and pass in each change.

use std::collections::BTreeMap;

use kubebench_compiler::compile::{Input, Workspace};
use kubebench_extract::file;
use kubebench_extract::pattern::{Pattern, nearest};
use kubebench_extract::rules::Rules;
use kubebench_extract::scan::{LogScan, Scanned};
use kubebench_extract::series::{Series, Window};
use kubebench_extract::tool::TOOLS;
use kubebench_format::result;
use kubebench_format::spec::v1::metric::{Delimiter, Reports, Row};
use kubebench_syntax::diag::Place;
use kubebench_syntax::diag::render::{Format, Report, Style, render};
use kubebench_syntax::redact::Redactor;
use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml;

/// The YAML reader ends, its places lie in the text, and formatting changes no value.
pub fn yaml(bytes: &[u8]) {
    let source = Source::new("specs/x.yaml", bytes);
    let read = yaml::read(SourceId(0), &source);
    for fault in &read.diagnostics {
        if let Place::Span(span) = fault.place {
            assert!(span.start <= span.end && source.text.get(span.range()).is_some(), "{fault:?}");
        }
    }
    if let (Some(root), true) = (&read.root, read.diagnostics.is_empty()) {
        let written = yaml::write(&root.to_json());
        let again = yaml::read(SourceId(0), &Source::new("specs/y.yaml", written.as_bytes()));
        let same = again.root.map(|root| root.to_json());
        assert_eq!(same.as_ref(), Some(&root.to_json()), "{written}");
        if let Ok(formatted) = yaml::format::format(SourceId(0), &source) {
            let again = yaml::read(SourceId(0), &Source::new("specs/y.yaml", formatted.as_bytes()));
            assert_eq!(again.root.map(|root| root.to_json()), same, "{formatted}");
            let twice = yaml::format::format(SourceId(0), &Source::new("specs/y.yaml", formatted.as_bytes()));
            assert_eq!(twice.ok().as_ref(), Some(&formatted), "formatting is stable");
        }
    }
}

/// The compiler ends on any spec, and on a project file and a spec separated by a line `%%`; each finding can be shown.
pub fn compile(bytes: &[u8]) {
    let split = bytes.windows(4).position(|window| window == b"\n%%\n");
    let (project, spec) = match split {
        Some(at) => (Some(bytes[..at].to_vec()), bytes[at + 4..].to_vec()),
        None => (None, bytes.to_vec()),
    };
    let project = project.map(|bytes| Input { path: "kubebench.yaml".to_owned(), bytes });
    let spec = Input { path: "specs/x.yaml".to_owned(), bytes: spec };
    let compilation = Workspace::open(project, "0.1.0").compile(vec![spec]);
    let checked = ["specs/x.yaml".to_owned()];
    let report = Report {
        diagnostics: &compilation.diagnostics,
        sources: &compilation.sources,
        checked: &checked,
        style: Style::Colored,
    };
    for format in Format::ALL {
        drop(render(format, &report));
    }
}

fn scan(bytes: &[u8], size: usize, pattern: &Pattern) -> Scanned {
    let mut scan = LogScan::new();
    scan.look_for(pattern, Window::Steps(1, 9));
    scan.look_for_raw(pattern, Window::LastN(3));
    for tool in TOOLS {
        scan.read_as(tool, Window::SkipFirst(1), Reports::Last);
    }
    bytes.chunks(size).for_each(|piece| scan.feed(piece));
    scan.finish()
}

/// Each tool's parser, patterns and the readers of files end on any output, and pieces of any size give what the whole gives.
pub fn logs(bytes: &[u8]) {
    let pattern = Pattern::new(r"^\s*step (?P<step>\S+) .*loss[:=] ?(?P<value>\S+)$").expect("a pattern");
    let whole = scan(bytes, usize::MAX, &pattern);
    let parts = scan(bytes, 1 + bytes.len() / 3, &pattern);
    assert_eq!(format!("{:?}", whole.patterns), format!("{:?}", parts.patterns));
    assert_eq!(format!("{:?}", whole.tools), format!("{:?}", parts.tools));
    let text = String::from_utf8_lossy(bytes);
    let _ = nearest(&pattern, &text);
    let mut series = Series::new(Window::All);
    drop(file::json(bytes, "/a/0", &mut series));
    drop(file::json_lines(bytes, "/loss", &BTreeMap::new(), &mut series));
    for delimiter in [Delimiter::Auto, Delimiter::Comma, Delimiter::Tab] {
        drop(file::csv(bytes, "loss", Row::All, delimiter, &mut series));
    }
    drop(file::single(bytes, &mut series));
    drop(file::open_metrics(&text, "up", &BTreeMap::new(), &mut series));
}

/// Result files, rules and redaction: a file that is taken for a result is one that this program would write, and no secret is left.
pub fn results(bytes: &[u8]) {
    if let Ok(sealed) = result::read(bytes) {
        assert_eq!(sealed.bytes, bytes);
        assert!(!result::path(&sealed.result).contains(".."));
    }
    let text = String::from_utf8_lossy(bytes);
    drop(Rules::read(&text));
    let redactor = Redactor::new(["hunter2hunter2"]);
    assert!(!redactor.text(&text).contains("hunter2hunter2"));
}
