//! Whatever text a caller gives as a URL: what passes is public, and means the same when it is read
//! again. The property is that of the tests.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/guard/tests/it/net/passing.rs"]
mod passing;

fuzz_target!(|text: &str| {
    passing::what_passes_is_public(text);
    passing::where_a_redirect_leads_is_public(text);
});
