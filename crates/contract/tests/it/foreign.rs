//! Schemas of other people: whatever they say, we survive, and what we show of them is true.

use std::time::{Duration, Instant};

use contract::{
    Dialect, Interrupt, Schema,
    closed_schema::{self, Closing},
    translation,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use testkit::arbitrary;

/// Far more than any of these takes, on a machine that has something else to do.
const ENOUGH: Duration = Duration::from_secs(10);

fn refused(schema: &Value) -> String {
    let error = Schema::compile_foreign(schema).unwrap_err();
    format!("{} {error}", error.pointer)
}

#[test]
fn what_cannot_be_enforced_is_refused_with_the_reason() {
    let draft_07 = Dialect::Draft07.address();
    for (schema, expected) in [
        (
            json!({ "properties": { "a": { "$ref": "https://example.com/x.json#/a" } } }),
            "/properties/a/$ref refers to `https://example.com/x.json#/a`, which is outside of the \
             schema; remote references are not fetched",
        ),
        (
            json!({ "items": { "$ref": "file:///etc/passwd" } }),
            "/items/$ref refers to `file:///etc/passwd`, which is outside of the schema; remote \
             references are not fetched",
        ),
        (
            json!({ "$ref": "#/$defs/gone" }),
            "/$ref refers to `#/$defs/gone`, which cannot be resolved: Pointer '/$defs/gone' does not exist",
        ),
        (
            json!({ "$schema": draft_07, "items": { "$schema": Dialect::Draft04.address() } }),
            "/items/$schema declares the dialect `http://json-schema.org/draft-04/schema#` inside a \
             schema of draft-07; a schema can only have one",
        ),
        (json!({ "$ref": "#" }), " refers to itself in a loop"),
        (
            json!({ "anyOf": [{ "$ref": "#/$defs/a" }], "$defs": { "a": { "not": { "$ref": "#" } } } }),
            "/$defs/a/not refers to itself in a loop",
        ),
    ] {
        assert_eq!(refused(&schema), expected, "{schema}");
    }
    assert!(refused(&json!({ "pattern": "[" })).contains("is not a valid JSON Schema"));
    assert!(
        refused(&json!({ "pattern": "(a{1000}){1000}" })).contains("is not a valid JSON Schema")
    );
    let long = "a".repeat(5_000);
    assert!(refused(&json!({ "pattern": long })).contains("more than 4096 bytes"));
    let many: Map<String, Value> = (0..501).map(|n| (format!("^{n}"), json!({}))).collect();
    assert!(refused(&json!({ "patternProperties": many })).contains("more than 500 patterns"));
    // Data that looks like a schema is none.
    Schema::compile_foreign(&json!({ "default": { "$schema": "x", "$ref": "http://y" } })).unwrap();
}

#[test]
fn work_is_bounded_whatever_the_references_do() {
    let started = Instant::now();
    let doubling = |count: usize, keyword: &str| {
        let mut definitions = Map::new();
        for n in 0..count {
            let next = json!({ "$ref": format!("#/$defs/d{}", n + 1) });
            definitions.insert(format!("d{n}"), json!({ keyword: [next, next] }));
        }
        definitions.insert(format!("d{count}"), json!({ "type": "integer" }));
        json!({ "$ref": "#/$defs/d0", "$defs": definitions })
    };
    for keyword in ["allOf", "anyOf", "oneOf", "prefixItems"] {
        Schema::compile_foreign(&doubling(10, keyword)).unwrap();
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        assert_eq!(
            refused(&doubling(40, keyword)),
            " is too complex: it checks one value more than 100000 times"
        );
    }
    // Each item of a pair is looked at once, however many pairs there are.
    Schema::compile_foreign(&doubling(40, "prefixItems")).unwrap();
    // What comes back to itself is looked at once for each part of a value, whatever is on the way.
    let mut back = doubling(12, "allOf");
    back["$defs"]["d12"] = json!({ "properties": { "a": { "$ref": "#" } } });
    let back = Schema::compile_foreign(&back).unwrap();
    assert!(back.is_valid(&nested(30)));
    // What is not evaluated is found out anew at every level.
    let evaluated = |count: usize| {
        let mut definitions = Map::new();
        for n in 0..count {
            let next = json!({ "$ref": format!("#/$defs/d{}", n + 1) });
            let schema = json!({ "allOf": [next], "unevaluatedProperties": { "type": "object" } });
            definitions.insert(format!("d{n}"), schema);
        }
        definitions.insert(format!("d{count}"), json!({ "properties": { "a": { "$ref": "#" } } }));
        json!({ "$ref": "#/$defs/d0", "$defs": definitions })
    };
    assert_eq!(refused(&evaluated(12)), " is too complex for values of 4 levels");
    let twice = Schema::compile_foreign(&evaluated(1)).unwrap();
    assert!(twice.is_valid(&nested(10)));
    assert!(!twice.is_valid(&nested(100)));
    let chain: Map<String, Value> = (0..2_000)
        .map(|n| (format!("d{n}"), json!({ "$ref": format!("#/$defs/d{}", (n + 1).min(1_999)) })))
        .chain([("d1999".to_owned(), json!({}))])
        .collect();
    let chain = json!({ "$ref": "#/$defs/d0", "$defs": chain });
    assert_eq!(
        refused(&chain),
        " is too complex: it takes more than 1000 steps to check one value"
    );
    // Identifiers that refer to each other by more ways than anybody could follow.
    let identified = |dialect: Dialect, count: usize| {
        let identifier = if dialect == Dialect::Draft04 { "id" } else { "$id" };
        let definitions: Map<String, Value> = (0..count)
            .map(|n| {
                let to = |step: usize| json!({ "$ref": format!("{}.json", (n + step) % count) });
                let properties = json!({ "a": to(1), "b": to(2), "c": to(3) });
                let address = format!("http://example.com/{n}.json");
                (
                    format!("d{n}"),
                    json!({ identifier: address, "properties": properties, "maxProperties": 1 }),
                )
            })
            .collect();
        json!({
            "$schema": dialect.address(), identifier: "http://example.com/root.json",
            "allOf": [{ "$ref": "0.json" }], "definitions": definitions,
        })
    };
    for dialect in Dialect::ALL {
        let schema = identified(dialect, 60);
        let compiled = Schema::compile_foreign(&schema).unwrap();
        assert!(compiled.is_valid(&nested(50)));
        assert!(!compiled.is_valid(&json!({ "b": { "c": { "x": 1, "y": 1 } } })));
        translation::input(&schema).unwrap();
    }
    let dynamic: Map<String, Value> = (0..6)
        .map(|n| {
            let address = format!("http://example.com/{n}");
            let part =
                json!({ "$id": address, "$dynamicAnchor": "a", "items": { "$dynamicRef": "#a" } });
            (format!("d{n}"), part)
        })
        .collect();
    assert_eq!(
        refused(&json!({ "$ref": "http://example.com/0", "$defs": dynamic })),
        " has dynamic references among more than 5 schemas with identifiers"
    );
    // A graph of many definitions that is only as deep as a value.
    let graph: Map<String, Value> = (0..2_500)
        .map(|n| {
            let to =
                |step: usize| json!({ "$ref": format!("#/$defs/d{}", (n * step + 1) % 2_500) });
            (format!("d{n}"), json!({ "properties": { "a": to(7), "b": to(13) } }))
        })
        .collect();
    let graph = json!({ "$ref": "#/$defs/d0", "$defs": graph });
    assert!(Schema::compile_foreign(&graph).unwrap().is_valid(&nested(100)));
    assert!(started.elapsed() < ENOUGH, "{:?}", started.elapsed());
}

#[test]
fn memory_is_bounded_whatever_the_names_are() {
    let started = Instant::now();
    let many: Map<String, Value> = (0..5_000).map(|n| (format!("a{n}"), json!({}))).collect();
    let long = json!({ "properties": { "x".repeat(1_000_000): { "properties": many } } });
    assert!(refused(&long).contains("the pointers have more than"));
    let dynamic: Map<String, Value> = (0..3_000)
        .map(|n| {
            (format!("a{n}"), json!({ "$dynamicAnchor": "a", "items": { "$dynamicRef": "#a" } }))
        })
        .collect();
    assert!(
        refused(&json!({ "$defs": dynamic })).contains("dynamic references with more than 2000")
    );
    // Places that are none until somebody refers to them, one inside the other.
    let mut strays = json!({});
    for _ in 0..20 {
        strays = json!({ "properties": { "a": strays } });
    }
    let strays: Vec<Value> = (0..150).map(|_| strays.clone()).collect();
    let refer = |chain: usize, depth: usize| json!({ "$ref": format!("#/x/{chain}{}", "/properties/a".repeat(depth)) });
    let all: Vec<Value> =
        (0..150).flat_map(|chain| (0..20).map(move |depth| refer(chain, depth))).collect();
    _ = Schema::compile_foreign(&json!({ "x": strays, "prefixItems": all }));
    assert!(started.elapsed() < ENOUGH, "{:?}", started.elapsed());
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, _| Map::from_iter([("a".to_owned(), inner)]).into())
}

