//! What kinds of content can be read.

use guard::net::charset::essence;

/// A kind of content that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Html,
    Markdown,
    Json,
    Xml,
    Text,
}

impl Kind {
    /// The kind of a Content-Type; none where it is binary or says nothing.
    pub(super) fn of(content_type: &str) -> Option<Self> {
        Some(match essence(content_type).as_str() {
            "text/html" | "application/xhtml+xml" => Kind::Html,
            "text/markdown" | "text/x-markdown" => Kind::Markdown,
            "application/json" | "text/json" | "application/manifest+json" => Kind::Json,
            "text/xml" | "application/xml" => Kind::Xml,
            "application/javascript"
            | "application/x-javascript"
            | "application/ecmascript"
            | "application/yaml"
            | "application/x-yaml"
            | "application/toml"
            | "application/sql"
            | "application/x-sh"
            | "application/x-ndjson"
            | "application/ndjson"
            | "application/graphql"
            | "application/rtf"
            | "application/x-tex"
            | "application/x-latex" => Kind::Text,
            other if other.ends_with("+json") => Kind::Json,
            other if other.ends_with("+xml") => Kind::Xml,
            other if other.starts_with("text/") => Kind::Text,
            _ => return None,
        })
    }
}

/// The type of content whose sender says nothing of it, by its first characters (the beginning of what
/// the MIME Sniffing standard does).
pub(super) fn sniffed(bytes: &[u8]) -> &'static str {
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let begins = |word: &str| {
        start.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
    };
    if begins("<?xml") {
        "text/xml"
    } else if ["<!doctype html", "<html", "<head", "<body", "<!--"].into_iter().any(begins) {
        "text/html"
    } else {
        "text/plain"
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, sniffed};

    #[test]
    fn what_has_no_type_has_a_beginning() {
        for (content, expected) in [
            ("\n<!DOCTYPE HTML><p>", "text/html"),
            ("\u{feff}<html>", "text/html"),
            ("<?xml version='1.0'?><rss/>", "text/xml"),
            ("hello", "text/plain"),
            ("", "text/plain"),
        ] {
            assert_eq!(sniffed(content.as_bytes()), expected, "{content}");
        }
    }

    #[test]
    fn text_has_a_kind_and_the_rest_has_none() {
        for (content_type, kind) in [
            ("text/html; charset=utf-8", Some(Kind::Html)),
            ("APPLICATION/XHTML+XML", Some(Kind::Html)),
            ("application/rss+xml", Some(Kind::Xml)),
            ("image/svg+xml", Some(Kind::Xml)),
            ("application/ld+json", Some(Kind::Json)),
            ("text/csv", Some(Kind::Text)),
            ("application/pdf", None),
            ("image/png", None),
            ("nonsense", None),
            ("", None),
        ] {
            assert_eq!(Kind::of(content_type), kind, "{content_type}");
        }
    }
}
