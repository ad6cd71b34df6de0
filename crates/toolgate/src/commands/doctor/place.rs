//! Where a server keeps its things, and where it listens.

use std::{net::SocketAddr, path::Path};

use store::{DataFolder, DataFolderError};
use tokio::net::TcpListener;

use super::Finding;
use crate::{
    settings::Server,
    starting::{self, Sure},
};

/// Whether the data folder can be written. One that is not there is not made.
pub(super) fn data_folder(path: &Path) -> Finding {
    const SUBJECT: &str = "data folder";
    const HINT: &str =
        "choose another with `data_dir` or --data-dir, or give us the right to write";
    let shown = path.display();
    if path.exists() {
        return match DataFolder::open(path) {
            Ok(_) => Finding::ok(SUBJECT, format!("`{shown}` can be written")),
            // The words say themselves what to do.
            Err(error @ DataFolderError::NotOurs { .. }) => {
                Finding::problem(SUBJECT, error.to_string())
            }
            Err(error) => {
                let error = anyhow::Error::from(error);
                Finding::problem(SUBJECT, format!("{error:#}")).hint(HINT)
            }
        };
    }
    let above = path.ancestors().find(|above| above.exists()).unwrap_or(Path::new("."));
    match tempfile::tempfile_in(above) {
        Ok(_) => Finding::ok(SUBJECT, format!("`{shown}` will be made at the first start")),
        Err(error) => {
            let message = format!("`{shown}` cannot be made in `{}`: {error}", above.display());
            Finding::problem(SUBJECT, message).hint(HINT)
        }
    }
}

/// Whether every token that the settings name is there. The tokens themselves are not shown.
pub(super) fn tokens(server: &Server) -> Option<Finding> {
    const SUBJECT: &str = "tokens";
    if server.tokens.is_empty() {
        return None;
    }
    let found = starting::tokens(server);
    if let Some(first) = found.iter().find(|one| one.sure == Sure::Nowhere) {
        return Some(
            Finding::problem(SUBJECT, &first.message).hint("choose another name for the caller"),
        );
    }
    let missing: Vec<_> = server
        .tokens
        .iter()
        .filter(|token| starting::is_missing(token))
        .map(|token| format!("`{}`", token.token_env))
        .collect();
    Some(if missing.is_empty() {
        Finding::ok(SUBJECT, format!("{} are set", server.tokens.len()))
    } else {
        let message = format!("{} must hold at least 16 characters", missing.join(", "));
        Finding::problem(SUBJECT, message).hint("set it where the server is started")
    })
}

/// Whether the address is free, and whether a server may listen on it.
pub(super) async fn listen(server: &Server) -> Finding {
    const SUBJECT: &str = "listen address";
    let listen = &server.listen;
    let addresses: Vec<SocketAddr> = match tokio::net::lookup_host(listen).await {
        Ok(addresses) => addresses.collect(),
        Err(error) => {
            let message = format!("`{listen}` is no address and port: {error}");
            return Finding::problem(SUBJECT, message).hint("mend `server.listen`");
        }
    };
    let is_open = addresses.iter().any(|address| !address.ip().is_loopback());
    if is_open && server.tokens.is_empty() {
        let message = format!("{listen} can be reached from other machines, and nobody is asked");
        return Finding::problem(SUBJECT, message)
            .hint("set `server.tokens`, or listen on 127.0.0.1");
    }
    match TcpListener::bind(&*addresses).await {
        Ok(_) => Finding::ok(SUBJECT, format!("{listen} is free")),
        // Most likely it is our own server that runs, and then all is well.
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            let message = format!("{listen} is taken, by a server of ours or by something else");
            Finding::warning(SUBJECT, message)
                .hint("choose another with `server.listen` or --listen")
        }
        Err(error) => Finding::problem(SUBJECT, format!("cannot listen on {listen}: {error}"))
            .hint("choose another with `server.listen` or --listen"),
    }
}
