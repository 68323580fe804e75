#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| scenario::fuzz::texts(bytes));
