//! Admission: each tool of an upstream by itself becomes a contract that can be enforced, or is
//! rejected with a reason and a way out. One bad tool never takes another one along.

mod rejected;
mod shapes;

use std::collections::{BTreeMap, HashMap, HashSet};

use contract::{
    Approval, Contract, DeclaredError, Effects, LargeOutput, LimitOverrides, Presentation,
    ProcessLimitOverrides, Schema, Severity, Stability, Status, Tasks,
};
use serde_json::Value;
use workbench::{
    compare::Change,
    suspicious::{self, SuspiciousText},
};

pub use rejected::{Reason, Rejected};

use crate::{
    connection::{MAX_ITEM_BYTES, TOO_LARGE},
    lock::{self, Pinned, Standing},
    names,
    settings::{self, Allowlist, Annotations, Mode, Output, Overlay, UnknownArguments, Upstream},
};

/// The longest description, in bytes.
pub const MAX_DESCRIPTION_BYTES: usize = 32_768;
/// The code of an error that a tool reports by itself.
pub const TOOL_ERROR: &str = "tool_error";

/// What the operator has decided about an upstream.
pub struct Rules<'a> {
    /// The id of the upstream.
    pub id: &'a str,
    /// Its settings.
    pub settings: &'a Upstream,
    /// What the operator adds to its tools, by their own names.
    pub overlays: &'a BTreeMap<String, Overlay>,
    /// What may be called at all.
    pub allowlist: Option<&'a Allowlist>,
    /// What is pinned of it.
    pub pinned: Option<&'a Pinned>,
    /// Names that other tools bear already.
    pub taken: &'a HashSet<String>,
}

/// A tool that may be served.
pub struct Admitted {
    /// Its own name.
    pub own_name: String,
    /// Its contract, as clients see it.
    pub contract: Contract,
    /// What arguments are held against.
    pub input: Schema,
    /// What results are held against.
    pub output: Schema,
    /// How.
    pub mode: Mode,
    /// Where in an answer the result is.
    pub returns: Returns,
    /// Whether a call may be made again when nobody knows what became of it.
    pub repeatable: bool,
    /// What a person should look at in its texts.
    pub findings: Vec<SuspiciousText>,
    /// Changes since it was pinned that the policy takes.
    pub tolerated: Vec<Change>,
}

/// Where in an answer the result is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returns {
    /// In `structuredContent`.
    Structured,
    /// In the one text, as JSON.
    Json,
    /// In the texts.
    Text,
    /// In the blocks of content.
    Content,
}

/// What became of everything that an upstream lists.
#[derive(Default)]
pub struct Admission {
    /// What may be served.
    pub admitted: Vec<Admitted>,
    /// What may not, and why.
    pub rejected: Vec<Rejected>,
}

/// Judges all tools of an upstream. `version` is the server's own.
pub fn judge(rules: &Rules<'_>, version: &str, tools: &[Value]) -> Admission {
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
            // Two that bear one name are both not what they seem.
            if listed.get(name).is_some_and(|times| *times > 1) {
                return Err(Rejected {
                    served_as: served_name(rules, name),
                    ..Rejected::duplicate(rules.id, name)
                });
            }
            if served.get(&served_name(rules, name)).is_some_and(|times| *times > 1) {
                return Err(Rejected {
                    served_as: served_name(rules, name),
                    ..Rejected::same_served(rules.id, name)
                });
            }
            one(rules, version, name, tool)
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
fn name_of<'a>(upstream: &str, tool: &'a Value) -> Result<&'a str, Rejected> {
    let Some(name) = tool.get("name").and_then(Value::as_str) else {
        return Err(Rejected::malformed(upstream, "", "it has no name"));
    };
    let hidden = name.chars().any(|c| c.is_control() || c.is_whitespace() && c != ' ');
    if name.is_empty() || name.len() > names::MAX_TOOL_NAME || hidden || !name.is_ascii() {
        return Err(Rejected::malformed(
            upstream,
            name,
            "a name has 1 to 256 visible ASCII characters",
        ));
    }
    Ok(name)
}

