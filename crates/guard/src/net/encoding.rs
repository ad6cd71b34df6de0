//! `Content-Encoding`: which decoders a body needs.

use async_compression::{
    tokio::bufread::{BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder},
    zstd::DParameter,
};
use http::{HeaderMap, header};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, BufReader};

use super::{NetError, NetErrorReason};

/// The encodings that we ask for.
pub(super) const ACCEPTED: &str = "gzip, br, zstd, deflate";
/// The number of encodings that may lie upon each other. More than one is odd, more than two an attack.
const MAX_ENCODINGS: usize = 2;
/// The largest window of zstd, as a power of two: 8 MiB, what RFC 8878 asks of every decoder.
const MAX_ZSTD_WINDOW_LOG: u32 = 23;
/// The bytes that an inner decoder hands to an outer one at once.
const BETWEEN_BYTES: usize = 16_384;

/// A body on its way through decoders.
pub(super) type DecodedBody = Box<dyn AsyncBufRead + Send + Unpin>;

/// One encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    Gzip,
    Brotli,
    Zstd,
    Deflate,
}

/// The encodings of a body in the order in which they were applied.
pub(super) fn codings(headers: &HeaderMap) -> Result<Vec<Coding>, NetError> {
    let mut codings = Vec::new();
    for value in headers.get_all(header::CONTENT_ENCODING) {
        let value = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
        for word in value.split(',').map(str::trim) {
            codings.push(match word {
                "" | "identity" => continue,
                "gzip" | "x-gzip" => Coding::Gzip,
                "br" => Coding::Brotli,
                "zstd" => Coding::Zstd,
                "deflate" => Coding::Deflate,
                unknown => {
                    let shown: String = unknown.chars().take(40).collect();
                    let message = format!("the content encoding `{shown}` is unknown");
                    return Err(NetError::new(NetErrorReason::Network, message));
                }
            });
            if codings.len() > MAX_ENCODINGS {
                let message = format!("the body has more than {MAX_ENCODINGS} content encodings");
                return Err(NetError::new(NetErrorReason::Network, message));
            }
        }
    }
    Ok(codings)
}

/// The body without its encodings.
pub(super) async fn decoded(body: DecodedBody, codings: &[Coding]) -> std::io::Result<DecodedBody> {
    let mut body = body;
    for coding in codings.iter().rev() {
        let start = body.fill_buf().await?;
        // An answer without a body may still name an encoding.
        if start.is_empty() {
            return Ok(body);
        }
        body = match coding {
            Coding::Gzip => {
                let mut decoder = GzipDecoder::new(body);
                decoder.multiple_members(true);
                buffered(decoder)
            }
            Coding::Brotli => buffered(BrotliDecoder::new(body)),
            Coding::Zstd => {
                let window = DParameter::window_log_max(MAX_ZSTD_WINDOW_LOG);
                let mut decoder = ZstdDecoder::with_params(body, &[window]);
                decoder.multiple_members(true);
                buffered(decoder)
            }
            // The name means zlib; enough servers send the bare thing to look which it is.
            Coding::Deflate if is_zlib(start) => buffered(ZlibDecoder::new(body)),
            Coding::Deflate => buffered(DeflateDecoder::new(body)),
        };
    }
    Ok(body)
}

fn buffered(decoder: impl tokio::io::AsyncRead + Send + Unpin + 'static) -> DecodedBody {
    Box::new(BufReader::with_capacity(BETWEEN_BYTES, decoder))
}

/// True if these bytes begin with the head of zlib (RFC 1950).
fn is_zlib(start: &[u8]) -> bool {
    let deflate = start[0] & 0x0f == 8 && start[0] >> 4 <= 7;
    match start.get(1) {
        Some(flags) => deflate && (u16::from(start[0]) << 8 | u16::from(*flags)).is_multiple_of(31),
        None => deflate,
    }
}
