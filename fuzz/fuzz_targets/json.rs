//! Whatever the bytes are: they are refused, or they are a value that reads the same when it is written again.
#![no_main]

use contract::json;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(value) = json::parse(bytes) {
        assert_eq!(json::parse(value.to_string().as_bytes()).ok(), Some(value));
    }
});
