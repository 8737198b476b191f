use kubebench_syntax::invariant::Invariant as _;
use kubebench_testing::snapshot::{assert_text, str};

use super::*;

#[test]
fn a_fault_is_a_value_with_its_words_and_its_place() {
    assert_eq!(caught(|| 1), Ok(1));
    let line = line!() + 1;
    let fault = caught(|| None::<u8>.expected("a byte in each word")).unwrap_err();
    assert_eq!(fault.to_string(), format!("expected a byte in each word ({}:{line})", file!()));
}

#[test]
fn what_was_changed_until_then_stays() {
    let mut seen = Vec::new();
    let fault = caught(|| {
        seen.push(1);
        std::panic::panic_any(7_u8);
    });
    assert_eq!((seen, fault.unwrap_err().message.as_str()), (vec![1], "a panic without a message"));
}

#[test]
fn a_fault_of_a_thread_that_was_waited_for_is_that_of_whoever_waits() {
    let fault = caught(|| {
        let ended = std::thread::spawn(|| None::<u8>.expected("words of another thread")).join();
        ended.unwrap_or_else(|payload| std::panic::resume_unwind(payload))
    });
    let fault = fault.unwrap_err().to_string();
    assert!(fault.starts_with("expected words of another thread (") && fault.contains("fault/tests.rs:"), "{fault}");
}

#[test]
fn a_report_holds_no_secret_and_says_what_is_kept() {
    let redactor = Redactor::new(["correct-horse"]);
    let fault =
        InternalFault { message: "expected a user `correct-horse`".to_owned(), place: Some("a.rs:7".to_owned()) };
    let [fault_line, uncaught] = words(&fault, &redactor, false);
    assert_eq!(fault_line, "error: internal fault: expected a user `[redacted]` (a.rs:7)");
    assert_text(uncaught, str! {"this is a bug in kubebench; nothing else was written"});
    let [_, caught] = words(&fault, &redactor, true);
    assert_text(caught, str! {"this is a bug in kubebench; what was measured is kept"});
}
