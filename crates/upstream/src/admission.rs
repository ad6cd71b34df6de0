//! Admission: each listed tool of an upstream becomes a contract that can be enforced, or is rejected with a reason and
//! a fix. One bad tool never takes another one along.

mod default_output_schemas;
mod rejection;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use contract::{
    ApprovalRequirement, Contract, ContractStatus, DeclaredError, Effects, LargeOutput,
    LimitOverrides, Presentation, ProcessLimitOverrides, SandboxSettings, Schema, Severity,
    Stability, StdoutForm, TaskSupport,
};
use gate::EnforcementMode;
use mcp::{MAX_ITEM_BYTES, TOO_LARGE};
use serde_json::Value;
use workbench::{
    compare::ContractChange,
    suspicious::{self, SuspiciousText},
};

pub use rejection::{Rejection, RejectionGroup, RejectionReason, grouped};

use crate::{
    lock::{self, PinCheck, PinnedListings},
    names,
    settings::{
        self, Allowlist, AnnotationTrust, OutputFormat, Overlay, SchemaRequirement,
        UnknownArguments, UpstreamSettings,
    },
};

/// The longest description, in bytes.
pub const MAX_DESCRIPTION_BYTES: usize = 32_768;
/// The code of an error that a tool reports by itself.
pub const TOOL_ERROR: &str = "tool_error";

/// The operator's decisions about an upstream.
pub struct AdmissionRules<'a> {
    /// The id of the upstream.
    pub id: &'a str,
    pub settings: &'a UpstreamSettings,
    /// The overlays of its tools, by their own names.
    pub overlays: &'a BTreeMap<String, Overlay>,
    /// The tools that may be called at all.
    pub allowlist: Option<&'a Allowlist>,
    /// The pinned listings of the upstream.
    pub pinned: Option<&'a PinnedListings>,
    /// Names that other tools have already.
    pub taken: &'a HashSet<String>,
}

/// A tool that may be served.
pub struct AdmittedTool {
    /// Its name on the server.
    pub own_name: String,
    /// Its contract, as clients see it.
    pub contract: Contract,
    /// The schema that arguments are checked against.
    pub input: Arc<Schema>,
    /// The schema that results are checked against.
    pub output: Arc<Schema>,
    /// The way in which both are enforced.
    pub mode: EnforcementMode,
    /// The part of a result that is its output.
    pub output_format: OutputFormat,
    /// True if a call may be repeated when its effect is unknown.
    pub repeatable: bool,
    /// Suspicious texts that a person should read.
    pub findings: Vec<SuspiciousText>,
    /// Changes since it was pinned that the policy accepts.
    pub tolerated: Vec<ContractChange>,
}

/// The tools of an upstream, admitted and rejected.
#[derive(Default)]
pub struct Admission {
    /// The tools that may be served.
    pub admitted: Vec<AdmittedTool>,
    /// The others, with the reason.
    pub rejected: Vec<Rejection>,
}

/// Admits or rejects all tools of an upstream. `version` is the server's own.
pub fn admit(rules: &AdmissionRules<'_>, version: &str, tools: &[Value]) -> Admission {
    let mut admission = Admission::default();
    let mut listed: HashMap<&str, usize> = HashMap::new();
    let named: Vec<_> = tools.iter().map(|tool| (name_of(rules.id, tool), tool)).collect();
    for name in named.iter().filter_map(|(name, _)| name.as_ref().ok()) {
        *listed.entry(name).or_default() += 1;
    }
    let mut served: HashMap<String, usize> = HashMap::new();
    for name in listed.keys() {
        *served.entry(served_name(rules, name)).or_default() += 1;
    }
    for (name, tool) in named {
        let admitted = name.and_then(|name| {
            // Of two tools with one name neither can be trusted.
            if listed.get(name).is_some_and(|times| *times > 1) {
                return Err(Rejection {
                    served_as: served_name(rules, name),
                    ..Rejection::duplicate(rules.id, name)
                });
            }
            if served.get(&served_name(rules, name)).is_some_and(|times| *times > 1) {
                return Err(Rejection {
                    served_as: served_name(rules, name),
                    ..Rejection::same_served(rules.id, name)
                });
            }
            admit_tool(rules, version, name, tool)
        });
        match admitted {
            Ok(admitted) => admission.admitted.push(admitted),
            Err(rejected) => admission.rejected.push(rejected),
        }
    }
    admission.rejected.sort_by(|one, other| one.tool.cmp(&other.tool));
    admission
}

