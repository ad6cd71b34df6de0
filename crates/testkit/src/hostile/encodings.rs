//! Bodies made smaller, some of them out of very much.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use async_compression::tokio::write::{
    BrotliEncoder, DeflateEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder,
};
use tokio::io::{AsyncWrite, AsyncWriteExt};

const MIB: usize = 1_048_576;
/// The size of a decompression bomb: far too much, and made quickly.
const BOMB_MIB: usize = 16;

/// Very much of nothing, made small.
pub(super) async fn bomb(encoding: &str) -> io::Result<Vec<u8>> {
    let mut encoder = encoder(encoding);
    let blanks = vec![b' '; MIB];
    for _ in 0..BOMB_MIB {
        encoder.0.write_all(&blanks).await?;
    }
    encoder.0.shutdown().await?;
    Ok(encoder.1.lock().unwrap().clone())
}

/// Bytes in an encoding of HTTP; `raw` is deflate without its head.
pub(super) async fn encoded(encoding: &str, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = encoder(encoding);
    encoder.0.write_all(bytes).await?;
    encoder.0.shutdown().await?;
    Ok(encoder.1.lock().unwrap().clone())
}

type Encoder = (Box<dyn AsyncWrite + Send + Unpin>, Arc<Mutex<Vec<u8>>>);

fn encoder(encoding: &str) -> Encoder {
    let kept = Kept::default();
    let out = kept.0.clone();
    let encoder: Box<dyn AsyncWrite + Send + Unpin> = match encoding {
        "gzip" => Box::new(GzipEncoder::new(kept)),
        "br" => Box::new(BrotliEncoder::with_quality(kept, async_compression::Level::Fastest)),
        "zstd" => Box::new(ZstdEncoder::new(kept)),
        "deflate" => Box::new(ZlibEncoder::new(kept)),
        "raw" => Box::new(DeflateEncoder::new(kept)),
        _ => Box::new(kept),
    };
    (encoder, out)
}

/// The compressed bytes.
#[derive(Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl AsyncWrite for Kept {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
