//! Texts in columns, as wide as a terminal shows them.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Stands where a text was cut.
const CUT: char = '…';
/// The columns between two cells.
const GAP: usize = 2;
/// No cell is cut to fewer columns while another is wider.
const MIN_CELL: usize = 8;

/// The number of columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// The text in at most so many columns.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else { return String::new() };
    let mut kept = String::new();
    let mut taken = 0;
    for one in text.chars() {
        taken += one.width().unwrap_or(0);
        if taken > room {
            break;
        }
        kept.push(one);
    }
    kept.push(CUT);
    kept
}

/// The widths of the columns of a table, within so many columns of a terminal. The last column, which describes, gives
/// way first, then the widest. The first, which names, never does.
pub fn fit(mut widths: Vec<usize>, columns: Option<usize>) -> Vec<usize> {
    let Some(columns) = columns else { return widths };
    let room = columns.saturating_sub(GAP * widths.len().saturating_sub(1));
    let Some(last) = widths.len().checked_sub(1) else { return widths };
    loop {
        let excess = widths.iter().sum::<usize>().saturating_sub(room);
        let may_give = |index: &usize| widths[*index] > MIN_CELL;
        let widest = || (1..last).filter(may_give).max_by_key(|index| widths[*index]);
        let giver = Some(last).filter(may_give).or_else(widest);
        let Some(giver) = giver.filter(|_| excess > 0) else { return widths };
        // The widest is not always the widest for long.
        let step = if giver == last { excess } else { 1 };
        widths[giver] -= step.min(widths[giver] - MIN_CELL);
    }
}

/// A row, without blanks at its end. Where not even narrow cells fit, the row is cut.
pub fn row<'a>(
    row: impl Iterator<Item = &'a str>,
    widths: &[usize],
    columns: Option<usize>,
) -> String {
    let mut text = String::new();
    for (cell, columns) in row.zip(widths) {
        let cell = cut(cell, *columns);
        text.push_str(&cell);
        text.push_str(&" ".repeat(columns - width(&cell) + GAP));
    }
    let text = text.trim_end();
    columns.map_or_else(|| text.to_owned(), |columns| cut(text, columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_what_a_terminal_shows() {
        for (text, columns, expected) in [
            ("tool", 4, "tool"),
            ("tools", 4, "too…"),
            ("tools", 1, "…"),
            ("tools", 0, ""),
            // Two columns each.
            ("漢字漢字", 8, "漢字漢字"),
            ("漢字漢字", 7, "漢字漢…"),
            ("漢字漢字", 6, "漢字…"),
            // An accent of its own takes none.
            ("e\u{301}e\u{301}e\u{301}", 3, "e\u{301}e\u{301}e\u{301}"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
        ] {
            let cut = cut(text, columns);
            assert_eq!(cut, expected, "{text} {columns}");
            assert!(width(&cut) <= columns);
        }
    }

    #[test]
    fn the_description_gives_way_first_and_the_name_never() {
        assert_eq!(fit(vec![10, 20, 100], None), [10, 20, 100]);
        assert_eq!(fit(vec![10, 20, 100], Some(200)), [10, 20, 100]);
        assert_eq!(fit(vec![10, 20, 100], Some(80)), [10, 20, 46]);
        assert_eq!(fit(vec![10, 20, 100], Some(38)), [10, 16, 8]);
        assert_eq!(fit(vec![10, 20, 100], Some(29)), [10, 8, 8]);
        assert_eq!(fit(vec![10, 20, 100], Some(5)), [10, 8, 8]);
        assert_eq!(fit(Vec::new(), Some(5)), Vec::<usize>::new());
    }

    #[test]
    fn no_row_is_wider_than_the_terminal() {
        let cells = ["漢字漢字漢字", "e\u{301}tage", "a long description"];
        for columns in 1..60 {
            let widths = fit(cells.iter().map(|cell| width(cell)).collect(), Some(columns));
            let row = row(cells.into_iter(), &widths, Some(columns));
            assert!(width(&row) <= columns, "{columns}: {row}");
        }
    }
}
