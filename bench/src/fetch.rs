//! `fetch_url` against a bare client that gets the same URL.
//!
//! The server is the floor's, in a process of its own. The bare client and the gate are in this one; the
//! whole of Toolgate is asked over REST beside them, which is two exchanges instead of one.

use std::{sync::Arc, time::Duration};

use anyhow::ensure;
use serde_json::json;

use crate::{floor, in_process, load, start, table};

/// A small page and a large one, in bytes.
const SIZES: [usize; 2] = [2_048, 1_048_576];
const CONNECTIONS: [usize; 2] = [1, 16];

pub async fn report(round: Duration) -> anyhow::Result<()> {
    let server = start::floor()?;
    let host = format!("127.0.0.1:{}", server.port());
    let folder = tempfile::tempdir()?;
    let mut settings = tools::ToolSettings::default();
    settings.web_fetch.allow_private_hosts.push(host.clone());
    let gate = in_process::gate(folder.path(), &settings)?;
    let toolgate = toolgate(&host)?;
    let client = reqwest::Client::builder().no_proxy().build()?;
    println!("\n{}", table::header("reqwest"));
    for bytes in SIZES {
        let url = format!("http://{host}{}/{bytes}", floor::TEXT);
        let args = json!({ "url": url });
        let body = json!({ "args": args }).to_string();
        let (client, gate) = (client.clone(), gate.clone());
        let targets = [
            load::Target::here(&format!("bare reqwest, {bytes} bytes"), move || {
                let got = client.get(&url).send();
                async move {
                    let got = got.await?.error_for_status()?.text().await?;
                    ensure!(got.len() == bytes, "{} bytes came", got.len());
                    Ok(())
                }
            }),
            load::Target::here("fetch_url through the gate", move || {
                let (gate, call) = (Arc::clone(&gate), in_process::call("fetch_url", args.clone()));
                async move {
                    let outcome = gate.call(call).await;
                    ensure!(outcome.http_status() == 200, "{:?}", outcome.result);
                    Ok(())
                }
            }),
            load::Target::new(
                "POST /v1/tools/fetch_url",
                toolgate.port(),
                "/v1/tools/fetch_url",
                &body,
            ),
        ];
        for connections in CONNECTIONS {
            table::print(connections, &load::rounds(&targets, connections, round).await?);
        }
    }
    Ok(())
}

/// A server that may fetch from this one host of this machine.
fn toolgate(host: &str) -> anyhow::Result<start::Server> {
    let folder = tempfile::tempdir()?;
    let yaml = format!("tools: {{ web_fetch: {{ allow_private_hosts: [ \"{host}\" ] }} }}\n");
    std::fs::write(folder.path().join("toolgate.yaml"), yaml)?;
    start::with_settings(folder)
}
