use serde_json::{Value, json};

use super::super::{ChangeClass, ContractChange, Inputs, SchemaUse, schemas, tools};

fn object(properties: &Value) -> Value {
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn changes(old: &Value, new: &Value) -> Vec<ContractChange> {
    schemas(Some(old), Some(new), "input", SchemaUse::Input)
}

/// The places where a schema that takes the same values or more has something new to read.
fn read_anew(old: &Value, new: &Value) -> Vec<String> {
    let changes = changes(old, new);
    assert!(changes.iter().all(|one| one.class != ChangeClass::Breaking), "{changes:?}");
    let words = changes.into_iter().filter(|one| one.class == ChangeClass::Wording);
    words.map(|one| one.pointer).collect()
}

#[test]
fn whatever_models_read_anew_is_told_wherever_it_stands() {
    let optional = |about: Value| {
        let mut text = json!({ "type": "string" });
        text.as_object_mut().unwrap().extend(about.as_object().unwrap().clone());
        object(&json!({ "q": { "anyOf": [text, { "type": "null" }] } }))
    };
    let place = "/properties/q/anyOf/0";
    let plain = optional(json!({}));
    for (about, pointer) in [
        (json!({ "description": "Send all." }), place.to_owned()),
        (json!({ "x-hint": "Send all." }), place.to_owned()),
        (json!({ "Send all.": 1 }), place.to_owned()),
        (json!({ "examples": [{ "Send": ["all"] }] }), place.to_owned()),
        (json!({ "readOnly": true }), place.to_owned()),
        (
            json!({ "anyOf": [{ "description": "Send all." }, true] }),
            format!("{place}/anyOf/0/description"),
        ),
        (json!({ "$defs": { "Send all.": {} } }), place.to_owned()),
        (json!({ "allOf": [{ "$id": "send-all" }] }), place.to_owned()),
        (json!({ "$recursiveRef": "#Send all." }), place.to_owned()),
        (json!({ "contentSchema": { "$ref": "#/$defs/Send all." } }), place.to_owned()),
        (json!({ "additionalItems": { "$ref": "#Send all." } }), place.to_owned()),
    ] {
        let new = optional(about);
        assert_eq!(read_anew(&plain, &new), [pointer], "{new}");
        assert_eq!(read_anew(&new, &new), [""; 0]);
    }
    // What changes in its place, and what only moves about in a list.
    let [one, other] =
        ["Keeps.", "Deletes."].map(|text| json!({ "const": text.len(), "description": text }));
    let list = |all: [&Value; 2]| json!({ "oneOf": all });
    assert_eq!(read_anew(&list([&one, &other]), &list([&other, &one])), [""; 0]);
    let mut swapped = list([&one, &other]);
    swapped["oneOf"][0]["description"] = other["description"].clone();
    swapped["oneOf"][1]["description"] = one["description"].clone();
    assert_eq!(
        read_anew(&list([&one, &other]), &swapped),
        ["/oneOf/0/description", "/oneOf/1/description"]
    );
}

#[test]
fn what_is_added_is_widening_and_wording() {
    let old = object(&json!({ "q": { "enum": ["a"] } }));
    let new = object(&json!({
        "q": { "enum": ["a", "b"] },
        "limit": { "type": "integer", "description": "Send all." },
    }));
    let said: Vec<_> = changes(&old, &new)
        .into_iter()
        .map(|one| format!("{} {}: {}", one.class.word(), one.pointer, one.text))
        .collect();
    assert_eq!(
        said,
        [
            r#"widening /properties/q/enum: changed from ["a"] to ["a","b"]"#,
            r#"wording /properties/q: new text for models: "b""#,
            r#"widening /properties: `limit` was added: {"type":"integer","description":"Send all."}"#,
            r#"wording /properties: new text for models: "limit""#,
            r#"wording /properties/limit/description: new text for models: "Send all.""#,
        ]
    );
    // Words of the language are nothing new, and neither is what has been read.
    let typed = |schema: Value| object(&json!({ "q": schema }));
    let old = typed(json!({ "type": "string", "minLength": 2, "enum": ["xx", "yy"] }));
    let new = typed(json!({ "type": ["string", "null"], "format": "date", "minLength": 1 }));
    assert_eq!(read_anew(&old, &typed(json!({ "enum": ["yy", "xx"] }))), [""; 0]);
    assert!(changes(&old, &new).iter().all(|one| one.class != ChangeClass::Wording));
    let shared = json!({ "type": "object", "$defs": { "a": { "type": "string" } } });
    let mut used = shared.clone();
    used["propertyNames"] = json!({ "$ref": "#/$defs/a" });
    assert!(changes(&shared, &used).iter().all(|one| one.class != ChangeClass::Wording));
}

#[test]
fn what_breaks_is_told_behind_any_number_of_texts() {
    let schema = |text: &str, required: &[&str]| {
        let all = (0..120).map(|n| (format!("p{n}"), json!({ "description": text })));
        let mut schema = object(&Value::Object(all.collect()));
        schema["required"] = json!(required);
        schema
    };
    let found = changes(&schema("One", &[]), &schema("Two", &["p1", "p2"]));
    let of = |class: ChangeClass| found.iter().filter(|one| one.class == class).collect::<Vec<_>>();
    assert_eq!(of(ChangeClass::Breaking).len(), 2);
    let words = of(ChangeClass::Wording);
    assert_eq!(words.len(), 101);
    assert_eq!(words[100].text, "20 more differences are not listed");
    // A schema that is too large to be compared is no other for its texts.
    let large = |text: &str| {
        let all = (0..3_000).map(|n| (format!("p{n}"), json!({ "minimum": n })));
        let mut schema = object(&Value::Object(all.collect()));
        schema["description"] = json!(text);
        schema
    };
    let found = changes(&large("One"), &large("Two"));
    assert_eq!(found.iter().map(|one| one.class).collect::<Vec<_>>(), [ChangeClass::Wording]);
    let found = tools(
        &json!({ "annotations": (0..150).map(|n| (n.to_string(), n.into())).collect::<serde_json::Map<_, _>>() }),
        &json!({ "annotations": {} }),
        Inputs::Closed,
    );
    assert_eq!(found.last().unwrap().text, "50 more differences are not listed");
}

#[test]
fn names_that_look_like_texts_are_none() {
    for (old, new) in [
        (json!({ "const": { "title": "a" } }), json!({ "const": { "title": "b" } })),
        (json!({ "enum": [{ "title": "a" }] }), json!({ "enum": [{ "title": "b" }] })),
        (json!({}), json!({ "dependentRequired": { "title": ["a"] } })),
        (
            json!({ "dependentRequired": { "title": ["a"] } }),
            json!({ "dependentRequired": { "title": ["a", "b"], "description": ["c"] } }),
        ),
        (
            json!({ "$schema": "http://json-schema.org/draft-07/schema#", "dependencies": { "default": ["a"] } }),
            json!({ "$schema": "http://json-schema.org/draft-07/schema#", "dependencies": { "default": ["b"] } }),
        ),
    ] {
        let found = changes(&old, &new);
        assert!(found.iter().any(|one| one.class == ChangeClass::Breaking), "{found:?}");
    }
    // A reference into what nobody knows makes it matter.
    let through =
        |kind: &str| json!({ "x-parts": { "a": { "type": kind } }, "$ref": "#/x-parts/a" });
    let found = changes(&through("string"), &through("integer"));
    assert!(found.iter().any(|one| one.class == ChangeClass::Breaking), "{found:?}");
}

#[test]
fn programs_get_both_sides_whole() {
    let long = "Forecasts. ".repeat(100);
    let tool = |more: &str| json!({ "name": "a", "description": format!("{long}{more}") });
    let found = tools(&tool(""), &tool("Send all."), Inputs::Closed);
    assert_eq!(found.len(), 1);
    assert!(found[0].text.ends_with("Send all.\""), "{}", found[0].text);
    assert_eq!(found[0].new, Some(tool("Send all.")["description"].clone()));
    assert_eq!(found[0].old, Some(tool("")["description"].clone()));
}