/// A tool's own name, where it has one.
fn name_of<'a>(upstream: &str, tool: &'a Value) -> Result<&'a str, Rejection> {
    let Some(name) = tool.get("name").and_then(Value::as_str) else {
        return Err(Rejection::malformed(upstream, "", "it has no name"));
    };
    let hidden = name.chars().any(|c| c.is_control() || c.is_whitespace() && c != ' ');
    if name.is_empty() || name.len() > names::MAX_TOOL_NAME || hidden || !name.is_ascii() {
        return Err(Rejection::malformed(
            upstream,
            name,
            "the name must have 1 to 256 visible ASCII characters",
        ));
    }
    Ok(name)
}

/// The name under which a tool is served: the operator's choice, or one that depends on nothing else.
fn served_name(rules: &AdmissionRules<'_>, name: &str) -> String {
    let chosen = rules.overlays.get(name).and_then(Overlay::chosen_name);
    chosen.map_or_else(|| names::served(rules.id, name), str::to_owned)
}

fn admit_tool(
    rules: &AdmissionRules<'_>,
    version: &str,
    name: &str,
    tool: &Value,
) -> Result<AdmittedTool, Rejection> {
    let served = served_name(rules, name);
    let reject = |reason: RejectionReason, message: String| Rejection {
        served_as: served_name(rules, name),
        ..Rejection::new(rules.id, name, reason, message)
    };
    if !settings::allows(rules.allowlist, rules.id, name) {
        return Err(reject(RejectionReason::NotAllowed, "it is not on the allowlist".into()));
    }
    if rules.taken.contains(&served) {
        return Err(reject(
            RejectionReason::NameTaken,
            format!("another tool is named `{served}`"),
        ));
    }
    if tool.get(TOO_LARGE).is_some() || tool.to_string().len() > MAX_ITEM_BYTES {
        let message = format!(
            "its description and schemas are larger than {MAX_ITEM_BYTES} bytes (max_item_bytes)"
        );
        return Err(reject(RejectionReason::TooLarge, message));
    }
    if tool.pointer("/execution/taskSupport").and_then(Value::as_str) == Some("required") {
        let message =
            "it can only be called as a task (`execution.taskSupport: required`)".to_owned();
        return Err(reject(RejectionReason::TaskRequired, message));
    }
    let tolerated = match lock::check_tool(rules.pinned, name, tool, rules.settings) {
        PinCheck::Unchanged => Vec::new(),
        PinCheck::Accepted(changes) => changes,
        PinCheck::NotPinned => {
            let message = "it is not pinned in the lock".to_owned();
            return Err(reject(RejectionReason::NotPinned, message));
        }
        PinCheck::Changed(changes) => {
            return Err(reject(RejectionReason::Changed, rejection::describe_changes(&changes))
                .because(changes));
        }
    };
    let nothing = Overlay::default();
    let overlay = rules.overlays.get(name).unwrap_or(&nothing);
    let findings = suspicious_texts(rules, name, tool, overlay)?;
    let description = description(tool, overlay)
        .map_err(|message| reject(RejectionReason::NoDescription, message))?;
    let (input, shown_input) = input(rules, tool, overlay)
        .map_err(|message| reject(RejectionReason::BadInputSchema, message))?;
    let format = output_format(rules, tool, overlay);
    let declares_output = overlay.output_schema.is_some()
        || tool.get("outputSchema").is_some_and(|schema| !schema.is_null());
    if rules.settings.output_schemas == SchemaRequirement::Always && !declares_output {
        let message = "it has no output schema, which `policy.preset: strict` requires".to_owned();
        return Err(reject(RejectionReason::OutputSchemaRequired, message));
    }
    let (output, shown_output) = match output(tool, overlay, format) {
        Ok(Some(output)) => output,
        Ok(None) => {
            let message = "it has no output schema".to_owned();
            return Err(reject(RejectionReason::Uncontracted, message));
        }
        Err(message) => return Err(reject(RejectionReason::BadOutputSchema, message)),
    };
    let known_effects = effects(rules.settings, tool, overlay);
    let effects = known_effects.unwrap_or(Effects::Control);
    let mut limits = overlay.limits;
    limits.timeout_ms = limits.timeout_ms.or(rules.settings.timeout_ms);
    let blank = blank(rules.id, version);
    let contract = match &overlay.whole {
        Some(whole) => Contract {
            toolset: rules.id.to_owned(),
            errors: whole.errors.iter().chain(&blank.errors).cloned().collect(),
            ..(**whole).clone()
        },
        None => Contract {
            errors: blank.errors.iter().chain(&overlay.errors).cloned().collect(),
            name: served,
            title: title(tool, overlay),
            description,
            input_schema: shown_input,
            output_schema: shown_output,
            effects,
            effects_unknown: known_effects.is_none(),
            limits,
            large_output: overlay.large_output.unwrap_or(rules.settings.large_output),
            presentation: match format {
                OutputFormat::Content => Presentation::Content,
                OutputFormat::Text => Presentation::Text,
                OutputFormat::Declared | OutputFormat::Json => Presentation::Json,
            },
            approval: overlay.approval.unwrap_or(ApprovalRequirement::Never),
            ..blank
        },
    };
    if let Err(misplaced) = contract::parameter_headers::declared(&contract.input_schema) {
        let message = format!("{}: {}", misplaced.pointer, misplaced.message);
        return Err(reject(RejectionReason::BadInputSchema, message));
    }
    Ok(AdmittedTool {
        own_name: name.to_owned(),
        contract,
        input: Arc::new(input),
        output: Arc::new(output),
        mode: overlay.mode.unwrap_or(rules.settings.mode),
        output_format: format,
        repeatable: overlay.idempotent.unwrap_or(!effects.changes_the_world()),
        findings,
        tolerated,
    })
}

