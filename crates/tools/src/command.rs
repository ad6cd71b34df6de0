//! The provider of tools that users add: a program that reads its arguments as JSON on
//! stdin, or gets them where its contract puts them, and answers with JSON or text on stdout.
//!
//! - Exit 0: stdout is the result. JSON may be wrapped in the shape of
//!   `POST /v1/tools/execute` to carry a summary, metrics or printed text as well.
//! - Any other end is a failure. To name one of the contract's codes, the program prints
//!   `{"error": {"code": …, "message": …}}`.
//! - A line `{"progress": 0.4, "message": …}` on stderr is a progress report.

mod output;

use std::path::{Path, PathBuf};

use contract::{
    ProcessLimits, Violation, codes,
    command_template::{ArgumentError, CommandTemplate},
};
use gate::{BoxFuture, CapturedText, Provider, RunningCall, ToolError, ToolOutput};
use guard::process::{
    ExitReason, FinishedCommand, Launch, ProcessSandbox, ResourceLimits, Spawner, StartError,
};
use serde_json::{Value, json};

/// A tool that is a program.
pub struct CommandTool {
    spawner: Spawner,
    program: String,
    template: CommandTemplate,
    limits: ProcessLimits,
    sandbox: Option<ProcessSandbox>,
}

impl CommandTool {
    /// The command that a contract names with `run`. `{contract_dir}` in it, and a program
    /// with a relative path, start at the folder of the contract.
    pub fn new(
        contract: &contract::Contract,
        contract_dir: &Path,
        defaults: &ProcessLimits,
        sandbox: Option<ProcessSandbox>,
        spawner: Spawner,
    ) -> Option<Self> {
        let folder = contract_dir.to_string_lossy();
        let template = CommandTemplate::of(contract, &folder, guard::variables::get)?;
        let program = contract.run.as_ref()?.first()?.replace("{contract_dir}", &folder);
        let program = if program.contains('/') && Path::new(&program).is_relative() {
            contract_dir.join(&program).to_string_lossy().into_owned()
        } else {
            program
        };
        Some(Self {
            spawner,
            program,
            template,
            limits: defaults.with(&contract.process_limits),
            sandbox,
        })
    }

    /// The reason why it cannot be started, as far as that can be seen: whether there is a program of that path, and
    /// whether it may be run.
    pub fn trouble(&self) -> Option<String> {
        use std::os::unix::fs::PermissionsExt;
        let program = &self.program;
        if !program.contains('/') {
            return None;
        }
        match std::fs::metadata(program) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Some(format!("there is no program `{program}`"))
            }
            Ok(found) if found.is_dir() => Some(format!("`{program}` is a folder and no program")),
            Ok(found) if found.permissions().mode() & 0o111 == 0 => {
                Some(format!("`{program}` may not be run (chmod +x)"))
            }
            _ => None,
        }
    }

    async fn launch(&self, call: &RunningCall) -> Result<ToolOutput, ToolError> {
        let filled = self.template.fill(&call.input).map_err(|error| refused(&error))?;
        let folder: &PathBuf = call.workspace().await?;
        let launch = Launch {
            program: self.program.clone().into(),
            args: filled.words,
            env: filled.variables,
            cwd: folder.clone(),
            stdin: filled.stdin.unwrap_or_else(|| call.input.to_string()).into_bytes(),
            limits: ResourceLimits {
                max_memory_bytes: self.limits.max_memory_bytes,
                max_cpu_seconds: self.limits.max_cpu_seconds,
                max_file_bytes: self.limits.max_file_bytes,
                max_open_files: self.limits.max_open_files,
            },
            sandbox: self.sandbox.clone().map(|sandbox| sandbox.with_write(folder)),
            // One byte more than the largest result tells a full answer from a cut one.
            max_stdout_bytes: call
                .max_result_bytes()
                .max(call.limits.max_stdout_bytes)
                .saturating_add(1),
            max_stderr_bytes: call.limits.max_stderr_bytes,
        };
        let mut progress = |line: &str| report(call, line);
        let finished = self
            .spawner
            .run(launch, &call.stop, Some(&mut progress))
            .await
            .map_err(|error| not_started(&error))?;
        judge(call, &finished)
    }
}

impl Provider for CommandTool {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.launch(call))
    }
}

/// The failure of a call with an argument that cannot be passed to the program.
fn refused(error: &ArgumentError) -> ToolError {
    let violation = Violation {
        pointer: format!("/{}", contract::escape(&error.argument)),
        keyword: "run".into(),
        message: error.problem.clone(),
    };
    let mut failure = ToolError::invalid_input(error.to_string());
    failure.details = Some(json!({ "violations": [violation] }));
    failure
}

/// True if the line is a progress report, which is then passed on.
fn report(call: &RunningCall, line: &str) -> bool {
    if !line.starts_with('{') || !line.contains("\"progress\"") {
        return false;
    }
    let Ok(Value::Object(fields)) = contract::json::parse(line.as_bytes()) else { return false };
    let Some(fraction) = fields.get("progress").and_then(Value::as_f64) else { return false };
    let message = fields.get("message").and_then(Value::as_str).unwrap_or_default();
    call.progress(Some(fraction), message);
    true
}

fn not_started(error: &StartError) -> ToolError {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    let operator = format!("{error}{}", cause.unwrap_or_default());
    let mut failure = ToolError::internal("the command could not be started", operator);
    failure.exit_code = Some(127);
    failure
}

fn judge(call: &RunningCall, finished: &FinishedCommand) -> Result<ToolOutput, ToolError> {
    let stderr = captured(&finished.stderr);
    match finished.ending {
        ExitReason::Exited(0) => output::read(call, &finished.stdout, stderr),
        ExitReason::Exited(code) => {
            let message = format!("the command exited with status {code}");
            Err(output::failure(&finished.stdout, stderr, code, message))
        }
        ExitReason::Signalled(signal) => {
            let message = format!("the command was ended by signal {signal}");
            Err(output::failure(&finished.stdout, stderr, 128 + signal, message))
        }
        ExitReason::Stopped => {
            let mut error = ToolError::new(codes::CANCELLED.code, "the command was stopped");
            error.stdout = captured(&finished.stdout);
            error.stderr = stderr;
            Err(error)
        }
    }
}

fn captured(captured: &guard::process::CapturedOutput) -> CapturedText {
    let bytes = &captured.bytes;
    // Where the limit falls into a character, what is left of it was cut off too.
    let torn = if captured.dropped > 0 { torn_character(bytes) } else { 0 };
    let whole = bytes.len() - torn;
    CapturedText {
        text: String::from_utf8_lossy(&bytes[..whole]).into_owned(),
        dropped: captured.dropped + torn as u64,
    }
}

/// The number of bytes at the end that begin a character and do not end it.
fn torn_character(bytes: &[u8]) -> usize {
    let begins_one = |length: &usize| {
        let end = std::str::from_utf8(&bytes[bytes.len() - length..]);
        end.is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (1..=bytes.len().min(3)).find(begins_one).unwrap_or(0)
}
