//! Content of every kind as text.

mod feed;
mod plain;

use contract::invisible::only_hides;
use extract::Format;
use guard::net::Url;

use super::kind::Kind;

/// What was read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) title: Option<String>,
    pub(super) byline: Option<String>,
    pub(super) published_at: Option<String>,
    pub(super) lang: Option<String>,
    pub(super) text: String,
}

pub(super) fn read(kind: Kind, content: &str, url: &Url, format: Format) -> Reading {
    let mut reading = match kind {
        Kind::Html => page(content, url, format),
        Kind::Json => Reading { text: plain::json(content), ..Reading::default() },
        Kind::Markdown => Reading { text: content.trim().to_owned(), ..Reading::default() },
        Kind::Xml if is_page(content) => page(content, url, format),
        Kind::Xml => feed::read(content, url, format),
        Kind::Text => Reading { text: plain::text(content), ..Reading::default() },
    };
    reading.text = seen(&reading.text);
    for about in [&mut reading.title, &mut reading.byline] {
        *about = about.take().map(|text| seen(&text)).filter(|text| !text.is_empty());
    }
    reading
}

fn page(html: &str, url: &Url, format: Format) -> Reading {
    let page = extract::read(html, Some(url), format);
    Reading {
        title: page.title,
        byline: page.byline,
        published_at: page.published_at,
        lang: page.lang,
        text: page.text,
    }
}

/// Whether XML is a page all the same: what stands around its first element does not matter.
fn is_page(xml: &str) -> bool {
    let mut rest = xml.trim_start_matches('\u{feff}').trim_start();
    loop {
        let end = match rest {
            _ if rest.starts_with("<?") => "?>",
            _ if rest.starts_with("<!--") => "-->",
            _ if rest.starts_with("<!") => ">",
            _ => break,
        };
        let Some((_, after)) = rest.split_once(end) else { return false };
        rest = after.trim_start();
    }
    let name = rest.strip_prefix("<html");
    name.is_some_and(|after| after.starts_with(|one: char| one == '>' || one.is_ascii_whitespace()))
}

/// The text without what no reader sees: controls, marks that turn the direction around, and tags
/// in which instructions can be hidden.
fn seen(text: &str) -> String {
    let is_hidden =
        |one: char| (one.is_control() && !matches!(one, '\n' | '\t')) || only_hides(one);
    let text: String = text.chars().filter(|one| !is_hidden(*one)).collect();
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(kind: Kind, content: &str) -> String {
        let url = Url::parse("https://example.com/").unwrap();
        read(kind, content, &url, Format::Text).text
    }

    #[test]
    fn what_no_reader_sees_is_not_there() {
        let hidden = "before \u{e0049}\u{e0047} \u{202e}evil\u{202c} \u{2066}x\u{2069}\u{0} after";
        assert_eq!(text(Kind::Text, hidden), "before  evil x after");
    }

    #[test]
    fn a_page_may_be_called_xml() {
        let page = "<?xml version='1.0'?><!DOCTYPE html><!-- x --><html xmlns='x'><head><title>T</title></head>\
                    <body><p>Hello <b>world</b></p></body></html>";
        assert_eq!(text(Kind::Xml, page), "Hello world");
        assert_eq!(text(Kind::Xml, "<htmlx>one<b>two</b></htmlx>"), "one\ntwo");
    }

    #[test]
    fn every_kind_is_read() {
        assert_eq!(text(Kind::Json, r#"{"greeting":"hello"}"#), "{\n  \"greeting\": \"hello\"\n}");
        assert_eq!(text(Kind::Json, "{not json"), "{not json");
        assert_eq!(text(Kind::Markdown, "\n# Title\n\ntext\n"), "# Title\n\ntext");
        assert_eq!(text(Kind::Html, "<p>hello <b>world</b></p>"), "hello world");
        assert_eq!(text(Kind::Html, ""), "");
    }
}
