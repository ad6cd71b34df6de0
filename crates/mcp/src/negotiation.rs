//! Negotiation: the protocol version, and the capabilities that a client declares.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer, de::IgnoredAny};
use serde_json::value::RawValue;

use crate::{RpcError, message::is_object, params::fields};

/// A revision of the protocol, older ones first.
///
/// The legacy ones begin with `initialize` and keep a session. In the modern one every request stands
/// alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the name is the date")]
pub enum ProtocolVersion {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl ProtocolVersion {
    /// The revisions in which every request stands alone, newest first.
    pub const MODERN: [ProtocolVersion; 1] = [ProtocolVersion::V2026_07_28];

    /// The revisions that begin with `initialize`, newest first.
    pub const LEGACY: [ProtocolVersion; 4] = [
        ProtocolVersion::V2025_11_25,
        ProtocolVersion::V2025_06_18,
        ProtocolVersion::V2025_03_26,
        ProtocolVersion::V2024_11_05,
    ];

    /// The newest modern revision.
    pub const NEWEST_MODERN: ProtocolVersion = Self::MODERN[0];

    /// The newest legacy revision: the one that `initialize` offers.
    pub const NEWEST_LEGACY: ProtocolVersion = Self::LEGACY[0];

    /// The date that names it.
    pub const fn as_str(self) -> &'static str {
        match self {
            ProtocolVersion::V2024_11_05 => "2024-11-05",
            ProtocolVersion::V2025_03_26 => "2025-03-26",
            ProtocolVersion::V2025_06_18 => "2025-06-18",
            ProtocolVersion::V2025_11_25 => "2025-11-25",
            ProtocolVersion::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision of that date.
    pub fn parse(date: &str) -> Option<Self> {
        Self::MODERN.into_iter().chain(Self::LEGACY).find(|version| version.as_str() == date)
    }

    /// The modern revision of that date.
    pub fn parse_modern(date: &str) -> Option<Self> {
        Self::parse(date).filter(|version| version.is_modern())
    }

    /// The legacy revision of that date.
    pub fn parse_legacy(date: &str) -> Option<Self> {
        Self::parse(date).filter(|version| !version.is_modern())
    }

    /// True if every request stands alone; otherwise there is `initialize` and a session.
    pub const fn is_modern(self) -> bool {
        match self {
            ProtocolVersion::V2026_07_28 => true,
            ProtocolVersion::V2024_11_05
            | ProtocolVersion::V2025_03_26
            | ProtocolVersion::V2025_06_18
            | ProtocolVersion::V2025_11_25 => false,
        }
    }

    /// True if several messages may come as one list.
    pub const fn has_batches(self) -> bool {
        matches!(self, ProtocolVersion::V2025_03_26)
    }

    /// True if results have `structuredContent` and links to resources.
    pub fn has_structured_content(self) -> bool {
        self >= ProtocolVersion::V2025_06_18
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Serialize for ProtocolVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The extension by which long calls are polled.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The capabilities of a client, as far as a server acts on them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a capability of its own")]
pub struct ClientCapabilities {
    /// It can show a form to a person.
    pub elicitation: bool,
    /// It can ask its model.
    pub sampling: bool,
    /// It can list its root folders.
    pub roots: bool,
    /// It knows tasks.
    pub tasks: bool,
}

impl ClientCapabilities {
    /// Reads what a client says that it can do.
    pub fn read(raw: &RawValue) -> Result<Self, RpcError> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct CapabilityFields<'a> {
            #[serde(borrow)]
            elicitation: Option<&'a RawValue>,
            #[serde(borrow)]
            sampling: Option<&'a RawValue>,
            #[serde(borrow)]
            roots: Option<&'a RawValue>,
            #[serde(borrow)]
            extensions: Option<&'a RawValue>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct ElicitationModes {
            form: Option<IgnoredAny>,
            url: Option<IgnoredAny>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Extensions {
            #[serde(rename = "io.modelcontextprotocol/tasks")]
            tasks: Option<IgnoredAny>,
        }
        const NAME: &str = "the client's capabilities";
        let given: CapabilityFields<'_> = fields(raw.get(), NAME)?;
        for (raw, name) in [(given.sampling, "sampling"), (given.roots, "roots")] {
            if raw.is_some_and(|raw| !is_object(raw.get())) {
                let message = format!("{NAME}: `{name}` must be an object");
                return Err(RpcError::invalid_params(message));
            }
        }
        let elicitation: Option<ElicitationModes> = given
            .elicitation
            .map(|raw| fields(raw.get(), &format!("{NAME}: `elicitation`")))
            .transpose()?;
        let extensions: Option<Extensions> = given
            .extensions
            .map(|raw| fields(raw.get(), &format!("{NAME}: `extensions`")))
            .transpose()?;
        Ok(Self {
            // A client that names no mode can show a form.
            elicitation: elicitation.is_some_and(|can| can.form.is_some() || can.url.is_none()),
            sampling: given.sampling.is_some(),
            roots: given.roots.is_some(),
            tasks: extensions.is_some_and(|known| known.tasks.is_some()),
        })
    }

    /// The capabilities as JSON text, as a client of ours declares them: never tasks, and addresses as
    /// well as forms.
    pub const fn json(self) -> &'static str {
        match (self.elicitation, self.sampling, self.roots) {
            (false, false, false) => "{}",
            (true, false, false) => r#"{"elicitation":{"form":{},"url":{}}}"#,
            (false, true, false) => r#"{"sampling":{}}"#,
            (false, false, true) => r#"{"roots":{}}"#,
            (true, true, false) => r#"{"elicitation":{"form":{},"url":{}},"sampling":{}}"#,
            (true, false, true) => r#"{"elicitation":{"form":{},"url":{}},"roots":{}}"#,
            (false, true, true) => r#"{"sampling":{},"roots":{}}"#,
            (true, true, true) => {
                r#"{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}"#
            }
        }
    }
}

/// The method of an input request: what a server asks a client while it works on a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputMethod {
    /// A person fills in a form.
    Elicitation,
    /// The client's model answers.
    Sampling,
    /// The client lists its root folders.
    Roots,
}

impl InputMethod {
    /// The name of the method.
    pub const fn as_str(self) -> &'static str {
        match self {
            InputMethod::Elicitation => "elicitation/create",
            InputMethod::Sampling => "sampling/createMessage",
            InputMethod::Roots => "roots/list",
        }
    }