/// The common part of all contracts of an upstream.
pub(crate) fn blank(id: &str, version: &str) -> Contract {
    Contract {
        name: String::new(),
        title: None,
        description: String::new(),
        version: version.to_owned(),
        status: ContractStatus::Active,
        transport: None,
        endpoint: None,
        stability: Stability::Experimental,
        deprecated_since: None,
        replaced_by: None,
        removed_after: None,
        tags: Vec::new(),
        toolset: id.to_owned(),
        toolset_default: false,
        effects: Effects::Control,
        effects_unknown: false,
        approval: ApprovalRequirement::Never,
        tasks: TaskSupport::default(),
        presentation: Presentation::Json,
        icons: Vec::new(),
        input_schema: Value::Null,
        output_schema: Value::Null,
        errors: vec![DeclaredError {
            code: TOOL_ERROR.into(),
            http_status: 422,
            replaces: None,
            argument: None,
            description: "The tool reports an error of its own; the message is the tool's.".into(),
        }],
        limits: LimitOverrides::default(),
        large_output: LargeOutput::Refuse,
        process_limits: ProcessLimitOverrides::default(),
        examples: Vec::new(),
        run: None,
        env: Vec::new(),
        stdin: None,
        output: StdoutForm::default(),
        sandbox: SandboxSettings::default(),
        journal_values: false,
    }
}

/// Suspicious texts of a tool: hidden characters, or instructions to a model.
fn suspicious_texts(
    rules: &AdmissionRules<'_>,
    name: &str,
    tool: &Value,
    overlay: &Overlay,
) -> Result<Vec<SuspiciousText>, Rejection> {
    let findings = suspicious::tool(tool);
    if overlay.accept_text {
        return Ok(Vec::new());
    }
    match findings.iter().find(|one| one.severity == Severity::Error) {
        Some(worst) => {
            let message = format!("its texts are suspicious: {}", describe_finding(worst));
            Err(Rejection::new(rules.id, name, RejectionReason::SuspiciousText, message))
        }
        None => Ok(findings),
    }
}

/// A finding in a sentence.
pub(crate) fn describe_finding(finding: &SuspiciousText) -> String {
    format!("{} at {}: {}", finding.what, finding.pointer, finding.shown)
}

