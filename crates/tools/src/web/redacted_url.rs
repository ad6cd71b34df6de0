//! URLs without the parts that may hold secrets.
//!
//! People put keys into URLs: as a password, in the query, in the path. What is logged and recorded
//! names the site alone, and what a caller reads again is without password and query.

use guard::net::Url;

/// The site of what a caller asked for.
pub(super) fn site(text: &str) -> String {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => url.origin().ascii_serialization(),
        Ok(url) => format!("a URL with `{}:`", url.scheme().chars().take(20).collect::<String>()),
        Err(_) => "an invalid URL".to_owned(),
    }
}

/// The address without what comes after its path.
pub(super) fn page(url: &Url) -> String {
    let query = if url.query().is_some() { "?…" } else { "" };
    format!("{}{}{query}", url.origin().ascii_serialization(), url.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_in_it() {
        for (text, expected) in [
            (
                "https://ada:secret@example.com:8443/secret?key=secret#secret",
                "https://example.com:8443",
            ),
            ("data:secret", "a URL with `data:`"),
            ("ftp://ada:secret@example.com/", "a URL with `ftp:`"),
            ("http://ada:secret@exa mple.com/", "an invalid URL"),
            ("secret", "an invalid URL"),
        ] {
            assert_eq!(site(text), expected);
        }
        let url = Url::parse("https://example.com/a/b?key=secret").unwrap();
        assert_eq!(page(&url), "https://example.com/a/b?…");
    }
}
