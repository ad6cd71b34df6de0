//! The methods of an upstream that are no tool calls and that a client can cause: reading a resource, getting a
//! prompt, completing an argument. Each is a tool that is in no listing, so that a call of it takes every step of the
//! gate.

mod result;

use std::sync::{Arc, OnceLock};

use contract::{
    ApprovalRequirement, Contract, DeclaredError, Effects, LimitOverrides, Schema, SchemaError,
    codes,
};
use gate::EnforcementMode;
use serde_json::{Value, json};

pub(crate) use result::read;

use crate::{
    admission::{self, AdmittedTool},
    names,
    settings::{AnnotationTrust, MethodSettings, OutputFormat, UpstreamSettings},
};

/// The largest number of values of a completion, as MCP has it.
const MAX_COMPLETIONS: usize = 100;

/// A method that is no tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpstreamMethod {
    ReadResource,
    GetPrompt,
    Complete,
}

impl UpstreamMethod {
    pub const ALL: [UpstreamMethod; 3] =
        [UpstreamMethod::ReadResource, UpstreamMethod::GetPrompt, UpstreamMethod::Complete];

    /// The method of MCP.
    pub fn as_str(self) -> &'static str {
        match self {
            UpstreamMethod::ReadResource => "resources/read",
            UpstreamMethod::GetPrompt => "prompts/get",
            UpstreamMethod::Complete => "completion/complete",
        }
    }

    /// The name that it has in the gate, in rules and in the journal: `id__resources/read`. No tool of a server can
    /// take it, because no served name has a `/`.
    pub fn tool_name(self, upstream: &str) -> String {
        format!("{upstream}{}{}", names::SEPARATOR, self.as_str())
    }

    /// The part of its parameters that names something on the upstream.
    pub(crate) fn target(self, params: &Value) -> Option<&str> {
        let key = match self {
            UpstreamMethod::ReadResource => "uri",
            UpstreamMethod::GetPrompt => "name",
            UpstreamMethod::Complete => return None,
        };
        params.get(key)?.as_str()
    }

    fn settings(self, settings: &UpstreamSettings) -> &MethodSettings {
        match self {
            UpstreamMethod::ReadResource => &settings.resources,
            UpstreamMethod::GetPrompt => &settings.prompts,
            UpstreamMethod::Complete => &settings.completions,
        }
    }

    fn description(self) -> &'static str {
        match self {
            UpstreamMethod::ReadResource => "Reads a resource.",
            UpstreamMethod::GetPrompt => "Gets a prompt.",
            UpstreamMethod::Complete => "Completes an argument of a prompt or of a template.",
        }
    }

    /// The contract: the parameters of the method, and the fields of its result that are passed on.
    pub fn contract(self, upstream: &str, effects: Effects) -> Contract {
        let not_found = DeclaredError {
            code: codes::NOT_FOUND.code.into(),
            http_status: codes::NOT_FOUND.http_status,
            replaces: None,
            argument: None,
            description: "There is no such resource.".into(),
        };
        let mut contract = admission::blank(upstream, "1");
        contract.name = self.tool_name(upstream);
        contract.description = self.description().into();
        contract.effects = effects;
        contract.input_schema = self.input_schema();
        contract.output_schema = self.output_schema();
        contract.errors.push(not_found);
        contract
    }

    fn input_schema(self) -> Value {
        let text = json!({ "type": "string" });
        let texts = json!({ "type": "object", "additionalProperties": text });
        match self {
            UpstreamMethod::ReadResource => object(&json!({ "uri": text }), &["uri"]),
            UpstreamMethod::GetPrompt => {
                object(&json!({ "name": text, "arguments": texts }), &["name"])
            }
            UpstreamMethod::Complete => {
                let reference = object(
                    &json!({ "type": { "enum": ["ref/prompt", "ref/resource"] },
                        "name": text, "uri": text }),
                    &["type"],
                );
                let argument = object(&json!({ "name": text, "value": text }), &["name", "value"]);
                let context = object(&json!({ "arguments": texts }), &[]);
                object(
                    &json!({ "ref": reference, "argument": argument, "context": context }),
                    &["ref", "argument"],
                )
            }
        }
    }

    /// Both schemas, compiled once for all upstreams.
    fn compiled_schemas(self) -> Result<[Arc<Schema>; 2], SchemaError> {
        static COMPILED: [OnceLock<[Arc<Schema>; 2]>; UpstreamMethod::ALL.len()] =
            [const { OnceLock::new() }; UpstreamMethod::ALL.len()];
        let known = &COMPILED[self as usize];
        if let Some(schemas) = known.get() {
            return Ok(schemas.clone());
        }
        let compile = |schema: &Value| Schema::compile(schema).map(Arc::new);
        let schemas = [compile(&self.input_schema())?, compile(&self.output_schema())?];
        Ok(known.get_or_init(|| schemas).clone())
    }

    fn output_schema(self) -> Value {
        let text = json!({ "type": "string" });
        match self {
            UpstreamMethod::ReadResource => {
                let fields = json!({ "uri": text, "mimeType": text, "text": text, "blob": text });
                let contents = object(&fields, &["uri"]);
                object(
                    &json!({ "contents": { "type": "array", "items": contents } }),
                    &["contents"],
                )
            }
            UpstreamMethod::GetPrompt => {
                let message = object(
                    &json!({ "role": { "enum": ["user", "assistant"] },
                        "content": { "type": "object" } }),
                    &["role", "content"],
                );
                let messages = json!({ "type": "array", "items": message });
                object(&json!({ "description": text, "messages": messages }), &["messages"])
            }
            UpstreamMethod::Complete => {
                let values = json!({ "type": "array", "items": text, "maxItems": MAX_COMPLETIONS });
                let completion = object(
                    &json!({ "values": values, "total": { "type": "integer", "minimum": 0 },
                        "hasMore": { "type": "boolean" } }),
                    &["values"],
                );
                object(&json!({ "completion": completion }), &["completion"])
            }
        }
    }
}

/// A closed object.
fn object(properties: &Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// A method of an upstream as a tool. It counts as one that may change anything, as the tools of the upstream do,
/// unless the operator says otherwise.
pub(crate) fn admitted(
    upstream: &str,
    settings: &UpstreamSettings,
    method: UpstreamMethod,
) -> Result<AdmittedTool, SchemaError> {
    let own = method.settings(settings);
    let effects = own.effects.unwrap_or(match settings.annotations {
        AnnotationTrust::Claim => Effects::Control,
        AnnotationTrust::Trust => Effects::Read,
    });
    let limits =
        LimitOverrides { timeout_ms: own.limits.timeout_ms.or(settings.timeout_ms), ..own.limits };
    let contract = Contract {
        limits,
        approval: own.approval.unwrap_or(ApprovalRequirement::Never),
        effects_unknown: own.effects.is_none() && settings.annotations == AnnotationTrust::Claim,
        ..method.contract(upstream, effects)
    };
    let [input, output] = method.compiled_schemas()?;
    Ok(AdmittedTool {
        own_name: method.as_str().to_owned(),
        input,
        output,
        // What breaks it is not passed on in any mode: clients could not read it.
        mode: EnforcementMode::Enforce,
        output_format: OutputFormat::Declared,
        repeatable: !effects.changes_the_world(),
        findings: Vec::new(),
        tolerated: Vec::new(),
        contract,
    })
}
