//! The pages' own examples: what is called wrong is reported under the page's code, what is called right is not at all.

use super::*;

/// The codes of these rules; what is wrong with KB0405's example is found by the schema.
const CODES: [&code::Code; 34] = [
    &code::KB0311,
    &code::KB0313,
    &code::KB0324,
    &code::KB0331,
    &code::KB0353,
    &code::KB0354,
    &code::KB0355,
    &code::KB0401,
    &code::KB0402,
    &code::KB0403,
    &code::KB0404,
    &code::KB0405,
    &code::KB0406,
    &code::KB0407,
    &code::KB0408,
    &code::KB0409,
    &code::KB0410,
    &code::KB0411,
    &code::KB0412,
    &code::KB0413,
    &code::KB0414,
    &code::KB0416,
    &code::KB0419,
    &code::KB0420,
    &code::KB0421,
    &code::KB0422,
    &code::KB0424,
    &code::KB0425,
    &code::KB0426,
    &code::KB0427,
    &code::KB0428,
    &code::KB0449,
    &code::KB0450,
    &code::KB0451,
];

/// Returns the project and the benchmark of a section of a page.
fn example(page: &str, heading: &str) -> (String, String) {
    let section = page.split("\n## ").find(|section| section.starts_with(heading)).unwrap();
    let blocks = section.split("```yaml").skip(1).map(|block| block.split("```").next().unwrap());
    let (mut project, mut benchmark) = (String::new(), String::new());
    for block in blocks {
        let (_, text) = block.split_once('\n').unwrap();
        if text.contains("kind: Project") { &mut project } else { &mut benchmark }.push_str(text);
    }
    (project, benchmark)
}

#[test]
fn wrong_is_reported_and_right_is_not() {
    for code in CODES {
        let (project, benchmark) = example(code.page, "Wrong");
        let compiled = compile(&project, &benchmark);
        let found = compiled.findings();
        if code == &code::KB0405 {
            assert!(compiled.before.iter().all(|fault| fault.code == code) && !compiled.before.is_empty());
        } else {
            assert_eq!(compiled.before, [], "{}", code.id);
            assert!(found.iter().any(|fault| fault.code == code), "{}: {found:#?}", code.id);
            assert!(found.iter().all(|fault| fault.code == code), "{}: {found:#?}", code.id);
        }
        let (project, benchmark) = example(code.page, "Right");
        let compiled = compile(&project, &benchmark);
        assert_eq!(compiled.before, [], "{}", code.id);
        assert_eq!(compiled.findings(), [], "{}", code.id);
    }
}
