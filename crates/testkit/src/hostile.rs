//! An HTTP server that does everything wrong, over real sockets.
//!
//! The path says what it does: `/ok` is a page, `/endless` a body without an end, `/redir?to=…` leads
//! anywhere. It listens on loopback, in threads of its own, and counts who connects.

mod certificates;
mod charsets;
mod documents;
mod encodings;
mod http2;
mod pages;
mod wire;

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

pub use certificates::Authority;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite},
    net::{TcpListener, TcpStream},
    runtime::Runtime,
};
use tokio_rustls::TlsAcceptor;

/// The largest request that is read, in bytes.
const MAX_REQUEST_BYTES: usize = 1_048_576;

/// A connection, encrypted or not.
trait Wire: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Wire for T {}

/// A request: the path, the query taken apart, and every byte of it.
struct HostileRequest {
    path: String,
    query: HashMap<String, String>,
    bytes: Vec<u8>,
}

/// The server.
pub struct Hostile {
    runtime: Option<Runtime>,
    connections: Arc<AtomicUsize>,
    /// The port of plain HTTP.
    pub port: u16,
}

impl Default for Hostile {
    fn default() -> Self {
        Self::start()
    }
}

impl Hostile {
    /// Starts it, on plain HTTP.
    pub fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let mut server = Self { runtime: Some(runtime), connections, port: 0 };
        server.port = server.listen(None);
        server
    }

    /// Listens for TLS too, with a certificate of this authority for these names; the port.
    pub fn listen_tls(&self, authority: &Authority, names: &[&str]) -> u16 {
        self.listen(Some(authority.acceptor(names, &[])))
    }

    /// Listens for HTTP/2 inside TLS, well-behaved but for the headers of `/headers`; the port.
    pub fn listen_http2(&self, authority: &Authority, names: &[&str]) -> u16 {
        self.listen(Some(authority.acceptor(names, &[b"h2"])))
    }

    /// The number of connections so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn listen(&self, tls: Option<TlsAcceptor>) -> u16 {
        let runtime = self.runtime.as_ref().unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let listener = std::net::TcpListener::bind(address).unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = self.connections.clone();
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream, tls.clone()));
            }
        });
        port
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        // Some of its answers have no end; a test must not wait for them.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn serve(stream: TcpStream, tls: Option<TlsAcceptor>) {
    match tls {
        Some(tls) => {
            let Ok(mut stream) = tls.accept(stream).await else { return };
            if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
                http2::serve(stream).await;
            } else if let Some(asked) = ask(&mut stream).await {
                // Whoever hangs up in the middle is none of its business.
                let _ = wire::answer(&asked, &mut stream).await;
                let _ = tokio::io::AsyncWriteExt::shutdown(&mut stream).await;
            }
        }
        None => {
            let mut stream = stream;
            if let Some(asked) = ask(&mut stream).await {
                if asked.path == "/reset" {
                    let _ = stream.set_zero_linger();
                    return;
                }
                let _ = wire::answer(&asked, &mut stream).await;
            }
        }
    }
}

/// Reads the head of a request.
async fn ask(stream: &mut (impl AsyncRead + Unpin)) -> Option<HostileRequest> {
    let mut bytes = Vec::new();
    while !bytes.windows(4).any(|four| four == b"\r\n\r\n") {
        let read = stream.read_buf(&mut bytes).await.ok()?;
        if read == 0 || bytes.len() > MAX_REQUEST_BYTES {
            return None;
        }
    }
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let target = head.split(' ').nth(1)?;
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let decoded =
        |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    let query = query.split('&').filter_map(|pair| pair.split_once('='));
    let query = query.map(|(name, value)| (decoded(name), decoded(value))).collect();
    Some(HostileRequest { path: path.to_owned(), query, bytes })
}
