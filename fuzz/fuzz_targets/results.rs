//! Result files, rules and texts with secrets, of any bytes: they end, they do not panic, and a file that is taken for a
//! result is one that this program would write.

#![no_main]

use kubebench_extract::rules::Rules;
use kubebench_syntax::redact::Redactor;
use kubebench_format::result;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(sealed) = result::read(bytes) {
        assert_eq!(sealed.bytes, bytes);
        assert!(!result::path(&sealed.result).contains(".."));
    }
    let text = String::from_utf8_lossy(bytes);
    drop(Rules::read(&text));
    let redactor = Redactor::new(["hunter2hunter2"]);
    let once = redactor.text(&text).into_owned();
    assert!(!once.contains("hunter2hunter2"));
});
