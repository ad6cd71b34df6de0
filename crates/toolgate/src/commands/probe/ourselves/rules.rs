//! What is looked for in our own tools, beside what is looked for in any.

use probe::{FindingSeverity, Rule};

macro_rules! rules {
    ($($name:ident $id:literal $title:literal $fix:literal)*) => {
        $(
            #[doc = $title]
            pub static $name: Rule =
                Rule { id: $id, severity: FindingSeverity::Failure, title: $title, fix: $fix };
        )*
    };
}

rules! {
    DOORS_DISAGREE "doors-disagree"
        "The doors do not agree"
        "a door decides nothing: find the one that does"
    REFUSED_OTHERWISE "refused-otherwise"
        "Arguments that do not fit are not refused as the contract says"
        "the gate checks the input before anything runs"
    OUTPUT_BROKEN "output-broken"
        "The tool breaks its own contract"
        "mend the tool, or its output schema"
    TOOL_BROKEN "tool-broken"
        "The tool fails in a way that its contract does not know"
        "declare the error, or mend the tool"
    OUTPUT_PASSED "output-passed"
        "An answer that breaks the contract got past the gate"
        "the gate checks the output of every call"
    OUTPUT_LOST "output-lost"
        "An answer that fits the contract did not get through"
        "what fits gets through as it is"
    PAYLOAD_SHOWN "payload-shown"
        "A part of an answer that breaks the contract was shown to the caller"
        "what is quarantined is only for the person who looks after it"
    DOOR_BROKEN "door-broken"
        "A door did not answer as it should"
        "every door answers every call"
}
