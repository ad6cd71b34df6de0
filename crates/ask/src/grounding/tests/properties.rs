//! What holds for any text.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Pieces that the rules look at.
const PIECES: &str = "[ \n\t.,:;%$€°<>()'’\u{200b}\u{301}\u{327}\u{2011}０-９0-9a-zA-Zéアー日本不三十ᄀ가\u{11a8}а-я#*>_/-]{0,40}";

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_it_panic(text in ".{0,80}", claim in ".{0,40}", evidence in ".{0,40}") {
        let _ = ground(&json!([text.clone(), { "a": text }]), &claim, &evidence);
    }

    #[test]
    fn evidence_is_the_slice_at_its_location(text in PIECES, from in 0_usize..40, length in 1_usize..40) {
        let quote: String = text.chars().skip(from).take(length).collect();
        let value = json!({ "a": ["no", text] });
        for claim in [quote.as_str(), text.as_str()] {
            let Ok(found) = ground(&value, claim, &quote) else { continue };
            let location = found.location;
            let whole = value.pointer(&location.pointer).and_then(Value::as_str).unwrap();
            let slice: String =
                whole.chars().skip(location.start).take(location.end - location.start).collect();
            prop_assert_eq!(&slice, &found.evidence);
            prop_assert_eq!(super::super::fold::needle(&slice), super::super::fold::needle(&quote));
        }
    }

    #[test]
    fn units_are_found_as_they_are(text in PIECES) {
        let value = json!([text]);
        let source = Source::of(&value);
        for unit in source.units() {
            prop_assert!(text.contains(unit));
            let bullet = Bullet { claim: "Zebra".to_owned(), evidence: unit.to_owned() };
            prop_assert_ne!(source.ground(&bullet), Err(Ungrounded::NotFound));
        }
    }
}
