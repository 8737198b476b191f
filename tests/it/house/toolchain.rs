//! The Rust that is promised is the one that is tried.

use std::fs;

use crate::support::project::repository;

#[test]
fn the_promised_rust_is_the_one_that_ci_uses() {
    let read = |file: &str| fs::read_to_string(repository().join(file)).unwrap();
    let value = |text: &str, key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='));
        line.unwrap_or_else(|| panic!("no `{key}` in {text}")).trim().trim_matches('"').to_owned()
    };
    let promised = value(&read("Cargo.toml"), "rust-version");
    let tried = value(&read("rust-toolchain.toml"), "channel");
    assert!(
        tried == promised || tried.starts_with(&format!("{promised}.")),
        "{promised} is promised, {tried} is tried"
    );
}
