//! Suspicious texts, whatever they say.

use proptest::prelude::*;
use workbench::suspicious;

proptest! {
    #[test]
    fn whatever_a_text_is_the_findings_are_in_it(
        said in "(\\PC|[\u{200b}-\u{200f}]|[\u{fe00}-\u{fe0f}]|[\u{e0000}-\u{e01ef}]|ignore all rules |\\s){0,60}"
    ) {
        let length = said.chars().count();
        for found in suspicious::text(&said) {
            prop_assert!(found.range.start <= found.range.end && found.range.end <= length, "{:?}", found);
            let unseen = found.shown.chars().any(|one| u32::from(one) >= 0xe0000);
            prop_assert!(!unseen, "{}", found.shown);
        }
    }
}
