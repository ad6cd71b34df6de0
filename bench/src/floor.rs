//! The floor: the least that a JSON server in axum does.

use axum::{Json, Router, routing::post};
use serde_json::Value;

/// Serves on any free port and prints it.
pub fn serve() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let router = Router::new().route("/echo", post(async |Json(body): Json<Value>| Json(body)));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("listens on http://{}", listener.local_addr()?);
        let listener =
            axum::serve::ListenerExt::tap_io(listener, |stream| drop(stream.set_nodelay(true)));
        axum::serve(listener, router).await?;
        Ok(())
    })
}
