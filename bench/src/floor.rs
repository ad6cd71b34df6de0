//! The floor: the least that a JSON server in axum does.

use std::path::PathBuf;

use axum::{
    Json, Router,
    body::Bytes,
    extract::Path,
    http::{StatusCode, header::CONTENT_TYPE},
    routing::{MethodRouter, get, post},
};
use machine::MachineEnvironment;
use serde_json::{Value, json};

/// Answers with a file of the folder that the server was started with.
pub const READ: &str = "/read";
/// Answers with the hardware of this machine.
pub const HARDWARE: &str = "/hardware";
/// Answers with a text of so many bytes, which stand behind it.
pub const TEXT: &str = "/text";

/// The longest text, in bytes.
const MAX_TEXT_BYTES: usize = 16_777_216;

/// Serves on any free port and prints it; with a folder, its files too.
pub fn serve(folder: Option<PathBuf>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut router = Router::new()
            .route("/echo", post(async |Json(body): Json<Value>| Json(body)))
            .route(HARDWARE, post(hardware))
            .route(&format!("{TEXT}/{{bytes}}"), text());
        if let Some(folder) = folder {
            router = router.route(READ, read(folder));
        }
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("listens on http://{}", listener.local_addr()?);
        let listener =
            axum::serve::ListenerExt::tap_io(listener, |stream| drop(stream.set_nodelay(true)));
        axum::serve(listener, router).await?;
        Ok(())
    })
}

/// The same text for everybody, made once.
fn text() -> MethodRouter {
    let line = "A line of text as pages have them, with \"quotes\" now and then.\n";
    let all = Bytes::from(line.repeat(MAX_TEXT_BYTES / line.len()));
    get(async move |Path(bytes): Path<usize>| {
        let text = all.slice(..bytes.min(all.len()));
        ([(CONTENT_TYPE, "text/plain; charset=utf-8")], text)
    })
}

fn read(folder: PathBuf) -> MethodRouter {
    post(async move |Json(body): Json<Value>| {
        let path = folder.join(body["path"].as_str().unwrap_or_default());
        let text = tokio::task::spawn_blocking(move || std::fs::read_to_string(path)).await;
        match text {
            Ok(Ok(text)) => Ok(Json(json!({ "ok": true, "contents": text }))),
            _ => Err(StatusCode::NOT_FOUND),
        }
    })
}

async fn hardware(Json(_): Json<Value>) -> Result<Json<Value>, StatusCode> {
    let looked =
        tokio::task::spawn_blocking(|| machine::hardware(&MachineEnvironment::here())).await;
    let facts = looked.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    serde_json::to_value(facts).map(Json).map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
}
