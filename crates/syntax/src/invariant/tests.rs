use std::panic::{Location, catch_unwind};
use std::sync::{Mutex, PoisonError};

use super::*;

/// Returns the message and the file and line of the panic of `code`.
fn panic_of(code: fn()) -> (String, String, u32) {
    static HOOK: Mutex<()> = Mutex::new(());
    static SEEN: Mutex<Option<(String, u32)>> = Mutex::new(None);
    let alone = HOOK.lock().unwrap_or_else(PoisonError::into_inner);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(|panic| {
        *SEEN.lock().unwrap() = panic.location().map(|place| (place.file().to_owned(), place.line()));
    }));
    let payload = catch_unwind(code).unwrap_err();
    std::panic::set_hook(before);
    let (file, line) = SEEN.lock().unwrap().take().unwrap();
    drop(alone);
    (payload.downcast_ref::<String>().unwrap().clone(), file, line)
}

#[test]
fn values_that_are_there_pass() {
    assert_eq!(Some(1).expected("one"), 1);
    assert_eq!(Ok::<_, std::fmt::Error>(1).expected("one"), 1);
}

#[test]
fn the_message_says_what_was_expected_and_where() {
    const LINE: u32 = Location::caller().line();
    let (message, file, line) = panic_of(|| None.expected("an entry for each case"));
    assert_eq!((message.as_str(), line), ("expected an entry for each case", LINE + 1));
    assert!(file.ends_with("invariant/tests.rs"), "{file}");
    let (message, _, line) = panic_of(|| assert_eq!("x".parse::<u32>().expected("digits"), 0));
    assert_eq!((message.as_str(), line), ("expected digits: invalid digit found in string", LINE + 4));
}
