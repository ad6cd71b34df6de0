//! The text of a feed or of one of its entries.

use extract::PageFormat;
use guard::net::Url;

/// The most authors of an entry that are named.
const MAX_AUTHORS: usize = 10;

/// The fields of a feed or of an entry.
#[derive(Debug, Default)]
pub(super) struct FeedEntry {
    pub(super) title: String,
    pub(super) link: String,
    /// Its id, which is its address in most feeds.
    pub(super) id: String,
    pub(super) date: String,
    pub(super) updated: String,
    pub(super) authors: Vec<String>,
    pub(super) body: String,
}

impl FeedEntry {
    /// Another one who wrote it.
    pub(super) fn add_author(&mut self, name: String) {
        let is_room = self.authors.len() < MAX_AUTHORS;
        if is_room && !name.is_empty() && !self.authors.contains(&name) {
            self.authors.push(name);
        }
    }

    /// All of it, as a part of a text.
    pub(super) fn text(&self, url: &Url, format: PageFormat) -> String {
        let title = plain(&self.title);
        let is_heading = format == PageFormat::Markdown && !title.is_empty();
        let date = if self.date.is_empty() { &self.updated } else { &self.date };
        let facts = [line(date), plain(&self.authors.join(", ")), self.address(url)];
        let facts: Vec<_> = facts.into_iter().filter(|text| !text.is_empty()).collect();
        let mut lines = vec![
            if is_heading { format!("## {title}") } else { title },
            facts.join(" · "),
            body(&self.body, url, format),
        ];
        lines.retain(|text| !text.is_empty());
        lines.join("\n")
    }

    /// Its address, resolved against that of the feed.
    fn address(&self, url: &Url) -> String {
        let is_address = self.id.starts_with("http://") || self.id.starts_with("https://");
        let link = if self.link.is_empty() && is_address { &self.id } else { &self.link };
        if link.is_empty() {
            return String::new();
        }
        url.join(link.trim()).map_or_else(|_| line(link), String::from)
    }
}

/// Puts a value where none is yet.
pub(super) fn fill(field: &mut String, value: String) {
    if field.is_empty() {
        *field = value;
    }
}

pub(super) fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A title or a name in one line: some write HTML even there.
pub(super) fn plain(text: &str) -> String {
    let is_html = text.contains("</") || text.contains("/>") || text.contains('&');
    if is_html {
        return line(&extract::all(text, None, PageFormat::Text));
    }
    line(text)
}

/// The body of an entry: HTML in most feeds.
pub(super) fn body(text: &str, url: &Url, format: PageFormat) -> String {
    if text.contains('<') { extract::all(text, Some(url), format) } else { line(text) }
}
