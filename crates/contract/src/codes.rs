//! The error codes that every tool may answer with, declared or not.

/// A code that the gate or a door gives by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandardCode {
    /// The code for programs.
    pub code: &'static str,
    /// The HTTP status that goes with it.
    pub http_status: u16,
    /// When it happens.
    pub description: &'static str,
}

macro_rules! codes {
    ($($name:ident = $code:literal, $status:literal, $description:literal;)*) => {
        $(
            #[doc = $description]
            pub const $name: StandardCode =
                StandardCode { code: $code, http_status: $status, description: $description };
        )*
        /// All of them, in the order of this file.
        pub const STANDARD: &[StandardCode] = &[$($name),*];
    };
}

codes! {
    INVALID_REQUEST = "invalid_request", 400, "The request is not valid.";
    INVALID_INPUT = "invalid_input", 400, "The arguments do not match the contract.";
    UNAUTHORIZED = "unauthorized", 401, "The server needs a bearer token.";
    NOT_ALLOWED = "not_allowed", 403, "This caller may not do that.";
    APPROVAL_REQUIRED = "approval_required", 403, "A person must agree to this call first.";
    UNKNOWN_TOOL = "unknown_tool", 404, "No tool of that name is served.";
    NOT_FOUND = "not_found", 404, "There is nothing under that name or id.";
    METHOD_NOT_ALLOWED = "method_not_allowed", 405, "The route exists, but not for this method.";
    CONFLICT = "conflict", 409, "The request contradicts what is already there.";
    CONTRACT_CHANGED = "contract_changed", 409, "The tool has changed since it was pinned; a person must review the change.";
    INPUT_REQUIRED = "input_required", 409, "The tool needs more input, and this door cannot ask for it.";
    CANCELLED = "cancelled", 409, "The call was cancelled before it ended.";
    PAYLOAD_TOO_LARGE = "payload_too_large", 413, "The request body is too large.";
    TOO_LARGE = "too_large", 413, "Something that the call names is too large for the tool.";
    RANGE_NOT_SATISFIABLE = "range_not_satisfiable", 416, "The requested range is outside of the artifact.";
    TOO_MANY_REQUESTS = "too_many_requests", 429, "The server already runs as many calls as it may.";
    RATE_LIMITED = "rate_limited", 429, "The caller has called this tool too often.";
    INTERNAL = "internal", 500, "The tool failed in a way that its contract does not declare.";
    INTERRUPTED = "interrupted", 500, "The server stopped while the call ran; it may or may not have taken effect.";
    INVALID_OUTPUT = "invalid_output", 502, "The tool's output does not match its contract and was quarantined.";
    UNAVAILABLE = "unavailable", 503, "The call needs something that cannot be reached: an upstream server, or the server's own storage.";
    TIMEOUT = "timeout", 504, "The call took longer than its limit.";
}

/// The text of `invalid_output` where the result could not be quarantined either.
pub const NOT_QUARANTINED: &str =
    "The tool's output does not match its contract and could not be quarantined.";

/// The standard code of that name.
pub fn standard(code: &str) -> Option<StandardCode> {
    STANDARD.iter().copied().find(|standard| standard.code == code)
}
