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

#[cfg(test)]
mod tests {
    use super::Kind;

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
