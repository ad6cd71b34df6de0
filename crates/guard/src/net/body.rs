//! Reading a body: bounded in bytes, also while it is decompressed, and in silence.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, Stream};
use http::{HeaderMap, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::io::AsyncReadExt;
use tokio_util::io::StreamReader;

use super::{
    NetError, NetErrorReason,
    encoding::{self, Coding},
};

/// By how much an encoded body may be larger than what comes out of it.
const ENCODING_SLACK_BYTES: usize = 65_536;
/// The bytes that are decoded at once, before others have their turn: well below a millisecond.
const PIECE_BYTES: usize = 65_536;

#[derive(Debug)]
pub(super) struct ReadBody {
    pub(super) bytes: Bytes,
    pub(super) wire_bytes: u64,
}

/// Reads the body of an answer.
pub(super) async fn read(
    body: Incoming,
    headers: &HeaderMap,
    max_bytes: usize,
    idle: Duration,
) -> Result<ReadBody, NetError> {
    let codings = encoding::codings(headers)?;
    let slack = if codings.is_empty() { 0 } else { ENCODING_SLACK_BYTES };
    let max_wire_bytes = max_bytes.saturating_add(slack) as u64;
    let announced = announced(headers);
    if announced.is_some_and(|length| length > max_wire_bytes) {
        return Err(too_large(max_bytes));
    }
    if codings.is_empty() {
        let expected = announced.and_then(|length| usize::try_from(length).ok());
        return plain(body, expected.unwrap_or_default(), max_bytes, idle).await;
    }
    let wire_bytes = Arc::new(AtomicU64::new(0));
    let pieces = pieces(body, idle, wire_bytes.clone(), max_wire_bytes, max_bytes);
    let wire = Box::new(StreamReader::new(Box::pin(pieces)));
    let bytes = decode(wire, &codings, max_bytes).await?;
    Ok(ReadBody { bytes, wire_bytes: wire_bytes.load(Ordering::Relaxed) })
}

/// A body without encodings. One that comes in one piece is not copied, and one whose size was
/// announced, which is within the limit, is copied once.
async fn plain(
    mut body: Incoming,
    expected: usize,
    max_bytes: usize,
    idle: Duration,
) -> Result<ReadBody, NetError> {
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(piece) = next(&mut body, idle).await? {
        if first.len().max(all.len()) + piece.len() > max_bytes {
            return Err(too_large(max_bytes));
        }
        if first.is_empty() && all.is_empty() {
            first = piece;
            continue;
        }
        if all.is_empty() {
            all.reserve(expected);
            all.extend_from_slice(&std::mem::take(&mut first));
        }
        all.extend_from_slice(&piece);
    }
    let bytes = if all.is_empty() { first } else { all.freeze() };
    Ok(ReadBody { wire_bytes: bytes.len() as u64, bytes })
}

async fn decode(
    wire: encoding::DecodedBody,
    codings: &[Coding],
    max_bytes: usize,
) -> Result<Bytes, NetError> {
    let mut body = encoding::decoded(wire, codings).await.map_err(undecodable)?;
    let mut all = BytesMut::new();
    loop {
        // Not as much as there is room for: that grows with what has come.
        let piece = PIECE_BYTES.min(max_bytes.saturating_sub(all.len()) + 1);
        let mut piece = (&mut body).take(piece as u64);
        if piece.read_buf(&mut all).await.map_err(undecodable)? == 0 {
            return Ok(all.freeze());
        }
        if all.len() > max_bytes {
            return Err(too_large(max_bytes));
        }
        // What is already here can be decoded without ever waiting.
        tokio::task::yield_now().await;
    }
}

/// The pieces of a body as a stream, counted.
fn pieces(
    body: Incoming,
    idle: Duration,
    wire_bytes: Arc<AtomicU64>,
    max_wire_bytes: u64,
    max_bytes: usize,
) -> impl Stream<Item = io::Result<Bytes>> + Send {
    stream::try_unfold(body, move |mut body| {
        let wire_bytes = wire_bytes.clone();
        async move {
            let Some(piece) = next(&mut body, idle).await.map_err(io::Error::other)? else {
                return Ok(None);
            };
            let length = piece.len() as u64;
            if wire_bytes.fetch_add(length, Ordering::Relaxed) + length > max_wire_bytes {
                return Err(io::Error::other(too_large(max_bytes)));
            }
            Ok(Some((piece, body)))
        }
    })
}

/// The next piece; nothing at the end. Trailers say nothing that is wanted.
async fn next(body: &mut Incoming, idle: Duration) -> Result<Option<Bytes>, NetError> {
    loop {
        // Who sends faster than we read is never waited for, and no clock would be looked at.
        tokio::task::consume_budget().await;
        let Ok(frame) = tokio::time::timeout(idle, body.frame()).await else {
            let message = format!("no data for {} s", idle.as_secs_f64());
            return Err(NetError::new(NetErrorReason::Timeout, message));
        };
        match frame {
            None => return Ok(None),
            Some(Ok(frame)) => {
                if let Ok(piece) = frame.into_data() {
                    return Ok(Some(piece));
                }
            }
            Some(Err(error)) => {
                let message = "the body was cut off or is not valid HTTP";
                return Err(NetError::new(NetErrorReason::Network, message).for_operator(error));
            }
        }
    }
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.trim().parse().ok()
}

pub(super) fn too_large(max_bytes: usize) -> NetError {
    NetError::new(NetErrorReason::TooLarge, format!("the body has more than {max_bytes} bytes"))
}

/// A failure of ours that came through a decoder, or one of the decoder's own.
fn undecodable(error: io::Error) -> NetError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<NetError>()) {
        Some(ours) => ours.clone(),
        None => {
            let message = "the body is cut off or not what its content encoding says";
            NetError::new(NetErrorReason::Network, message).for_operator(error)
        }
    }
}
