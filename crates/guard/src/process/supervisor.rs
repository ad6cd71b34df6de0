//! The process between the server and a tool, which sees to it that nothing of the tool is left.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;

use rustix::process::setsid;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;

use super::channel::{self, ProcessReport, StartStep};
use super::command::{SupervisedCommand, SupervisorEvent};

/// Arguments: the confinement as JSON, the program, its arguments.
pub(super) fn main(arguments: impl Iterator<Item = OsString>) -> ! {
    let supervised = channel::take_from_stdin().and_then(|channel| run(channel, arguments));
    std::process::exit(i32::from(supervised.is_err()))
}

/// Supervises the tool to its end, and reports it.
fn run(
    channel: std::os::unix::net::UnixStream,
    arguments: impl Iterator<Item = OsString>,
) -> io::Result<()> {
    // Out of reach of the terminal's Ctrl-C, which would kill this process and not the tool. Also
    // marks all that is below it, should this process die all the same.
    let _ = setsid();
    let streams = channel::receive_streams(&channel)?;
    channel.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let mut channel = UnixStream::from_std(channel)?;
        let report = match SupervisedCommand::start(&streams.each_ref().map(AsFd::as_fd), arguments)
        {
            Ok(tool) => {
                // From here on only the tool holds its streams, and their end is its end.
                drop(streams);
                supervise(tool, &mut channel).await
            }
            Err(error) => ProcessReport::not_started(StartStep::Prepare, &error),
        };
        channel.write_all(&report.to_json()).await
    })
}

/// Waits until the tool ends by itself or has to, and clears up.
async fn supervise(mut tool: SupervisedCommand, channel: &mut UnixStream) -> ProcessReport {
    while tool.is_running() {
        match tool.next(Some(&mut *channel)).await {
            // A server that is gone shows on the same channel.
            SupervisorEvent::Started(started) => drop(channel.write_all(&started.to_json()).await),
            SupervisorEvent::ChildChanged => {}
            // The server sends nothing: whatever it reads here is the end of the call.
            SupervisorEvent::Message(_) | SupervisorEvent::StopRequested => break,
        }
    }
    tool.clear();
    tool.report(Some(channel)).await
}
