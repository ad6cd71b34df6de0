//! How an operation is put together, so that none forgets what all of them share.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// The paths of the document, in the order in which they come.
pub(super) struct Paths {
    bearer: bool,
    identifiers: BTreeSet<String>,
    items: Map<String, Value>,
}

impl Paths {
    pub(super) fn new(bearer: bool) -> Self {
        Self { bearer, identifiers: BTreeSet::new(), items: Map::new() }
    }

    /// Whether callers must show a token.
    pub(super) fn bearer(&self) -> bool {
        self.bearer
    }

    pub(super) fn contains(&self, path: &str) -> bool {
        self.items.contains_key(path)
    }

    /// Adds an operation, under an identifier that no other has.
    pub(super) fn add(&mut self, path: &str, method: &str, mut operation: Operation) {
        operation.identifier = self.unique(&operation.identifier);
        if operation.operator || (self.bearer && !operation.open) {
            operation.responses.entry(401).or_insert_with(|| error(401));
        }
        // `Host` and `Origin` are looked at before the route is.
        operation.responses.entry(403).or_insert_with(|| error(403));
        // Every operation takes the request id, so the path says it once for all of them.
        let item = self.items.entry(path).or_insert_with(
            || json!({ "parameters": [{ "$ref": "#/components/parameters/RequestId" }] }),
        );
        item[method] = operation.into_value(self.bearer);
    }

    pub(super) fn into_value(self) -> Value {
        Value::Object(self.items)
    }

    fn unique(&mut self, wanted: &str) -> String {
        let mut identifier = wanted.to_owned();
        let mut number = 2;
        while !self.identifiers.insert(identifier.clone()) {
            identifier = format!("{wanted}_{number}");
            number += 1;
        }
        identifier
    }
}

/// One method of one path.
pub(super) struct Operation {
    identifier: String,
    tag: String,
    summary: String,
    description: Option<String>,
    deprecated: bool,
    /// Whether it is answered without a token.
    open: bool,
    /// Whether only the operator may.
    operator: bool,
    parameters: Vec<Value>,
    body: Option<Value>,
    responses: BTreeMap<u16, Value>,
}

impl Operation {
    pub(super) fn new(identifier: &str, tag: &str, summary: &str) -> Self {
        Self {
            identifier: word(identifier),
            tag: tag.to_owned(),
            summary: summary.to_owned(),
            description: None,
            deprecated: false,
            open: false,
            operator: false,
            parameters: Vec::new(),
            body: None,
            responses: BTreeMap::new(),
        }
    }

    pub(super) fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    pub(super) fn deprecated(mut self, deprecated: bool) -> Self {
        self.deprecated = deprecated;
        self
    }

    pub(super) fn open(mut self) -> Self {
        self.open = true;
        self
    }

    /// Only who shows the operator's token is answered.
    pub(super) fn operator(mut self) -> Self {
        self.operator = true;
        self
    }

    /// Takes one of the parameters in the components.
    pub(super) fn parameter(mut self, name: &str) -> Self {
        self.parameters.push(json!({ "$ref": format!("#/components/parameters/{name}") }));
        self
    }

    /// Takes something in the query that no other operation takes.
    pub(super) fn query(mut self, name: &str, description: &str, schema: Value) -> Self {
        self.parameters.push(query(name, description, schema));
        self
    }

    /// Takes a JSON body.
    pub(super) fn body(mut self, schema: Value, examples: Map<String, Value>) -> Self {
        let content = json_content(schema, examples);
        self.body = Some(json!({ "required": true, "content": content }));
        self
    }

    /// The same without it.
    pub(super) fn or_nothing(mut self) -> Self {
        if let Some(body) = &mut self.body {
            body["required"] = json!(false);
        }
        self
    }

    pub(super) fn response(mut self, status: u16, response: Value) -> Self {
        self.responses.insert(status, response);
        self
    }

    /// Answers with the error of the components for each of these statuses.
    pub(super) fn errors(mut self, statuses: &[u16]) -> Self {
        self.responses.extend(statuses.iter().map(|status| (*status, error(*status))));
        self
    }

    fn into_value(self, bearer: bool) -> Value {
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        put("operationId", json!(self.identifier));
        put("tags", json!([self.tag]));
        put("summary", json!(self.summary));
        if let Some(description) = self.description {
            put("description", json!(description));
        }
        if self.deprecated {
            put("deprecated", json!(true));
        }
        if self.operator {
            put("security", json!([{ "operator": [] }]));
        } else if self.open && bearer {
            put("security", json!([]));
        }
        if !self.parameters.is_empty() {
            put("parameters", json!(self.parameters));
        }
        if let Some(body) = self.body {
            put("requestBody", body);
        }
        let responses: Map<String, Value> = self
            .responses
            .into_iter()
            .map(|(status, response)| (status.to_string(), response))
            .collect();
        put("responses", Value::Object(responses));
        Value::Object(fields)
    }
}

/// Something in the query. Without a value it is as good as not given.
pub(super) fn query(name: &str, description: &str, schema: Value) -> Value {
    let mut parameter = json!({
        "name": name, "in": "query", "description": description, "allowEmptyValue": true,
    });
    parameter["schema"] = schema;
    parameter
}

/// A response with a JSON body.
pub(super) fn json_response(description: &str, schema: Value) -> Value {
    response(description, json_content(schema, Map::new()))
}

/// A response with the given content; `{}` for one without a body.
pub(super) fn response(description: &str, content: Value) -> Value {
    let mut response = json!({
        "description": description,
        "headers": { "X-Request-Id": { "$ref": "#/components/headers/X-Request-Id" } },
    });
    if content.as_object().is_some_and(|content| !content.is_empty()) {
        response["content"] = content;
    }
    response
}

/// The response with one more of the headers in the components.
pub(super) fn with_header(mut response: Value, name: &str) -> Value {
    response["headers"][name] = json!({ "$ref": format!("#/components/headers/{name}") });
    response
}

/// The response with a pointer to an operation that takes the id that stands in its body.
pub(super) fn with_link(mut response: Value, operation: &str, pointer: &str) -> Value {
    let id = format!("$response.body#{pointer}");
    response["links"][operation] = json!({ "operationId": operation, "parameters": { "id": id } });
    response
}

/// Whether an answer of that status says when to come again.
pub(super) fn asks_to_retry(status: u16) -> bool {
    matches!(status, 429 | 503)
}

pub(super) fn json_content(schema: Value, examples: Map<String, Value>) -> Value {
    let mut content = Map::from_iter([("schema".to_owned(), schema)]);
    if !examples.is_empty() {
        content.insert("examples".into(), Value::Object(examples));
    }
    json!({ "application/json": content })
}

/// An error outside a tool call.
pub(super) fn error(status: u16) -> Value {
    json!({ "$ref": format!("#/components/responses/Error{status}") })
}

pub(super) fn schema(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// A name that is an identifier in most languages.
pub(super) fn word(name: &str) -> String {
    name.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '_' }).collect()
}
