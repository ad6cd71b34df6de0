//! Everything that all operations share, so that no description repeats or forgets it.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// The statuses whose response is `ErrorNNN` of the components, in a description of ours.
const ERRORS: &str = "x-errors";

/// The paths of the document, in the order in which they are added.
pub(super) struct Paths {
    bearer: bool,
    identifiers: BTreeSet<String>,
    items: Map<String, Value>,
}

impl Paths {
    pub(super) fn new(bearer: bool) -> Self {
        Self { bearer, identifiers: BTreeSet::new(), items: Map::new() }
    }

    /// True if callers need a token.
    pub(super) fn bearer(&self) -> bool {
        self.bearer
    }

    pub(super) fn contains(&self, path: &str) -> bool {
        self.items.contains_key(path)
    }

    /// Adds an operation, completed, under an identifier that no other has.
    pub(super) fn add(&mut self, path: &str, method: &str, mut operation: Value) {
        operation["operationId"] = json!(self.unique(&operation["operationId"]));
        self.complete(&mut operation);
        // Every operation takes the request id, so the path says it once for all of them.
        let item = self.items.entry(path).or_insert_with(
            || json!({ "parameters": [{ "$ref": "#/components/parameters/RequestId" }] }),
        );
        item[method] = operation;
    }

    pub(super) fn into_value(self) -> Value {
        Value::Object(self.items)
    }

    fn unique(&mut self, wanted: &Value) -> String {
        let wanted = word(wanted.as_str().unwrap_or_default());
        let mut identifier = wanted.clone();
        let mut number = 2;
        while !self.identifiers.insert(identifier.clone()) {
            identifier = format!("{wanted}_{number}");
            number += 1;
        }
        identifier
    }

    fn complete(&self, operation: &mut Value) {
        let open = operation["security"] == json!([]);
        let operator = operation["security"] == json!([{ "operator": [] }]);
        let Value::Object(fields) = operation else { return };
        let states_its_own = operator || (open && self.bearer);
        if !states_its_own {
            fields.shift_remove("security");
        }
        for parameter in
            fields.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten()
        {
            allow_empty(parameter);
        }
        let declared = fields.shift_remove(ERRORS);
        let mut statuses: Vec<u64> = declared
            .iter()
            .filter_map(Value::as_array)
            .flatten()
            .filter_map(Value::as_u64)
            .collect();
        // `Host` and `Origin` are checked before the route is.
        statuses.push(403);
        if operator || (self.bearer && !open) {
            statuses.push(401);
        }
        let Some(Value::Object(responses)) = fields.get_mut("responses") else { return };
        for status in statuses {
            let error = json!({ "$ref": format!("#/components/responses/Error{status}") });
            responses.entry(status.to_string()).or_insert(error);
        }
        responses.values_mut().for_each(|response| *response = with_request_id(response));
        responses.sort_keys();
    }
}

/// Allows a parameter of the query without a value: the server takes it for none.
pub(super) fn allow_empty(parameter: &mut Value) {
    if let Value::Object(fields) = parameter
        && fields.get("in").is_some_and(|place| place == "query")
    {
        fields.insert("allowEmptyValue".into(), json!(true));
    }
}

/// The response with the header that every response has.
pub(super) fn with_request_id(response: &Value) -> Value {
    let Value::Object(fields) = response else { return response.clone() };
    if fields.contains_key("$ref") {
        return response.clone();
    }
    let mut response = Map::from_iter([(
        "description".to_owned(),
        fields.get("description").cloned().unwrap_or_default(),
    )]);
    let mut headers = json!({ "X-Request-Id": { "$ref": "#/components/headers/X-Request-Id" } });
    if let (Value::Object(all), Some(Value::Object(own))) = (&mut headers, fields.get("headers")) {
        all.extend(own.clone());
    }
    response.insert("headers".to_owned(), headers);
    for (name, value) in fields {
        response.entry(name).or_insert_with(|| value.clone());
    }
    Value::Object(response)
}

/// A name that is an identifier in most languages.
pub(super) fn word(name: &str) -> String {
    name.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '_' }).collect()
}
