//! Checks of an operator's settings for a service: its address, and the variable that holds its key.

use url::Url;

/// The problem with the address of a service, to be read after its name; nothing where it can be used.
pub fn base_url_problem(base_url: &str) -> Option<&'static str> {
    let Ok(url) = Url::parse(base_url) else { return Some("must be a URL") };
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Some("must begin with `http://` or `https://` and a host");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Some("must not contain a user name or a password; set `api_key_env` for a key");
    }
    (url.query().is_some() || url.fragment().is_some())
        .then_some("must not have a query or a fragment")
}

/// The problem with the name of a variable that holds a key. A key by mistake is not repeated.
pub fn key_variable_problem(name: &str) -> Option<&'static str> {
    let is_name = name.bytes().all(|one| one.is_ascii_alphanumeric() || one == b'_')
        && !name.starts_with(|one: char| one.is_ascii_digit());
    (!is_name).then_some("must be the name of an environment variable, not the key itself")
}
