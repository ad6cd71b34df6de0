//! XML: feeds as what they announce, anything else as the text in it.

use extract::Format;
use guard::net::Url;
use quick_xml::{Reader, escape::unescape, events::Event};

use super::Reading;

/// How deep elements may lie in each other; below that they are not looked at.
const MAX_DEPTH: usize = 200;
/// How many entries of a feed are read.
const MAX_ENTRIES: usize = 1_000;

/// What a feed, or an entry of it, says.
#[derive(Debug, Default)]
struct Entry {
    title: String,
    link: String,
    date: String,
    author: String,
    body: String,
}

pub(super) fn read(content: &str, url: &Url, format: Format) -> Reading {
    let mut found = Found::default();
    let mut reader = Reader::from_str(content);
    reader.config_mut().check_end_names = false;
    let mut path: Vec<String> = Vec::new();
    loop {
        match reader.read_event() {
            Ok(Event::Start(start)) => {
                let name = local(start.name().as_ref());
                found.open(&name);
                if let Some(link) = attribute(&start, b"href").filter(|_| name == "link") {
                    found.link(link);
                }
                if path.len() < MAX_DEPTH {
                    path.push(name);
                }
            }
            Ok(Event::Empty(start)) => {
                let name = local(start.name().as_ref());
                if let Some(link) = attribute(&start, b"href").filter(|_| name == "link") {
                    found.link(link);
                }
            }
            Ok(Event::End(end)) => {
                let name = local(end.name().as_ref());
                while let Some(open) = path.pop() {
                    found.close(&open);
                    if open == name {
                        break;
                    }
                }
            }
            Ok(Event::Text(text)) => {
                let text = String::from_utf8_lossy(&text);
                found.text(&path, &unescape(&text).unwrap_or(text.clone()));
            }
            Ok(Event::CData(text)) => found.text(&path, &String::from_utf8_lossy(&text)),
            Ok(Event::GeneralRef(name)) => {
                let entity = format!("&{};", String::from_utf8_lossy(&name));
                found.join(&path, unescape(&entity).as_deref().unwrap_or(""));
            }
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    found.reading(url, format)
}

fn local(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    name.rsplit(':').next().unwrap_or_default().to_ascii_lowercase()
}

fn attribute(start: &quick_xml::events::BytesStart<'_>, name: &[u8]) -> Option<String> {
    let found = start.attributes().flatten().find(|one| one.key.as_ref() == name)?;
    Some(String::from_utf8_lossy(&found.value).into_owned())
}

#[derive(Debug, Default)]
struct Found {
    feed: Entry,
    entries: Vec<Entry>,
    inside: bool,
    /// All text, line by line.
    lines: Vec<String>,
    /// Whether the last text goes on.
    goes_on: bool,
}

impl Found {
    fn open(&mut self, name: &str) {
        self.goes_on = false;
        if matches!(name, "item" | "entry") && self.entries.len() < MAX_ENTRIES {
            self.entries.push(Entry::default());
            self.inside = true;
        }
    }

    fn close(&mut self, name: &str) {
        self.goes_on = false;
        if matches!(name, "item" | "entry") {
            self.inside = false;
        }
    }

    fn entry(&mut self) -> &mut Entry {
        match self.entries.last_mut() {
            Some(entry) if self.inside => entry,
            _ => &mut self.feed,
        }
    }

    fn link(&mut self, link: String) {
        let entry = self.entry();
        if entry.link.is_empty() {
            entry.link = link;
        }
    }

    fn join(&mut self, path: &[String], text: &str) {
        self.goes_on = true;
        self.text(path, text);
        self.goes_on = true;
    }

    fn text(&mut self, path: &[String], text: &str) {
        let goes_on = std::mem::replace(&mut self.goes_on, true);
        if !goes_on && text.trim().is_empty() {
            self.goes_on = false;
            return;
        }
        match self.lines.last_mut() {
            Some(line) if goes_on => line.push_str(text),
            _ => self.lines.push(text.trim_start().to_owned()),
        }
        let Some(name) = path.last().map(String::as_str) else { return };
        let inner = path.iter().rev().nth(1).map_or("", String::as_str);
        let entry = self.entry();
        let field = match name {
            "title" if inner != "image" => &mut entry.title,
            "link" | "guid" if entry.link.is_empty() || goes_on => &mut entry.link,
            "pubdate" | "published" | "date" | "updated" if entry.date.is_empty() || goes_on => {
                &mut entry.date
            }
            "creator" | "author" => &mut entry.author,
            "name" if inner == "author" => &mut entry.author,
            "description" | "summary" | "content" | "encoded" | "subtitle"
                if goes_on || entry.body.len() < text.len() =>
            {
                if !goes_on {
                    entry.body.clear();
                }
                &mut entry.body
            }
            _ => return,
        };
        field.push_str(text);
    }

    fn reading(self, url: &Url, format: Format) -> Reading {
        let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        if self.entries.is_empty() {
            let lines = self.lines.iter().map(|text| line(text)).filter(|text| !text.is_empty());
            let text = lines.collect::<Vec<_>>().join("\n");
            return Reading { text, ..Reading::default() };
        }
        let some = |text: &str| Some(line(text)).filter(|text| !text.is_empty());
        let mut parts = vec![line(&self.feed.title), body(&self.feed.body, url, format)];
        for entry in &self.entries {
            let mut lines = Vec::new();
            let title = line(&entry.title);
            lines.push(if format == Format::Markdown { format!("## {title}") } else { title });
            let facts = [&entry.date, &entry.author, &entry.link].map(|text| line(text));
            let facts: Vec<_> = facts.into_iter().filter(|text| !text.is_empty()).collect();
            lines.push(facts.join(" · "));
            lines.push(body(&entry.body, url, format));
            lines.retain(|text| !text.is_empty());
            parts.push(lines.join("\n"));
        }
        parts.retain(|text| !text.is_empty());
        Reading {
            title: some(&self.feed.title),
            byline: some(&self.feed.author),
            published_at: None,
            lang: None,
            text: parts.join("\n\n"),
        }
    }
}

/// What an entry says: HTML in most feeds.
fn body(text: &str, url: &Url, format: Format) -> String {
    if text.contains('<') {
        extract::all(text, Some(url), format)
    } else {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &str) -> Reading {
        super::read(content, &Url::parse("https://example.com/").unwrap(), Format::Text)
    }

    #[test]
    fn feeds_are_read_as_what_they_announce() {
        let rss = "<?xml version='1.0'?><rss><channel><title>News &amp; more</title><link>https://e.org/</link>
            <item><title>One</title><link>https://e.org/1</link><pubDate>Mon, 06 Nov 2023 10:00:00 GMT</pubDate>
            <description>&lt;p&gt;Hello &lt;b&gt;world&lt;/b&gt;&lt;/p&gt;</description></item>
            <item><title><![CDATA[Two]]></title></item></channel></rss>";
        let reading = read(rss);
        assert_eq!(reading.title.as_deref(), Some("News & more"));
        let expected = "News & more\n\nOne\nMon, 06 Nov 2023 10:00:00 GMT · https://e.org/1\nHello world\n\nTwo";
        assert_eq!(reading.text, expected);
    }

    #[test]
    fn atom_is_a_feed_too() {
        let atom = "<feed xmlns='http://www.w3.org/2005/Atom'><title>A</title><author><name>Ada</name></author>
            <entry><title>One</title><link href='https://e.org/1'/><updated>2023-11-06</updated><summary>Short</summary></entry></feed>";
        let reading = read(atom);
        assert_eq!(reading.byline.as_deref(), Some("Ada"));
        assert_eq!(reading.text, "A\n\nOne\n2023-11-06 · https://e.org/1\nShort");
    }

    #[test]
    fn other_xml_is_its_text() {
        assert_eq!(
            read("<svg><title>Logo</title><text>hello world</text></svg>").text,
            "Logo\nhello world"
        );
        assert_eq!(read("<a>one &amp; two<b>three</b></a>").text, "one & two\nthree");
        assert_eq!(read("not xml at all").text, "not xml at all");
        assert_eq!(read("<a><b>open").text, "open");
        let bomb = "<!DOCTYPE x [<!ENTITY a \"lol\"><!ENTITY b \"&a;&a;\">]><x>&b; hello</x>";
        assert!(!read(bomb).text.contains("lollol"));
    }
}
