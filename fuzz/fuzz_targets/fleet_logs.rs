#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fleet::study::log::fuzz::logs(bytes));
