//! The rules for our own tools, in addition to those for any server.

use probe::{FindingSeverity, ProbeRule};

macro_rules! rules {
    ($($name:ident $id:literal $title:literal $fix:literal)*) => {
        $(
            #[doc = $title]
            pub static $name: ProbeRule =
                ProbeRule { id: $id, severity: FindingSeverity::Failure, title: $title, fix: $fix };
        )*
    };
}

rules! {
    DOORS_DISAGREE "doors-disagree"
        "The doors return different codes"
        "make the door only parse and render: the gate decides"
    REFUSED_OTHERWISE "refused-otherwise"
        "Invalid arguments are refused with another code than the contract has"
        "let the gate check the input before anything runs"
    OUTPUT_BROKEN "output-broken"
        "The tool breaks its own contract"
        "correct the tool, or its output schema"
    TOOL_BROKEN "tool-broken"
        "The tool fails with a code that its contract does not declare"
        "declare the error, or correct the tool"
    OUTPUT_PASSED "output-passed"
        "An output that breaks the contract passed the gate"
        "let the gate check the output of every call"
    OUTPUT_LOST "output-lost"
        "A valid output did not pass the gate unchanged"
        "return valid outputs unchanged"
    PAYLOAD_SHOWN "payload-shown"
        "Part of an invalid output was shown to the caller"
        "show quarantined outputs to the operator only"
    DOOR_BROKEN "door-broken"
        "A door did not return a valid response"
        "return a response for every call"
}
