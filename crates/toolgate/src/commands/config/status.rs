//! `toolgate config status`: asks the running server whether its settings are those of the files.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, bail};
use contract::Document;
use guard::net::{Bytes, Method, ServiceClient, ServiceRequest, ServiceSettings, Url};
use serde_json::Value;
use store::DataFolder;

use crate::{
    Exit, commands, files,
    printer::Printer,
    server_settings::OPERATOR_TOKEN,
    settings::{Flags, ToolgateSettings},
};

/// The time that the server has to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// The largest answer that is read, in bytes.
const MAX_ANSWER_BYTES: usize = 16 << 20;

/// Asks, and prints the answer.
pub fn run(flags: &Flags, printer: &Printer, as_json: bool) -> anyhow::Result<Exit> {
    let folder = data_dir(flags);
    let address = DataFolder::served_at(&folder)
        .with_context(|| format!("cannot read the data folder `{}`", folder.display()))?;
    let Some(address) = address else {
        bail!(
            "no server runs on the data folder `{}`; start one with `toolgate serve`, or name its \
             folder with --data-dir",
            folder.display()
        );
    };
    let token = files::read_document_text(&folder.join(OPERATOR_TOKEN))
        .context("cannot read the token of the operator")?;
    let report = commands::runtime()?.block_on(ask(address, token.trim()))?;
    if as_json {
        printer.json(&report);
    } else {
        show(&report, printer);
    }
    Ok(if report.get("failed").is_some() { Exit::Failed } else { Exit::Ok })
}

/// The data folder, also where the settings have a mistake: that is what somebody may want to know.
fn data_dir(flags: &Flags) -> PathBuf {
    if let Ok(loaded) = flags.load() {
        return loaded.data_dir();
    }
    if let Some(folder) = &flags.data_dir {
        return folder.clone();
    }
    let file = flags.file().unwrap_or_default();
    let text = files::read_document_text(&file).unwrap_or_default();
    let document = Document::parse("settings", &text).ok();
    let named = document.as_ref().and_then(|one| one.value().get("data_dir")?.as_str());
    let base = file.parent().unwrap_or(Path::new("."));
    base.join(named.unwrap_or(&ToolgateSettings::default().data_dir)).components().collect()
}

async fn ask(address: SocketAddr, token: &str) -> anyhow::Result<Value> {
    // Nobody connects to "every address".
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    let address = SocketAddr::new(ip, address.port());
    let url = Url::parse(&format!("http://{address}/v1/config"))?;
    let headers = [("Authorization".to_owned(), format!("Bearer {token}"))];
    let client = ServiceClient::new(&url, &headers, &ServiceSettings::default())?;
    let request = ServiceRequest {
        method: Method::GET,
        headers: client.headers(),
        extra: &[],
        body: Bytes::new(),
        timeout: ANSWER_TIMEOUT,
    };
    let unanswered = || format!("the server at {address} does not answer");
    let answer = client.send(&request).await.with_context(unanswered)?;
    let status = answer.status;
    let body = answer.body.read_all(MAX_ANSWER_BYTES).await.with_context(unanswered)?;
    if status.as_u16() == 400 {
        bail!(
            "the server at {address} speaks HTTPS; ask `GET /v1/config` there with the token of `operator.token`"
        );
    }
    if !status.is_success() {
        bail!("the server at {address} answers with status {}", status.as_u16());
    }
    serde_json::from_slice(&body).with_context(unanswered)
}

fn show(report: &Value, printer: &Printer) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let file = match report["file"].as_str() {
        Some(file) => format!("the settings of `{file}`"),
        None => "the default settings".to_owned(),
    };
    let since = text(&report["loaded_at"]);
    let failed = &report["failed"];
    if failed.is_null() {
        printer.data(format!("{file} are in force since {since}"));
    } else {
        printer.data(format!(
            "the reload at {} failed; {file} are in force as they were at {since}",
            text(&failed["at"])
        ));
        let found = failed["diagnostics"].as_array().map(Vec::as_slice).unwrap_or_default();
        for one in found {
            let (file, message) = (text(&one["file"]), text(&one["message"]));
            let hint = one["hint"].as_str().map(|hint| format!(" (hint: {hint})"));
            let hint = hint.unwrap_or_default();
            printer.data(format!("{file}:{}:{}: {message}{hint}", one["line"], one["column"]));
        }
        if found.is_empty() {
            printer.data(text(&failed["message"]));
        }
        printer.say("hint: `toolgate config check` shows the errors of the files as they are now");
    }
    for name in report["after_restart"].as_array().into_iter().flatten() {
        printer.data(format!("`{}` has changed; it takes effect after a restart", text(name)));
    }
}
