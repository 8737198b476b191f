use super::ReasonCode;

/// `docs/reference/results.md` has a row for each code that results have, and for no other.
#[test]
fn every_code_is_documented() {
    let page = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/results.md"));
    let table = page.split("| code | status | means |\n|---|---|---|\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let cells = table.lines().filter_map(|row| row.split('|').nth(1));
    let mut documented: Vec<&str> =
        cells.flat_map(|cell| cell.split(',')).map(|code| code.trim().trim_matches('`')).collect();
    let of_status = [ReasonCode::Skipped, ReasonCode::Step];
    let mut written: Vec<&str> =
        ReasonCode::ALL.iter().filter(|code| !of_status.contains(code)).map(ReasonCode::as_str).collect();
    documented.sort_unstable();
    written.sort_unstable();
    assert_eq!(documented, written);
}

#[test]
fn spellings_read_back() {
    for code in ReasonCode::ALL {
        assert_eq!(ReasonCode::from(code.as_str()), *code);
        assert_eq!(serde_json::from_value::<ReasonCode>(serde_json::json!(code)).unwrap(), *code);
    }
    let unknown = ReasonCode::from("ofAnotherVersion");
    assert_eq!(unknown, ReasonCode::Other("ofAnotherVersion".to_owned()));
    assert_eq!(serde_json::json!(unknown), "ofAnotherVersion");
}
