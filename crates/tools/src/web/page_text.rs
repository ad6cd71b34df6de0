//! Reads content of every kind as text.

mod feed;
mod plain;

use contract::invisible::only_hides;
use extract::{ExtractedPage, PageFormat};
use guard::net::Url;

use super::content_kind::ContentKind;

/// Reads content of any kind. Only HTML and feeds have more than a text.
pub(super) fn read(
    kind: ContentKind,
    content: &str,
    url: &Url,
    format: PageFormat,
) -> ExtractedPage {
    let mut page = match kind {
        ContentKind::Html => extract::read(content, Some(url), format),
        ContentKind::Json => {
            ExtractedPage { text: plain::json(content), ..ExtractedPage::default() }
        }
        ContentKind::Markdown => {
            ExtractedPage { text: content.trim().to_owned(), ..ExtractedPage::default() }
        }
        ContentKind::Xml if is_page(content) => extract::read(content, Some(url), format),
        ContentKind::Xml => feed::read(content, url, format),
        ContentKind::Text => {
            ExtractedPage { text: plain::text(content), ..ExtractedPage::default() }
        }
    };
    page.text = seen(&page.text);
    for about in [&mut page.title, &mut page.byline] {
        *about = about.take().map(|text| seen(&text)).filter(|text| !text.is_empty());
    }
    page
}

/// True if XML is a page all the same: what stands around its first element does not matter.
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

    fn text(kind: ContentKind, content: &str) -> String {
        let url = Url::parse("https://example.com/").unwrap();
        read(kind, content, &url, PageFormat::Text).text
    }

    #[test]
    fn what_no_reader_sees_is_not_there() {
        let hidden = "before \u{e0049}\u{e0047} \u{202e}evil\u{202c} \u{2066}x\u{2069}\u{0} after";
        assert_eq!(text(ContentKind::Text, hidden), "before  evil x after");
    }

    #[test]
    fn a_page_may_be_called_xml() {
        let page = "<?xml version='1.0'?><!DOCTYPE html><!-- x --><html xmlns='x'><head><title>T</title></head>\
                    <body><p>Hello <b>world</b></p></body></html>";
        assert_eq!(text(ContentKind::Xml, page), "Hello world");
        assert_eq!(text(ContentKind::Xml, "<htmlx>one<b>two</b></htmlx>"), "one\ntwo");
    }

    #[test]
    fn every_kind_is_read() {
        assert_eq!(
            text(ContentKind::Json, r#"{"greeting":"hello"}"#),
            "{\n  \"greeting\": \"hello\"\n}"
        );
        assert_eq!(text(ContentKind::Json, "{not json"), "{not json");
        assert_eq!(text(ContentKind::Markdown, "\n# Title\n\ntext\n"), "# Title\n\ntext");
        assert_eq!(text(ContentKind::Html, "<p>hello <b>world</b></p>"), "hello world");
        assert_eq!(text(ContentKind::Html, ""), "");
    }
}