    /// The method of that name.
    pub fn parse(method: &str) -> Option<Self> {
        let all = [InputMethod::Elicitation, InputMethod::Sampling, InputMethod::Roots];
        all.into_iter().find(|known| known.as_str() == method)
    }

    /// The name of the capability that a client needs for it.
    pub const fn capability(self) -> &'static str {
        match self {
            InputMethod::Elicitation => "elicitation",
            InputMethod::Sampling => "sampling",
            InputMethod::Roots => "roots",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_is_found_by_its_date_and_has_its_family() {
        for version in ProtocolVersion::LEGACY {
            assert_eq!(ProtocolVersion::parse_legacy(version.as_str()), Some(version));
            assert_eq!(ProtocolVersion::parse_modern(version.as_str()), None);
            assert!(version <= ProtocolVersion::NEWEST_LEGACY);
        }
        for version in ProtocolVersion::MODERN {
            assert_eq!(ProtocolVersion::parse_modern(version.as_str()), Some(version));
            assert!(version > ProtocolVersion::NEWEST_LEGACY);
        }
        assert_eq!(ProtocolVersion::parse("2031-01-01"), None);
    }

    fn read(json: &str) -> Result<ClientCapabilities, RpcError> {
        ClientCapabilities::read(serde_json::from_str(json).unwrap())
    }

    #[test]
    fn what_is_declared_is_read_again() {
        for bits in 0..8 {
            let can = ClientCapabilities {
                elicitation: bits & 1 > 0,
                sampling: bits & 2 > 0,
                roots: bits & 4 > 0,
                tasks: false,
            };
            assert_eq!(read(can.json()), Ok(can));
        }
    }

    #[test]
    fn a_form_is_what_elicitation_means_unless_only_addresses_are_named() {
        assert!(read(r#"{"elicitation":{}}"#).unwrap().elicitation);
        assert!(read(r#"{"elicitation":{"form":{}}}"#).unwrap().elicitation);
        assert!(!read(r#"{"elicitation":{"url":{}}}"#).unwrap().elicitation);
        assert!(read(r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#).unwrap().tasks);
    }

    #[test]
    fn what_is_not_an_object_is_refused() {
        for json in ["[]", r#"{"sampling":1}"#, r#"{"roots":[]}"#, r#"{"elicitation":"x"}"#] {
            assert!(read(json).unwrap_err().message.contains("must be an object"), "{json}");
        }
    }

    #[test]
    fn every_input_method_is_found_by_its_name() {
        for method in [InputMethod::Elicitation, InputMethod::Sampling, InputMethod::Roots] {
            assert_eq!(InputMethod::parse(method.as_str()), Some(method));
        }
        assert_eq!(InputMethod::parse("ping"), None);
    }
}
