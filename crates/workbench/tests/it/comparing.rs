//! Changes of schemas of other people.

use std::time::{Duration, Instant};

use contract::{Dialect, Schema};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use workbench::{
    compare::{self, ChangeClass, SchemaUse},
    documents,
};

use testkit::arbitrary;

fn class(old: &Value, new: &Value) -> Option<ChangeClass> {
    let changes = compare::schemas(Some(old), Some(new), "input", SchemaUse::Input);
    changes.into_iter().filter(|one| one.class != ChangeClass::Wording).map(|one| one.class).max()
}

#[test]
fn comparing_ends_whatever_the_references_do() {
    let started = Instant::now();
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for count in [8, 14, 15] {
            let doubling = |kind: &str| {
                let mut definitions = Map::new();
                for n in 0..count {
                    let next = json!({ "$ref": format!("#/$defs/d{}", n + 1) });
                    definitions.insert(format!("d{n}"), json!({ keyword: [next, next] }));
                }
                definitions.insert(format!("d{count}"), json!({ "type": kind }));
                json!({ "$ref": "#/$defs/d0", "$defs": definitions })
            };
            class(&doubling("integer"), &doubling("number"));
        }
    }
    // One inside the other, by references, deeper than any stack.
    for count in [10, 25, 100, 600] {
        for back in [true, false] {
            let line = |least: usize| {
                let definitions: Map<String, Value> = (0..count)
                    .map(|n| {
                        let next = if back { (n + 1) % count } else { n + 1 };
                        let next = json!({ "$ref": format!("#/$defs/d{next}") });
                        (
                            format!("d{n}"),
                            json!({ "properties": { "a": next }, "minProperties": least }),
                        )
                    })
                    .chain([(format!("d{count}"), json!({}))])
                    .collect();
                json!({ "$ref": "#/$defs/d0", "$defs": definitions })
            };
            assert_eq!(class(&line(0), &line(1)), Some(ChangeClass::Breaking));
        }
    }
    // Identifiers that refer to each other by more ways than anybody could follow.
    for dialect in Dialect::ALL {
        let identifier = if dialect == Dialect::Draft04 { "id" } else { "$id" };
        let schema_of = |count: usize| {
            let definitions: Map<String, Value> = (0..count)
                .map(|n| {
                    let to =
                        |step: usize| json!({ "$ref": format!("{}.json", (n + step) % count) });
                    let properties = json!({ "a": to(1), "b": to(2), "c": to(3) });
                    let address = format!("http://example.com/{n}.json");
                    (format!("d{n}"), json!({ identifier: address, "properties": properties }))
                })
                .collect();
            json!({
                "$schema": dialect.address(), identifier: "http://example.com/root.json",
                "allOf": [{ "$ref": "0.json" }], "definitions": definitions,
            })
        };
        class(&schema_of(60), &schema_of(59));
    }
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

proptest! {
    #[test]
    fn a_change_that_is_called_harmless_is(
        old in arbitrary::schemas(Dialect::Draft202012),
        new in arbitrary::schemas(Dialect::Draft202012),
        values in prop::collection::vec(arbitrary::values(), 8),
    ) {
        let (Ok(before), Ok(after)) = (Schema::compile(&old), Schema::compile(&new)) else { return Ok(()) };
        let started = Instant::now();
        let class = class(&old, &new);
        prop_assert!(started.elapsed() < Duration::from_secs(10));
        if matches!(class, Some(ChangeClass::Cosmetic | ChangeClass::Widening)) {
            for value in values.iter().filter(|value| before.is_valid(value)) {
                prop_assert!(after.is_valid(value), "{value} was fine: {class:?}");
            }
        }
    }

    #[test]
    fn whatever_a_document_says_it_is_read(
        text in "(\n|## |### |Tool: |Input Schema|Errors|- input_schema:\n|- status: é\n|- errors:\n|```json\n|```\n|```markdown\n|~~~|\\{\"a\": é\\}|\\{\"type\": 1\\}\n|[a-zé: ]){0,40}"
    ) {
        let (_, found) = documents::read("any.md", &text);
        for one in found {
            prop_assert!(one.line >= 1 && one.line <= text.lines().count() + 1);
            one.render(false);
        }
    }
}
