//! Arguments that an MCP client repeats in the head of its HTTP request (`x-mcp-header`),
//! so that whatever stands between can route by them.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::violation::escape;

/// The word in a schema.
const KEYWORD: &str = "x-mcp-header";

/// An argument that is repeated in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterHeader {
    /// The header, in small letters: `mcp-param-…`.
    pub header: String,
    /// The keys that lead to the argument.
    pub path: Vec<String>,
}

impl ParameterHeader {
    /// The argument, as a header would have it; nothing where it is absent or null.
    pub fn value<'a>(&self, arguments: &'a Map<String, Value>) -> Option<&'a Value> {
        let (last, outer) = self.path.split_last()?;
        let mut inside = arguments;
        for key in outer {
            inside = inside.get(key)?.as_object()?;
        }
        inside.get(last).filter(|value| !value.is_null())
    }
}

/// Why an annotation cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderError {
    /// Where it stands.
    pub pointer: String,
    /// What is wrong with it.
    pub message: String,
}

/// The arguments of this schema that are repeated in headers. A client drops a tool whose
/// annotations break the rules, so a contract with such a one is refused here.
pub fn declared(schema: &Value) -> Result<Vec<ParameterHeader>, HeaderError> {
    let mut walk = HeaderWalk::default();
    walk.schema(schema, "", Some(&[]))?;
    Ok(walk.found)
}

#[derive(Default)]
struct HeaderWalk {
    found: Vec<ParameterHeader>,
    names: HashSet<String>,
}

impl HeaderWalk {
    /// Looks at a schema that is reached by `path`, or by something that is no chain of
    /// `properties`.
    fn schema(
        &mut self,
        schema: &Value,
        pointer: &str,
        path: Option<&[String]>,
    ) -> Result<(), HeaderError> {
        match schema {
            Value::Object(fields) => self.object(fields, pointer, path),
            Value::Array(items) => items.iter().enumerate().try_for_each(|(index, item)| {
                self.schema(item, &format!("{pointer}/{index}"), None)
            }),
            _ => Ok(()),
        }
    }

    fn object(
        &mut self,
        fields: &Map<String, Value>,
        pointer: &str,
        path: Option<&[String]>,
    ) -> Result<(), HeaderError> {
        if let Some(name) = fields.get(KEYWORD) {
            let pointer = format!("{pointer}/{KEYWORD}");
            self.annotation(name, fields, path)
                .map_err(|message| HeaderError { pointer, message: message.into() })?;
        }
        for (key, value) in fields {
            let inside = format!("{pointer}/{}", escape(key));
            match (key.as_str(), path, value) {
                // Values, not schemas.
                ("const" | "default" | "enum" | "examples", ..) => {}
                (
                    "$defs" | "definitions" | "patternProperties" | "dependentSchemas",
                    _,
                    Value::Object(named),
                ) => {
                    for (name, schema) in named {
                        self.schema(schema, &format!("{inside}/{}", escape(name)), None)?;
                    }
                }
                ("properties", _, Value::Object(properties)) => {
                    for (name, property) in properties {
                        let inside = format!("{inside}/{}", escape(name));
                        let longer = path.map(|path| [path, std::slice::from_ref(name)].concat());
                        self.schema(property, &inside, longer.as_deref())?;
                    }
                }
                _ => self.schema(value, &inside, None)?,
            }
        }
        Ok(())
    }

    fn annotation(
        &mut self,
        name: &Value,
        fields: &Map<String, Value>,
        path: Option<&[String]>,
    ) -> Result<(), &'static str> {
        let name = name.as_str().unwrap_or_default();
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err("this cannot stand in the name of a header");
        }
        let Some(path) = path.filter(|path| !path.is_empty()) else {
            return Err("only an argument that is reached by `properties` alone has a header");
        };
        let primitive = matches!(
            fields.get("type").and_then(Value::as_str),
            Some("string" | "integer" | "boolean")
        );
        if !primitive {
            return Err("only a string, an integer or a boolean has a header");
        }
        let header = format!("mcp-param-{}", name.to_ascii_lowercase());
        if !self.names.insert(header.clone()) {
            return Err("another argument has this header already");
        }
        self.found.push(ParameterHeader { header, path: path.to_vec() });
        Ok(())
    }
}

/// A character of a header's name (RFC 9110, `tchar`).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_arguments_and_their_values() {
        let schema = json!({ "type": "object", "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "deep": { "type": "object", "properties": {
                "count": { "type": "integer", "x-mcp-header": "Count" } } },
        } });
        let found = declared(&schema).unwrap();
        let arguments = json!({ "region": null, "deep": { "count": 3 } });
        let seen: Vec<_> = found
            .iter()
            .map(|one| (one.header.as_str(), one.value(arguments.as_object().unwrap()).cloned()))
            .collect();
        assert_eq!(seen, [("mcp-param-region", None), ("mcp-param-count", Some(json!(3)))]);
    }

    #[test]
    fn refuses_what_clients_would_drop() {
        let refused = |property: Value| {
            let schema = json!({ "type": "object", "properties": { "a": property } });
            declared(&schema).unwrap_err().pointer
        };
        let at = "/properties/a";
        assert_eq!(
            refused(json!({ "type": "string", "x-mcp-header": "" })),
            format!("{at}/{KEYWORD}")
        );
        assert_eq!(
            refused(json!({ "type": "string", "x-mcp-header": "a b" })),
            format!("{at}/{KEYWORD}")
        );
        assert_eq!(
            refused(json!({ "type": "number", "x-mcp-header": "A" })),
            format!("{at}/{KEYWORD}")
        );
        let in_items =
            json!({ "type": "array", "items": { "type": "string", "x-mcp-header": "A" } });
        assert_eq!(refused(in_items), format!("{at}/items/{KEYWORD}"));
        let twice = json!({ "type": "object", "properties": {
            "b": { "type": "string", "x-mcp-header": "A" },
            "c": { "type": "string", "x-mcp-header": "a" } } });
        assert_eq!(refused(twice), format!("{at}/properties/c/{KEYWORD}"));
        // A property that happens to have that name is none.
        let schema = json!({ "properties": { "x-mcp-header": { "type": "string" } } });
        assert_eq!(declared(&schema), Ok(Vec::new()));
    }
}
