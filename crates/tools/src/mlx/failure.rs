//! The errors of `mlx.load` and `mlx.unload`.

use gate::ToolError;
use guard::process::{ExitReason, StartError};

use super::log::last_lines;

pub(super) fn not_found(message: impl Into<String>) -> ToolError {
    ToolError::new("model_not_found", message)
}

pub(super) fn busy(message: impl Into<String>) -> ToolError {
    ToolError::new("port_busy", message)
}

pub(super) fn not_listening(message: impl Into<String>) -> ToolError {
    ToolError::new("not_listening", message)
}

/// A launch that came to nothing. What the server printed is for the operator alone.
pub(super) fn launch(message: impl Into<String>, log: &str) -> ToolError {
    let mut error = ToolError::new("launch_failed", message);
    if !log.is_empty() {
        error.operator = Some(format!("the end of its log: {}", last_lines(log, 20).join("\n")));
    }
    error
}

/// The reason why a launch command could not be started, for the operator.
pub(super) fn cause(error: &StartError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

pub(super) fn state(error: &std::io::Error) -> ToolError {
    let message = "the state of the model servers cannot be read or written";
    ToolError::internal(message, format!("{message}: {error}"))
}

/// The end of a server, in words.
pub(super) fn ended(ending: ExitReason) -> String {
    match ending {
        ExitReason::Exited(0) => {
            "it ended with exit code 0; a launch command has to stay in the foreground".to_owned()
        }
        ExitReason::Exited(code) => format!("it ended with exit code {code}"),
        ExitReason::Signalled(signal) => format!("it was ended by signal {signal}"),
        ExitReason::Stopped => "it was stopped".to_owned(),
    }
}