/// The name under which a tool is served: the operator's word, or one that depends on nothing else.
fn served_name(rules: &Rules<'_>, name: &str) -> String {
    let chosen = rules.overlays.get(name).and_then(Overlay::chosen_name);
    chosen.map_or_else(|| names::served(rules.id, name), str::to_owned)
}

/// Judges one tool.
fn one(rules: &Rules<'_>, version: &str, name: &str, tool: &Value) -> Result<Admitted, Rejected> {
    let served = served_name(rules, name);
    let reject = |reason: Reason, message: String| Rejected {
        served_as: served_name(rules, name),
        ..Rejected::new(rules.id, name, reason, message)
    };
    if !settings::allows(rules.allowlist, rules.id, name) {
        return Err(reject(Reason::NotAllowed, "it is not on the allowlist".into()));
    }
    if rules.taken.contains(&served) {
        return Err(reject(Reason::NameTaken, format!("another tool is called `{served}`")));
    }
    if tool.get(TOO_LARGE).is_some() || tool.to_string().len() > MAX_ITEM_BYTES {
        let message = format!("its description and schemas have more than {MAX_ITEM_BYTES} bytes");
        return Err(reject(Reason::TooLarge, message));
    }
    let tolerated = match lock::tool(rules.pinned, name, tool, rules.settings) {
        Standing::Fine => Vec::new(),
        Standing::Tolerated(changes) => changes,
        Standing::New => {
            let message = "it is not pinned in the lock".to_owned();
            return Err(reject(Reason::NotPinned, message));
        }
        Standing::Changed(changes) => {
            return Err(reject(Reason::Changed, rejected::in_words(&changes)).because(changes));
        }
    };
    let nothing = Overlay::default();
    let overlay = rules.overlays.get(name).unwrap_or(&nothing);
    let findings = texts(rules, name, tool, overlay)?;
    let description =
        described(tool, overlay).map_err(|message| reject(Reason::NoDescription, message))?;
    let (input, shown_input) =
        input(rules, tool, overlay).map_err(|message| reject(Reason::BadInputSchema, message))?;
    let returns = returns(rules, tool, overlay);
    let (output, shown_output) = match output(tool, overlay, returns) {
        Ok(Some(output)) => output,
        Ok(None) => {
            let message = "it has no output schema".to_owned();
            return Err(reject(Reason::Uncontracted, message));
        }
        Err(message) => return Err(reject(Reason::BadOutputSchema, message)),
    };
    let effects = effects(rules.settings, tool, overlay);
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
            limits,
            large_output: overlay.large_output.unwrap_or(rules.settings.large_output),
            presentation: match returns {
                Returns::Content => Presentation::Content,
                _ => Presentation::Json,
            },
            approval: overlay.approval.unwrap_or(Approval::Never),
            ..blank
        },
    };
    if let Err(misplaced) = contract::mirror::mirrors(&contract.input_schema) {
        let message = format!("{}: {}", misplaced.pointer, misplaced.message);
        return Err(reject(Reason::BadInputSchema, message));
    }
    Ok(Admitted {
        own_name: name.to_owned(),
        contract,
        input,
        output,
        mode: overlay.mode.unwrap_or(rules.settings.mode),
        returns,
        repeatable: overlay.idempotent.unwrap_or(!effects.changes_the_world()),
        findings,
        tolerated,
    })
}

/// What all contracts of an upstream have in common.
fn blank(id: &str, version: &str) -> Contract {
    Contract {
        name: String::new(),
        title: None,
        description: String::new(),
        version: version.to_owned(),
        status: Status::Active,
        stability: Stability::Experimental,
        tags: Vec::new(),
        toolset: id.to_owned(),
        toolset_default: false,
        effects: Effects::Control,
        approval: Approval::Never,
        tasks: Tasks::default(),
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
        journal_values: false,
    }
}

