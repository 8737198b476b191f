//! The content of a signature over a result, and where it is.

pub mod v1;

/// What follows the name of a result in that of its envelope.
const SUFFIX: &str = ".dsse.json";

/// Returns the path of the envelope of the result at `path`: `a.dsse.json` next to `a.json`.
pub fn place(path: &str) -> String {
    format!("{}{SUFFIX}", path.strip_suffix(".json").unwrap_or(path))
}

/// Returns the path of the result whose envelope is at `path`; none if `path` is not that of an envelope.
pub fn result_of(path: &str) -> Option<String> {
    path.strip_suffix(SUFFIX).map(|stem| format!("{stem}.json"))
}

#[cfg(test)]
mod tests {
    use super::{place, result_of};

    #[test]
    fn an_envelope_is_beside_its_result() {
        assert_eq!(place("a/b/c-r1-a1.json"), "a/b/c-r1-a1.dsse.json");
        assert_eq!(result_of("a/b/c-r1-a1.dsse.json").unwrap(), "a/b/c-r1-a1.json");
        assert_eq!(result_of("a/b/c-r1-a1.json"), None);
    }
}
