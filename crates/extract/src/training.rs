//! For whoever trains the model.

use url::Url;

/// A page as the model sees it.
pub struct TrainingSheet {
    /// The text of each block.
    pub texts: Vec<String>,
    /// The numbers of each block.
    pub rows: Vec<Vec<f32>>,
    /// The elements above each block, the nearest first.
    pub above: Vec<Vec<u32>>,
    /// The pattern of each block, fine and coarse.
    pub patterns: Vec<[u32; 2]>,
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
    crate::embedded::read(&tree, &blocks, format, url)
        .unwrap_or_else(|| crate::render::render(&tree, &blocks, &kept, format, url))
}

/// The blocks of a page and what is known of them.
pub fn sheet(html: &str, url: Option<&Url>) -> TrainingSheet {
    let tree = crate::dom::parse(html);
    let head = crate::head::read(&tree);
    let blocks = crate::blocks::cut(&tree);
    let rows = crate::features::of(&tree, &blocks, &head, url);
    let list = &blocks.list;
    TrainingSheet {
        texts: list.iter().map(|block| block.text.clone()).collect(),
        rows: (0..list.len()).map(|index| rows.row(index).to_vec()).collect(),
        above: list
            .iter()
            .map(|block| {
                std::iter::once(block.node)
                    .chain(tree.ancestors(block.node))
                    .map(|id| id.0)
                    .collect()
            })
            .collect(),
        patterns: (0..list.len())
            .map(|at| [rows.patterns.fine.of[at], rows.patterns.coarse.of[at]])
            .collect(),
    }
}