/// Looks for what is hidden or addressed to a model in the texts that one would read.
fn texts(
    rules: &Rules<'_>,
    name: &str,
    tool: &Value,
    overlay: &Overlay,
) -> Result<Vec<SuspiciousText>, Rejected> {
    let findings = suspicious::tool(tool);
    if overlay.accept_text {
        return Ok(Vec::new());
    }
    match findings.iter().find(|one| one.severity == Severity::Error) {
        Some(worst) => {
            let message = format!("its texts are suspicious: {}", in_words(worst));
            Err(Rejected::new(rules.id, name, Reason::SuspiciousText, message))
        }
        None => Ok(findings),
    }
}

/// A finding in a sentence.
pub(crate) fn in_words(finding: &SuspiciousText) -> String {
    format!("{} at {}: {}", finding.what, finding.pointer, finding.shown)
}

fn text<'a>(tool: &'a Value, key: &str) -> Option<&'a str> {
    tool.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

fn described(tool: &Value, overlay: &Overlay) -> Result<String, String> {
    if let Some(description) = &overlay.description {
        return Ok(description.clone());
    }
    match text(tool, "description") {
        Some(own) if own.len() <= MAX_DESCRIPTION_BYTES => Ok(own.to_owned()),
        Some(_) => Err(format!("its description has more than {MAX_DESCRIPTION_BYTES} bytes")),
        None => Err("it has no description".into()),
    }
}

fn title(tool: &Value, overlay: &Overlay) -> Option<String> {
    let own = || text(tool, "title").or_else(|| text(tool.get("annotations")?, "title"));
    overlay.title.clone().or_else(|| own().map(str::to_owned))
}

/// What arguments are held against, and what clients see of it.
fn input(rules: &Rules<'_>, tool: &Value, overlay: &Overlay) -> Result<(Schema, Value), String> {
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
    both(source, contract::translation::input)
}

/// What results are held against, and what clients see of it.
fn output(
    tool: &Value,
    overlay: &Overlay,
    returns: Returns,
) -> Result<Option<(Schema, Value)>, String> {
    let declared = || tool.get("outputSchema").filter(|schema| !schema.is_null());
    let source = match (&overlay.output_schema, returns) {
        (Some(schema), _) => schema.clone(),
        (None, Returns::Text) => shapes::text(),
        (None, Returns::Content) => shapes::content(),
        (None, Returns::Json) => return Ok(None),
        (None, Returns::Structured) => match declared() {
            Some(schema) => schema.clone(),
            None => return Ok(None),
        },
    };
    both(&source, contract::translation::output).map(Some)
}

fn both(
    source: &Value,
    project: impl Fn(&Value) -> Result<Value, contract::SchemaError>,
) -> Result<(Schema, Value), String> {
    let say = |error: contract::SchemaError| match error.pointer.as_str() {
        "" => error.message,
        pointer => format!("{pointer}: {}", error.message),
    };
    let schema = Schema::compile_foreign(source).map_err(say)?;
    Ok((schema, project(source).map_err(say)?))
}

/// Where in an answer the result is.
fn returns(rules: &Rules<'_>, tool: &Value, overlay: &Overlay) -> Returns {
    let declares = tool.get("outputSchema").is_some_and(Value::is_object);
    let meant =
        overlay.output.unwrap_or(if declares { Output::Declared } else { rules.settings.output });
    match meant {
        Output::Declared => Returns::Structured,
        Output::Text => Returns::Text,
        Output::Content => Returns::Content,
        Output::Json => Returns::Json,
    }
}

/// What a tool does to the world: what the operator says, or what is believed of the server.
fn effects(settings: &Upstream, tool: &Value, overlay: &Overlay) -> Effects {
    let hint = |name: &str| tool.get("annotations").and_then(|all| all.get(name)?.as_bool());
    overlay.effects.unwrap_or(match settings.annotations {
        Annotations::Claim => Effects::Control,
        Annotations::Trust if hint("readOnlyHint") == Some(true) => Effects::Read,
        Annotations::Trust if hint("destructiveHint") == Some(false) => Effects::Append,
        Annotations::Trust => Effects::Write,
    })
}

#[cfg(test)]
#[path = "admission/tests.rs"]
mod tests;
