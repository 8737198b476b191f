use super::super::tests::result;
use super::judge;
use crate::result::{canonical, path, seal};
use kubebench_syntax::text::{Source, SourceId, SourceMap};

/// Judges `bytes` at `place`: the code, the line and the message.
fn found(bytes: &[u8], place: Option<&str>) -> Option<(&'static str, Option<usize>, String)> {
    let mut sources = SourceMap::default();
    let shown = place.map_or_else(|| "x.json".to_owned(), |place| format!("results/{place}"));
    let id = sources.add(Source::new(shown.as_str(), bytes));
    let fault = judge(&shown, bytes, place, id)?;
    let line = match fault.place {
        kubebench_syntax::diag::Place::Span(span) => Some(sources.get(id).unwrap().position(span.start as usize).line),
        kubebench_syntax::diag::Place::File(_) | kubebench_syntax::diag::Place::Line(..) => None,
    };
    Some((fault.code.id, line, fault.message))
}

#[test]
fn a_result_in_its_place_is_sound() {
    let sealed = seal(result());
    assert_eq!(found(&sealed.bytes, Some(&path(&sealed.result))), None);
    assert_eq!(found(&sealed.bytes, None), None, "outside the folder of results its place does not matter");
    let (code, line, message) = found(&sealed.bytes, Some("matmul/other/x.json")).unwrap();
    assert_eq!((code, line), ("KB0368", None));
    let wanted = "results/matmul/size-256-0a1b2c3d/20260102T030405Z-01234567-r2-a1.json";
    assert!(message.ends_with(&format!("`{wanted}`")), "{message}");
}

#[test]
fn every_class_of_fault_is_distinguished() {
    let text = String::from_utf8(seal(result()).bytes).unwrap();
    let line_of = |part: &str| text.lines().position(|line| line.contains(part)).map(|at| at + 1);
    let half = text.get(..text.len() / 2).unwrap();
    let compact: serde_json::Value = serde_json::from_str(&text).unwrap();
    let cases: Vec<(Vec<u8>, &str, Option<usize>, &str)> = vec![
        (Vec::new(), "KB0363", Some(1), "not JSON"),
        (vec![0; 10], "KB0363", Some(1), "not JSON"),
        (vec![0xff, 0xfe, 0x00], "KB0363", Some(1), "not JSON"),
        (b"null".to_vec(), "KB0363", None, "not a result"),
        (half.into(), "KB0363", Some(half.lines().count()), "not JSON"),
        (
            text.replace("\"schemaVersion\": 1", "\"schemaVersion\": 7").into(),
            "KB0364",
            line_of("schemaVersion"),
            "version",
        ),
        (text.replace("\"repeat\": 2", "\"repeat\": -2").into(), "KB0365", line_of("\"repeat\""), "malformed"),
        (text.replace("\"restarts\"", "\"restart\"").into(), "KB0365", line_of("\"restarts\""), "`restart`"),
        (
            text.replace("\"case\": \"size", "\"case\": \"../size").into(),
            "KB0365",
            line_of("\"case\""),
            "metadata.case",
        ),
        (text.replace("\"repeat\": 2", "\"repeat\": 3").into(), "KB0366", line_of("\"digest\""), "edited"),
        (
            text.replace("\"digest\": \"sha256:", "\"digest\": \"sha256:0").into(),
            "KB0366",
            line_of("\"digest\""),
            "edited",
        ),
        (compact.to_string().into(), "KB0367", None, "was reformatted"),
        (text.replace('\n', "\r\n").into(), "KB0367", None, "was reformatted"),
        (format!("\u{feff}{text}").into(), "KB0363", None, "not JSON"),
        (vec![b' '; (1 << 20) + 1], "KB0365", None, "1024 KiB"),
        ("[".repeat(5000).into(), "KB0363", Some(1), "not JSON"),
    ];
    for (bytes, code, line, words) in cases {
        let shown = String::from_utf8_lossy(&bytes).chars().take(60).collect::<String>();
        let fault = found(&bytes, None).unwrap_or_else(|| panic!("nothing about {shown:?}"));
        assert_eq!((fault.0, fault.1), (code, line), "{shown:?}: {}", fault.2);
        assert!(fault.2.contains(words), "{shown:?}: {}", fault.2);
    }
}

/// Every cut and many changed bytes: a fault is found, and nothing panics.
#[test]
fn nothing_passes_that_is_not_as_written() {
    let bytes = seal(result()).bytes;
    for cut in 0..bytes.len() {
        assert!(found(&bytes[..cut], None).is_some(), "{cut}");
    }
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x11;
        assert!(found(&changed, None).is_some(), "{at}");
    }
    let mut again = bytes.clone();
    again.extend_from_slice(&bytes);
    assert!(found(&again, None).is_some());
    assert_eq!(canonical(&serde_json::from_slice(&bytes).unwrap()), bytes);
}

#[test]
fn the_source_of_a_finding_is_the_one_that_was_named() {
    let fault = judge("x.json", b"{", None, SourceId(7)).unwrap();
    assert!(matches!(fault.place, kubebench_syntax::diag::Place::Span(span) if span.source == SourceId(7)));
}
