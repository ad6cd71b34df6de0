//! What keeps a server from starting, as far as it can be told without starting one or making anything.

use std::{net::SocketAddr, path::Path};

use contract::Diagnostic;

use crate::settings::{Loaded, Server, Token};

/// The names of those who come without a token, and of the operator.
const OUR_NAMES: &[&str] = &[server::OPERATOR, "local", "cli", "stdio"];
/// The shortest token, in bytes.
const MIN_TOKEN_BYTES: usize = 16;

/// How sure it is that a server does not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sure {
    /// It starts nowhere with these settings.
    Nowhere,
    /// It does not start here; it may where other variables are set.
    Here,
    /// Only the machine that it runs on can tell.
    Perhaps,
}

/// Something that keeps a server from starting.
pub struct Obstacle {
    /// The setting that it is about, as a JSON pointer.
    pointer: String,
    /// What it is.
    pub message: String,
    /// What to do about it.
    pub hint: Option<&'static str>,
    /// How sure that is.
    pub sure: Sure,
}

impl Obstacle {
    fn new(pointer: impl Into<String>, message: String) -> Self {
        Self { pointer: pointer.into(), message, hint: None, sure: Sure::Nowhere }
    }

    fn hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }

    fn sure(mut self, sure: Sure) -> Self {
        self.sure = sure;
        self
    }

    /// The same in its place in the settings: a mistake of theirs, or a remark on where we are.
    pub fn diagnostic(&self, loaded: &Loaded) -> Diagnostic {
        let found = match self.sure {
            Sure::Nowhere => loaded.error(&self.pointer, &self.message),
            Sure::Here | Sure::Perhaps => loaded.warning(&self.pointer, &self.message),
        };
        match self.hint {
            Some(hint) => found.hint(hint),
            None => found,
        }
    }
}

/// Everything of that kind that the settings have.
pub fn obstacles(loaded: &Loaded) -> Vec<Obstacle> {
    let server = &loaded.settings.server;
    let all = listen(server).into_iter().chain(tokens(server));
    all.chain(journal(loaded)).collect()
}

/// An address that nobody can listen on, or that others could reach without being asked who they are. A
/// name is not looked up: what it means is told by the machine that the server runs on.
fn listen(server: &Server) -> Option<Obstacle> {
    const POINTER: &str = "/server/listen";
    let listen = &server.listen;
    if let Ok(address) = listen.parse::<SocketAddr>() {
        let is_open = !address.ip().is_loopback() && server.tokens.is_empty();
        return is_open.then(|| {
            let message = format!("server.listen: `{listen}` can be reached from other machines");
            Obstacle::new(POINTER, message).hint("set `server.tokens`, or listen on 127.0.0.1")
        });
    }
    let name = listen.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok());
    match name {
        Some((name, _)) if is_host_name(name) => {
            let is_doubtful = server.tokens.is_empty() && !name.eq_ignore_ascii_case("localhost");
            is_doubtful.then(|| {
                let message = format!(
                    "server.listen: without `server.tokens`, a server starts only where `{name}` \
                     is an address that no other machine can reach"
                );
                Obstacle::new(POINTER, message).sure(Sure::Perhaps)
            })
        }
        _ => {
            let message = format!("server.listen: `{listen}` is no address and port");
            Some(Obstacle::new(POINTER, message).hint("write one such as `127.0.0.1:8000`"))
        }
    }
}

/// Whether a text can be the name of a machine.
fn is_host_name(text: &str) -> bool {
    let fits = |one: char| one.is_ascii_alphanumeric() || "-._".contains(one);
    !text.is_empty() && text.len() <= 253 && text.chars().all(fits)
}

/// Tokens that cannot be used, each for itself.
pub fn tokens(server: &Server) -> Vec<Obstacle> {
    let mut found = Vec::new();
    for (index, token) in server.tokens.iter().enumerate() {
        let Token { name, token_env } = token;
        // Approvals and keys are a caller's own, so nobody may bear the name of another door.
        if OUR_NAMES.contains(&name.as_str()) {
            let message = format!("server.tokens: the name `{name}` is taken by Toolgate itself");
            found.push(Obstacle::new(format!("/server/tokens/{index}/name"), message));
        }
        if is_missing(token) {
            let message = format!(
                "server.tokens: the environment variable `{token_env}` of `{name}` must hold at \
                 least {MIN_TOKEN_BYTES} characters"
            );
            let pointer = format!("/server/tokens/{index}/token_env");
            let hint = "`toolgate serve` does not start where it is not set";
            found.push(Obstacle::new(pointer, message).hint(hint).sure(Sure::Here));
        }
    }
    found
}

/// The secret of a caller; empty where there is none.
pub fn secret(token: &Token) -> String {
    std::env::var(&token.token_env).unwrap_or_default().trim().to_owned()
}

/// Whether there is no secret of a caller, or none that is long enough.
pub fn is_missing(token: &Token) -> bool {
    secret(token).len() < MIN_TOKEN_BYTES
}

/// A file of the journal that cannot be made. The data folder is made first, so it may lie there.
pub fn journal(loaded: &Loaded) -> Option<Obstacle> {
    const POINTER: &str = "/journal/path";
    let path = loaded.path(loaded.settings.journal.path.as_ref()?);
    let shown = path.display();
    if path.is_dir() {
        let message = format!("journal.path: `{shown}` is a folder");
        return Some(Obstacle::new(POINTER, message).hint("name a file in it"));
    }
    if path.exists() {
        return None;
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    if folder.is_dir() || folder == loaded.data_dir() {
        return None;
    }
    let message = format!("journal.path: there is no folder `{}`", folder.display());
    Some(Obstacle::new(POINTER, message).hint("make it, or name a file somewhere else"))
}
