//! Schemas that are made from values, and schemas that take in one more.

use contract::{Dialect, Schema};
use proptest::prelude::*;
use serde_json::Value;
use workbench::{infer::infer, widen::widen};

use testkit::arbitrary;

/// The value with texts that are of no format, so that nothing is guessed from several of them.
fn plain(value: Value) -> Value {
    match value {
        Value::String(text) => text.chars().take(3).collect::<String>().into(),
        Value::Array(items) => items.into_iter().map(plain).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, plain(value))).collect()
        }
        other => other,
    }
}

fn has_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty() || items.iter().any(has_empty),
        Value::Object(fields) => fields.is_empty() || fields.values().any(has_empty),
        _ => false,
    }
}

proptest! {
    #[test]
    fn every_value_fits_the_schema_that_was_made_from_it(
        values in prop::collection::vec(arbitrary::values(), 0..80)
    ) {
        let schema = infer(&values);
        let compiled = Schema::compile(&schema).unwrap();
        for value in &values {
            prop_assert!(compiled.is_valid(value), "{value} in {schema}");
        }
        let turned: Vec<Value> = values.into_iter().rev().collect();
        prop_assert_eq!(infer(&turned), schema);
    }

    #[test]
    fn more_values_never_make_a_schema_narrower(
        values in prop::collection::vec(arbitrary::values(), 1..6),
        more in prop::collection::vec(arbitrary::values(), 1..6),
        others in prop::collection::vec(arbitrary::values(), 10),
    ) {
        // What an empty list might hold is not known until there is one that is not empty.
        let values: Vec<Value> = values.into_iter().map(plain).filter(|value| !has_empty(value)).collect();
        if values.is_empty() {
            return Ok(());
        }
        let all: Vec<Value> = values.iter().cloned().chain(more.into_iter().map(plain)).collect();
        let first = Schema::compile(&infer(&values)).unwrap();
        let second = Schema::compile(&infer(&all)).unwrap();
        for value in others.iter().filter(|value| first.is_valid(value)) {
            prop_assert!(second.is_valid(value), "{value} in {}", second.source());
        }
    }

    #[test]
    fn a_widened_schema_accepts_the_value_and_all_that_it_did(
        schema in arbitrary::schemas(Dialect::Draft202012),
        value in arbitrary::values(),
        others in prop::collection::vec(arbitrary::values(), 10),
    ) {
        let Ok(before) = Schema::compile(&schema) else { return Ok(()) };
        let widened = widen(&schema, &value).unwrap();
        let after = Schema::compile(&widened.schema).unwrap();
        prop_assert!(after.is_valid(&value), "{}", widened.schema);
        prop_assert_eq!(widened.changes.is_empty(), before.is_valid(&value));
        for other in others.iter().filter(|other| before.is_valid(other)) {
            prop_assert!(after.is_valid(other), "{other} in {}", widened.schema);
        }
    }

    #[test]
    fn a_schema_that_was_learned_takes_in_one_more(
        values in prop::collection::vec(arbitrary::values(), 1..6),
        more in arbitrary::values(),
    ) {
        let widened = widen(&infer(&values), &more).unwrap();
        let compiled = Schema::compile(&widened.schema).unwrap();
        for value in values.iter().chain([&more]) {
            prop_assert!(compiled.is_valid(value), "{value} in {}", widened.schema);
        }
    }
}
