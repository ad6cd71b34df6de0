//! The ways in which work on files fails, for callers and for the operator.
//!
//! The messages are those of seed 001, to the letter, where it has one. The finer reason goes into
//! `details.reason`; it never tells where the folder lies.

use contract::codes;
use gate::ToolError;
use guard::files::FileError;
use serde_json::json;

/// A file could not be read, listed or looked at.
pub(super) fn reading(path: &str, error: &FileError) -> ToolError {
    let (code, message) = match error {
        FileError::NotFound | FileError::NotADirectory => ("file_not_found", "File not found"),
        // What stands there is no file; "not found" would invite the caller to write one.
        FileError::Denied(_) | FileError::IsADirectory | FileError::NotAFile(_) => {
            ("access_denied", "Access denied")
        }
        FileError::NotText => ("encoding_error", "Encoding error"),
        FileError::TooLarge { limit } => {
            return too_large(format!(
                "the file has more than {limit} bytes (tools.file_io.max_read_bytes)"
            ));
        }
        forbidden if forbidden.is_forbidden() => ("access_denied", "Access denied"),
        _ => ("read_failed", "Failed to read file"),
    };
    failure(code, message, path, error)
}

/// A file could not be written.
pub(super) fn writing(path: &str, error: &FileError) -> ToolError {
    let (code, message) = match error {
        FileError::Denied(_) | FileError::NotAFile(_) => ("access_denied", "Access denied"),
        FileError::Stopped => (codes::CANCELLED.code, "the call was cancelled"),
        FileError::NotSynced(_) => {
            ("write_failed", "File written, but it is not known to be on the disk")
        }
        _ => ("write_failed", "Failed to write file"),
    };
    failure(code, message, path, error)
}

/// Something is larger than the operator allows.
pub(super) fn too_large(message: String) -> ToolError {
    ToolError::new(codes::TOO_LARGE.code, message)
}

fn failure(code: &str, message: &str, path: &str, error: &FileError) -> ToolError {
    let reason = match error {
        // The whole text may tell where the folder lies.
        FileError::Io(error) => error.kind().to_string(),
        other => other.to_string(),
    };
    let mut failure = ToolError::new(code, message);
    failure.details = Some(json!({ "reason": reason }));
    failure.operator = Some(format!("{path:?}: {error}"));
    failure
}
