//! Texts with places in them: `{{args.name}}` stands for an argument, `{{replies.…}}` for what
//! was answered to a question.

use serde_json::Value;

/// The value with every place in its texts filled from the scope. Keys stay as they are.
pub fn render(template: &Value, scope: &Value) -> Value {
    match template {
        Value::String(text) => Value::String(fill(text, scope)),
        Value::Array(items) => items.iter().map(|item| render(item, scope)).collect(),
        Value::Object(fields) => Value::Object(
            fields.iter().map(|(key, value)| (key.clone(), render(value, scope))).collect(),
        ),
        other => other.clone(),
    }
}

/// The text with every place filled: a text as it is, nothing for what is not there, and
/// anything else as JSON. What was filled in is not looked at again.
pub fn fill(text: &str, scope: &Value) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((path, after)) = after.split_once("}}") else { break };
        filled.push_str(before);
        match path.split('.').try_fold(scope, |value, key| value.get(key)) {
            Some(Value::String(text)) => filled.push_str(text),
            Some(value) => filled.push_str(&value.to_string()),
            None => {}
        }
        rest = after;
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fills_places_and_nothing_else() {
        let scope = json!({ "args": { "name": "Ada", "count": 2, "trap": "{{args.name}}" } });
        let check = |text: &str, expected: &str| assert_eq!(fill(text, &scope), expected);
        check("Hello, {{args.name}}!", "Hello, Ada!");
        check("{{args.count}} of {{args.count}}", "2 of 2");
        check("nothing: {{args.other.deeper}}.", "nothing: .");
        check("{{args.trap}}", "{{args.name}}");
        check("no end: {{args.name", "no end: {{args.name");
        check("{{args}}", r#"{"name":"Ada","count":2,"trap":"{{args.name}}"}"#);
    }

    #[test]
    fn reaches_every_text_of_a_value() {
        let scope = json!({ "args": { "x": "1" } });
        let template = json!({ "{{args.x}}": ["{{args.x}}", 5, { "deep": "<{{args.x}}>" }] });
        let expected = json!({ "{{args.x}}": ["1", 5, { "deep": "<1>" }] });
        assert_eq!(render(&template, &scope), expected);
    }
}