#[test]
fn a_schema_that_comes_back_to_itself_is_fine() {
    let started = Instant::now();
    let tree = json!({ "type": ["object", "integer"], "properties": { "a": { "$ref": "#" } } });
    let tree = Schema::compile_foreign(&tree).unwrap();
    assert!(tree.is_valid(&nested(100)));
    // By two ways, so that a list of violations would be twice as long with every level.
    let twice = json!({
        "anyOf": [
            { "properties": { "a": { "$ref": "#" } }, "required": ["b"] },
            { "properties": { "a": { "allOf": [{ "$ref": "#" }, { "$ref": "#" }] } }, "required": ["c"] },
        ],
    });
    let twice = Schema::compile_foreign(&twice).unwrap();
    let shallow = twice.violations(&nested(3));
    assert_eq!(shallow[0].message, "matches none of the allowed forms");
    let deep = twice.violations(&nested(100));
    assert_eq!(deep[0].to_string(), "the value does not match the schema");
    assert!(started.elapsed() < ENOUGH);
}

#[test]
fn a_value_that_nests_deeper_than_any_reader_allows_is_refused() {
    let schema =
        Schema::compile_foreign(&json!({ "properties": { "a": { "$ref": "#" } } })).unwrap();
    // Values from outside stop at 128 levels, and threads have two megabytes.
    let judge = move || {
        let deep = nested(10_000);
        assert!(!schema.is_valid(&deep));
        assert_eq!(
            schema.violations(&deep)[0].to_string(),
            "the value nests deeper than 128 levels, the most that this schema can check"
        );
        assert!(schema.is_valid(&nested(127)));
        assert!(schema.violations(&nested(127)).is_empty());
        // Taking it apart takes as many steps as it has levels.
        std::mem::forget(deep);
    };
    let small = std::thread::Builder::new().stack_size(2 << 20).spawn(judge).unwrap();
    small.join().unwrap();
    assert!(contract::json::parse("[".repeat(200).as_bytes()).is_err());
}

