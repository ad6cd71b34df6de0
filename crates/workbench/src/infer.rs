//! A schema from values: what results of a tool have looked like so far.
//!
//! For tools that promise nothing. What comes out is a proposal that a person reads and mends: it
//! accepts every value that it was made from, and says no more than they show. The order of the
//! values does not matter, and more of them only ever widen it, but for three guesses that need
//! many: formats, lists of words, and what an empty list might hold.

mod observed;

use serde_json::Value;

use observed::ObservedShape;

/// A schema (2020-12) that accepts all of these values.
pub fn infer(values: &[Value]) -> Value {
    let mut shape = ObservedShape::default();
    for value in values {
        shape.add(value);
    }
    shape.schema()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use contract::Schema;

    #[test]
    fn what_all_values_have_is_required() {
        let schema = infer(&[
            json!({ "id": 1, "name": "a", "tags": ["x"], "parent": null }),
            json!({ "id": 2, "name": "b", "tags": [], "score": 0.5, "parent": { "id": 1 } }),
        ]);
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {
                    "id": { "type": "integer" },
                    "name": { "type": "string" },
                    "parent": { "anyOf": [
                        {
                            "type": "object", "properties": { "id": { "type": "integer" } },
                            "required": ["id"], "additionalProperties": false,
                        },
                        { "type": "null" },
                    ] },
                    "score": { "type": "number" },
                    "tags": { "type": "array", "items": { "type": "string" } },
                },
                "required": ["id", "name", "parent", "tags"],
                "additionalProperties": false,
            })
        );
    }

    #[test]
    fn what_is_not_known_is_left_open() {
        assert_eq!(infer(&[]), json!({}));
        assert_eq!(infer(&[json!([])]), json!({ "type": "array" }));
        assert_eq!(infer(&[json!({})]), json!({ "type": "object" }));
        assert_eq!(
            infer(&[json!(1), json!("a"), json!(0.5), json!(true)]),
            json!({ "anyOf": [{ "type": "string" }, { "type": "number" }, { "type": "boolean" }] })
        );
    }

    #[test]
    fn formats_need_three_texts_that_agree() {
        let dates = ["2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z", "2024-01-03T00:00:00+01:00"];
        let dates = dates.map(Value::from);
        assert_eq!(infer(&dates[..2]), json!({ "type": "string" }));
        assert_eq!(infer(&dates), json!({ "type": "string", "format": "date-time" }));
        let mixed = [dates.to_vec(), vec![json!("soon")]].concat();
        assert_eq!(infer(&mixed), json!({ "type": "string" }));
        let addresses =
            ["https://a.example", "https://b.example/c", "mailto:a@b.c"].map(Value::from);
        assert_eq!(infer(&addresses)["format"], "uri");
        let words = ["note:this", "a:b", "c:d"].map(Value::from);
        assert_eq!(
            infer(&words),
            json!({ "type": "string" }),
            "what has a colon is not an address yet"
        );
    }

    #[test]
    fn a_list_of_words_needs_many() {
        let states = |count: usize| -> Vec<Value> {
            (0..count).map(|n| json!(if n % 2 == 0 { "open" } else { "closed" })).collect()
        };
        assert_eq!(infer(&states(20)), json!({ "type": "string" }));
        assert_eq!(infer(&states(60)), json!({ "type": "string", "enum": ["closed", "open"] }));
    }

    #[test]
    fn an_object_whose_names_are_data_is_a_map() {
        let map = |from: usize| -> Value {
            (from..from + 6)
                .map(|n| (format!("user-{n}"), json!(n)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        let schema = infer(&[map(0), map(6), map(12)]);
        assert_eq!(
            schema,
            json!({ "type": "object", "additionalProperties": { "type": "integer" } })
        );
    }

    #[test]
    fn whatever_the_values_are_the_schema_is_within_bounds() {
        let deep = (0..100).fold(json!(1), |inner, n| json!([{ "a": inner, "n": n }]));
        let wide: serde_json::Map<_, _> =
            (0..30_000).map(|n| (format!("k{n}"), json!({ "v": [n] }))).collect();
        let many: Vec<Value> =
            (0..3_000).map(|n| json!({ format!("k{n}"): { "a": 1, "b": 2 } })).collect();
        for values in [vec![deep], vec![wide.into()], many] {
            let schema = Schema::compile(&infer(&values)).unwrap();
            assert!(values.iter().all(|value| schema.is_valid(value)));
        }
    }
}
