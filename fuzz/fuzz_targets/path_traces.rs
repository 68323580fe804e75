#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| path::fuzz::traces(bytes));
