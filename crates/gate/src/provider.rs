//! Providers: whatever runs a tool, as the gate sees it.

use std::{
    future::Future,
    path::PathBuf,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use contract::{Contract, LargeOutput, Limits, json::JsonError};
use serde_json::{Map, Value, value::RawValue};
use tokio_util::sync::CancellationToken;

use crate::{
    Blobs, CallChannel, Caller, Failure, InputCapabilities, InputRequest, InputRequests, JobId,
    LogLevel, RequestId, ToolNotification, live_jobs::JobHandle, secrets,
};

/// A future that can be kept in a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Runs one tool: built-in code, a command, an upstream server.
pub trait Provider: Send + Sync {
    /// Answers a call whose input has passed its contract. It ends soon after
    /// [`RunningCall::stop`] fires; whatever it returns by then is kept.
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;

    /// The preview of a call, for the person who is asked to approve it: the diff of a file,
    /// the line of a log. Changes nothing. Nothing to show is fine.
    fn preview<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Option<String>> {
        let _ = call;
        Box::pin(std::future::ready(None))
    }
}

/// The longest progress message, in characters.
const MAX_PROGRESS_CHARACTERS: usize = 500;

/// A call on its way through a provider.
pub struct RunningCall {
    /// The arguments: valid, defaults filled in.
    pub input: Value,
    /// The tool's own contract.
    pub contract: Arc<Contract>,
    /// The bounds of this call.
    pub limits: Limits,
    pub caller: Caller,
    /// The name of the request.
    pub request_id: RequestId,
    /// Fires when the time is up or nobody waits any more.
    pub stop: CancellationToken,
    /// True if it fired because the time was up.
    pub(crate) late: AtomicBool,
    pub(crate) job_id: JobId,
    pub(crate) channel: CallChannel,
    pub(crate) live: Option<Arc<JobHandle>>,
    pub(crate) blobs: Arc<dyn Blobs>,
    pub(crate) workspace: Arc<tokio::sync::OnceCell<PathBuf>>,
}

impl RunningCall {
    /// True if [`RunningCall::stop`] has fired because the time was up.
    pub fn is_late(&self) -> bool {
        self.late.load(Ordering::Relaxed)
    }

    /// A text argument that the schema guarantees.
    pub fn text(&self, name: &str) -> &str {
        self.input.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The folder of this call, made when first asked for. Plain files that are in it
    /// when the call ends become artifacts.
    pub async fn workspace(&self) -> Result<&PathBuf, ToolError> {
        self.workspace
            .get_or_try_init(|| self.blobs.begin(&self.job_id))
            .await
            .map_err(|error| ToolError::storage(&error))
    }

    /// The largest result that is worth handing over, in bytes of JSON.
    pub fn max_result_bytes(&self) -> u64 {
        match self.contract.large_output {
            LargeOutput::Refuse => self.limits.max_output_bytes,
            LargeOutput::Artifact => {
                self.limits.max_output_bytes.max(self.limits.max_artifact_bytes)
            }
        }
    }

    /// Leaves an artifact. Its size is bounded by `max_artifact_bytes`.
    pub async fn write_artifact(&self, name: &str, bytes: Vec<u8>) -> Result<(), ToolError> {
        self.workspace().await?;
        self.blobs
            .write(&self.job_id, name, bytes)
            .await
            .map_err(|error| ToolError::storage(&error))
    }

    /// Tells whoever watches how far the call has come, from 0 to 1.
    pub fn progress(&self, fraction: Option<f64>, message: &str) {
        let message = &*secrets::redact(message);
        let end = message.char_indices().nth(MAX_PROGRESS_CHARACTERS).map(|(end, _)| end);
        let message = &message[..end.unwrap_or(message.len())];
        if let Some(live) = &self.live {
            live.live().progress(fraction, message);
        }
        if let Some(sender) = &self.channel.notifications {
            sender.send(ToolNotification::Progress { fraction, message: message.to_owned() });
        }
    }

    /// True if anybody wants to know how far the call has come.
    pub fn is_watched(&self) -> bool {
        self.live.is_some() || self.channel.notifications.is_some()
    }

    /// True if anybody may want to read what the tool logs.
    pub fn wants_logs(&self) -> bool {
        self.channel.notifications.is_some()
    }

    /// Tells whoever listens what the tool logs.
    pub fn log(&self, level: LogLevel, mut data: Value) {
        if let Some(sender) = &self.channel.notifications {
            secrets::redact_value(&mut data);
            sender.send(ToolNotification::Log { level, data });
        }
    }

    /// The input requests that the caller can answer.
    pub fn capabilities(&self) -> InputCapabilities {
        self.channel.capabilities
    }

    /// The reply to a question. Where there is none yet the call ends here, to be made again
    /// when there is: ask before doing anything.
    pub fn ask(&self, name: &str, question: InputRequest) -> Result<&Value, ToolError> {
        match self.reply(name, &question) {
            Some(reply) => Ok(reply),
            None => Err(ToolError::asks(InputRequests::from([(name.to_owned(), question)]))),
        }
    }

    /// The replies to several questions, asked together.
    pub fn ask_all(&self, mut questions: InputRequests) -> Result<&Map<String, Value>, ToolError> {
        questions.retain(|name, question| self.reply(name, question).is_none());
        if questions.is_empty() {
            Ok(&self.channel.replies)
        } else {
            Err(ToolError::asks(questions))
        }
    }

    /// Everything that was replied so far, by the name of the question, not held against any.
    pub fn replies(&self) -> &Map<String, Value> {
        &self.channel.replies
    }

    fn reply(&self, name: &str, question: &InputRequest) -> Option<&Value> {
        self.channel.replies.get(name).filter(|reply| question.accepts(reply))
    }
}

/// The output of a provider.
#[derive(Debug, Default)]
pub struct ToolOutput {
    /// The result.
    pub output: OutputPayload,
    /// One line for people; the gate writes one if there is none.
    pub summary: Option<String>,
    /// The tool's standard output.
    pub stdout: CapturedText,
    /// The tool's standard error.
    pub stderr: CapturedText,
    /// Numbers about the call.
    pub metrics: Map<String, Value>,
}

/// Printed text, and how many bytes of it were not even kept.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct CapturedText {
    /// The part that was kept.
    pub text: String,
    /// The number of further bytes.
    pub dropped: u64,
}

impl ToolOutput {
    /// A result and nothing else.
    pub fn new(output: Value) -> Self {
        Self { output: OutputPayload::Json(output), ..Self::default() }
    }
}

/// A result as it came out of a provider.
#[derive(Debug, Default)]
pub enum OutputPayload {
    /// A value, not yet judged.
    Json(Value),
    /// A value and its text, which is what goes on if the value passes.
    Printed(PrintedJson),
    /// There is none.
    #[default]
    Missing,
    /// There is something, and it is no value.
    Unreadable {
        /// The text that came instead, for quarantine.
        text: String,
        /// The reason that it is none.
        reason: String,
    },
    /// There is something, and it is no result at all. It passes in no mode.
    Broken {
        /// The text that came instead, for quarantine.
        text: String,
        /// The reason that it is none.
        reason: String,
    },
}

/// A value and the text that it was read from. Whoever has both saves the gate from printing the
/// value once more.
#[derive(Debug)]
pub struct PrintedJson {
    value: Value,
    json: Box<RawValue>,
}

impl PrintedJson {
    /// Reads a text, strictly: what is judged is then all that the text says.
    pub fn read(json: Box<RawValue>) -> Result<Self, JsonError> {
        Ok(Self { value: contract::json::parse(json.get().as_bytes())?, json })
    }

    /// A value that was read from this very text, by [`contract::json::parse`] or as strictly: of
    /// two equal keys only one would be judged, and both would go on.
    pub fn of(value: Value, json: Box<RawValue>) -> Self {
        Self { value, json }
    }

    /// The value, and the text in one line: records and streams are made of lines.
    pub(crate) fn into_parts(self) -> (Value, Box<RawValue>) {
        let breaks = |byte| self.json.get().as_bytes().contains(&byte);
        if breaks(b'\n') || breaks(b'\r') {
            let json = serde_json::value::to_raw_value(&self.value).unwrap_or_default();
            return (self.value, json);
        }
        (self.value, self.json)
    }
}

/// A tool's own failure.
#[derive(Debug, Default)]
pub struct ToolError {
    /// A code that the contract declares, or `invalid_input`.
    pub code: String,
    /// The message for the caller.
    pub message: String,
    /// More for the caller, in parts.
    pub details: Option<Value>,
    /// A note for the operator alone.
    pub operator: Option<String>,
    /// After how many seconds a retry makes sense.
    pub retry_after: Option<u32>,
    /// The tool's standard output.
    pub stdout: CapturedText,
    /// The tool's standard error.
    pub stderr: CapturedText,
    /// The exit code of a process.
    pub exit_code: Option<i32>,
    /// Numbers about the call.
    pub metrics: Map<String, Value>,
    /// The input requests that must be answered first.
    pub questions: Option<Box<InputRequests>>,
}

impl ToolError {
    /// A failure with a code and a text.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), ..Self::default() }
    }

    /// The arguments fit the schema and still cannot be used.
    pub fn invalid_input(message: impl Into<String>) -> Self {
        Self::new(contract::codes::INVALID_INPUT.code, message)
    }

    /// Something went wrong that is not the caller's business.
    pub fn internal(message: impl Into<String>, operator: impl Into<String>) -> Self {
        let mut error = Self::new(contract::codes::INTERNAL.code, message);
        error.operator = Some(operator.into());
        error
    }

    /// The end of a call that is made again with the replies to these questions.
    pub fn asks(questions: InputRequests) -> Self {
        Self { questions: Some(Box::new(questions)), ..Self::default() }
    }

    fn storage(error: &dyn std::fmt::Display) -> Self {
        let failure = Failure::unavailable(error);
        Self::new(contract::codes::UNAVAILABLE.code, failure.message)
    }
}
