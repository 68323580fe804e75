#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fleet::systems::fuzz::lists(bytes));