#[test]
fn the_longest_way_that_is_allowed_fits_on_a_small_stack() {
    // As many steps for each level of the value as make the most of them altogether.
    let level = |count: usize| {
        let mut schema = json!({ "properties": { "a": { "$ref": "#" } }, "required": ["z"] });
        for _ in 0..count {
            schema = json!({ "anyOf": [schema, { "type": "null" }] });
        }
        schema
    };
    for count in [1, 8, 30] {
        let schema = Schema::compile_foreign(&level(count)).unwrap();
        let judge = move || {
            for depth in [1, 5, 30, 128] {
                schema.is_valid(&nested(depth));
                schema.violations(&nested(depth));
            }
        };
        let small = std::thread::Builder::new().stack_size(2 << 20).spawn(judge).unwrap();
        small.join().unwrap();
    }
}

#[test]
fn formats_are_asserted_in_every_dialect() {
    for dialect in Dialect::ALL {
        let schema = |format: &str| json!({ "$schema": dialect.address(), "type": "string", "format": format });
        for (format, good, bad) in [
            ("email", "ada@example.com", "ada"),
            ("uuid", "3f2b8c1e-0b7a-4c8e-9d2f-1a2b3c4d5e6f", "3f2b"),
            ("uri-reference", "/a?b", "\\"),
            ("duration", "P1D", "1 day"),
        ] {
            let schema = Schema::compile_foreign(&schema(format)).unwrap();
            assert!(schema.is_valid(&json!(good)), "{format} in {}", dialect.word());
            assert!(!schema.is_valid(&json!(bad)), "{format} in {}", dialect.word());
        }
    }
}

