//! The rules of a probe. Ids are stable: other programs read them in reports.

use std::fmt;

use serde::Serialize;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingSeverity {
    /// For information.
    Note,
    /// Some clients will have problems.
    Warning,
    /// The server breaks the protocol, or its own contract.
    Failure,
}

impl fmt::Display for FindingSeverity {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        self.serialize(formatter)
    }
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct ProbeRule {
    /// Its name, in kebab case.
    #[serde(rename = "rule")]
    pub id: &'static str,
    pub severity: FindingSeverity,
    /// The problem.
    #[serde(skip)]
    pub title: &'static str,
    /// The next step.
    #[serde(skip)]
    pub fix: &'static str,
}

macro_rules! rules {
    ($($name:ident $id:literal $severity:ident $title:literal $fix:literal)*) => {
        $(
            #[doc = $title]
            pub static $name: ProbeRule =
                ProbeRule { id: $id, severity: FindingSeverity::$severity, title: $title, fix: $fix };
        )*
        /// All rules.
        pub static ALL: &[&ProbeRule] = &[$(&$name),*];
    };
}

rules! {
    // The tool as it is listed.
    TOOL_MALFORMED "tool-malformed" Failure
        "An entry of the listing is not a tool"
        "make every entry of `tools/list` an object with a `name`"
    TOOL_NAME "tool-name" Warning
        "Some clients do not accept the name"
        "use 1 to 64 of A-Z, a-z, 0-9, `_`, `-` and `.`"
    TOOL_DUPLICATE "tool-duplicate" Failure
        "Two tools have the same name"
        "give each tool a name of its own"
    DESCRIPTION_MISSING "description-missing" Warning
        "The tool has no description"
        "describe what the tool does: models choose by it"
    INPUT_SCHEMA_INVALID "input-schema-invalid" Failure
        "The input schema cannot be enforced"
        "correct the schema, or declare its dialect (`$schema`)"
    INPUT_SCHEMA_OPEN "input-schema-open" Note
        "The input schema accepts arguments that it does not name"
        "add `additionalProperties: false`, so that a misspelt argument is refused"
    OUTPUT_SCHEMA_MISSING "output-schema-missing" Warning
        "The tool has no output schema"
        "declare `outputSchema`, or add one in an overlay: without it results cannot be checked"
    OUTPUT_SCHEMA_INVALID "output-schema-invalid" Failure
        "The output schema cannot be enforced"
        "correct the schema, or declare its dialect (`$schema`)"
    TEXT_HARMFUL "text-harmful" Failure
        "A text for models has hidden characters, or instructions to the model"
        "describe the tool and nothing else; do not use the tool before you know why the text is there"
    TEXT_SUSPICIOUS "text-suspicious" Warning
        "A text for models may be an instruction to the model"
        "read the text; it should only describe the tool"
    ANNOTATIONS_INVALID "annotations-invalid" Warning
        "The annotations are not valid"
        "make `annotations` an object, and every hint true or false"
    ANNOTATIONS_CONTRADICT "annotations-contradict" Warning
        "The annotations contradict each other"
        "remove `readOnlyHint` or `destructiveHint`: a tool that only reads destroys nothing"
    ANNOTATIONS_MISSING "annotations-missing" Note
        "The annotations do not say whether the tool only reads"
        "set `annotations.readOnlyHint`; without it the tool counts as one with effects"

    // The tool when it is called.
    NO_VALUES "no-values" Note
        "No arguments could be generated from the schema"
        "test the tool by hand, or give arguments with --arguments FILE"
    VALID_REFUSED "valid-refused" Note
        "A call with valid arguments returned an error"
        "nothing, if the tool only does not know the values; otherwise make the schema stricter"
    VALID_REJECTED "valid-rejected" Warning
        "A call with valid arguments was refused as invalid"
        "make the schema as strict as the tool"
    INVALID_ACCEPTED "invalid-accepted" Failure
        "The tool accepts arguments that its schema forbids"
        "check the arguments against the schema before the tool runs"
    REFUSAL_CODE "refusal-code" Warning
        "Invalid arguments are refused with the wrong error"
        "respond with `isError: true` or with -32602"
    OUTPUT_UNPROVEN "output-unproven" Note
        "No call succeeded, so the output schema was not tested"
        "give arguments that the tool knows with --arguments FILE"
    CALL_LOST "call-lost" Failure
        "The server closed the connection during a call"
        "catch errors and respond with `isError: true`: no argument may end the server"
    CALL_TIMEOUT "call-timeout" Failure
        "The server did not respond"
        "respond to every request; --timeout-ms sets another timeout"
    CALL_UNREADABLE "call-unreadable" Failure
        "The response is not a valid message"
        "respond with a JSON-RPC response"
    CALL_TOO_LARGE "call-too-large" Failure
        "The response is too large"
        "return less, or in parts"
    CALL_ASKS "call-asks" Note
        "The server sent an input request to a client that cannot respond"
        "send input requests only to clients with that capability"

    // The result of a call.
    RESULT_SHAPE "result-shape" Failure
        "The result is not a `tools/call` result"
        "return an object with `content`, `structuredContent` and `isError`"
    IS_ERROR_TYPE "is-error-type" Failure
        "`isError` is not true or false"
        "set it to true or false, or leave it out"
    CONTENT_MISSING "content-missing" Warning
        "The result has no `content`"
        "add it: some clients read nothing else"
    CONTENT_SHAPE "content-shape" Failure
        "`content` is not valid"
        "use a list of blocks of the types text, image, audio, resource_link and resource"
    STRUCTURED_MISSING "structured-missing" Failure
        "The tool declares an output schema, and the result has no `structuredContent`"
        "return `structuredContent`, or remove the output schema"
    STRUCTURED_INVALID "structured-invalid" Failure
        "The result breaks the output schema"
        "return what the schema declares, or correct the schema"
    STRUCTURED_IN_ERROR "structured-in-error" Warning
        "An error has `structuredContent` that breaks the output schema"
        "leave it out of errors: clients check it against the schema"
    TEXT_MIRROR "text-mirror" Note
        "No text of `content` has the structured result as JSON"
        "add it as a text block, for clients that only read texts"

    // The server as a whole.
    LISTING_CUT "listing-cut" Failure
        "The listing does not end"
        "leave `nextCursor` out of the last page"
    LISTING_CHANGES "listing-changes" Failure
        "Two listings in a row differ"
        "list the same tools in the same order until they change"
    UNKNOWN_TOOL_ACCEPTED "unknown-tool-accepted" Failure
        "A call of an unknown tool returned a result"
        "respond with -32602"
    UNKNOWN_METHOD "unknown-method" Failure
        "An unknown method returned a result"
        "respond with -32601"
    UNKNOWN_METHOD_CODE "unknown-method-code" Warning
        "An unknown method is refused with the wrong error"
        "respond with -32601"
    SERVER_GONE "server-gone" Failure
        "The server could not be started again"
        "make sure that no call can stop the server for good"
    STDOUT_NOISE "stdout-noise" Warning
        "The server prints lines on stdout that are not messages"
        "print logs on stderr"
    ANSWERS_UNEXPECTED "answers-unexpected" Warning
        "The server sent responses that nobody waits for"
        "respond to each request once, with its id"
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_rule_has_an_id_of_its_own() {
        let ids: HashSet<_> = ALL.iter().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), ALL.len());
        let kebab = |id: &str| id.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        assert!(ids.iter().all(|id| kebab(id)));
    }
}
