//! What is looked for. Ids are stable: they stand in reports that other programs read.

use serde::Serialize;

/// How much it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingSeverity {
    /// Worth knowing.
    Note,
    /// It will trouble somebody.
    Warning,
    /// The server breaks the protocol, or its own word.
    Failure,
}

impl FindingSeverity {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            FindingSeverity::Note => "note",
            FindingSeverity::Warning => "warning",
            FindingSeverity::Failure => "failure",
        }
    }
}

/// Something that is looked for.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, in kebab case.
    pub id: &'static str,
    /// How much it matters.
    pub severity: FindingSeverity,
    /// What was found, in a few words.
    pub title: &'static str,
    /// What to do about it.
    pub fix: &'static str,
}

macro_rules! rules {
    ($($name:ident $id:literal $severity:ident $title:literal $fix:literal)*) => {
        $(
            #[doc = $title]
            pub static $name: Rule =
                Rule { id: $id, severity: FindingSeverity::$severity, title: $title, fix: $fix };
        )*
        /// All of them.
        pub static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    // The tool as it is listed.
    TOOL_MALFORMED "tool-malformed" Failure
        "What is listed is no tool"
        "every entry of `tools/list` is an object with a `name`"
    TOOL_NAME "tool-name" Warning
        "The name will not be taken by every client"
        "use 1 to 64 of A-Z, a-z, 0-9, `_`, `-` and `.`"
    TOOL_DUPLICATE "tool-duplicate" Failure
        "Two tools bear one name"
        "give each tool a name of its own"
    DESCRIPTION_MISSING "description-missing" Warning
        "There is no description"
        "say what the tool does: models choose by it"
    INPUT_SCHEMA_INVALID "input-schema-invalid" Failure
        "The input schema cannot be enforced"
        "mend the schema, or declare the dialect that it is written in (`$schema`)"
    INPUT_SCHEMA_OPEN "input-schema-open" Note
        "The input schema takes arguments that it does not name"
        "add `additionalProperties: false`: a misspelt argument is then refused and not ignored"
    OUTPUT_SCHEMA_MISSING "output-schema-missing" Warning
        "There is no output schema"
        "declare `outputSchema`, or add one as an overlay: without it nothing that the tool says can be held to anything"
    OUTPUT_SCHEMA_INVALID "output-schema-invalid" Failure
        "The output schema cannot be enforced"
        "mend the schema, or declare the dialect that it is written in (`$schema`)"
    TEXT_HARMFUL "text-harmful" Failure
        "A text that models read hides something, or tells the model what to do"
        "describe the tool and nothing else; do not use it before you know why this is there"
    TEXT_SUSPICIOUS "text-suspicious" Warning
        "A text that models read may be meant for the model and not for people"
        "read it; describe the tool, and leave instructions to whoever runs the model"
    ANNOTATIONS_INVALID "annotations-invalid" Warning
        "The annotations cannot be read"
        "hints are true or false"
    ANNOTATIONS_CONTRADICT "annotations-contradict" Warning
        "The annotations contradict each other"
        "a tool that changes nothing destroys nothing: decide which of the two is true"
    ANNOTATIONS_MISSING "annotations-missing" Note
        "It does not say whether it changes anything"
        "set `annotations.readOnlyHint`; without it the tool is taken for one that changes the world"

    // What it does with values.
    NO_VALUES "no-values" Note
        "No values could be made from the schema"
        "the schema is beyond what is generated here; test the tool by hand"
    VALID_REFUSED "valid-refused" Note
        "A call that fits the schema was answered with an error"
        "nothing, if the values are only unknown to it; else say in the schema what is taken"
    VALID_REJECTED "valid-rejected" Warning
        "A call that fits the schema was refused as invalid"
        "say in the schema what is taken"
    INVALID_ACCEPTED "invalid-accepted" Failure
        "It accepts what its schema refuses"
        "check the arguments against the schema before anything is done with them"
    REFUSAL_CODE "refusal-code" Warning
        "It refuses with an error that says something else"
        "answer arguments that do not fit with `isError: true` or with -32602"
    OUTPUT_UNPROVEN "output-unproven" Note
        "No call succeeded, so that the output schema was not tried"
        "give it arguments that it knows with --arguments FILE"
    CALL_LOST "call-lost" Failure
        "The server went away during a call"
        "no argument may end the server: catch what goes wrong and answer with `isError: true`"
    CALL_TIMEOUT "call-timeout" Failure
        "The server did not answer"
        "answer every request; --timeout-ms gives it more time"
    CALL_UNREADABLE "call-unreadable" Failure
        "The answer is no message of the protocol"
        "answer with a JSON-RPC response"
    CALL_TOO_LARGE "call-too-large" Failure
        "The answer is larger than is taken"
        "return less, or in parts"
    CALL_ASKS "call-asks" Note
        "It asked something that nobody was there to answer"
        "a client that cannot be asked says so in its capabilities: ask only those that can"

    // The shape of results.
    RESULT_SHAPE "result-shape" Failure
        "The result is none"
        "answer `tools/call` with an object of `content`, `structuredContent` and `isError`"
    IS_ERROR_TYPE "is-error-type" Failure
        "`isError` is neither true nor false"
        "write true or false"
    CONTENT_MISSING "content-missing" Warning
        "The result has no `content`"
        "add it: clients that do not know `structuredContent` read nothing else"
    CONTENT_SHAPE "content-shape" Failure
        "`content` holds what is no content"
        "use blocks of the types text, image, audio, resource_link and resource with their fields"
    STRUCTURED_MISSING "structured-missing" Failure
        "An output schema is declared and the result has no `structuredContent`"
        "return what the schema promises, or do not promise it"
    STRUCTURED_INVALID "structured-invalid" Failure
        "The result breaks the output schema"
        "return what the schema promises, or promise what is returned"
    STRUCTURED_IN_ERROR "structured-in-error" Warning
        "An error carries `structuredContent` that breaks the output schema"
        "leave it out of errors: clients hold it against the schema"
    TEXT_MIRROR "text-mirror" Note
        "The structured result is not there as text"
        "repeat it as JSON in a block of text, for clients that read only that"

    // The server as a whole.
    LISTING_CUT "listing-cut" Failure
        "The listing does not end"
        "end the pages; no `nextCursor` on the last"
    LISTING_CHANGES "listing-changes" Failure
        "Two listings are not the same"
        "list the same tools in the same order until they change"
    UNKNOWN_TOOL_ACCEPTED "unknown-tool-accepted" Failure
        "It answers calls of a tool that it does not have"
        "answer with -32602"
    UNKNOWN_METHOD "unknown-method" Failure
        "It answers a method that it does not have"
        "answer with -32601"
    UNKNOWN_METHOD_CODE "unknown-method-code" Warning
        "A method that it does not have is refused with another error"
        "answer with -32601"
    SERVER_GONE "server-gone" Failure
        "The server did not come back"
        "no argument may end the server for good"
    STDOUT_NOISE "stdout-noise" Warning
        "It prints what is no message on standard output"
        "print logs on standard error"
    ANSWERS_UNEXPECTED "answers-unexpected" Warning
        "It answers what was not asked"
        "answer each request once, with its own id"
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
