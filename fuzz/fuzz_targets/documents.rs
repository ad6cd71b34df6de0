//! Whatever a Markdown document says: its tools are read, and what is wrong with it is shown at a line of it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use workbench::documents;

fuzz_target!(|text: &str| {
    let (_, found) = documents::read("any.md", text);
    for one in found {
        assert!(one.line >= 1 && one.line <= text.lines().count() + 1);
        one.render(false);
    }
});
