//! Who shared nodes with a run.

use kubebench_syntax::text::first_of;

/// How many of them are named.
const NAMED: usize = 3;

/// Says who shared nodes with a run, or with those of a session; nothing where none did.
pub fn shared_with<'a>(names: impl IntoIterator<Item = &'a String>) -> Option<String> {
    let names: Vec<&String> = names.into_iter().collect();
    (!names.is_empty()).then(|| format!("shared nodes with {}", first_of(&names, NAMED)))
}

#[cfg(test)]
mod tests {
    use super::shared_with;

    #[test]
    fn a_few_are_named() {
        let said = |names: &[&str]| shared_with(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(said(&[]), None);
        assert_eq!(said(&["a"]).as_deref(), Some("shared nodes with a"));
        assert_eq!(said(&["a", "b", "c"]).as_deref(), Some("shared nodes with a, b, c"));
        assert_eq!(said(&["a", "b", "c", "d", "e"]).as_deref(), Some("shared nodes with a, b, c and 2 more"));
    }
}
