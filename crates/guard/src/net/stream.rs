//! A connection, encrypted or not, of which the bytes that come in are counted.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use hyper_util::client::legacy::connect::{Connected, Connection};
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf},
    net::TcpStream,
    sync::OwnedSemaphorePermit,
};
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

/// The number of bytes that came in since it was last set to nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct ByteCount(Arc<AtomicUsize>);

impl ByteCount {
    pub(super) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// A connection to an address that was judged.
pub(super) struct NetStream {
    transport: NetTransport,
    pub(super) received: ByteCount,
    /// Its place among those that a pool keeps; without one a pool uses it once.
    pub(super) permit: Option<OwnedSemaphorePermit>,
}

/// The transport of a connection.
pub(super) enum NetTransport {
    Plain(TcpStream),
    /// Inside TLS.
    Encrypted(Box<TlsStream<TcpStream>>),
    /// To no address at all: into a folder of files.
    StandIn(DuplexStream),
}

impl NetStream {
    pub(super) fn new(transport: NetTransport) -> Self {
        Self { transport, received: ByteCount::default(), permit: None }
    }

    /// The socket; none where a folder stands in.
    pub(super) fn socket(&self) -> Option<&TcpStream> {
        match &self.transport {
            NetTransport::Plain(stream) => Some(stream),
            NetTransport::Encrypted(stream) => Some(stream.get_ref().0),
            NetTransport::StandIn(_) => None,
        }
    }

    /// True if both sides agreed on HTTP/2.
    pub(super) fn is_http2(&self) -> bool {
        match &self.transport {
            NetTransport::Encrypted(stream) => stream.get_ref().1.alpn_protocol() == Some(b"h2"),
            NetTransport::Plain(_) | NetTransport::StandIn(_) => false,
        }
    }
}

impl Connection for NetStream {
    fn connected(&self) -> Connected {
        let connected = Connected::new().extra(ReuseMark::default());
        if self.permit.is_none() {
            connected.poison();
        }
        if self.is_http2() { connected.negotiated_h2() } else { connected }
    }
}

macro_rules! with {
    ($stream:expr, $inner:ident => $call:expr) => {
        match &mut $stream.transport {
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

impl AsyncRead for NetStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = with!(self, inner => inner.poll_read(context, buffer));
        self.received.0.fetch_add(buffer.filled().len() - before, Ordering::Relaxed);
        read
    }
}

impl AsyncWrite for NetStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        with!(self, inner => inner.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        with!(self, inner => inner.poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        match &self.transport {
            NetTransport::Plain(stream) => stream.is_write_vectored(),
            NetTransport::Encrypted(stream) => stream.is_write_vectored(),
            NetTransport::StandIn(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        with!(self, inner => inner.poll_flush(context))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        with!(self, inner => inner.poll_shutdown(context))
    }
}
