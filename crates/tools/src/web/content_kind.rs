//! The kinds of content that can be read.

use guard::net::charset::essence;

/// A kind of content that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContentKind {
    Html,
    Markdown,
    Json,
    Xml,
    Text,
}

impl ContentKind {
    /// The kind of a Content-Type; none where it is binary or says nothing.
    pub(super) fn of(content_type: &str) -> Option<Self> {
        Some(match essence(content_type).as_str() {
            "text/html" | "application/xhtml+xml" => ContentKind::Html,
            "text/markdown" | "text/x-markdown" => ContentKind::Markdown,
            "application/json" | "text/json" | "application/manifest+json" => ContentKind::Json,
            "text/xml" | "application/xml" => ContentKind::Xml,
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
            | "application/x-latex" => ContentKind::Text,
            other if other.ends_with("+json") => ContentKind::Json,
            other if other.ends_with("+xml") => ContentKind::Xml,
            other if other.starts_with("text/") => ContentKind::Text,
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
    use super::{ContentKind, sniffed};

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
            ("text/html; charset=utf-8", Some(ContentKind::Html)),
            ("APPLICATION/XHTML+XML", Some(ContentKind::Html)),
            ("application/rss+xml", Some(ContentKind::Xml)),
            ("image/svg+xml", Some(ContentKind::Xml)),
            ("application/ld+json", Some(ContentKind::Json)),
            ("text/csv", Some(ContentKind::Text)),
            ("application/pdf", None),
            ("image/png", None),
            ("nonsense", None),
            ("", None),
        ] {
            assert_eq!(ContentKind::of(content_type), kind, "{content_type}");
        }
    }
}
