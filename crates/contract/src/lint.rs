//! Rules for contracts that types cannot express.

mod together;

use serde_json::{Value, json};

pub use together::{lint_replacements, lint_together};

use crate::{
    ApprovalRequirement, Contract, DeclaredError, Diagnostic, Document, Effects, LargeOutput,
    Limits, Presentation, Schema, Stability, StdoutForm, Violation, codes, command_template,
    text_output,
};

/// Names that are routes and so cannot be tools.
pub const RESERVED_NAMES: &[&str] = &["execute"];

/// Everything that is wrong or could be better, in the order of the contract's fields.
pub fn lint(contract: &Contract, document: &Document) -> Vec<Diagnostic> {
    let mut lint = Linter { contract, document, found: Vec::new() };
    lint.names();
    lint.description("/description", Some(&contract.description));
    lint.input();
    lint.output();
    lint.deprecation();
    lint.errors();
    lint.run();
    lint.examples();
    lint.found
}

struct Linter<'a> {
    contract: &'a Contract,
    document: &'a Document,
    found: Vec<Diagnostic>,
}

impl Linter<'_> {
    fn error(&mut self, pointer: &str, message: impl Into<String>) {
        self.found.push(self.document.error(pointer, message));
    }

    fn warning(&mut self, pointer: &str, message: impl Into<String>) {
        self.found.push(self.document.warning(pointer, message));
    }

    fn names(&mut self) {
        for (pointer, name) in
            [("/name", &self.contract.name), ("/toolset", &self.contract.toolset)]
        {
            if RESERVED_NAMES.contains(&name.as_str()) {
                self.error(pointer, format!("the name `{name}` is reserved"));
            } else if name.chars().all(|character| character == '.') {
                self.error(pointer, "a name of only dots cannot be part of a URL");
            }
        }
        for (index, tag) in self.contract.tags.iter().enumerate() {
            if tag.trim() != tag || tag.is_empty() || tag.contains(',') {
                let pointer = format!("/tags/{index}");
                self.error(
                    &pointer,
                    "a tag must not contain a comma, or begin or end with a space",
                );
            }
        }
    }

    /// A description says something.
    fn description(&mut self, pointer: &str, text: Option<&str>) -> bool {
        let said = text.map(str::trim).unwrap_or_default();
        let placeholder = ["todo", "tbd", "fixme", "description", "..."]
            .iter()
            .any(|word| said.trim_end_matches(['.', ':']).eq_ignore_ascii_case(word));
        if said.is_empty() {
            self.error(pointer, "the description is missing");
        } else if placeholder || said.starts_with("[What") {
            self.error(pointer, format!("`{said}` is a placeholder, not a description"));
        } else {
            return true;
        }
        false
    }

    fn input(&mut self) {
        let schema = &self.contract.input_schema;
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            self.error("/input_schema", "the input schema needs `type: object`");
        }
        if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
            let closed = self
                .document
                .error(
                    "/input_schema",
                    "the input schema is open: undocumented arguments would pass",
                )
                .hint("add `additionalProperties: false`");
            self.found.push(closed);
        }
        if !schema.get("properties").is_some_and(Value::is_object) {
            self.error(
                "/input_schema",
                "`properties` is missing (`{}` for a tool without arguments)",
            );
        }
        if !schema.get("required").is_some_and(Value::is_array) {
            self.error(
                "/input_schema",
                "`required` is missing (`[]` where everything is optional)",
            );
        }
        if self.schema("/input_schema", schema, true).is_some()
            && let Err(mistake) = crate::parameter_headers::declared(schema)
        {
            self.error(&format!("/input_schema{}", mistake.pointer), mistake.message);
        }
    }

    fn output(&mut self) {
        let compiled = self.schema("/output_schema", &self.contract.output_schema, false);
        if self.contract.output_schema.as_object().is_some_and(serde_json::Map::is_empty) {
            self.error("/output_schema", "an empty schema accepts everything");
        }
        let schema = &self.contract.output_schema;
        let has_blocks = schema["properties"]["content"]["type"] == "array"
            && schema["required"].as_array().is_some_and(|keys| keys.contains(&"content".into()));
        if self.contract.presentation == Presentation::Content && !has_blocks {
            self.error(
                "/presentation",
                "`presentation: content` needs an output schema with a required array `content`",
            );
        }
        let has_text = schema["properties"]["text"]["type"] == "string"
            && schema["required"].as_array().is_some_and(|keys| keys.contains(&"text".into()));
        // Of `output: text` it is said with the command.
        let is_command = self.contract.output == StdoutForm::Text;
        if self.contract.presentation == Presentation::Text && !has_text && !is_command {
            self.error(
                "/presentation",
                "`presentation: text` needs an output schema with a required string `text`",
            );
        }
        self.large_output(compiled.as_ref());
    }

    /// Notes about the end of a tool are for deprecated tools.
    fn deprecation(&mut self) {
        let contract = self.contract;
        let given = [
            ("deprecated_since", contract.deprecated_since.is_some()),
            ("replaced_by", contract.replaced_by.is_some()),
            ("removed_after", contract.removed_after.is_some()),
        ];
        if contract.stability != Stability::Deprecated {
            for (key, _) in given.into_iter().filter(|(_, given)| *given) {
                let found = self
                    .document
                    .error(&format!("/{key}"), format!("`{key}` needs `stability: deprecated`"));
                self.found.push(found.hint("a tool that is stable is not about to go"));
            }
        }
        if let (Some(since), Some(after)) = (contract.deprecated_since, contract.removed_after)
            && after < since
        {
            let message = format!("the tool would be gone before it is deprecated on {since}");
            self.error("/removed_after", message);
        }
        if contract.replaced_by.as_ref() == Some(&contract.name) {
            self.error("/replaced_by", "a tool cannot replace itself");
        }
    }

    fn large_output(&mut self, output: Option<&Schema>) {
        if self.contract.large_output == LargeOutput::Refuse {
            return;
        }
        let limits = Limits::default().with(&self.contract.limits);
        if limits.max_artifact_bytes <= limits.max_output_bytes {
            self.warning(
                "/large_output",
                "`large_output: artifact` has no effect: `max_artifact_bytes` must be larger than `max_output_bytes`",
            );
        }
        let pointer = json!({
            "artifact": { "name": "a", "path": "/a", "mime_type": "application/json", "bytes": 0 },
        });
        if output.is_some_and(|schema| schema.is_valid(&pointer)) {
            let open = self
                .document
                .warning("/large_output", "a result can have the form of a pointer to an artifact")
                .hint("add `additionalProperties: false` to the output schema");
            self.found.push(open);
        }
    }

    /// The schema, compiled, where that is possible.
    fn schema(&mut self, pointer: &str, schema: &Value, strict: bool) -> Option<Schema> {
        match Schema::compile(schema) {
            Ok(compiled) => {
                self.required_are_described(pointer, schema);
                self.descriptions(pointer, schema, strict);
                Some(compiled)
            }
            Err(error) => {
                self.error(&format!("{pointer}{}", error.pointer), format!("the schema {error}"));
                None
            }
        }
    }

    /// Every property says what it is; in the input it must, in the output it should.
    fn descriptions(&mut self, pointer: &str, schema: &Value, strict: bool) {
        let described = |schema: &Value| {
            schema.get("description").and_then(Value::as_str).is_some_and(|text| !text.is_empty())
                || schema.get("$ref").is_some()
        };
        if strict && !described(schema) && pointer == "/input_schema" {
            self.error(pointer, "the description of the input is missing");
        }
        let mut inner = Vec::new();
        if let Some(Value::Object(properties)) = schema.get("properties") {
            for (name, property) in properties {
                let escaped = crate::violation::escape(name);
                inner.push((format!("{pointer}/properties/{escaped}"), property, name.clone()));
            }
        }
        if let Some(items @ Value::Object(_)) = schema.get("items") {
            inner.push((format!("{pointer}/items"), items, "items".to_owned()));
        }
        for (pointer, property, name) in inner {
            if property.is_object() && !described(property) {
                let message = format!("`{name}` has no description");
                if strict {
                    self.error(&pointer, message);
                } else {
                    self.warning(&pointer, message);
                }
            } else if let Some(text) = property.get("description") {
                self.description(&format!("{pointer}/description"), text.as_str());
            }
            self.descriptions(&pointer, property, strict);
        }
        if let Some(Value::Object(definitions)) = schema.get("$defs") {
            for (name, definition) in definitions {
                let escaped = crate::violation::escape(name);
                self.descriptions(&format!("{pointer}/$defs/{escaped}"), definition, strict);
            }
        }
    }

    fn required_are_described(&mut self, pointer: &str, schema: &Value) {
        let (Some(Value::Array(required)), Some(Value::Object(properties))) =
            (schema.get("required"), schema.get("properties"))
        else {
            return;
        };
        for (index, name) in required.iter().enumerate() {
            let name = name.as_str().unwrap_or_default();
            if !properties.contains_key(name) {
                let pointer = format!("{pointer}/required/{index}");
                let message = format!("`{name}` is required but not among the properties");
                let known = properties.keys().map(String::as_str);
                let mut found = self.document.error(&pointer, message);
                if let Some(near) = crate::violation::nearest(name, known) {
                    found = found.hint(format!("did you mean `{near}`?"));
                }
                self.found.push(found);
            }
        }
    }

    fn errors(&mut self) {
        for (index, error) in self.contract.errors.iter().enumerate() {
            let pointer = format!("/errors/{index}/code");
            if self.contract.errors[..index].iter().any(|earlier| earlier.code == error.code) {
                self.error(&pointer, format!("`{}` is declared twice", error.code));
            }
            if let Some(standard) = codes::standard(&error.code)
                && standard.http_status != error.http_status
            {
                let message = format!(
                    "`{}` is a standard code with the status {}",
                    error.code, standard.http_status
                );
                self.error(&format!("/errors/{index}/http_status"), message);
            }
            self.argument(index, error);
            self.replaced(index, error);
        }
    }

    /// An error of one argument stands for a refusal of it, and the argument exists.
    fn argument(&mut self, index: usize, error: &DeclaredError) {
        let Some(argument) = &error.argument else { return };
        let pointer = format!("/errors/{index}/argument");
        if error.replaces.is_none() {
            self.error(&pointer, "`argument` needs `replaces`");
        } else if self.contract.input_schema["properties"].get(argument).is_none() {
            self.error(&pointer, format!("the input has no property `{argument}`"));
        }
    }

    /// At most one error replaces a standard error, with a status of the same class.
    fn replaced(&mut self, index: usize, error: &DeclaredError) {
        let Some(replaced) = error.replaces else { return };
        let pointer = format!("/errors/{index}/replaces");
        let earlier = &self.contract.errors[..index];
        let same = |other: &&DeclaredError| {
            other.replaces == Some(replaced) && other.argument == error.argument
        };
        if let Some(other) = earlier.iter().find(same) {
            self.error(&pointer, format!("`{}` already replaces it", other.code));
        }
        if codes::standard(&error.code).is_some() {
            let message = format!("the standard code `{}` cannot have `replaces`", error.code);
            self.error(&pointer, message);
        }
        if !(400..500).contains(&error.http_status) {
            let message = "an error that replaces `invalid_input` needs a status from 400 to 499";
            self.error(&format!("/errors/{index}/http_status"), message);
        }
    }

    fn run(&mut self) {
        if self.contract.run.is_none() {
            let given = [
                ("env", !self.contract.env.is_empty()),
                ("stdin", self.contract.stdin.is_some()),
                ("output", self.contract.output != StdoutForm::Json),
            ];
            for (key, _) in given.into_iter().filter(|(_, given)| *given) {
                self.error(&format!("/{key}"), format!("`{key}` needs `run`"));
            }
            return;
        }
        if self.contract.output == StdoutForm::Text
            && !text_output::fits(&self.contract.output_schema)
        {
            let found = self
                .document
                .error(
                    "/output_schema",
                    "`output: text` needs an output schema of `{ \"text\": … }`",
                )
                .hint("leave `output_schema` out, or let it require a string `text` alone");
            self.found.push(found);
        }
        for problem in command_template::problems(self.contract) {
            let found = if problem.is_error {
                self.document.error(&problem.pointer, problem.message)
            } else {
                self.document.warning(&problem.pointer, problem.message)
            };
            self.found.push(match problem.hint {
                Some(hint) => found.hint(hint),
                None => found,
            });
        }
        for (index, variable) in self.contract.env.iter().enumerate() {
            let name = variable.split('=').next().unwrap_or_default();
            let fits = name.chars().all(|one| one.is_ascii_alphanumeric() || one == '_');
            if name.is_empty() || !fits || variable.contains('\0') {
                self.error(&format!("/env/{index}"), "must be `NAME` or `NAME=value`");
            }
        }
    }

    fn examples(&mut self) {
        if self.contract.good_examples().next().is_none() {
            self.error("/examples", "no example shows a call that succeeds");
        }
        let deterministic = self.contract.effects == Effects::None
            && self.contract.approval == ApprovalRequirement::Never
            && self.contract.run.is_none();
        for (index, example) in self.contract.examples.iter().enumerate() {
            let pointer = format!("/examples/{index}");
            if [example.output.is_some(), example.error.is_some(), example.bad_output.is_some()]
                .iter()
                .filter(|given| **given)
                .count()
                > 1
            {
                self.error(
                    &pointer,
                    "an example must have only one of `output`, `error` and `bad_output`",
                );
            }
            if self.contract.run.is_some() && !example.files.is_empty() {
                let message =
                    "`files` is only for built-in tools: a command starts in an empty folder";
                self.error(&format!("{pointer}/files"), message);
            }
            if deterministic && example.is_good() && example.output.is_none() {
                self.warning(
                    &pointer,
                    "add the output: a tool without effects always returns the same",
                );
            }
            self.example_matches(&pointer, example);
        }
    }

    fn example_matches(&mut self, pointer: &str, example: &crate::Example) {
        let (Ok(input), Ok(output)) = (
            Schema::compile(&self.contract.input_schema),
            Schema::compile(&self.contract.output_schema),
        ) else {
            return; // Already said.
        };
        let mut arguments = Value::Object(example.input.clone());
        input.fill_defaults(&mut arguments);
        let refused = input.violations(&arguments);
        if let Some(code) = &example.error {
            let input_error = self.contract.input_error().0;
            if code == codes::INVALID_INPUT.code && code != input_error {
                let message = format!("`{input_error}` replaces `{code}`");
                self.error(&format!("{pointer}/error"), message);
            } else if codes::standard(code).is_none() && self.contract.declared(code).is_none() {
                let message = format!("the error code `{code}` is not declared");
                self.error(&format!("{pointer}/error"), message);
            }
            if self.contract.is_input_error(code) || refused.is_empty() {
                return;
            }
        }
        self.violations(&format!("{pointer}/input"), &refused);
        if let Some(value) = &example.output {
            self.violations(&format!("{pointer}/output"), &output.violations(value));
        }
        if let Some(value) = &example.bad_output
            && output.is_valid(value)
        {
            self.error(
                &format!("{pointer}/bad_output"),
                "a `bad_output` must break the output schema, and this one matches it",
            );
        }
    }

    fn violations(&mut self, base: &str, violations: &[Violation]) {
        for violation in violations {
            let message = format!("the example breaks the schema: {violation}");
            self.error(&format!("{base}{}", violation.pointer), message);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::read;

    /// The messages about a contract with these errors, and an example of each code.
    fn said(errors: &str, codes: &[&str]) -> Vec<String> {
        let examples: String = codes
            .iter()
            .map(|code| format!("  - {{ title: {code}, input: {{ n: x }}, error: {code} }}\n"))
            .collect();
        let text = format!(
            "name: count\ndescription: Counts.\nversion: \"1\"\nstability: stable\ntoolset: tests\n\
             effects: read\n\
             input_schema:\n  type: object\n  description: A number.\n  properties: \
             {{ n: {{ type: integer, description: A number. }} }}\n  required: [n]\n  \
             additionalProperties: false\n\
             output_schema: {{ type: integer, description: A number. }}\n\
             errors: {errors}\nexamples:\n  - {{ title: One, input: {{ n: 1 }} }}\n{examples}"
        );
        read::contract("count.yaml", &text).1.into_iter().map(|one| one.message).collect()
    }

    #[test]
    fn a_large_result_can_be_told_from_a_small_one() {
        let said = |output: &str, more: &str| -> Vec<String> {
            let text = format!(
                "name: count\ndescription: Counts.\nversion: \"1\"\nstability: stable\n\
                 toolset: tests\neffects: read\nlarge_output: artifact\n{more}\n\
                 input_schema: {{ type: object, description: Nothing., properties: {{}}, \
                 required: [], additionalProperties: false }}\n\
                 output_schema: {output}\nexamples: [{{ title: One, input: {{}} }}]\n"
            );
            read::contract("count.yaml", &text).1.into_iter().map(|one| one.message).collect()
        };
        assert_eq!(said("{ type: array }", ""), [""; 0]);
        assert_eq!(
            said("{ type: object }", ""),
            ["a result can have the form of a pointer to an artifact"]
        );
        let limits = "limits: { max_artifact_bytes: 1000 }";
        let warning = &said("{ type: array }", limits)[0];
        assert!(warning.starts_with("`large_output: artifact` has no effect"), "{warning}");
    }

    #[test]
    fn one_error_may_stand_for_bad_arguments() {
        let own = "[{ code: invalid_number, http_status: 400, replaces: invalid_input }]";
        assert_eq!(said(own, &["invalid_number"]), [""; 0]);
        assert_eq!(said("[]", &["invalid_input"]), [""; 0]);
        assert_eq!(said(own, &["invalid_input"])[0], "`invalid_number` replaces `invalid_input`");
        for (errors, expected) in [
            (
                "[{ code: a, http_status: 400, replaces: invalid_input }, \
                 { code: b, http_status: 400, replaces: invalid_input }]",
                "`a` already replaces it",
            ),
            (
                "[{ code: a, http_status: 400, replaces: invalid_input, argument: port }]",
                "the input has no property `port`",
            ),
            ("[{ code: a, http_status: 400, argument: number }]", "`argument` needs `replaces`"),
            (
                "[{ code: a, http_status: 502, replaces: invalid_input }]",
                "an error that replaces `invalid_input` needs a status from 400 to 499",
            ),
            (
                "[{ code: conflict, http_status: 409, replaces: invalid_input }]",
                "the standard code `conflict` cannot have `replaces`",
            ),
        ] {
            assert_eq!(said(errors, &[]), [expected], "{errors}");
        }
        let unknown = said("[{ code: a, http_status: 400, replaces: timeout }]", &[]);
        assert!(unknown[0].contains("replaces"), "{unknown:?}");
    }
}
