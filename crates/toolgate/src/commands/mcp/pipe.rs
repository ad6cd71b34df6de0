//! Stdin and stdout as pipes or sockets, without a thread between: that is what clients connect.

use std::{
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::{fs::FileTypeExt, net::UnixStream},
    },
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{self, unix::pipe},
};

/// The kind of a file descriptor.
enum StreamKind {
    Pipe(OwnedFd),
    Socket(OwnedFd),
    Other,
}

fn stream_kind(descriptor: impl AsFd) -> io::Result<StreamKind> {
    let file = std::fs::File::from(descriptor.as_fd().try_clone_to_owned()?);
    let kind = file.metadata()?.file_type();
    Ok(if kind.is_fifo() {
        StreamKind::Pipe(file.into())
    } else if kind.is_socket() {
        StreamKind::Socket(file.into())
    } else {
        StreamKind::Other
    })
}

fn socket(descriptor: OwnedFd) -> io::Result<net::UnixStream> {
    let stream = UnixStream::from(descriptor);
    stream.set_nonblocking(true)?;
    net::UnixStream::from_std(stream)
}

/// Opens stdin.
pub fn input() -> io::Result<Box<dyn AsyncRead + Send + Unpin>> {
    Ok(match stream_kind(io::stdin())? {
        StreamKind::Pipe(descriptor) => Box::new(pipe::Receiver::from_owned_fd(descriptor)?),
        StreamKind::Socket(descriptor) => Box::new(socket(descriptor)?),
        StreamKind::Other => Box::new(tokio::io::stdin()),
    })
}

/// Opens stdout.
pub fn output() -> io::Result<Box<dyn AsyncWrite + Send + Unpin>> {
    Ok(match stream_kind(io::stdout())? {
        StreamKind::Pipe(descriptor) => Box::new(pipe::Sender::from_owned_fd(descriptor)?),
        StreamKind::Socket(descriptor) => Box::new(socket(descriptor)?),
        StreamKind::Other => Box::new(tokio::io::stdout()),
    })
}
