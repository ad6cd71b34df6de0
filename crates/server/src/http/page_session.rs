//! The session of a browser: a cookie that reads pages and documents, and does nothing else.
//!
//! Browsers send a cookie to every port of its host. So a program on another port of this machine may be sent ours, and
//! bring it here: it must not be worth more than what it reads. Whoever calls a tool shows the token itself.

use std::time::Duration;

use axum::http::{HeaderMap, header};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use gate::Timestamp;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::ServerToken;

/// The time after which a person shows the token again.
pub(crate) const SESSION_LIFETIME: Duration = Duration::from_hours(12);
/// The most cookies of our name that are looked at. There may be others: of other paths, or set by other ports.
const MAX_COOKIES: usize = 8;
/// What the key seals here. It seals the state of MCP clients too.
const PURPOSE: &[u8] = b"toolgate page session\0";

/// Makes sessions and recognises them; nothing is kept. A session ends with its token.
pub(crate) struct PageSessions {
    keyed: Hmac<Sha256>,
    /// The name of the cookie: servers on other ports of this machine have others.
    name: String,
}

impl PageSessions {
    pub(crate) fn new(key: [u8; 32]) -> Self {
        // HMAC fills a key up with zeros to a block of its hash.
        let mut block = [0; 64];
        block[..key.len()].copy_from_slice(&key);
        let keyed: Hmac<Sha256> = Hmac::new(&block.into()).chain_update(PURPOSE);
        let own = keyed.clone().finalize().into_bytes();
        Self { keyed, name: format!("toolgate_docs_{}", URL_SAFE_NO_PAD.encode(&own[..6])) }
    }

    /// The value of `Set-Cookie` for whoever has shown this token. Without a path it is for the folder of the page that
    /// sets it, also where the server lies below a path of a proxy.
    pub(crate) fn cookie(&self, token: &ServerToken, now: Timestamp, is_encrypted: bool) -> String {
        let lifetime_s = SESSION_LIFETIME.as_secs();
        let expires = now.0 / 1_000 + i64::try_from(lifetime_s).unwrap_or(i64::MAX);
        let seal = URL_SAFE_NO_PAD.encode(self.seal(token, expires).finalize().into_bytes());
        let secure = if is_encrypted { "; Secure" } else { "" };
        let name = &self.name;
        format!("{name}={expires}.{seal}; Max-Age={lifetime_s}; HttpOnly; SameSite=Strict{secure}")
    }

    /// The token whose session a request brings.
    pub(crate) fn token<'a>(
        &self,
        headers: &HeaderMap,
        tokens: &'a [ServerToken],
        now: Timestamp,
    ) -> Option<&'a ServerToken> {
        let cookies = headers.get_all(header::COOKIE).iter();
        let pairs = cookies.filter_map(|value| value.to_str().ok()).flat_map(|all| all.split(';'));
        let own = pairs.filter_map(|pair| pair.trim().strip_prefix(&self.name)?.strip_prefix('='));
        own.take(MAX_COOKIES).find_map(|value| {
            let (expires, seal) = value.split_once('.')?;
            let expires: i64 = expires.parse().ok()?;
            let seal = URL_SAFE_NO_PAD.decode(seal).ok()?;
            let is_of =
                |token: &&ServerToken| self.seal(token, expires).verify_slice(&seal).is_ok();
            (now.0 / 1_000 < expires).then(|| tokens.iter().find(is_of)).flatten()
        })
    }

    fn seal(&self, token: &ServerToken, expires: i64) -> Hmac<Sha256> {
        self.keyed.clone().chain_update(token.sha256).chain_update(expires.to_be_bytes())
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn token(name: &str, byte: u8) -> ServerToken {
        ServerToken { name: name.to_owned(), sha256: [byte; 32] }
    }

    fn reader(
        sessions: &PageSessions,
        cookie: &str,
        tokens: &[ServerToken],
        now: i64,
    ) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::from_str(cookie).unwrap());
        sessions.token(&headers, tokens, Timestamp(now)).map(|token| token.name.clone())
    }

    #[test]
    fn a_session_is_of_its_token_and_ends() {
        let sessions = PageSessions::new([7; 32]);
        let tokens = [token("ada", 1), token("bob", 2)];
        let set = sessions.cookie(&tokens[1], Timestamp(0), true);
        assert!(set.ends_with("; Max-Age=43200; HttpOnly; SameSite=Strict; Secure"), "{set}");
        let cookie = set.split(';').next().unwrap();
        let bob = Some("bob".to_owned());
        assert_eq!(reader(&sessions, cookie, &tokens, 1), bob);
        assert_eq!(reader(&sessions, &format!("a=b; {cookie};c"), &tokens, 1), bob);
        let name = &sessions.name;
        assert_eq!(reader(&sessions, &format!("{name}=x; {name}=1.e; {cookie}"), &tokens, 1), bob);
        // What one expects of a seal.
        assert_eq!(reader(&sessions, cookie, &tokens[..1], 1), None, "the token is gone");
        assert_eq!(reader(&sessions, cookie, &tokens, 43_200_000), None, "it has expired");
        assert_eq!(reader(&PageSessions::new([8; 32]), cookie, &tokens, 1), None);
        let later = cookie.replacen("=4", "=5", 1);
        assert_eq!(reader(&sessions, &later, &tokens, 1), None, "{later}");
        for bad in ["", "=", ".", "1.", ".x", "99999999999999999999.x", "-1.x"] {
            assert_eq!(reader(&sessions, &format!("{name}={bad}"), &tokens, 1), None, "{bad}");
        }
    }
}
