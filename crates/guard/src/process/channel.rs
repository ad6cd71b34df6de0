//! The messages of the three processes, over a socket that is the helper's standard input.
//!
//! Down goes one message with the tool's three standard streams as descriptors; up come
//! [`ProcessReport`]s, the beginning and the end, and then the end of the stream. The socket carries a third meaning for free: it closes
//! when its owner dies, however it dies.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};

use super::{FIRST_AFTER_STREAMS, SandboxLevel};

/// A report is one short line of JSON; more than this are no reports.
pub(super) const MAX_REPORT_BYTES: u64 = 4096;

const STREAMS: usize = 3;

/// A message about a start or an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ProcessReport {
    /// The tool runs, in a sandbox as far as there is one.
    Started {
        sandbox: Option<SandboxLevel>,
    },
    Exited(i32),
    Signalled(i32),
    NotStarted {
        step: StartStep,
        errno: i32,
    },
}

/// Which step of a start failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StartStep {
    /// Ours: becoming a supervisor, or setting the limits.
    Prepare,
    /// The sandbox, which is asked for and cannot be had.
    Sandbox,
    /// The tool's: the kernel refused to execute the program.
    Execute,
}

impl ProcessReport {
    pub(super) fn not_started(step: StartStep, error: &io::Error) -> ProcessReport {
        let errno = error.raw_os_error().unwrap_or(rustix::io::Errno::IO.raw_os_error());
        ProcessReport::NotStarted { step, errno }
    }

    pub(super) fn to_json(self) -> Vec<u8> {
        let mut line =
            serde_json::to_vec(&self).expect("an enum of numbers and words is always JSON");
        line.push(b'\n');
        line
    }

    /// The latest one that is there whole.
    pub(super) fn latest(bytes: &[u8]) -> Option<ProcessReport> {
        let whole = &bytes[..bytes.iter().rposition(|byte| *byte == b'\n')?];
        serde_json::from_slice(whole.rsplit(|byte| *byte == b'\n').next()?).ok()
    }
}

/// Takes the socket away from standard input, to a descriptor that no child inherits.
pub(super) fn take_from_stdin() -> io::Result<UnixStream> {
    let channel = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), FIRST_AFTER_STREAMS)?;
    let nothing = std::fs::File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    Ok(UnixStream::from(channel))
}

/// Takes the file away from standard output, likewise.
pub(super) fn take_from_stdout() -> io::Result<OwnedFd> {
    let file = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), FIRST_AFTER_STREAMS)?;
    let nothing = std::fs::File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok(file)
}

/// Hands the tool's standard input, output and error to the other side.
pub(super) fn send_streams(
    channel: &UnixStream,
    streams: [BorrowedFd<'_>; STREAMS],
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(STREAMS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    assert!(
        control.push(SendAncillaryMessage::ScmRights(&streams)),
        "the space was measured for this message"
    );
    // Descriptors need at least one byte of data to travel with.
    sendmsg(channel, &[IoSlice::new(&[0])], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Waits for the tool's standard input, output and error.
pub(super) fn receive_streams(channel: &UnixStream) -> io::Result<[OwnedFd; STREAMS]> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(STREAMS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(
        channel.as_fd(),
        &mut [IoSliceMut::new(&mut byte)],
        &mut control,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let mut streams = Vec::with_capacity(STREAMS);
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            streams.extend(descriptors);
        }
    }
    streams.try_into().map_err(|_| io::Error::from(io::ErrorKind::UnexpectedEof))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn streams_arrive_in_order_and_usable() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        let null = std::fs::File::open("/dev/null").unwrap();
        send_streams(&ours, [null.as_fd(), writer.as_fd(), null.as_fd()]).unwrap();
        drop(writer);
        let [_, output, _] = receive_streams(&theirs).unwrap();
        let mut output = std::fs::File::from(output);
        output.write_all(b"through").unwrap();
        drop(output);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "through");
    }

    #[test]
    fn a_closed_channel_brings_no_streams() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(ours);
        let error = receive_streams(&theirs).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn reports_survive_the_way() {
        for report in [
            ProcessReport::Started { sandbox: None },
            ProcessReport::Started { sandbox: Some(SandboxLevel::Partly) },
            ProcessReport::Exited(7),
            ProcessReport::Signalled(9),
            ProcessReport::NotStarted { step: StartStep::Execute, errno: 2 },
        ] {
            assert_eq!(ProcessReport::latest(&report.to_json()), Some(report));
            let both = [ProcessReport::Signalled(1).to_json(), report.to_json()].concat();
            assert_eq!(ProcessReport::latest(&both), Some(report));
            assert_eq!(
                ProcessReport::latest(&both[..both.len() - 1]),
                Some(ProcessReport::Signalled(1))
            );
        }
        assert_eq!(ProcessReport::latest(b""), None);
        assert_eq!(ProcessReport::latest(b"\n"), None);
    }
}
