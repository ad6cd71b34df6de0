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

/// Whether a connection has carried an answer before.
#[derive(Debug, Clone, Default)]
pub(super) struct Used(Arc<AtomicBool>);

impl Used {
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A connection to an address that was judged.
pub(super) struct Stream {
    pub(super) wire: Wire,
    /// Its place among those that are kept; without one it is used once.
    pub(super) place: Option<OwnedSemaphorePermit>,
}

/// What a connection runs over.
pub(super) enum Wire {
    /// As it is.
    Plain(TokioIo<TcpStream>),
    /// Inside TLS.
    Encrypted(Box<TokioIo<TlsStream<TcpStream>>>),
    /// To no address at all: into a folder of files.
    StandIn(TokioIo<DuplexStream>),
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        let connected = Connected::new().extra(Used::default());
        if self.place.is_none() {
            connected.poison();
        }
        let protocol = match &self.wire {
            Wire::Plain(_) | Wire::StandIn(_) => None,
            Wire::Encrypted(stream) => stream.inner().get_ref().1.alpn_protocol(),
        };
        if protocol == Some(b"h2") { connected.negotiated_h2() } else { connected }
    }
}

macro_rules! with {
    ($stream:expr, $inner:ident => $call:expr) => {
        match &mut $stream.get_mut().wire {
            Wire::Plain(stream) => {
                let $inner = Pin::new(stream);
                $call
            }
            Wire::Encrypted(stream) => {
                let $inner = Pin::new(stream.as_mut());
                $call
            }
            Wire::StandIn(stream) => {
                let $inner = Pin::new(stream);
                $call
            }
        }
    };
}

impl Read for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        with!(self, inner => inner.poll_read(context, buffer))
    }
}

impl Write for Stream {
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
            Wire::Plain(stream) => stream.is_write_vectored(),
            Wire::Encrypted(stream) => stream.is_write_vectored(),
            Wire::StandIn(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        with!(self, inner => inner.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        with!(self, inner => inner.poll_shutdown(context))
    }
}
