//! Errors that keep a server from starting, found without starting one or creating anything.

use std::path::Path;

use anyhow::bail;
use contract::Diagnostic;
use gate::visible_text::visible_line;
use guard::net::PairError;
use server::ServerToken;
use sha2::{Digest, Sha256};

use crate::{
    certificate::{CertificateFiles, CertificateWarning},
    files,
    server_settings::OPERATOR_TOKEN,
    settings::{LoadedSettings, ServerSection, TokenEntry, listen::ListenTarget},
};

/// Caller names that Toolgate uses itself.
const RESERVED_CALLERS: &[&str] = &[server::OPERATOR, "local", "cli", "stdio"];
/// The shortest token, in bytes.
const MIN_TOKEN_BYTES: usize = 16;

/// Where an error keeps a server from starting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// On every machine.
    Everywhere,
    /// Here. Elsewhere other environment variables may be set.
    Here,
    /// Only the machine that it runs on can tell, by resolving a name.
    Maybe,
}

/// An error that keeps a server from starting.
pub struct StartupError {
    /// The setting, as a JSON pointer.
    pointer: String,
    /// The error.
    pub message: String,
    /// The next step.
    pub hint: Option<String>,
    /// Where it holds.
    pub certainty: Certainty,
}

impl StartupError {
    fn new(pointer: impl Into<String>, message: String) -> Self {
        Self { pointer: pointer.into(), message, hint: None, certainty: Certainty::Everywhere }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    fn certainty(mut self, certainty: Certainty) -> Self {
        self.certainty = certainty;
        self
    }

    /// The same at its place in the settings file: an error of the file, or a warning about this machine.
    pub fn diagnostic(&self, loaded: &LoadedSettings) -> Diagnostic {
        let found = match self.certainty {
            Certainty::Everywhere => loaded.error(&self.pointer, &self.message),
            Certainty::Here | Certainty::Maybe => loaded.warning(&self.pointer, &self.message),
        };
        match &self.hint {
            Some(hint) => found.hint(hint),
            None => found,
        }
    }
}

/// All errors of the settings that keep a server from starting.
pub fn start_errors(loaded: &LoadedSettings) -> Vec<StartupError> {
    let server = &loaded.settings.server;
    let all = listen(server).into_iter().chain(tokens(server));
    all.chain(operator_token(loaded)).chain(journal(loaded)).chain(certificate(loaded)).collect()
}

/// An address that cannot be listened on, or that other machines could reach without a token. A name is not
/// resolved: only the machine that the server runs on can do that.
fn listen(server: &ServerSection) -> Option<StartupError> {
    let error =
        |message: String| StartupError::new("/server/listen", format!("server.listen: {message}"));
    let is_open = server.tokens.is_empty();
    match server.listen.target() {
        Err(problem) => Some(error(problem.message).hint(problem.hint)),
        Ok(target @ ListenTarget::Address(address)) if is_open && !address.ip().is_loopback() => {
            let found = error(format!("`{target}` is reachable from other machines"));
            Some(found.hint("set `server.tokens`, or listen on 127.0.0.1"))
        }
        Ok(ListenTarget::Name(name, _)) if is_open && !name.eq_ignore_ascii_case("localhost") => {
            let message = format!(
                "without `server.tokens` a server starts only if `{name}` resolves to a loopback address"
            );
            Some(error(message).certainty(Certainty::Maybe))
        }
        Ok(_) => None,
    }
}

/// Tokens that cannot be used, one by one.
pub fn tokens(server: &ServerSection) -> Vec<StartupError> {
    let mut found = Vec::new();
    for (index, token) in server.tokens.iter().enumerate() {
        let TokenEntry { name, token_env } = token;
        // Approvals and idempotency keys belong to a caller, so no caller may have the name of another door.
        if RESERVED_CALLERS.contains(&name.as_str()) {
            let message = format!("server.tokens: the name `{name}` is reserved");
            found.push(StartupError::new(format!("/server/tokens/{index}/name"), message));
        }
        // It stands in the journal and in approvals, where people tell callers by it.
        let shown = visible_line(name);
        if shown != *name {
            let message =
                format!("server.tokens: the name `{shown}` has characters that cannot be seen");
            found.push(StartupError::new(format!("/server/tokens/{index}/name"), message));
        }
        if is_missing(token) {
            let message = format!(
                "server.tokens: the environment variable `{token_env}` of `{shown}` must have at \
                 least {MIN_TOKEN_BYTES} characters"
            );
            let pointer = format!("/server/tokens/{index}/token_env");
            let hint = "set it in the environment of `toolgate serve`";
            found.push(StartupError::new(pointer, message).hint(hint).certainty(Certainty::Here));
        } else if let Some(other) = namesake(&server.tokens[..index], token) {
            let message = format!(
                "server.tokens: `{}` and `{shown}` have the same token (`{}`, `{token_env}`)",
                visible_line(&other.name),
                other.token_env
            );
            let pointer = format!("/server/tokens/{index}/token_env");
            let hint = "give each caller a token of its own";
            found.push(StartupError::new(pointer, message).hint(hint).certainty(Certainty::Here));
        }
    }
    found
}

/// The tokens of the server, hashed, if all of them can be used.
pub fn server_tokens(server: &ServerSection) -> anyhow::Result<Vec<ServerToken>> {
    if let Some(error) = tokens(server).first() {
        bail!("{}", error.message);
    }
    let token = |token: &TokenEntry| ServerToken {
        name: token.name.clone(),
        sha256: Sha256::digest(secret(token).as_bytes()).into(),
    };
    Ok(server.tokens.iter().map(token).collect())
}

/// The other caller that has the token of this one.
fn namesake<'a>(others: &'a [TokenEntry], token: &TokenEntry) -> Option<&'a TokenEntry> {
    let secret = secret(token);
    others.iter().find(|other| other.name != token.name && self::secret(other) == secret)
}

