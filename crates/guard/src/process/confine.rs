//! The last step before a tool: a process that limits itself and becomes the tool.
#![allow(clippy::disallowed_types, reason = "this is part of the supervised way to start a child")]

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::process::{
    Pid, Resource, Rlimit, Signal, getppid, getrlimit, set_parent_process_death_signal, setrlimit,
};

use serde::{Deserialize, Serialize};

use super::channel::{self, ProcessReport, StartStep};
use super::{ProcessSandbox, ResourceLimits};

/// Between the soft limit of processor time, which tells the tool by `SIGXCPU`, and the hard one.
const CPU_GRACE_SECONDS: u64 = 1;

/// The limits and the sandbox of a command.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Confinement {
    pub(super) limits: ResourceLimits,
    pub(super) sandbox: Option<ProcessSandbox>,
}

/// Arguments: the supervisor's process id, the confinement as JSON, the program, its arguments.
pub(super) fn main(arguments: impl Iterator<Item = OsString>) -> ! {
    // Without a channel there is nobody to tell.
    if let Ok(mut channel) = channel::take_from_stdin() {
        let (step, error) = become_the_tool(&mut channel, arguments);
        let _ = channel.write_all(&ProcessReport::not_started(step, &error).to_json());
    }
    std::process::exit(1)
}

/// Returns only if it failed. On success the channel, which no program inherits, closes by `exec`.
fn become_the_tool(
    channel: &mut UnixStream,
    arguments: impl Iterator<Item = OsString>,
) -> (StartStep, io::Error) {
    match prepare(channel, arguments) {
        Ok(mut command) => (StartStep::Execute, command.exec()),
        Err(failed) => failed,
    }
}

fn prepare(
    channel: &mut UnixStream,
    mut arguments: impl Iterator<Item = OsString>,
) -> Result<Command, (StartStep, io::Error)> {
    let ours = |error: io::Error| (StartStep::Prepare, error);
    let mut next = || arguments.next().ok_or(ours(io::ErrorKind::InvalidInput.into()));
    let supervisor: i32 = parse(&next()?).map_err(ours)?;
    let confinement: Confinement = parse(&next()?).map_err(ours)?;
    let program = next()?;

    take_streams(channel, supervisor).map_err(ours)?;
    let mut temporary = None;
    if let Some(sandbox) = &confinement.sandbox {
        let applied;
        (applied, temporary) =
            sandbox.enter(Path::new(&program)).map_err(|error| (StartStep::Sandbox, error))?;
        let report = ProcessReport::Started { sandbox: Some(applied) };
        channel.write_all(&report.to_json()).map_err(ours)?;
    }
    let mut command = Command::new(program);
    command.args(arguments);
    if let Some(folder) = temporary {
        command.env("TMPDIR", folder);
    }
    // Last, because from here on there may be no memory left for ourselves.
    apply(&confinement.limits).map_err(ours)?;
    Ok(command)
}

fn take_streams(channel: &UnixStream, supervisor: i32) -> io::Result<()> {
    let [input, output, error] = channel::receive_streams(channel)?;
    die_with(supervisor)?;
    // A tool that could become another user by a set-user-id program could no longer be killed.
    rustix::thread::set_no_new_privs(true)?;
    rustix::stdio::dup2_stdin(&input)?;
    rustix::stdio::dup2_stdout(&output)?;
    rustix::stdio::dup2_stderr(&error)?;
    Ok(())
}

fn parse<T: serde::de::DeserializeOwned>(argument: &OsString) -> io::Result<T> {
    let text = argument.to_str().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(serde_json::from_str(text)?)
}

/// A second line of defence, for a supervisor that is killed from outside.
fn die_with(supervisor: i32) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // It may have died just before that.
    if getppid() == Pid::from_raw(supervisor) {
        Ok(())
    } else {
        Err(io::ErrorKind::BrokenPipe.into())
    }
}

fn apply(limits: &ResourceLimits) -> io::Result<()> {
    limit(Resource::Core, 0, 0)?;
    limit(Resource::Cpu, limits.max_cpu_seconds, CPU_GRACE_SECONDS)?;
    limit(Resource::Fsize, limits.max_file_bytes, 0)?;
    limit(Resource::Nofile, limits.max_open_files, 0)?;
    limit(Resource::As, limits.max_memory_bytes, 0)
}

/// Lowers a limit for good: the tool cannot raise it again. `grace` lies between soft and hard.
fn limit(resource: Resource, soft: u64, grace: u64) -> io::Result<()> {
    let ceiling = getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let hard = soft.saturating_add(grace).min(ceiling);
    let new = Rlimit { current: Some(soft.min(hard)), maximum: Some(hard) };
    Ok(setrlimit(resource, new)?)
}
