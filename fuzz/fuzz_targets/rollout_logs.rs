#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rollout::study::log::fuzz::logs(bytes));
