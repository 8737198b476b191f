//! The YAML reader on any bytes: it ends, it does not panic, its places lie in the text, and formatting changes no value.

#![no_main]

use kubebench_syntax::diag::Place;
use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
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
});
