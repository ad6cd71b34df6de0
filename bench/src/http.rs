//! A keep-alive HTTP/1.1 connection with one request under way at a time.

use anyhow::{Context, bail};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// A connection, and room for the answer that it is reading.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    filled: usize,
}

/// One whole answer.
pub struct Answer<'a> {
    /// Such as 200.
    pub status: u16,
    head: &'a str,
    /// The body, without the framing of chunks.
    pub body: &'a [u8],
}

impl Answer<'_> {
    /// A header by its name in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(self.head, name)
    }
}

impl Connection {
    /// Connects to a port of this machine.
    pub async fn open(port: u16) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; 64 * 1_024], filled: 0 })
    }

    /// Sends a request and reads the answer to its end.
    pub async fn exchange(&mut self, request: &[u8]) -> anyhow::Result<Answer<'_>> {
        self.stream.write_all(request).await?;
        self.filled = 0;
        let head = self.position(0, b"\r\n\r\n").await?;
        let body = head + 4;
        let end = match Length::of(std::str::from_utf8(&self.buffer[..head])?)? {
            Length::Bytes(length) => {
                self.reach(body + length).await?;
                body + length
            }
            Length::Chunks => self.join_chunks(body).await?,
        };
        let head = std::str::from_utf8(&self.buffer[..head])?;
        let status = head.get(9..12).and_then(|code| code.parse().ok()).context("no status")?;
        Ok(Answer { status, head, body: &self.buffer[body..end] })
    }

    /// Moves what the chunks hold to where the first one begins, and tells where it ends.
    async fn join_chunks(&mut self, start: usize) -> anyhow::Result<usize> {
        let (mut from, mut to) = (start, start);
        loop {
            let line = self.position(from, b"\r\n").await?;
            let size = std::str::from_utf8(&self.buffer[from..line])?;
            let size = usize::from_str_radix(size.split(';').next().unwrap_or_default(), 16)
                .with_context(|| format!("not the size of a chunk: `{size}`"))?;
            from = line + 2;
            // The line end after the chunk too; after the last one it ends the answer, as
            // nobody here asked for trailers.
            self.reach(from + size + 2).await?;
            self.buffer.copy_within(from..from + size, to);
            from += size + 2;
            to += size;
            if size == 0 {
                return Ok(to);
            }
        }
    }

    /// The position of some bytes, once they have come.
    async fn position(&mut self, from: usize, wanted: &[u8]) -> anyhow::Result<usize> {
        loop {
            if let Some(at) = find(&self.buffer[from..self.filled], wanted) {
                return Ok(from + at);
            }
            self.fill().await?;
        }
    }

    /// Reads until there are so many bytes.
    async fn reach(&mut self, end: usize) -> anyhow::Result<()> {
        while self.filled < end {
            self.fill().await?;
        }
        Ok(())
    }

    async fn fill(&mut self) -> anyhow::Result<()> {
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.filled * 2, 0);
        }
        let read = self.stream.read(&mut self.buffer[self.filled..]).await?;
        if read == 0 {
            bail!("the connection was closed");
        }
        self.filled += read;
        Ok(())
    }
}

/// The framing of a response.
enum Length {
    Bytes(usize),
    Chunks,
}

impl Length {
    fn of(head: &str) -> anyhow::Result<Self> {
        if let Some(length) = header(head, "content-length") {
            return Ok(Self::Bytes(length.parse()?));
        }
        if header(head, "transfer-encoding") == Some("chunked") {
            return Ok(Self::Chunks);
        }
        if head.starts_with("HTTP/1.1 204") {
            return Ok(Self::Bytes(0));
        }
        bail!("neither a length nor chunks: {head}")
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// The position at which the needle begins.
pub fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\n\r\n";

    /// The bytes that a client reads when the server sends these pieces, each on its own.
    async fn read(pieces: &'static [&'static str]) -> anyhow::Result<(u16, String)> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            stream.read_exact(&mut [0; REQUEST.len()]).await.unwrap();
            for piece in pieces {
                stream.write_all(piece.as_bytes()).await.unwrap();
                tokio::task::yield_now().await;
            }
        });
        let mut connection = Connection::open(port).await?;
        let answer = connection.exchange(REQUEST).await?;
        Ok((answer.status, String::from_utf8(answer.body.to_vec())?))
    }

    #[tokio::test]
    async fn reads_an_answer_of_a_known_length() {
        let answer = read(&["HTTP/1.1 200 OK\r\nContent-Le", "ngth: 5\r\n\r\nhe", "llo"]).await;
        assert_eq!(answer.unwrap(), (200, "hello".to_owned()));
    }

    #[tokio::test]
    async fn joins_an_answer_that_comes_in_chunks() {
        let answer = read(&[
            "HTTP/1.1 202 Accepted\r\ntransfer-encoding: chunked\r\n\r\n3\r",
            "\nhel\r\n2;note\r\nlo\r\n",
            "B\r\n to the wor",
            "\r\n2\r\nld\r\n0\r\n",
            "\r\n",
        ]);
        assert_eq!(answer.await.unwrap(), (202, "hello to the world".to_owned()));
    }

    #[tokio::test]
    async fn refuses_an_answer_that_is_cut_off() {
        let cut = read(&["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nhello"]);
        let refused = cut.await.unwrap_err();
        assert_eq!(refused.to_string(), "the connection was closed");
    }
}
