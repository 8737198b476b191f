//! The codes of findings: a page and a row for each, and a rule that reports it.

use std::collections::BTreeSet;
use std::fs;

use kubebench_syntax::diag::code;

use super::tidy::program;
use crate::support::project::{files_below, relative, repository};

/// The words of a code's page before its examples.
const LEAD: usize = 40;

#[test]
fn every_code_has_a_page_and_a_row() {
    let docs = repository().join("docs/codes");
    let table = fs::read_to_string(docs.join("README.md")).unwrap();
    let mut wrong = Vec::new();
    let mut ids = BTreeSet::new();
    for code in code::ALL {
        if !ids.insert(code.id) {
            wrong.push(format!("{} stands twice in the table of codes", code.id));
        }
        if !code.page.starts_with(&format!("# {}: {}\n", code.id, code.title)) {
            wrong.push(format!("{}.md does not begin with `# {}: {}`", code.id, code.id, code.title));
        }
        for heading in ["\n## Wrong\n", "\n## Right\n"] {
            if code.page.matches(heading).count() != 1 {
                wrong.push(format!("{}.md needs one `{}`", code.id, heading.trim()));
            }
        }
        let lead = code.page.split("\n## ").next().unwrap_or_default().trim_start_matches(|letter| letter != '\n');
        if lead.split_whitespace().count() > LEAD {
            wrong.push(format!(
                "{}.md has more than {LEAD} words before `## Wrong`; move them to `## Details`",
                code.id
            ));
        }
        let row = format!("| [{0}]({0}.md) | {1} | {2} |", code.id, code.title, code.severity.name());
        if table.matches(&row).count() != 1 {
            wrong.push(format!("docs/codes/README.md needs the row `{row}`"));
        }
        let off = format!("{}: \"off\"", code.id);
        if code.configurable != code.page.contains(&off) {
            wrong.push(format!("{}.md: is `{off}` said when and only when the code is configurable?", code.id));
        }
    }
    for file in files_below(&docs) {
        let name = relative(&docs, &file);
        if name != "README.md" && !ids.contains(name.trim_end_matches(".md")) {
            wrong.push(format!("docs/codes/{name} is the page of no code"));
        }
    }
    let sorted = code::ALL.windows(2).all(|pair| pair[0].id < pair[1].id);
    assert!(sorted, "codes are in order");
    assert_eq!(wrong, Vec::<String>::new());
}

/// Every code is reported somewhere, or the page explains what never happens.
#[test]
fn every_code_is_named_by_a_rule() {
    let named: String = program()
        .iter()
        .filter(|module| module.place() != "syntax/diag/code")
        .map(|module| module.code.as_str())
        .collect();
    let silent: Vec<&str> = code::ALL.iter().map(|code| code.id).filter(|id| !named.contains(*id)).collect();
    assert_eq!(silent, NOT_YET_REPORTED, "codes that no rule names");
}

/// Codes whose rule is still being written. This list must be empty in the end.
const NOT_YET_REPORTED: &[&str] = &[];