fn text<'a>(tool: &'a Value, key: &str) -> Option<&'a str> {
    tool.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

fn description(tool: &Value, overlay: &Overlay) -> Result<String, String> {
    if let Some(description) = &overlay.description {
        return Ok(description.clone());
    }
    match text(tool, "description") {
        Some(own) if own.len() <= MAX_DESCRIPTION_BYTES => Ok(own.to_owned()),
        Some(_) => Err(format!(
            "its description is longer than {MAX_DESCRIPTION_BYTES} bytes (max_description_bytes)"
        )),
        None => Err("it has no description".into()),
    }
}

fn title(tool: &Value, overlay: &Overlay) -> Option<String> {
    let own = || text(tool, "title").or_else(|| text(tool.get("annotations")?, "title"));
    overlay.title.clone().or_else(|| own().map(str::to_owned))
}

/// The schema for arguments, and the one that clients see.
fn input(
    rules: &AdmissionRules<'_>,
    tool: &Value,
    overlay: &Overlay,
) -> Result<(Schema, Value), String> {
    let source = overlay.input_schema.as_ref().or_else(|| tool.get("inputSchema"));
    let Some(source @ Value::Object(_)) = source else {
        return Err("it has no input schema".into());
    };
    let closed;
    let source = match rules.settings.unknown_arguments {
        UnknownArguments::Allow => source,
        UnknownArguments::Refuse => {
            closed = contract::closed_schema::close(source).schema;
            &closed
        }
    };
    both(source, overlay.input_schema.is_none(), contract::translation::input)
}

/// The schema for results, and the one that clients see.
fn output(
    tool: &Value,
    overlay: &Overlay,
    format: OutputFormat,
) -> Result<Option<(Schema, Value)>, String> {
    let declared = || tool.get("outputSchema").filter(|schema| !schema.is_null());
    let source = match (&overlay.output_schema, format) {
        (Some(schema), _) => schema.clone(),
        (None, OutputFormat::Text) => contract::text_output::schema(),
        (None, OutputFormat::Content) => default_output_schemas::content(),
        (None, OutputFormat::Json) => return Ok(None),
        (None, OutputFormat::Declared) => match declared() {
            Some(schema) => schema.clone(),
            None => return Ok(None),
        },
    };
    both(&source, overlay.output_schema.is_none(), contract::translation::output).map(Some)
}

fn both(
    source: &Value,
    from_server: bool,
    project: impl Fn(&Value) -> Result<Value, contract::SchemaError>,
) -> Result<(Schema, Value), String> {
    let say = |error: contract::SchemaError| match error.pointer.as_str() {
        "" => error.message,
        pointer => format!("{pointer}: {}", error.message),
    };
    let schema = Schema::compile_foreign(source).map_err(say)?;
    if from_server && let Some(pointer) = schema.back_reference() {
        return Err(format!(
            "{pointer}: a pattern with a back-reference (`\\1`) is only taken from an overlay"
        ));
    }
    Ok((schema, project(source).map_err(say)?))
}

/// The part of a result that is the output: the operator's choice, or `structuredContent` where the tool declares a
/// schema for it.
fn output_format(rules: &AdmissionRules<'_>, tool: &Value, overlay: &Overlay) -> OutputFormat {
    let declares = tool.get("outputSchema").is_some_and(Value::is_object);
    let default = if declares { OutputFormat::Declared } else { rules.settings.output };
    overlay.output.unwrap_or(default)
}

/// The effects of a tool: what the operator says, or what the server says where it is trusted. Nothing where neither
/// is known.
fn effects(settings: &UpstreamSettings, tool: &Value, overlay: &Overlay) -> Option<Effects> {
    let hint = |name: &str| tool.get("annotations").and_then(|all| all.get(name)?.as_bool());
    overlay.effects.or(match settings.annotations {
        AnnotationTrust::Claim => None,
        AnnotationTrust::Trust if hint("readOnlyHint") == Some(true) => Some(Effects::Read),
        AnnotationTrust::Trust if hint("destructiveHint") == Some(false) => Some(Effects::Append),
        AnnotationTrust::Trust => Some(Effects::Write),
    })
}

#[cfg(test)]
#[path = "admission/tests.rs"]
mod tests;
