#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| emulator::tunnel::fuzz::frames(bytes));
