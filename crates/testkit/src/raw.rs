//! A connection by hand, for what a well-behaved client would never send.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::rustls::{SupportedProtocolVersion, version};

use crate::{Answer, Authority, World};

/// The timeout for a response, or for the end of the connection.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A stream, encrypted or not.
trait RawStream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> RawStream for T {}

/// A connection that sends exactly the bytes it is given.
pub struct Raw {
    stream: Box<dyn RawStream>,
    read: Vec<u8>,
}

impl Raw {
    /// Sends the bytes; fails where the server has closed.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.stream.write_all(bytes.as_ref()).await
    }

    /// Says that nothing more is sent.
    pub async fn half_close(&mut self) -> io::Result<()> {
        self.stream.shutdown().await
    }

    /// The next answer, with as much body as its head announces.
    pub async fn answer(&mut self) -> Answer {
        let mut answer = self.head().await;
        let length = match answer.headers.get("content-length") {
            _ if answer.status == 304 => 0,
            Some(length) => length.parse().unwrap(),
            None => usize::MAX,
        };
        while self.read.len() < length && self.fill().await > 0 {}
        let rest = self.read.split_off(length.min(self.read.len()));
        answer.body = std::mem::replace(&mut self.read, rest);
        answer
    }

    /// The head of the next answer, where it has no body whatever it announces.
    pub async fn head(&mut self) -> Answer {
        let end = loop {
            if let Some(end) = self.read.windows(4).position(|four| four == b"\r\n\r\n") {
                break end;
            }
            let shown = String::from_utf8_lossy(&self.read).into_owned();
            assert!(self.fill().await > 0, "closed before an answer: `{shown}`");
        };
        let head = String::from_utf8_lossy(&self.read[..end]).into_owned();
        self.read.drain(..end + 4);
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap();
        let headers = lines.map(|line| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_ascii_lowercase(), value.trim().to_owned())
        });
        let (request, body) = (String::new(), Vec::new());
        Answer { request, status: status.parse().unwrap(), headers: headers.collect(), body }
    }

    /// The next bytes of an endless response; nothing where the server has closed.
    pub async fn more(&mut self) -> String {
        if self.read.is_empty() {
            self.fill().await;
        }
        String::from_utf8_lossy(&std::mem::take(&mut self.read)).into_owned()
    }

    /// The next message of an event stream that has these words.
    pub async fn message(&mut self, words: &str) -> serde_json::Value {
        let mut text = String::new();
        loop {
            let mut data = text.lines().filter_map(|line| line.strip_prefix("data: "));
            let found = data.find(|line| line.contains(words)).map(serde_json::from_str);
            if let Some(Ok(message)) = found {
                return message;
            }
            let more = self.more().await;
            assert!(!more.is_empty(), "no `{words}` in `{text}`");
            text += &more;
        }
    }

    /// Waits until the server closes; what it said until then.
    pub async fn closed(mut self) -> Vec<u8> {
        while self.fill().await > 0 {}
        self.read
    }

    /// Reads what comes; 0 where the connection is closed.
    async fn fill(&mut self) -> usize {
        let read = timeout(TIMEOUT, self.stream.read_buf(&mut self.read)).await;
        read.expect("an answer or the end of the connection").unwrap_or(0)
    }
}

impl World {
    /// A connection by hand.
    pub async fn connect(&self) -> Raw {
        let stream = TcpStream::connect(("127.0.0.1", self.port())).await.unwrap();
        Raw { stream: Box::new(stream), read: Vec::new() }
    }

    /// An encrypted connection to `localhost`, whose certificate must be of this authority.
    pub async fn encrypted(&self, authority: &Authority) -> io::Result<Raw> {
        self.encrypted_with(authority, &version::TLS13).await
    }

    /// The same with this version of TLS.
    pub async fn encrypted_with(
        &self,
        authority: &Authority,
        version: &'static SupportedProtocolVersion,
    ) -> io::Result<Raw> {
        let stream = TcpStream::connect(("127.0.0.1", self.port())).await?;
        let name = "localhost".try_into().unwrap();
        let stream = authority.connector(version).connect(name, stream).await?;
        Ok(Raw { stream: Box::new(stream), read: Vec::new() })
    }

    /// A connection by hand that has sent these bytes.
    pub async fn sent(&self, bytes: impl AsRef<[u8]>) -> Raw {
        let mut raw = self.connect().await;
        raw.send(bytes).await.unwrap();
        raw
    }

    /// Sends a request whose path stays as it is written: a URL library would tidy it up.
    pub async fn raw(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.1\r\n");
        let port = self.port();
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            request += &format!("host: 127.0.0.1:{port}\r\n");
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        let mut raw = self.sent(request + "\r\n").await;
        let answer = if method == "HEAD" { raw.head().await } else { raw.answer().await };
        Answer { request: format!("{method} {path:.80}"), ..answer }
    }
}
