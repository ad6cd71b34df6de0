//! What a reader wants of a web page: its text without what stands around it, its title, its
//! author, its date and its language.
//!
//! Text in, values out: nothing here reaches out, waits or remembers. However deep or broken a
//! page is, no call is deep and nothing panics.

// Counts become numbers for the model here, and none of them is so large that it would matter.
#![allow(clippy::cast_precision_loss)]

mod about;
mod blocks;
mod dom;
mod features;
mod head;
mod judge;
mod keep;
mod model;
mod render;
#[doc(hidden)]
pub mod training;

pub use render::Format;
use url::Url;

/// What a page says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// What it is called.
    pub title: Option<String>,
    /// Who wrote it.
    pub byline: Option<String>,
    /// When it was published: RFC 3339, or a date.
    pub published_at: Option<String>,
    /// Its language, as `de` or `de-AT`.
    pub lang: Option<String>,
    /// Its content; empty where it has none.
    pub text: String,
}

/// All text of a piece of HTML, whatever it is.
pub fn all(html: &str, url: Option<&Url>, format: Format) -> String {
    let tree = dom::parse(html);
    let blocks = blocks::cut(&tree);
    render::render(&tree, &blocks, &vec![true; blocks.list.len()], format, url)
}

/// Reads a page that came from this address.
pub fn read(html: &str, url: Option<&Url>, format: Format) -> Page {
    let tree = dom::parse(html);
    let head = head::read(&tree);
    let blocks = blocks::cut(&tree);
    let rows = features::of(&tree, &blocks, &head, url);
    let judgement = judge::judge(&tree, &blocks, &rows);
    let kept = keep::choose(&tree, &blocks, &rows, &judgement);
    let text = render::render(&tree, &blocks, &kept, format, url);
    let about = about::find(&about::Source {
        tree: &tree,
        head: &head,
        blocks: &blocks,
        belongs: &kept,
        url,
        text: &text,
        around_title: about::around_title(&tree, &blocks),
    });
    Page {
        title: about.title,
        byline: about.byline,
        published_at: about.published_at,
        lang: about.lang,
        text,
    }
}
