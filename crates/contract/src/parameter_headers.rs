//! Arguments that an MCP client repeats in the head of its HTTP request (`x-mcp-header`),
//! so that whatever stands between can route by them.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::{Dialect, SchemaError, dialect::Applicator, subschemas::Subschemas};

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

/// The arguments of this schema that are repeated in headers. A client drops a tool whose
/// annotations break the rules, so such a contract is refused here.
pub fn declared(schema: &Value) -> Result<Vec<ParameterHeader>, SchemaError> {
    let subschemas = Subschemas::of(schema, Dialect::of(schema)?)?;
    // The keys that lead to each subschema, where `properties` alone do.
    let mut paths: Vec<Option<Vec<String>>> = vec![None; subschemas.all.len()];
    paths[0] = Some(Vec::new());
    let mut found = Vec::new();
    let mut names = HashSet::new();
    for (number, subschema) in subschemas.all.iter().enumerate() {
        for (child, inner) in &subschema.inner {
            if let (Applicator::Property(name), Some(path)) = (child.applicator, &paths[number]) {
                paths[*inner] = Some([path.as_slice(), &[name.to_owned()]].concat());
            }
        }
        if let Some(name) = subschema.schema.get(KEYWORD) {
            let header = header(name, subschema.schema, paths[number].as_deref(), &mut names);
            found.push(header.map_err(|message| {
                SchemaError::new(format!("{}/{KEYWORD}", subschema.pointer), message)
            })?);
        }
    }
    Ok(found)
}

fn header(
    name: &Value,
    schema: &Value,
    path: Option<&[String]>,
    names: &mut HashSet<String>,
) -> Result<ParameterHeader, &'static str> {
    let name = name.as_str().unwrap_or_default();
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err("is not a valid name of a header");
    }
    let Some(path) = path.filter(|path| !path.is_empty()) else {
        return Err("must be on an argument that is reached by `properties` alone");
    };
    let kind = schema.get("type").and_then(Value::as_str);
    if !matches!(kind, Some("string" | "integer" | "boolean")) {
        return Err("must be on a string, an integer or a boolean");
    }
    let header = format!("mcp-param-{}", name.to_ascii_lowercase());
    if !names.insert(header.clone()) {
        return Err("is the header of another argument already");
    }
    Ok(ParameterHeader { header, path: path.to_vec() })
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
        assert_eq!(declared(&schema).unwrap(), []);
    }
}
