#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kubebench_fuzz::logs(bytes));
