//! A command, its limits, and its end.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::ProcessSandbox;

/// A command to run.
#[derive(Debug, Clone)]
pub struct Launch {
    /// A name looked up on the server's `PATH`, or a path. A relative path starts at `cwd`.
    pub program: OsString,
    /// The arguments after the program, each passed on as it is; no shell reads them.
    pub args: Vec<String>,
    /// The whole environment: nothing of the server's own is passed on.
    pub env: Vec<(String, String)>,
    /// The folder that the command starts in.
    pub cwd: PathBuf,
    /// The bytes on its standard input, which then ends.
    pub stdin: Vec<u8>,
    /// The limits that the kernel enforces on each of its processes.
    pub limits: ResourceLimits,
    /// The files that it can reach; all that we can where there is none.
    pub sandbox: Option<ProcessSandbox>,
    /// The bytes of standard output that are kept.
    pub max_stdout_bytes: u64,
    /// The bytes of standard error that are kept.
    pub max_stderr_bytes: u64,
}

impl Launch {
    /// The bytes of each output that are kept unless the caller says otherwise.
    pub const DEFAULT_OUTPUT_BYTES: u64 = 1_000_000;

    /// A command without arguments, environment or input, within the default limits.
    pub fn new(program: impl Into<OsString>, cwd: impl Into<PathBuf>) -> Launch {
        Launch {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: cwd.into(),
            stdin: Vec::new(),
            limits: ResourceLimits::default(),
            sandbox: None,
            max_stdout_bytes: Self::DEFAULT_OUTPUT_BYTES,
            max_stderr_bytes: Self::DEFAULT_OUTPUT_BYTES,
        }
    }
}

/// Limits that the kernel enforces on each process of the command, not on their sum.
///
/// A limit above what the server itself may use is lowered to that. Core dumps are always off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceLimits {
    /// Address space. Counts what is reserved, not what is resident: a JVM wants some gigabytes.
    pub max_memory_bytes: u64,
    /// Processor time. Beyond it a process gets `SIGXCPU`, a second later `SIGKILL`.
    pub max_cpu_seconds: u64,
    /// Size of a file that it writes. Beyond it a write fails or the process gets `SIGXFSZ`.
    pub max_file_bytes: u64,
    /// Files open at the same time.
    pub max_open_files: u64,
}

impl Default for ResourceLimits {
    fn default() -> Self {
        ResourceLimits {
            max_memory_bytes: 4 << 30,
            max_cpu_seconds: 300,
            max_file_bytes: 1 << 30,
            max_open_files: 1024,
        }
    }
}

/// A command that ran and is gone, with everything that it started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedCommand {
    /// The end of the command itself.
    pub ending: ExitReason,
    /// The standard output of it and its descendants.
    pub stdout: CapturedOutput,
    /// Their standard error, without the lines that the caller consumed.
    pub stderr: CapturedOutput,
}

/// The way in which a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitReason {
    /// It exited with this code.
    Exited(i32),
    /// It died of this signal.
    Signalled(i32),
    /// The caller cancelled it, and it was killed.
    Stopped,
}

/// The beginning of an output, and how much came after it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CapturedOutput {
    /// The first bytes, up to the limit.
    pub bytes: Vec<u8>,
    /// The number of bytes after that, which were read and not kept.
    pub dropped: u64,
}

/// The reason why a command did not start. Nothing of it has run.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no such program.
    #[error("program `{program}` was not found")]
    NotFound {
        /// The program as the launch named it.
        program: String,
    },
    /// It exists, and is a folder or lacks the permission.
    #[error("`{program}` is not a file that may be executed")]
    NotExecutable {
        /// The program as the launch named it.
        program: String,
    },
    /// The kernel refused to execute it, for example because its interpreter is missing.
    #[error("`{program}` could not be executed")]
    Failed {
        /// The program as the launch named it.
        program: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The folder to start in is missing or is no folder.
    #[error("work folder `{}` cannot be used", path.display())]
    WorkFolder {
        /// The folder that the launch named.
        path: PathBuf,
        /// The error of looking at it.
        source: io::Error,
    },
    /// A variable that no environment can hold.
    #[error("`{name}` is not a usable environment variable: empty, or with `=` or NUL")]
    Environment {
        /// The name of the variable.
        name: String,
    },
    /// A path that the sandbox opens is not there.
    #[error("the sandbox path `{}` cannot be used", path.display())]
    SandboxPath {
        /// The path that the sandbox named.
        path: PathBuf,
        /// The error of looking at it.
        source: io::Error,
    },
    /// The sandbox is required, and the kernel has none.
    #[error(
        "the kernel has no Landlock, which the sandbox needs (Linux has it since 5.13, unless it is switched off)"
    )]
    NoSandbox,
    /// The sandbox could not be set up.
    #[error("the sandbox could not be set up")]
    Sandbox {
        /// The error.
        source: io::Error,
    },
    /// Our own part of starting a command failed.
    #[error("the command's supervisor could not be started")]
    Supervisor {
        /// The error.
        source: io::Error,
    },
}
