//! Bodies and streams that note what they do in the activity of their connection.

use std::{
    io,
    pin::Pin,
    sync::{Arc, atomic::Ordering::Relaxed},
    task::{Context, Poll},
};

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::activity::{BODY, BUSY, BusyGuard, ConnectionActivity, HEAD, IDLE, NEW};

/// The body of a request that is coming in.
pub(super) struct RequestBody {
    pub(super) body: Incoming,
    pub(super) activity: Arc<ConnectionActivity>,
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        match frame {
            Poll::Pending => self.activity.pass(BUSY, BODY),
            Poll::Ready(_) => self.activity.pass(BODY, BUSY),
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        self.activity.pass(BODY, BUSY);
    }
}

/// A body that keeps its connection busy.
pub(super) struct TrackedBody {
    pub(super) body: Body,
    pub(super) busy: BusyGuard,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        let data = match &frame {
            Poll::Ready(Some(Ok(frame))) => frame.data_ref(),
            _ => None,
        };
        self.busy.0.unread.set(data.map_or(0, |bytes| bytes.len() as u64));
        frame
    }

    /// Never before it is asked for one frame more, which is when the last one is sent.
    fn is_end_stream(&self) -> bool {
        false
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A stream that notes when bytes move.
pub(super) struct TrackedStream<S> {
    pub(super) stream: S,
    pub(super) activity: Arc<ConnectionActivity>,
}

impl<S: AsyncRead + Unpin> AsyncRead for TrackedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            match self.activity.phase.load(Relaxed) {
                IDLE => self.activity.enter(HEAD),
                // Its time runs from the accept.
                NEW => self.activity.phase.store(HEAD, Relaxed),
                BODY => self.activity.note_silence(),
                _ => {}
            }
        } else if matches!(result, Poll::Ready(Ok(())))
            && buffer.remaining() > 0
            && self.activity.may_wait(context)
        {
            // Read again once the response is sent; until then the supervisor watches over it.
            return Poll::Pending;
        }
        result
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TrackedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.activity.wrote(&result);
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.activity.wrote(&result);
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_flush(context);
        self.activity.flushed(&result);
        result
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
