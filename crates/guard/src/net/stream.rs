//! A connection, encrypted or not, as hyper takes it.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::{
    client::legacy::connect::{Connected, Connection},
    rt::TokioIo,
};
use tokio::{io::DuplexStream, net::TcpStream, sync::OwnedSemaphorePermit};
use tokio_rustls::client::TlsStream;

/// A flag: the connection has carried an answer before.
#[derive(Debug, Clone, Default)]
pub(super) struct ReuseMark(Arc<AtomicBool>);

impl ReuseMark {
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A connection to an address that was judged.
pub(super) struct NetStream {
    pub(super) wire: NetTransport,
    /// Its place among those that are kept; without one it is used once.
    pub(super) place: Option<OwnedSemaphorePermit>,
}

/// The transport of a connection.
pub(super) enum NetTransport {
    /// As it is.
    Plain(TokioIo<TcpStream>),
    /// Inside TLS.
    Encrypted(Box<TokioIo<TlsStream<TcpStream>>>),
    /// To no address at all: into a folder of files.
    StandIn(TokioIo<DuplexStream>),
}

impl Connection for NetStream {
    fn connected(&self) -> Connected {
        let connected = Connected::new().extra(ReuseMark::default());
        if self.place.is_none() {
            connected.poison();
        }
        let protocol = match &self.wire {
            NetTransport::Plain(_) | NetTransport::StandIn(_) => None,
            NetTransport::Encrypted(stream) => stream.inner().get_ref().1.alpn_protocol(),
        };
        if protocol == Some(b"h2") { connected.negotiated_h2() } else { connected }
    }
}

macro_rules! with {
    ($stream:expr, $inner:ident => $call:expr) => {
        match &mut $stream.get_mut().wire {
            NetTransport::Plain(stream) => {
                let $inner = Pin::new(stream);
                $call
            }
            NetTransport::Encrypted(stream) => {
                let $inner = Pin::new(stream.as_mut());
                $call
            }
            NetTransport::StandIn(stream) => {
                let $inner = Pin::new(stream);
                $call
            }
        }
    };
}

impl Read for NetStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        with!(self, inner => inner.poll_read(context, buffer))
    }
}

impl Write for NetStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        with!(self, inner => inner.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        with!(self, inner => inner.poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        match &self.wire {
            NetTransport::Plain(stream) => stream.is_write_vectored(),
            NetTransport::Encrypted(stream) => stream.is_write_vectored(),
            NetTransport::StandIn(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        with!(self, inner => inner.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        with!(self, inner => inner.poll_shutdown(context))
    }
}
