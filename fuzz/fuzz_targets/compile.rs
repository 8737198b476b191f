//! The compile function on any spec and project file: it ends, it does not panic, and every finding can be shown.
//!
//! Inputs are one file, or a project file and a spec separated by a line `%%`.

#![no_main]

use kubebench_compiler::compile::{Input, Workspace};
use kubebench_syntax::diag::render::{Format, Report, Style, render};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let split = bytes.windows(4).position(|window| window == b"\n%%\n");
    let (project, spec) = match split {
        Some(at) => (Some(bytes[..at].to_vec()), bytes[at + 4..].to_vec()),
        None => (None, bytes.to_vec()),
    };
    let project = project.map(|bytes| Input { path: "kubebench.yaml".to_owned(), bytes });
    let compilation = Workspace::open(project, "0.1.0").compile(vec![Input { path: "specs/x.yaml".to_owned(), bytes: spec }]);
    let checked = ["specs/x.yaml".to_owned()];
    let report = Report { diagnostics: &compilation.diagnostics, sources: &compilation.sources, checked: &checked, style: Style::Colored };
    for format in Format::ALL {
        drop(render(format, &report));
    }
});
