//! For whoever trains the model.

use url::Url;

use crate::features::{tokens, vocabulary};

/// A page as the model sees it.
pub struct TrainingSheet {
    /// The text of each block.
    pub texts: Vec<String>,
    /// The numbers of each block, without those of the table of words.
    pub rows: Vec<Vec<f32>>,
    /// The elements above each block, the nearest first.
    pub above: Vec<Vec<u32>>,
    /// The tokens of the names of each element above a block.
    pub names: Vec<(u32, Vec<u32>)>,
    /// The tokens of the text of each block.
    pub said: Vec<Vec<u32>>,
    /// The tokens of each block that is a heading, as those of a heading.
    pub headings: Vec<Option<Vec<u32>>>,
}

/// The text of a page whose blocks were scored elsewhere.
pub fn text_scored(html: &str, url: Option<&Url>, sureties: Vec<f32>) -> String {
    let tree = crate::dom::parse(html);
    let head = crate::head::read(&tree);
    let blocks = crate::blocks::cut(&tree);
    let rows = crate::features::of(&tree, &blocks, &head, url);
    let scores = crate::scoring::BlockScores::of(&blocks, sureties);
    let kept = crate::selection::choose(&tree, &blocks, &rows, &scores);
    let format = crate::PageFormat::Text;
    crate::embedded::read(&tree, &blocks, &head, format, url)
        .unwrap_or_else(|| crate::render::render(&tree, &blocks, &kept, format, url))
}

/// The blocks of a page and what is known of them.
pub fn sheet(html: &str, url: Option<&Url>) -> TrainingSheet {
    let tree = crate::dom::parse(html);
    let head = crate::head::read(&tree);
    let blocks = crate::blocks::cut(&tree);
    let rows = crate::features::of(&tree, &blocks, &head, url);
    let list = &blocks.list;
    let said: Vec<Vec<u32>> = list.iter().map(|block| tokens::of_text(&block.text)).collect();
    let of_headings = |index: usize| {
        let tokens = said[index].iter().map(|token| tokens::in_heading(*token));
        (tree.tag(list[index].node).heading() > 0).then(|| tokens.collect())
    };
    TrainingSheet {
        names: vocabulary::names(&tree, list),
        headings: (0..list.len()).map(of_headings).collect(),
        texts: list.iter().map(|block| block.text.clone()).collect(),
        rows: (0..list.len()).map(|index| own(rows.row(index)).to_vec()).collect(),
        above: list
            .iter()
            .map(|block| {
                std::iter::once(block.node)
                    .chain(tree.ancestors(block.node))
                    .map(|id| id.0)
                    .collect()
            })
            .collect(),
        said,
    }
}

/// The numbers of a block without those of the table of words, which is made anew from them.
fn own(row: &[f32]) -> &[f32] {
    &row[..row.len().saturating_sub(vocabulary::WIDTH)]
}
