//! The beginning of an encrypted connection. The supervisor bounds its time (`header_timeout` runs from when it was
//! accepted) and ends it where others need room, as it does with every connection that has made no request.

use guard::net::{ServerTls, ServerTlsStream};
use tokio::{io::AsyncWriteExt, net::TcpStream};

/// The response to a client that does not encrypt.
const PLAIN: &str = concat!(
    r#"{"error":{"code":"invalid_request","message":"this port speaks HTTPS: write `https://` in the address"}}"#,
    "\n"
);
/// The part of its request that is read before it is answered, in bytes: what is left unread can cost it the response.
const MAX_DISCARDED_BYTES: usize = 16_384;

/// Agrees with a client on encryption; nothing where it cannot, or only speaks plain HTTP.
pub(super) async fn begin(
    tls: &ServerTls,
    mut stream: TcpStream,
) -> Option<ServerTlsStream<TcpStream>> {
    let mut first = [0];
    if stream.peek(&mut first).await.ok()? == 0 {
        return None;
    }
    if !ServerTls::is_handshake(first[0]) {
        refuse(&mut stream).await;
        return None;
    }
    match tls.accept(stream).await {
        Ok(stream) => Some(stream),
        Err(error) => {
            tracing::debug!(%error, "a client and the server could not agree on encryption");
            None
        }
    }
}

async fn refuse(stream: &mut TcpStream) {
    let _ = stream.try_read(&mut vec![0; MAX_DISCARDED_BYTES]);
    let length = PLAIN.len();
    let response = format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{PLAIN}"
    );
    let _ = stream.write_all(response.as_bytes()).await;
    let _ = stream.shutdown().await;
}
