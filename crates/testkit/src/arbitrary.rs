//! Schemas and values for property tests: few names and small numbers, so that they meet.

use contract::Dialect;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Any value of a few names, words and numbers.
pub fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2..5i64).prop_map(Value::from),
        prop_oneof![Just(0.5), Just(2.5), Just(-1.5)].prop_map(Value::from),
        prop_oneof![
            Just(""),
            Just("a"),
            Just("abc"),
            Just("2024-01-01"),
            Just("2024-01-01T00:00:00Z"),
            Just("https://example.com/a"),
            Just("ada@example.com"),
            Just("3f2b8c1e-0b7a-4c8e-9d2f-1a2b3c4d5e6f"),
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(names(), inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

/// Objects only.
pub fn objects() -> impl Strategy<Value = Value> {
    prop::collection::btree_map(names(), values(), 0..5).prop_map(|map| json!(map))
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("b"), Just("c"), Just("x-1")].prop_map(str::to_owned)
}

/// A schema of a dialect, with definitions that refer to each other. Most of them are good.
pub fn schemas(dialect: Dialect) -> impl Strategy<Value = Value> {
    (part(dialect), part(dialect), part(dialect)).prop_map(move |(root, one, other)| {
        let mut root = match root {
            Value::Object(fields) => fields,
            other => Map::from_iter([("allOf".to_owned(), json!([other]))]),
        };
        root.insert("definitions".to_owned(), json!({ "one": one, "other/~": other }));
        root.insert("$schema".to_owned(), dialect.address().into());
        Value::Object(root)
    })
}

fn part(dialect: Dialect) -> impl Strategy<Value = Value> {
    leaf(dialect).prop_recursive(4, 20, 4, move |inner| joined(dialect, inner))
}

fn leaf(dialect: Dialect) -> impl Strategy<Value = Value> {
    let kinds = ["string", "integer", "number", "boolean", "null", "array", "object"];
    let mut plain = vec![
        json!({}),
        json!({ "enum": [1, "a", null] }),
        json!({ "minLength": 1, "maxLength": 3, "description": "A word." }),
        json!({ "pattern": "^a" }),
        json!({ "format": "date" }),
        json!({ "format": "uuid", "type": "string" }),
        json!({ "minimum": 1, "maximum": 3 }),
        json!({ "multipleOf": 0.5 }),
        json!({ "minItems": 1, "uniqueItems": true }),
        json!({ "required": ["a"] }),
        json!({ "minProperties": 1, "maxProperties": 2 }),
        json!({ "$ref": "#/definitions/one" }),
        json!({ "$ref": "#/definitions/other~1~0", "description": "Beside.", "type": "string" }),
        json!({ "$ref": "#/definitions/one", "uniqueItems": true }),
        // Known to some dialects and unknown to others.
        json!({ "const": 1 }),
        json!({ "dependentRequired": { "a": ["b"] } }),
        json!({ "contentEncoding": "base64" }),
    ];
    plain.extend(kinds.map(|kind| json!({ "type": kind })));
    if dialect == Dialect::Draft04 {
        plain.push(json!({ "minimum": 1, "exclusiveMinimum": true, "maximum": 3 }));
        plain.push(json!({ "maximum": 2, "exclusiveMaximum": false }));
    } else {
        plain.extend([json!({ "exclusiveMinimum": 1 }), json!(true), json!(false)]);
    }
    proptest::sample::select(plain)
}

fn joined(
    dialect: Dialect,
    inner: impl Strategy<Value = Value> + Clone + 'static,
) -> impl Strategy<Value = Value> {
    let list = || prop::collection::vec(inner.clone(), 1..3);
    let named = || prop::collection::btree_map(names(), inner.clone(), 0..3);
    let old = dialect < Dialect::Draft202012;
    let tuple = move |(items, rest): (Vec<Value>, Value)| {
        let (first, after) =
            if old { ("items", "additionalItems") } else { ("prefixItems", "items") };
        json!({ first: items, after: rest })
    };
    prop_oneof![
        (named(), inner.clone()).prop_map(
            |(properties, rest)| json!({ "type": "object", "properties": properties, "additionalProperties": rest })
        ),
        named().prop_map(
            |properties| json!({ "properties": properties, "additionalProperties": false })
        ),
        named().prop_map(|properties| json!({ "properties": properties, "unevaluatedProperties": false })),
        inner.clone().prop_map(|items| json!({ "items": items, "additionalItems": false })),
        (list(), inner.clone()).prop_map(tuple),
        list().prop_map(|all| json!({ "allOf": all })),
        list().prop_map(|any| json!({ "anyOf": any, "title": "Any." })),
        list().prop_map(|one| json!({ "oneOf": one })),
        inner.clone().prop_map(|not| json!({ "not": not })),
        (inner.clone(), inner.clone()).prop_map(|(one, two)| json!({ "if": one, "then": two })),
        inner.clone().prop_map(|one| json!({ "dependencies": { "a": ["b"], "b": one } })),
        inner.clone().prop_map(|one| json!({ "patternProperties": { "^[ab]": one } })),
        inner.clone().prop_map(|one| json!({ "contains": one, "unevaluatedItems": false })),
        inner.clone().prop_map(|one| json!({ "propertyNames": one })),
        inner.prop_map(|one| json!({ "properties": { "a": { "$ref": "#" }, "b": one } })),
    ]
}

/// Hardly a schema: any keyword with any value, and references to anywhere.
pub fn hostile() -> impl Strategy<Value = Value> {
    let words: Vec<&str> = contract::dialect::keywords().chain(["default", "a", ""]).collect();
    let texts = [
        "#",
        "#a",
        "a",
        "#/$defs/a",
        "#/properties/a",
        "#/a/b",
        "##",
        "http://a.example/x",
        "http://a.example/x#a",
        "urn:a",
        "x#/a",
        "/",
        "..",
        "%",
        "#%ff",
        "",
        "object",
        "string",
        "^(a+)+$",
        "(?=(a*)*b)",
        "[",
        "\u{0}",
        "é",
        "uuid",
        "regex",
        "json-schema:///",
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    ];
    let leaf = prop_oneof![
        proptest::sample::select(texts.to_vec()).prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        proptest::sample::select(vec![
            json!(0),
            json!(-1),
            json!(1e308),
            json!(5e-324),
            json!(u64::MAX)
        ]),
        Just(Value::Null),
    ];
    leaf.prop_recursive(5, 32, 4, move |inner| {
        let fields =
            prop::collection::vec((proptest::sample::select(words.clone()), inner.clone()), 0..5);
        prop_oneof![
            3 => fields.prop_map(|fields| {
                fields.into_iter().map(|(word, value)| (word.to_owned(), value)).collect::<Map<_, _>>().into()
            }),
            1 => prop::collection::vec(inner, 0..4).prop_map(Value::from),
        ]
    })
}
