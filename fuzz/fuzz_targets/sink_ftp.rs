#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| steelyard_sink::fuzzing::ftp(input));
