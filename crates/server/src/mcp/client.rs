//! Who is on the other side: what a client says of itself.

use contract::render::mcp::Era;
use gate::{InputCapabilities, LogLevel};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;

use super::{
    params::fields,
    rpc::{RpcError, is_object},
    version::Version,
};

/// The extension by which long calls are polled.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// Who is on the other side of a request, as far as the protocol knows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Client {
    pub version: Version,
    pub capabilities: InputCapabilities,
    /// Whether it can be handed a task.
    pub tasks: bool,
    /// The least that it wants to hear of a tool's log.
    pub log_level: Option<LogLevel>,
}

impl Client {
    pub(crate) fn era(self) -> Era {
        self.version.era()
    }

    pub(crate) fn is_modern(self) -> bool {
        self.era() == Era::Modern
    }
}

/// The capabilities that matter here.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Capabilities<'a> {
    #[serde(borrow)]
    elicitation: Option<&'a RawValue>,
    #[serde(borrow)]
    sampling: Option<&'a RawValue>,
    #[serde(borrow)]
    roots: Option<&'a RawValue>,
    #[serde(borrow)]
    extensions: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Elicitation {
    form: Option<IgnoredAny>,
    url: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Extensions {
    #[serde(rename = "io.modelcontextprotocol/tasks")]
    tasks: Option<IgnoredAny>,
}

/// What a client can do: whom it can ask, and whether it knows tasks.
pub(crate) fn abilities(raw: &RawValue) -> Result<(InputCapabilities, bool), RpcError> {
    let said: Capabilities<'_> = fields(raw, "the client's capabilities")?;
    for (raw, name) in [(said.sampling, "sampling"), (said.roots, "roots")] {
        if raw.is_some_and(|raw| !is_object(raw.get())) {
            let message = format!("the client's capabilities: `{name}` must be an object");
            return Err(RpcError::malformed(message));
        }
    }
    let elicitation: Option<Elicitation> = said
        .elicitation
        .map(|raw| fields(raw, "the client's capabilities: `elicitation`"))
        .transpose()?;
    let extensions: Option<Extensions> = said
        .extensions
        .map(|raw| fields(raw, "the client's capabilities: `extensions`"))
        .transpose()?;
    // One that says no more than that it can ask can show a form.
    let forms = |can: Elicitation| can.form.is_some() || can.url.is_none();
    let capabilities = InputCapabilities {
        elicitation: elicitation.is_some_and(forms),
        sampling: said.sampling.is_some(),
        roots: said.roots.is_some(),
    };
    Ok((capabilities, extensions.is_some_and(|known| known.tasks.is_some())))
}
