//! The text that a model reads of a tool.

use gate::Tool;
use serde_json::{Value, json};

/// Keywords of schemas that tell a model nothing.
const NOT_SHOWN: [&str; 7] =
    ["$schema", "$id", "$comment", "title", "examples", "x-secret", "writeOnly"];

/// One line of JSON that cannot end what it stands in; in short, with the first sentence of each description.
pub(super) fn of(server: &str, name: &str, tool: &Tool, is_brief: bool) -> String {
    let mut schema = tool.contract.input_schema.clone();
    trim(&mut schema, true, is_brief);
    let about = tool.contract.description.as_str();
    let listing = json!({
        "server": server,
        "tool": name,
        "description": if is_brief { first_sentence(about) } else { about },
        "inputSchema": schema,
    });
    fenced(&listing)
}

/// JSON in which nothing looks like a mark of ours: `<` only stands inside of strings.
pub(crate) fn fenced(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

/// Takes out what tells a model nothing; `properties` are names and not keywords.
fn trim(schema: &mut Value, is_schema: bool, is_brief: bool) {
    match schema {
        Value::Object(fields) => {
            if is_schema {
                fields.retain(|keyword, _| !NOT_SHOWN.contains(&keyword.as_str()));
                if let (true, Some(Value::String(about))) =
                    (is_brief, fields.get_mut("description"))
                {
                    *about = first_sentence(about).to_owned();
                }
            }
            for (keyword, value) in fields.iter_mut() {
                let holds_names = is_schema && (keyword == "properties" || keyword == "$defs");
                trim(value, !holds_names, is_brief);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| trim(item, true, is_brief)),
        _ => {}
    }
}

/// The first sentence of a description.
pub(crate) fn first_sentence(text: &str) -> &str {
    let end = text.find(". ").map_or(text.len(), |end| end + 1);
    text[..end].lines().next().unwrap_or_default()
}
