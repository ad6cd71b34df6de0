//! Checks of the address that a server listens on, and of the tokens of callers.

use tokio::net::TcpListener;

use super::DoctorFinding;
use crate::{
    certificate::{self, CertificateFiles},
    printer::counted,
    settings::{LoadedSettings, ServerSection},
    start_checks::{self, Certainty},
};

/// Checks that every token that the settings name is set. The tokens themselves are not shown.
pub(super) fn tokens(loaded: &LoadedSettings) -> Option<DoctorFinding> {
    const SUBJECT: &str = "tokens";
    let server = &loaded.settings.server;
    if server.tokens.is_empty() {
        return None;
    }
    let found = start_checks::tokens(server);
    if let Some(first) = found.iter().find(|one| one.certainty == Certainty::Everywhere) {
        return Some(DoctorFinding::problem(SUBJECT, &first.message).hint("choose another name"));
    }
    let missing: Vec<_> = server
        .tokens
        .iter()
        .filter(|token| start_checks::is_missing(token))
        .map(|token| format!("`{}`", token.token_env))
        .collect();
    if !missing.is_empty() {
        let message = format!("{} must have at least 16 characters", missing.join(", "));
        let found = DoctorFinding::problem(SUBJECT, message);
        return Some(found.hint("set it in the environment of the server"));
    }
    Some(match found.into_iter().next().or_else(|| start_checks::operator_token(loaded)) {
        None => {
            DoctorFinding::ok(SUBJECT, format!("{} set", counted(server.tokens.len(), "token")))
        }
        Some(shared) => DoctorFinding::problem(SUBJECT, shared.message)
            .hint("give each caller a token of its own"),
    })
}

/// Checks the certificate and its key, if the server encrypts.
pub(super) fn certificate(loaded: &LoadedSettings) -> Vec<DoctorFinding> {
    const SUBJECT: &str = "certificate";
    let Some(files) = CertificateFiles::of(loaded) else { return Vec::new() };
    let pair = match files.read() {
        Ok(pair) => pair,
        Err(error) => return vec![DoctorFinding::problem(SUBJECT, error.message).hint(error.hint)],
    };
    let found = files.warnings(&pair).into_iter();
    let mut found: Vec<_> =
        found.map(|one| DoctorFinding::warning(SUBJECT, one.message).hint(one.hint)).collect();
    if found.is_empty() {
        let ends = certificate::day(pair.not_after_s);
        found.push(DoctorFinding::ok(SUBJECT, format!("it fits its key and expires on {ends}")));
    }
    found
}

/// Checks that the address is free, and that a server may listen on it.
pub(super) async fn listen(server: &ServerSection) -> DoctorFinding {
    const SUBJECT: &str = "listen address";
    let listen = match server.listen.target() {
        Ok(target) => target,
        Err(problem) => {
            return DoctorFinding::problem(SUBJECT, problem.message).hint(problem.hint);
        }
    };
    let addresses = match listen.addresses().await {
        Ok(addresses) => addresses,
        Err(error) => {
            let message = format!("`{listen}` cannot be resolved: {error}");
            return DoctorFinding::problem(SUBJECT, message).hint("correct `server.listen`");
        }
    };
    let is_open = addresses.iter().any(|address| !address.ip().is_loopback());
    if is_open && server.tokens.is_empty() {
        let message = format!("{listen} is reachable from other machines, and no tokens are set");
        return DoctorFinding::problem(SUBJECT, message)
            .hint("set `server.tokens`, or listen on 127.0.0.1");
    }
    match TcpListener::bind(&*addresses).await {
        Ok(_) => DoctorFinding::ok(SUBJECT, format!("{listen} is free")),
        // Most likely it is our own server, and that is fine.
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            let message =
                format!("{listen} is in use, by a running Toolgate server or another program");
            DoctorFinding::warning(SUBJECT, message)
                .hint("choose another address with `server.listen` or --listen")
        }
        Err(error) => {
            DoctorFinding::problem(SUBJECT, format!("cannot listen on {listen}: {error}"))
                .hint("choose another address with `server.listen` or --listen")
        }
    }
}
