//! Whatever a page is: it is read, nothing panics, and what is returned is text.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|html: &str| {
    for format in [extract::PageFormat::Text, extract::PageFormat::Markdown] {
        let page = extract::read(html, url::Url::parse("https://example.com/a/").ok().as_ref(), format);
        assert_eq!(page.text.trim(), page.text);
    }
});