#[test]
fn defaults_and_secrets_follow_the_references_of_their_dialect() {
    let schema = |identifier: &str| {
        json!({
            "$schema": if identifier == "id" { Dialect::Draft04 } else { Dialect::Draft07 }.address(),
            identifier: "http://example.com/root.json",
            "properties": {
                "a": { "$ref": "#/definitions/a" },
                "b": { "$ref": "#named" },
                "c": { "$ref": "other.json" },
                "list": { "items": [{ "default": 0 }, { "properties": { "n": { "default": 1 } } }] },
            },
            "definitions": {
                "a": { "default": 1 },
                "b": { identifier: "#named", "default": 2 },
                "c": { identifier: "other.json", "properties": { "key": { "x-secret": true } } },
            },
        })
    };
    for identifier in ["id", "$id"] {
        let schema = Schema::compile_foreign(&schema(identifier)).unwrap();
        let mut value = json!({ "c": { "key": "secret" }, "list": [5, {}] });
        schema.fill_defaults(&mut value);
        let expected = json!({ "c": { "key": "secret" }, "list": [5, { "n": 1 }], "a": 1, "b": 2 });
        assert_eq!(value, expected);
        assert_eq!(schema.redacted(&value)["c"], json!({ "key": "[redacted]" }));
    }
}

#[test]
fn a_projection_is_what_clients_of_today_read() {
    let shown = translation::input(&json!({
        "$schema": Dialect::Draft04.address(),
        "id": "http://example.com/tool",
        "definitions": { "count": { "type": "integer", "minimum": 0, "exclusiveMinimum": true } },
        "properties": {
            "n": { "$ref": "#/definitions/count", "description": "How many." },
            "pair": { "items": [{ "type": "string" }], "additionalItems": false },
        },
        "dependencies": { "n": ["pair"] },
    }));
    assert_eq!(
        shown.unwrap(),
        json!({
            "type": "object",
            "properties": {
                "n": { "description": "How many.", "type": "integer", "exclusiveMinimum": 0 },
                "pair": { "prefixItems": [{ "type": "string" }], "items": false },
            },
            "dependentRequired": { "n": ["pair"] },
        })
    );
    // What refers to itself, or is large, keeps its references.
    let tree = json!({
        "$schema": Dialect::Draft07.address(),
        "type": "object",
        "properties": { "tree": { "$ref": "#/definitions/tree" } },
        "definitions": { "tree": { "properties": { "next": { "$ref": "#/definitions/tree" } } } },
    });
    let shown = translation::input(&tree).unwrap();
    assert_eq!(shown["properties"]["tree"], json!({ "$ref": "#/$defs/tree" }));
    assert_eq!(shown["$defs"]["tree"]["properties"]["next"], json!({ "$ref": "#/$defs/tree" }));
}

