//! Whatever text a caller gives as a URL: what passes is public, and means the same when it is read
//! again. The property is that of the tests.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/guard/tests/it/net/url_property.rs"]
mod url_property;

fuzz_target!(|text: &str| {
    url_property::what_passes_is_public(text);
    url_property::where_a_redirect_leads_is_public(text);
});
