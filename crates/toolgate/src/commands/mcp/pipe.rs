//! Stdin and stdout without a thread between: as pipes or sockets, which is what clients
//! connect, and otherwise as whatever they are.

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

/// What kind of thing a descriptor is.
enum Kind {
    Pipe(OwnedFd),
    Socket(OwnedFd),
    Other,
}

fn kind(descriptor: impl AsFd) -> io::Result<Kind> {
    let file = std::fs::File::from(descriptor.as_fd().try_clone_to_owned()?);
    let kind = file.metadata()?.file_type();
    Ok(if kind.is_fifo() {
        Kind::Pipe(file.into())
    } else if kind.is_socket() {
        Kind::Socket(file.into())
    } else {
        Kind::Other
    })
}

fn socket(descriptor: OwnedFd) -> io::Result<net::UnixStream> {
    let stream = UnixStream::from(descriptor);
    stream.set_nonblocking(true)?;
    net::UnixStream::from_std(stream)
}

/// Where messages come from.
pub fn input() -> io::Result<Box<dyn AsyncRead + Send + Unpin>> {
    Ok(match kind(io::stdin())? {
        Kind::Pipe(descriptor) => Box::new(pipe::Receiver::from_owned_fd(descriptor)?),
        Kind::Socket(descriptor) => Box::new(socket(descriptor)?),
        Kind::Other => Box::new(tokio::io::stdin()),
    })
}

/// Where messages go.
pub fn output() -> io::Result<Box<dyn AsyncWrite + Send + Unpin>> {
    Ok(match kind(io::stdout())? {
        Kind::Pipe(descriptor) => Box::new(pipe::Sender::from_owned_fd(descriptor)?),
        Kind::Socket(descriptor) => Box::new(socket(descriptor)?),
        Kind::Other => Box::new(tokio::io::stdout()),
    })
}
