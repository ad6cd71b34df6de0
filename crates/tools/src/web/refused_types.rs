//! The content types that are refused before their bytes arrive.

use guard::net::charset::essence;

/// The patterns of the settings.
#[derive(Debug, Clone)]
pub(super) struct RefusedTypes(Vec<String>);

impl RefusedTypes {
    pub(super) fn new(patterns: &[String]) -> Self {
        Self(patterns.iter().map(|pattern| pattern.trim().to_ascii_lowercase()).collect())
    }

    /// True if content of this type is refused. Silence is not, and neither is what names no type:
    /// then the bytes decide.
    pub(super) fn refuse(&self, content_type: &str) -> bool {
        let essence = essence(content_type);
        // Such a suffix promises text, whatever stands before it (`image/svg+xml`).
        if !is_type(&essence) || essence.ends_with("+xml") || essence.ends_with("+json") {
            return false;
        }
        self.0.iter().any(|pattern| fits(pattern, &essence))
    }
}

/// True if this is `type/subtype` (RFC 9110).
fn is_type(essence: &str) -> bool {
    let is_token = |text: &str| {
        let more = b"!#$%&'*+-.^_`|~";
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || more.contains(&byte))
    };
    essence.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype))
}

/// True if a text fits a pattern in which `*` stands for anything.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((start, mut pattern)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut rest) = text.strip_prefix(start) else { return false };
    while let Some((middle, after)) = pattern.split_once('*') {
        let Some(at) = rest.find(middle) else { return false };
        rest = &rest[at + middle.len()..];
        pattern = after;
    }
    rest.ends_with(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::WebFetchSettings;

    #[test]
    fn patterns_fit_what_they_say() {
        for (pattern, text, expected) in [
            ("a/b", "a/b", true),
            ("a/b", "a/bc", false),
            ("a/*", "a/", true),
            ("a/*", "b/a", false),
            ("*+zip", "application/epub+zip", true),
            ("*+zip", "application/zip", false),
            ("application/*font*", "application/x-font-ttf", true),
            ("application/*font*", "application/json", false),
            ("*", "anything", true),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn text_is_fetched_and_the_rest_is_not() {
        let refused = RefusedTypes::new(&WebFetchSettings::default().refused_types);
        for text in [
            "",
            "text/html",
            "TEXT/HTML; Charset=UTF-8",
            "text/plain",
            "text/csv",
            "text/markdown",
            "application/json",
            "application/ld+json",
            "application/xhtml+xml",
            "application/rss+xml",
            "application/javascript",
            "application/x-yaml",
            "application/x-ndjson",
            "image/svg+xml",
            "image/svg xml",
            "image",
        ] {
            assert!(!refused.refuse(text), "{text}");
        }
        for binary in [
            "application/octet-stream",
            "Application/Octet-Stream; charset=utf-8",
            "application/pdf",
            "image/png",
            "audio/mpeg",
            "video/mp4",
            "font/woff2",
            "application/wasm",
            "application/zip",
            "application/x-msdownload",
            "application/vnd.ms-excel",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "application/epub+zip",
        ] {
            assert!(refused.refuse(binary), "{binary}");
        }
    }
}
