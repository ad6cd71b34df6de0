//! Values that are made from schemas.

use std::time::{Duration, Instant};

use contract::{Dialect, Schema};
use probe::generate::{
    self, GenerateOptions, GeneratedValues, MAX_CASES, MAX_CASES_BYTES, MAX_VALUE_BYTES,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use testkit::arbitrary;

fn titles(cases: &GeneratedValues) -> Vec<&str> {
    cases.cases.iter().map(|case| case.title.as_str()).collect()
}

fn has(cases: &GeneratedValues, value: &Value) -> bool {
    cases.cases.iter().any(|case| case.value == *value)
}

fn tool() -> Value {
    json!({
        "$schema": Dialect::Draft07.address(),
        "type": "object",
        "properties": {
            "path": { "type": "string", "pattern": "^[a-z0-9/_.-]+$", "maxLength": 12 },
            "count": { "type": "integer", "minimum": 1, "maximum": 20 },
            "mode": { "enum": ["fast", "slow"] },
            "when": { "type": "string", "format": "date-time" },
            "tags": { "type": "array", "items": { "type": "string", "minLength": 2 }, "maxItems": 3, "uniqueItems": true },
            "where": { "$ref": "#/definitions/place" },
        },
        "required": ["path", "count"],
        "additionalProperties": false,
        "definitions": { "place": {
            "type": "object", "properties": { "lat": { "type": "number", "exclusiveMinimum": -90 } }, "required": ["lat"],
        } },
    })
}

#[test]
fn valid_values_go_to_the_edges() {
    let cases = generate::valid(&tool(), GenerateOptions::all(1)).unwrap();
    assert_eq!(&titles(&cases)[..2], ["only what is required", "everything"]);
    assert_eq!(cases.cases[0].value.as_object().unwrap().len(), 2);
    assert_eq!(cases.cases[1].value.as_object().unwrap().len(), 6);
    let titles = titles(&cases);
    for wanted in [
        "`/count`: the minimum, 1",
        "`/count`: the maximum, 20",
        "`/path`: the longest, 12 characters",
        "`/mode`: one of the listed values",
        "`/when`: another text of the format",
        "`/tags`: an empty list",
        "`/tags`: the longest list, 3 items",
        "`/tags/0`: the shortest, 2 characters",
        "`/where/lat`: just above the bound, -89.999",
        "without `mode`",
    ] {
        assert!(titles.contains(&wanted), "{wanted}: {titles:#?}");
    }
    assert_eq!(cases.not_generated, [""; 0]);
}

#[test]
fn invalid_values_have_one_defect() {
    let cases = generate::invalid(&tool(), GenerateOptions::all(1)).unwrap();
    let titles = titles(&cases);
    for wanted in [
        "`path` is missing",
        "`count` is missing",
        "an unknown property",
        "is null",
        "`/count`: below the minimum",
        "`/count`: above the maximum",
        "`/count`: of the wrong type, a string",
        "`/count`: a number with a fraction",
        "`/path`: too long",
        "`/path`: does not match the pattern",
        "`/mode`: not one of the listed values",
        "`/when`: does not match the format",
        "`/tags`: too many items",
        "`/tags`: the same item twice",
        "`/tags/0`: too short",
        "`/where`: `lat` is missing",
        "`/where/lat`: at the excluded bound",
        "`/where/lat`: is null",
    ] {
        assert!(titles.contains(&wanted), "{wanted}: {titles:#?}");
    }
    // The place is open, so what nobody knows is no defect there.
    assert!(!titles.contains(&"`/where`: an unknown property"));
}

#[test]
fn choices_conditions_and_references_are_followed() {
    let schema = json!({
        "type": "object",
        "properties": { "kind": { "enum": ["a", "b"] } },
        "required": ["kind"],
        "oneOf": [
            { "properties": { "kind": { "const": "a" }, "n": { "type": "integer" } }, "required": ["n"] },
            { "properties": { "kind": { "const": "b" }, "s": { "$ref": "#/$defs/word" } }, "required": ["s"] },
        ],
        "$defs": { "word": { "type": "string", "enum": ["x"] } },
    });
    let cases = generate::valid(&schema, GenerateOptions::all(3)).unwrap();
    assert!(has(&cases, &json!({ "kind": "b", "s": "x" })), "{cases:#?}");
    let conditional = json!({
        "type": "object",
        "properties": { "raw": { "const": true } },
        "required": ["raw"],
        "if": { "properties": { "raw": { "const": true } } },
        "then": { "properties": { "html": { "type": "string", "minLength": 3 } }, "required": ["html"] },
    });
    let cases = generate::valid(&conditional, GenerateOptions::all(3)).unwrap();
    assert!(cases.cases[0].value["html"].is_string(), "{cases:#?}");
    let tree = json!({
        "type": "object", "properties": { "next": { "$ref": "#" }, "n": { "type": "integer" } }, "required": ["n"],
    });
    assert!(!generate::valid(&tree, GenerateOptions::all(3)).unwrap().cases.is_empty());
}

#[test]
fn what_cannot_be_generated_has_a_reason() {
    let endless = json!({ "type": "object", "properties": { "next": { "$ref": "#" } }, "required": ["next"] });
    let cases = generate::valid(&endless, GenerateOptions::all(1)).unwrap();
    assert!(cases.cases.is_empty());
    assert_eq!(
        cases.not_generated[0],
        "only what is required: cannot generate: a value would nest deeper than 8 levels"
    );
    let looking = json!({ "type": "string", "pattern": "^(?=x)y", "minLength": 3 });
    let cases = generate::invalid(&looking, GenerateOptions::all(1)).unwrap();
    assert_eq!(
        cases.not_generated,
        ["a valid value to start from: cannot generate: the pattern `^(?=x)y` is not supported"]
    );
    let huge = json!({ "type": "array", "minItems": 1_000_000, "items": { "type": "string" } });
    assert!(
        generate::valid(&huge, GenerateOptions::all(1)).unwrap().not_generated[0]
            .contains("more than 2000 parts")
    );
    assert!(generate::valid(&json!({ "$ref": "http://x" }), GenerateOptions::all(1)).is_err());
}

#[test]
fn no_schema_makes_more_than_was_asked_for() {
    let started = Instant::now();
    let long = |count: usize, length: usize| {
        let names: Vec<String> = (0..count).map(|n| format!("p{n}")).collect();
        let part = json!({ "type": "string", "minLength": length });
        let parts: Map<String, Value> =
            names.iter().map(|name| (name.clone(), part.clone())).collect();
        json!({ "type": "object", "properties": parts, "required": names, "additionalProperties": false })
    };
    let heavy = long(300, 20_000);
    for made in [generate::valid, generate::invalid] {
        let cases = made(&heavy, GenerateOptions::all(1)).unwrap();
        assert!(cases.cases.is_empty());
        let why = format!("more than {MAX_VALUE_BYTES} bytes");
        assert!(cases.not_generated[0].contains(&why), "{:?}", cases.not_generated);
        let cases = made(&long(12, 20_000), GenerateOptions::all(1)).unwrap();
        let bytes: usize = cases.cases.iter().map(|case| case.value.to_string().len()).sum();
        assert!(bytes > 0 && bytes < MAX_CASES_BYTES + 2 * MAX_VALUE_BYTES, "{bytes}");
        // A list of large items, a value that its author lists, and patterns that match nothing at length.
        for schema in [
            json!({ "type": "array", "items": { "type": "string", "minLength": 20_000 }, "minItems": 3, "maxItems": 1_900 }),
            json!({ "type": "array", "items": { "enum": ["x".repeat(1_000_000)] }, "minItems": 1_000 }),
            json!({ "type": "array", "items": { "type": "string" }, "minItems": 1_900, "uniqueItems": true }),
            json!({ "type": "array", "items": { "type": "integer" }, "minItems": 1_900, "uniqueItems": true }),
            json!({ "type": "string", "pattern": "^(((\\b*){999}){999}){999}$" }),
        ] {
            if let Ok(cases) = made(&schema, GenerateOptions::all(1)) {
                let bytes: usize =
                    cases.cases.iter().map(|case| case.value.to_string().len()).sum();
                assert!(bytes < MAX_CASES_BYTES + 2 * MAX_VALUE_BYTES, "{bytes}");
            }
        }
        let few =
            made(&tool(), GenerateOptions { most: 3, objects: true, ..GenerateOptions::all(1) })
                .unwrap();
        assert_eq!(few.cases.len(), 3);
        assert!(few.cases.iter().all(|case| case.value.is_object()));
        let stop = std::sync::atomic::AtomicBool::new(true);
        let none =
            made(&tool(), GenerateOptions { stop: &stop, ..GenerateOptions::all(1) }).unwrap();
        assert!(
            none.cases.is_empty() && none.not_generated.iter().any(|why| why.contains("stopped"))
        );
    }
    assert!(started.elapsed() < Duration::from_mins(1), "{:?}", started.elapsed());
}

#[test]
fn patterns_of_the_usual_kind_have_texts() {
    for pattern in [
        "^[a-zA-Z0-9/_.-]+$",
        "^[A-Z]{3}-\\d{4}$",
        "^(GET|POST)$",
        "^\\d{4}-\\d{2}-\\d{2}$",
        "^[\\w.+-]+@[\\w-]+\\.[a-z]{2,}$",
        "^https?://",
        "^$|^x+$",
        "^[^\\s]{5,}$",
        "^#[0-9a-fA-F]{6}$",
        "\\S",
    ] {
        let schema = json!({ "type": "string", "pattern": pattern });
        for seed in 0..5 {
            let cases = generate::valid(&schema, GenerateOptions::all(seed)).unwrap();
            assert!(!cases.cases.is_empty(), "{pattern}: {cases:?}");
        }
        let longer =
            json!({ "type": "string", "pattern": pattern, "minLength": 4, "maxLength": 60 });
        let cases = generate::valid(&longer, GenerateOptions::all(1)).unwrap();
        let none = matches!(pattern, "^(GET|POST)$" | "\\S");
        assert!(none || !cases.cases.is_empty(), "{pattern}: {cases:?}");
    }
}

#[test]
fn the_contracts_of_this_repository_can_all_be_probed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contracts");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let contract = contract::read::trusted(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for schema in [&contract.input_schema, &contract.output_schema] {
            let (good, bad) = (
                generate::valid(schema, GenerateOptions::all(7)).unwrap(),
                generate::invalid(schema, GenerateOptions::all(7)).unwrap(),
            );
            assert!(!good.cases.is_empty(), "{}: {:?}", path.display(), good.not_generated);
            assert!(!bad.cases.is_empty(), "{}: {:?}", path.display(), bad.not_generated);
            seen += good.cases.len() + bad.cases.len();
        }
    }
    assert!(seen > 500, "{seen}");
}

proptest! {
    #[test]
    fn the_same_seed_makes_the_same_values_and_all_are_what_they_should_be(
        schema in proptest::sample::select(Dialect::ALL.to_vec()).prop_flat_map(arbitrary::schemas),
        seed: u64,
    ) {
        let Ok(judge) = Schema::compile_foreign(&schema) else { return Ok(()) };
        let started = Instant::now();
        let (good, bad) = (generate::valid(&schema, GenerateOptions::all(seed)).unwrap(), generate::invalid(&schema, GenerateOptions::all(seed)).unwrap());
        prop_assert!(started.elapsed() < Duration::from_secs(10));
        prop_assert!(good.cases.len() <= MAX_CASES && bad.cases.len() <= MAX_CASES);
        prop_assert_eq!(&generate::valid(&schema, GenerateOptions::all(seed)).unwrap(), &good);
        prop_assert!(good.cases.iter().all(|case| judge.is_valid(&case.value)));
        prop_assert!(bad.cases.iter().all(|case| !judge.is_valid(&case.value)));
        prop_assert!(!good.cases.is_empty() || !good.not_generated.is_empty());
    }
}