proptest! {
    #[test]
    fn projections_mean_what_their_originals_mean(
        (schema, values, objects) in proptest::sample::select(Dialect::ALL.to_vec()).prop_flat_map(|dialect| (
            arbitrary::schemas(dialect),
            prop::collection::vec(arbitrary::values(), 5),
            prop::collection::vec(arbitrary::objects(), 5),
        ))
    ) {
        let Ok(original) = Schema::compile_foreign(&schema) else { return Ok(()) };
        let plain = translation::to_2020_12(&schema).unwrap();
        let output = Schema::compile(&translation::output(&schema).unwrap()).unwrap();
        let input = translation::input(&schema).unwrap();
        prop_assert_eq!(&input["type"], "object");
        let (plain, input) = (Schema::compile(&plain).unwrap(), Schema::compile(&input).unwrap());
        for value in values.iter().chain(&objects) {
            let valid = original.is_valid(value);
            prop_assert_eq!(original.violations(value).is_empty(), valid, "violations of {}", value);
            prop_assert_eq!(plain.is_valid(value), valid, "{} in {}", value, plain.source());
            prop_assert_eq!(output.is_valid(value), valid, "{} in {}", value, output.source());
            if value.is_object() {
                prop_assert_eq!(input.is_valid(value), valid, "{} in {}", value, input.source());
            }
        }
    }

    #[test]
    fn a_closed_schema_accepts_no_more_and_no_unknown_name(
        (schema, objects) in proptest::sample::select(Dialect::ALL.to_vec()).prop_flat_map(|dialect| (
            arbitrary::schemas(dialect),
            prop::collection::vec(arbitrary::objects(), 8),
        ))
    ) {
        let Ok(original) = Schema::compile_foreign(&schema) else { return Ok(()) };
        let tightened = closed_schema::close(&schema);
        let closed = Schema::compile_foreign(&tightened.schema).unwrap();
        // Behind `not` a root that is closed accepts more.
        if schema.to_string().contains("\"#\"") {
            return Ok(());
        }
        for mut value in objects {
            let valid = closed.is_valid(&value);
            prop_assert!(!valid || original.is_valid(&value), "{} in {}", value, tightened.schema);
            value["unknown"] = json!(1);
            if matches!(tightened.closing, Closing::AdditionalProperties | Closing::UnevaluatedProperties) {
                let valid = closed.is_valid(&value);
                // A branch may say that it takes anything.
                let open = schema.to_string().contains("additionalProperties");
                prop_assert!(!valid || open, "{} in {}", value, tightened.schema);
            }
        }
    }

    #[test]
    fn whatever_is_given_as_a_schema_is_survived(schema in arbitrary::hostile(), value in arbitrary::values()) {
        let started = Instant::now();
        match Schema::compile_foreign(&schema) {
            Ok(compiled) => {
                let mut filled = value.clone();
                compiled.fill_defaults(&mut filled);
                compiled.redacted(&filled);
                prop_assert_eq!(compiled.is_valid(&value), compiled.violations(&value).is_empty());
            }
            Err(error) => prop_assert!(!error.message.contains("makes the validator fail"), "{}", error),
        }
        _ = (translation::to_2020_12(&schema), translation::input(&schema), translation::output(&schema));
        prop_assert!(started.elapsed() < ENOUGH);
    }
}

/// A text that takes too much work to match is refused, whatever the pattern is part of: under a `not` or an `if`
/// neither result would be right.
#[test]
fn what_cannot_be_matched_passes_nowhere() {
    let around = json!({ "pattern": "drop(?!ped)" });
    let linear = json!({ "pattern": r"(?i)\b(drop|delete|truncate)\b[\s\w]{0,60}\btable\b" });
    for pattern in [around, linear] {
        let name = json!({ "type": "object", "properties": { "drop": {} } });
        for (schema, wrap) in [
            (json!({ "not": pattern }), "text"),
            (json!({ "if": pattern, "then": false }), "text"),
            (json!({ "oneOf": [pattern, { "type": "string" }] }), "text"),
            (json!({ "allOf": [{ "not": { "not": { "not": pattern } } }] }), "text"),
            (json!({ "not": { "contains": pattern } }), "array"),
            (json!({ "contains": pattern, "minContains": 0, "maxContains": 0 }), "array"),
            (json!({ "propertyNames": { "not": pattern }, "allOf": [name] }), "name"),
            (
                json!({ "dependentSchemas": { "a": { "properties": { "a": { "not": pattern } } } } }),
                "object",
            ),
        ] {
            let schema = Schema::compile_foreign(&schema).unwrap();
            let wrapped = |text: &str| match wrap {
                "text" => json!(text),
                "array" => json!([text]),
                "object" => json!({ "a": text }),
                _ => json!({ text: 1 }),
            };
            let long = wrapped(&format!("drop table users{}", " x".repeat(1_000_000)));
            for value in [wrapped("drop table users"), long] {
                assert!(!schema.is_valid(&value), "{:?}", schema.source());
                let listed = schema.violations(&value);
                assert!(!listed.is_empty(), "{:?}", schema.source());
                assert_eq!(schema.check(&value, &Interrupt::default()), Ok(listed));
            }
            assert!(schema.is_valid(&wrapped("select 1")), "{:?}", schema.source());
        }
    }
    // Where the place of the text is known it is told, once.
    let schema = Schema::compile_foreign(&json!({ "items": { "pattern": "^(?!x)a*$" } })).unwrap();
    let listed = schema.violations(&json!(["a", "a".repeat(5_000)]));
    let told: Vec<_> =
        listed.iter().map(|one| (one.pointer.as_str(), one.message.as_str())).collect();
    assert_eq!(told, [("/1", "is too long to match against the pattern")]);
}
