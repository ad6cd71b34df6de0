//! Resource templates, of the simplest kind that there is (RFC 6570, level 1).

use serde_json::{Map, Value};

/// The values of the template's variables if it can have made this address. A variable is
/// one part of a path, so it is not empty and has no slash.
pub fn variables(template: &str, address: &str) -> Option<Map<String, Value>> {
    let mut found = Map::new();
    let (mut template, mut address) = (template, address);
    while let Some((before, after)) = template.split_once('{') {
        let (name, after) = after.split_once('}')?;
        address = address.strip_prefix(before)?;
        let end = address.find('/').unwrap_or(address.len());
        let (value, rest) = address.split_at(end);
        if value.is_empty() {
            return None;
        }
        found.insert(name.to_owned(), value.into());
        (template, address) = (after, rest);
    }
    (template == address).then_some(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_address_is_taken_apart() {
        let check = |address: &str, expected: Option<Value>| {
            let found = variables("test://template/{id}/data", address).map(Value::Object);
            assert_eq!(found, expected, "{address}");
        };
        check("test://template/123/data", Some(json!({ "id": "123" })));
        check("test://template//data", None);
        check("test://template/1/2/data", None);
        check("test://template/123", None);
        check("test://template/123/data/more", None);
        check("test://other", None);
    }
}
