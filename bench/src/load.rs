//! A load of keep-alive connections, each with one request under way at a time.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
};

/// What is called.
pub struct Target {
    /// What the table calls it.
    pub name: String,
    port: u16,
    request: Vec<u8>,
}

impl Target {
    /// A POST of a JSON body.
    pub fn new(name: &str, port: u16, path: &str, body: &str) -> Self {
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        Self { name: name.to_owned(), port, request: request.into_bytes() }
    }
}

/// What was measured.
#[derive(Debug, Clone, Copy)]
pub struct Figures {
    /// Answers a second.
    pub per_second: f64,
    /// Half of the answers took no longer, in microseconds.
    pub p50: f64,
    /// All but one in a hundred took no longer, in microseconds.
    pub p99: f64,
}

/// Calls for a while, after a short warm-up.
pub async fn run(target: &Target, connections: usize, time: Duration) -> anyhow::Result<Figures> {
    let warm = Instant::now() + time / 5;
    let end = warm + time;
    let mut tasks = JoinSet::new();
    for _ in 0..connections {
        let (port, request) = (target.port, target.request.clone());
        tasks.spawn(async move { connection(port, &request, warm, end).await });
    }
    let mut latencies = Vec::new();
    while let Some(task) = tasks.join_next().await {
        latencies.extend(task??);
    }
    latencies.sort_unstable();
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let at = |share: f64| {
        let index = ((latencies.len() as f64 - 1.0) * share) as usize;
        latencies.get(index).map_or(f64::NAN, |latency| latency.as_nanos() as f64 / 1_000.0)
    };
    #[allow(clippy::cast_precision_loss)]
    let per_second = latencies.len() as f64 / time.as_secs_f64();
    Ok(Figures { per_second, p50: at(0.5), p99: at(0.99) })
}

async fn connection(
    port: u16,
    request: &[u8],
    warm: Instant,
    end: Instant,
) -> anyhow::Result<Vec<Duration>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.set_nodelay(true)?;
    let mut latencies = Vec::new();
    let mut buffer = vec![0; 64 * 1_024];
    loop {
        let begin = Instant::now();
        if begin >= end {
            return Ok(latencies);
        }
        stream.write_all(request).await?;
        answer(&mut stream, &mut buffer).await?;
        if begin >= warm {
            latencies.push(begin.elapsed());
        }
    }
}

/// Reads one whole answer, and refuses one that is not a success.
async fn answer(stream: &mut TcpStream, buffer: &mut [u8]) -> anyhow::Result<()> {
    let mut filled = 0;
    loop {
        let read = stream.read(&mut buffer[filled..]).await?;
        if read == 0 {
            bail!("the connection was closed");
        }
        filled += read;
        let Some(head) = buffer[..filled].windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let text = std::str::from_utf8(&buffer[..head])?;
        if !text.starts_with("HTTP/1.1 200") {
            bail!("not a success: {}", String::from_utf8_lossy(&buffer[..filled]));
        }
        let length: usize = text
            .lines()
            .find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok()
            })
            .context("no content-length")?;
        while filled < head + 4 + length {
            let read = stream.read(&mut buffer[filled..]).await?;
            if read == 0 {
                bail!("the connection was closed");
            }
            filled += read;
        }
        return Ok(());
    }
}
