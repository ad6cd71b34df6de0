//! A stand-in for the service behind a tool: whatever it is asked, it gives one answer.

use contract::Upstream;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

/// Starts it on a port of its own, until the program or its runtime ends; its address.
pub async fn start(upstream: &Upstream) -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("http://{}", listener.local_addr()?);
    let body = upstream.body.to_string();
    let answer = format!(
        "HTTP/1.1 {} -\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: \
         close\r\n\r\n{body}",
        upstream.status,
        body.len()
    );
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // Who asks badly is told nothing.
            let _ = tell(stream, &answer).await;
        }
    });
    Ok(address)
}

/// Reads a request to its end and answers it.
async fn tell(stream: TcpStream, answer: &str) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 || line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    tokio::io::copy(&mut (&mut stream).take(length), &mut tokio::io::sink()).await?;
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}
