//! Minimal proxies: the least that a relay does on this machine.
//!
//! Two proxies on hyper that know nothing but HTTP, each with a connection to the upstream for every
//! client. One passes the bytes on as they are. The other parses both bodies and holds the arguments and the
//! result against their schemas, which is what a gate cannot do without. Both run in processes of their own.

use std::{convert::Infallible, sync::Arc};

use anyhow::Context;
use axum::body::Bytes;
use contract::Schema;
use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response,
    body::Incoming,
    client::conn::http1::SendRequest,
    header::{CONTENT_LENGTH, HOST},
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Mutex,
};

use crate::mcp::{ECHO, bare};

/// The argument that makes the program this proxy, before the port of the upstream.
pub const ARGUMENT: &str = "bare-proxy";
/// Behind the port, for the one that checks.
pub const CHECKS: &str = "checks";

/// Serves on any free port and prints it.
pub fn serve(arguments: &[String]) -> anyhow::Result<()> {
    let upstream: u16 = arguments.first().context("no port")?.parse()?;
    let schemas = match arguments.get(1).map(String::as_str) {
        Some(CHECKS) => Some(Arc::new(Schemas::compile()?)),
        _ => None,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("listens on http://{}", listener.local_addr()?);
        loop {
            let (client, _) = listener.accept().await?;
            let schemas = schemas.clone();
            tokio::spawn(async move { connection(client, upstream, schemas.as_deref()).await });
        }
    })
}

/// One client, and its own connection to the upstream.
async fn connection(
    client: TcpStream,
    upstream: u16,
    schemas: Option<&Schemas>,
) -> anyhow::Result<()> {
    client.set_nodelay(true)?;
    let server = TcpStream::connect(("127.0.0.1", upstream)).await?;
    server.set_nodelay(true)?;
    let (sender, driver) = hyper::client::conn::http1::handshake(TokioIo::new(server)).await?;
    tokio::spawn(driver);
    let sender = Mutex::new(sender);
    let answer = service_fn(async |request| {
        let answered = forward(&sender, request, schemas).await;
        Ok::<_, Infallible>(answered.unwrap_or_else(|error| {
            let mut refused = Response::new(Full::new(Bytes::from(error.to_string())));
            *refused.status_mut() = hyper::StatusCode::BAD_GATEWAY;
            refused
        }))
    });
    hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(client), answer)
        .await?;
    Ok(())
}

async fn forward(
    sender: &Mutex<SendRequest<Full<Bytes>>>,
    request: Request<Incoming>,
    schemas: Option<&Schemas>,
) -> anyhow::Result<Response<Full<Bytes>>> {
    let (mut head, body) = request.into_parts();
    let asked = body.collect().await?.to_bytes();
    let called = schemas.map(|schemas| schemas.check_call(&asked)).transpose()?;
    head.headers.remove(HOST);
    head.headers.remove(CONTENT_LENGTH);
    head.headers.insert(HOST, hyper::header::HeaderValue::from_static("127.0.0.1"));
    let mut sender = sender.lock().await;
    let answer = sender.send_request(Request::from_parts(head, Full::new(asked))).await?;
    let (head, body) = answer.into_parts();
    let answered = body.collect().await?.to_bytes();
    if let Some(result) = called {
        result.check_result(&answered)?;
    }
    Ok(Response::from_parts(head, Full::new(answered)))
}

/// The schemas of the two tools that are measured.
struct Schemas {
    input: Schema,
    small: Output,
    large: Output,
}

struct Output(Schema);

impl Schemas {
    fn compile() -> anyhow::Result<Self> {
        let of = |tool: &Value, field: &str| Schema::compile(&tool[field]);
        let (small, large) = (bare::tool(0), bare::large());
        Ok(Self {
            input: of(&small, "inputSchema")?,
            small: Output(of(&small, "outputSchema")?),
            large: Output(of(&large, "outputSchema")?),
        })
    }

    fn check_call(&self, asked: &[u8]) -> anyhow::Result<&Output> {
        let asked: Value = serde_json::from_slice(asked)?;
        let params = &asked["params"];
        let small = params["name"] == ECHO;
        if asked["method"] == "tools/call" {
            anyhow::ensure!(self.input.is_valid(&params["arguments"]), "wrong arguments");
        }
        Ok(if small { &self.small } else { &self.large })
    }
}

impl Output {
    fn check_result(&self, answered: &[u8]) -> anyhow::Result<()> {
        let answered: Value = serde_json::from_slice(answered)?;
        if let Some(result) = answered["result"].get("structuredContent") {
            anyhow::ensure!(self.0.is_valid(result), "a wrong result");
        }
        Ok(())
    }
}
