//! Reads a web page: its text without what stands around it, its title, author, date and language.
//!
//! Text in, values out: nothing here reaches out, waits or remembers. However deep or broken a
//! page is, no call is deep and nothing panics.

// Counts become numbers for the model here, and none of them is so large that it would matter.
#![allow(clippy::cast_precision_loss)]

mod blocks;
pub mod date;
mod dom;
mod embedded;
mod features;
mod head;
mod metadata;
mod render;
mod scoring;
mod selection;
#[doc(hidden)]
pub mod training;
mod tree_model;

use metadata::MetadataSource;
pub use render::PageFormat;
use url::Url;

/// The content and the metadata of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExtractedPage {
    pub title: Option<String>,
    /// Its author.
    pub byline: Option<String>,
    /// The time of its publication: RFC 3339, or a date.
    pub published_at: Option<String>,
    /// Its language, as `de` or `de-AT`.
    pub lang: Option<String>,
    /// Its content; empty where it has none.
    pub text: String,
}

/// All text of a piece of HTML, whatever it is.
pub fn all(html: &str, url: Option<&Url>, format: PageFormat) -> String {
    let tree = dom::parse(html);
    let blocks = blocks::cut(&tree);
    render::render(&tree, &blocks, &vec![true; blocks.list.len()], format, url)
}

/// Reads a page that came from this address.
pub fn read(html: &str, url: Option<&Url>, format: PageFormat) -> ExtractedPage {
    let tree = dom::parse(html);
    let head = head::read(&tree);
    let blocks = blocks::cut(&tree);
    let rows = features::of(&tree, &blocks, &head, url);
    let scores = scoring::score(&blocks, &rows);
    let kept = selection::choose(&tree, &blocks, &rows, &scores);
    let text = embedded::read(&tree, &blocks, &head, format, url).unwrap_or_else(|| {
        if embedded::is_notice(&blocks) {
            return String::new();
        }
        render::render(&tree, &blocks, &kept, format, url)
    });
    let source = MetadataSource {
        tree: &tree,
        head: &head,
        blocks: &blocks,
        belongs: &kept,
        url,
        text: &text,
        around_title: metadata::around_title(&tree, &blocks),
    };
    let title = metadata::title::find(&source);
    let byline = metadata::byline::find(&source, title.as_deref());
    let published_at = metadata::published::find(&source);
    let lang = metadata::language::find(&source);
    ExtractedPage { title, byline, published_at, lang, text }
}
