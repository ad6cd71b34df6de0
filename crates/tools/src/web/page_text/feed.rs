//! XML: feeds as what they announce, anything else as the text in it.

mod entry;

use std::borrow::Cow;

use extract::PageFormat;
use guard::net::Url;
use quick_xml::{
    Reader,
    escape::unescape,
    events::{BytesStart, Event},
};

use super::ExtractedPage;
use entry::{FeedEntry, body, fill, line, plain};

/// The depth of elements; below it they are not read.
const MAX_DEPTH: usize = 200;
/// The most attributes of an element that are read.
const MAX_ATTRIBUTES: usize = 100;
/// The most entries of a feed that are read.
const MAX_ENTRIES: usize = 1_000;

pub(super) fn read(content: &str, url: &Url, format: PageFormat) -> ExtractedPage {
    let mut found = FeedReader::default();
    let mut reader = lenient(content);
    // The names of the elements that are open.
    let mut path: Vec<String> = Vec::new();
    loop {
        match reader.read_event() {
            Ok(Event::Start(start)) => {
                let name = local(start.name().as_ref());
                found.open(&name);
                let inner = path.last().map_or("", String::as_str);
                if name == "link" {
                    found.link(&start);
                }
                // What a field holds is taken as a whole: it may be text, escaped HTML or elements.
                if is_field(&start, inner, &name) {
                    let Ok(raw) = reader.read_text(start.to_end().name()) else { break };
                    found.field(&name, &raw);
                } else if path.len() < MAX_DEPTH {
                    path.push(name);
                }
            }
            Ok(Event::Empty(start)) if local(start.name().as_ref()) == "link" => {
                found.link(&start);
            }
            Ok(Event::End(end)) => {
                let name = local(end.name().as_ref());
                // One that was never opened closes nothing.
                if let Some(at) = path.iter().rposition(|open| *open == name) {
                    path.drain(at..).for_each(|open| found.close(&open));
                }
            }
            Ok(Event::Text(text)) => found.text(&unescaped(&String::from_utf8_lossy(&text))),
            Ok(Event::CData(text)) => found.text(&String::from_utf8_lossy(&text)),
            Ok(Event::GeneralRef(name)) => found.join(&reference(&name)),
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    found.into_page(url, format)
}

/// A reader that takes what feeds are like.
fn lenient(content: &str) -> Reader<&[u8]> {
    let mut reader = Reader::from_str(content);
    reader.config_mut().check_end_names = false;
    reader.config_mut().allow_unmatched_ends = true;
    reader
}

/// True if an element in another one says something about the feed or the entry that this is.
fn is_field(start: &BytesStart<'_>, inner: &str, name: &str) -> bool {
    // The same once more about a picture or a film.
    let of_media = start.name().as_ref().starts_with(b"media:");
    !of_media
        && matches!(inner, "item" | "entry" | "channel" | "feed")
        && matches!(
            name,
            "title"
                | "link"
                | "guid"
                | "id"
                | "pubdate"
                | "published"
                | "date"
                | "updated"
                | "creator"
                | "author"
                | "description"
                | "summary"
                | "content"
                | "encoded"
                | "subtitle"
        )
}

fn local(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    name.rsplit(':').next().unwrap_or_default().to_ascii_lowercase()
}

fn attribute(start: &BytesStart<'_>, name: &[u8]) -> Option<String> {
    // Whether one is there twice is not asked: that takes the square of their number.
    let mut attributes = start.attributes();
    let attributes = attributes.with_checks(false).take(MAX_ATTRIBUTES).flatten();
    let found = attributes.into_iter().find(|one| one.key.as_ref() == name)?;
    Some(unescaped(&String::from_utf8_lossy(&found.value)).into_owned())
}

/// The text with the entities that XML knows; as it is where there are others.
fn unescaped(text: &str) -> Cow<'_, str> {
    unescape(text).unwrap_or(Cow::Borrowed(text))
}

/// The value of an entity; nothing for one that the document itself would have to define.
fn reference(name: &[u8]) -> String {
    let entity = format!("&{};", String::from_utf8_lossy(name));
    unescape(&entity).map(Cow::into_owned).unwrap_or_default()
}

/// The value of a field: its text, or its elements as they are written.
fn value(raw: &str) -> String {
    let mut reader = lenient(raw);
    let mut value = String::new();
    loop {
        match reader.read_event() {
            Ok(Event::Text(text)) => value += &unescaped(&String::from_utf8_lossy(&text)),
            Ok(Event::CData(text)) => value += &String::from_utf8_lossy(&text),
            Ok(Event::GeneralRef(name)) => value += &reference(&name),
            Ok(Event::Start(_) | Event::Empty(_)) => return raw.trim().to_owned(),
            Ok(Event::Eof) | Err(_) => return value.trim().to_owned(),
            Ok(_) => {}
        }
    }
}

/// The author: a text, or an element `name` beside others.
fn author(raw: &str) -> String {
    let mut reader = lenient(raw);
    loop {
        match reader.read_event() {
            Ok(Event::Start(start)) if local(start.name().as_ref()) == "name" => {
                let name = reader.read_text(start.to_end().name());
                return name.map(|raw| value(&raw)).unwrap_or_default();
            }
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    Some(value(raw)).filter(|name| !name.contains('<')).unwrap_or_default()
}

#[derive(Debug, Default)]
struct FeedReader {
    feed: FeedEntry,
    entries: Vec<FeedEntry>,
    place: FeedPosition,
    /// All text, line by line.
    lines: String,
    /// True if the last line goes on.
    goes_on: bool,
}

/// The part of the feed that is being read.
#[derive(Debug, Default, PartialEq, Eq)]
enum FeedPosition {
    #[default]
    Feed,
    Entry,
    /// An entry after the last that is read.
    Beyond,
}

impl FeedReader {
    fn open(&mut self, name: &str) {
        self.goes_on = false;
        if !matches!(name, "item" | "entry") {
            return;
        }
        self.place = if self.entries.len() < MAX_ENTRIES {
            self.entries.push(FeedEntry::default());
            FeedPosition::Entry
        } else {
            FeedPosition::Beyond
        };
    }

    fn close(&mut self, name: &str) {
        self.goes_on = false;
        if matches!(name, "item" | "entry") {
            self.place = FeedPosition::Feed;
        }
    }

    /// The feed or the entry that is being read.
    fn entry(&mut self) -> Option<&mut FeedEntry> {
        match self.place {
            FeedPosition::Feed => Some(&mut self.feed),
            FeedPosition::Entry => self.entries.last_mut(),
            FeedPosition::Beyond => None,
        }
    }

    /// Reads the link of an Atom entry: not that of its comments, or its sound.
    fn link(&mut self, start: &BytesStart<'_>) {
        let is_page = attribute(start, b"rel").is_none_or(|rel| rel == "alternate");
        let href = attribute(start, b"href").filter(|href| is_page && !href.is_empty());
        if let (Some(href), Some(entry)) = (href, self.entry()) {
            fill(&mut entry.link, href);
        }
    }

    fn field(&mut self, name: &str, raw: &str) {
        let value = if name == "author" { author(raw) } else { value(raw) };
        self.text(&value);
        self.goes_on = false;
        let Some(entry) = self.entry() else { return };
        match name {
            "title" => fill(&mut entry.title, value),
            "link" => fill(&mut entry.link, value),
            "guid" | "id" => fill(&mut entry.id, value),
            "pubdate" | "published" | "date" => fill(&mut entry.date, value),
            "updated" => fill(&mut entry.updated, value),
            "creator" | "author" => entry.add_author(value),
            // Some say the same twice, in short and whole.
            _ if entry.body.len() < value.len() => entry.body = value,
            _ => {}
        }
    }

    fn join(&mut self, text: &str) {
        self.goes_on |= !self.lines.is_empty();
        self.text(text);
    }

    fn text(&mut self, text: &str) {
        if !self.goes_on {
            if text.trim().is_empty() {
                return;
            }
            self.lines.push('\n');
        }
        self.goes_on = true;
        self.lines.push_str(text);
    }

    fn into_page(self, url: &Url, format: PageFormat) -> ExtractedPage {
        if self.entries.is_empty() {
            let lines = self.lines.lines().map(line).filter(|text| !text.is_empty());
            return ExtractedPage {
                text: lines.collect::<Vec<_>>().join("\n"),
                ..ExtractedPage::default()
            };
        }
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        let mut parts = vec![plain(&self.feed.title), body(&self.feed.body, url, format)];
        parts.extend(self.entries.iter().map(|entry| entry.text(url, format)));
        parts.retain(|text| !text.is_empty());
        ExtractedPage {
            title: some(plain(&self.feed.title)),
            byline: some(plain(&self.feed.authors.join(", "))),
            published_at: None,
            lang: None,
            text: parts.join("\n\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &str) -> ExtractedPage {
        super::read(content, &Url::parse("https://example.com/").unwrap(), PageFormat::Text)
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

    /// Forms that real feeds have beside the simple ones.
    #[test]
    fn what_is_said_twice_is_read_once() {
        let reading = read(
            "<feed xmlns:media='m'><title>A</title><author><name>Ada</name><uri>u</uri></author>
             <entry><title>One &amp;amp; two</title><link rel='replies' href='https://e.org/comments'/>
             <link rel='alternate' href='/1?a=b&amp;c=d'/><updated>2024-02-02</updated><published>2024-01-01</published>
             <author><name>Ada</name></author><author><name>Bob</name></author>
             <media:group><media:title>One</media:title><media:description>Film</media:description></media:group>
             <content type='xhtml'><div><p>First.</p><p>Second.</p></div></content><summary>First &amp; so on</summary></entry></feed>",
        );
        let expected = "A\n\nOne & two\n2024-01-01 · Ada, Bob · https://example.com/1?a=b&c=d\nFirst.\n\nSecond.";
        assert_eq!(reading.text, expected);
        let reading = read(
            "<rss><channel><title>N</title><item><content:encoded><![CDATA[<p>The whole of it, at length.</p>]]></content:encoded>
             <title>One</title><media:title>One</media:title><dc:creator>Ada</dc:creator><author>Ada</author>
             <guid>https://e.org/1</guid><description>The &amp; whole</description></item></channel></rss>",
        );
        assert_eq!(reading.text, "N\n\nOne\nAda · https://e.org/1\nThe whole of it, at length.");
    }

    #[test]
    fn a_crowd_of_authors_or_attributes_takes_no_time() {
        let attributes: String = (0..300_000).map(|number| format!(" a{number}=''")).collect();
        let began = std::time::Instant::now();
        read(&format!("<feed><entry><title>x</title><link{attributes}/></entry></feed>"));
        // In quadratic time it would be many minutes.
        assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
        let authors: String =
            (0..200_000).map(|number| format!("<author>a{number}</author>")).collect();
        let reading =
            read(&format!("<rss><channel><item><title>x</title>{authors}</item></channel></rss>"));
        assert!(
            reading.text.ends_with("a0, a1, a2, a3, a4, a5, a6, a7, a8, a9"),
            "{}",
            reading.text
        );
    }

    #[test]
    fn what_comes_after_the_last_entry_is_nobodys() {
        let item = "<item><title>x</title></item>";
        let reading = read(&format!(
            "<rss><title>N</title><channel><title>News</title>{}</channel></rss>",
            item.repeat(1_500)
        ));
        assert_eq!(reading.title.as_deref(), Some("News"));
        assert_eq!(reading.text.matches('x').count(), MAX_ENTRIES);
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
