//! A client of the stdio door, over a pipe within this process.

use std::sync::Arc;

use anyhow::{Context, bail};
use serde_json::{Value, json};
use server::App;
use tokio::{
    io::{
        AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
        duplex, split,
    },
    task::JoinHandle,
};

/// The size of the pipe, in bytes.
const PIPE_BYTES: usize = 65_536;

/// A client on a pipe.
pub struct StdioClient {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    last_id: u64,
    serving: JoinHandle<()>,
}

impl StdioClient {
    /// Opens the pipe and initializes it as a legacy client.
    pub async fn open(app: Arc<App>) -> anyhow::Result<Self> {
        let (ours, theirs) = duplex(PIPE_BYTES);
        let (read, write) = split(theirs);
        let serving = tokio::spawn(async move {
            server::mcp::serve_stdio(app, None, read, write, std::future::pending()).await;
        });
        let (read, input) = split(ours);
        let mut pipe = Self { input, output: BufReader::new(read).lines(), last_id: 0, serving };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "toolgate", "version": env!("CARGO_PKG_VERSION") },
        });
        pipe.request("initialize", &hello).await?;
        pipe.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
        Ok(pipe)
    }

    /// Sends a request and waits for its response.
    pub async fn request(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.last_id += 1;
        let id = self.last_id;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&message).await?;
        // Responses to requests that timed out are ignored.
        loop {
            let Some(line) = self.output.next_line().await? else { bail!("the pipe was closed") };
            let message: Value = serde_json::from_str(&line).context("the response is not JSON")?;
            if message["id"] == id {
                return Ok(message);
            }
        }
    }

    async fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        let line = format!("{message}\n");
        self.input.write_all(line.as_bytes()).await.context("the pipe was closed")?;
        self.input.flush().await.context("the pipe was closed")
    }
}

impl Drop for StdioClient {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