/// A caller with the operator's token, if there is one already: it could approve its own calls.
pub fn operator_token(loaded: &LoadedSettings) -> Option<StartupError> {
    let file = loaded.data_dir().join(OPERATOR_TOKEN);
    let operator = file.is_file().then(|| files::read_document_text(&file).ok()).flatten()?;
    let tokens = &loaded.settings.server.tokens;
    let index = tokens.iter().position(|token| secret(token) == operator.trim())?;
    let message = has_operator_token(&tokens[index].name);
    let found = StartupError::new(format!("/server/tokens/{index}/token_env"), message);
    Some(found.hint("give the caller a token of its own").certainty(Certainty::Here))
}

/// The message about a caller that has the operator's token.
pub fn has_operator_token(name: &str) -> String {
    format!(
        "server.tokens: `{}` has the token of the operator (`{OPERATOR_TOKEN}` in the data folder), \
         and could approve its own calls",
        visible_line(name)
    )
}

/// The token of a caller; empty if it is not set.
pub fn secret(token: &TokenEntry) -> String {
    guard::variables::get(&token.token_env).unwrap_or_default().trim().to_owned()
}

/// True if the token of a caller is not set or too short.
pub fn is_missing(token: &TokenEntry) -> bool {
    secret(token).len() < MIN_TOKEN_BYTES
}

/// A journal file that cannot be created. The data folder is created first, so it may be in there.
pub fn journal(loaded: &LoadedSettings) -> Option<StartupError> {
    const POINTER: &str = "/journal/path";
    let path = loaded.path(loaded.settings.journal.path.as_ref()?);
    let shown = path.display();
    if path.is_dir() {
        let message = format!("journal.path: `{shown}` is a folder");
        return Some(StartupError::new(POINTER, message).hint("name a file in that folder"));
    }
    if path.exists() {
        return None;
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    if folder.is_dir() || folder == loaded.data_dir() {
        return None;
    }
    let message = format!("journal.path: the folder `{}` does not exist", folder.display());
    Some(StartupError::new(POINTER, message).hint("create the folder, or choose another file"))
}

/// A certificate or a key that cannot be used.
fn certificate(loaded: &LoadedSettings) -> Option<StartupError> {
    let PairError { message, hint } = CertificateFiles::of(loaded)?.read().err()?;
    let found = StartupError::new("/server/tls", format!("server.tls: {message}"));
    Some(found.hint(hint).certainty(Certainty::Here))
}

/// What is worth a look about the certificate.
pub fn certificate_warnings(loaded: &LoadedSettings) -> Vec<Diagnostic> {
    let Some(files) = CertificateFiles::of(loaded) else { return Vec::new() };
    let found = files.read().map(|pair| files.warnings(&pair)).unwrap_or_default();
    let warning = |one: CertificateWarning| loaded.warning(one.pointer, one.message).hint(one.hint);
    found.into_iter().map(warning).collect()
}
