//! As much of SQLite's file format as it takes to read a table of blobs, without SQLite: a C
//! library would have to be built for every system that this crate is for, and opening the file
//! with it takes locks that only root may have.
//!
//! What a transaction has not yet brought into the file is not seen. The format:
//! <https://www.sqlite.org/fileformat2.html>.

use std::{fs::File, os::unix::fs::FileExt};

/// How deep a tree is followed; SQLite's own limit.
const MAX_DEPTH: usize = 20;

/// How many pages are read at most: some gigabytes of headers.
const MAX_PAGES: usize = 500_000;

/// Calls `found` with the beginning of the last column of every row of a table, `limit` bytes or
/// a little more. Nothing where the file is no such database.
pub(super) fn blobs(
    file: &File,
    table: &str,
    limit: usize,
    found: &mut dyn FnMut(&[u8]),
) -> Option<()> {
    let mut database = Database::open(file)?;
    let mut root = None;
    // The first page is the root of the table of tables: type, name, table, root, SQL.
    database.rows(1, 0, limit, &mut |row| {
        let columns = columns(row);
        if let [kind, name, _, page, ..] = columns.as_slice()
            && (*kind, *name) == (b"table", table.as_bytes())
        {
            root = page.iter().try_fold(0_u32, |number, byte| {
                number.checked_mul(256)?.checked_add(u32::from(*byte))
            });
        }
    })?;
    database.rows(root?, 0, limit, &mut |row| {
        found(columns(row).last().copied().unwrap_or_default());
    })
}

/// A file of pages.
struct Database<'a> {
    file: &'a File,
    page_bytes: usize,
    /// What of a page is used.
    usable: usize,
    pages_left: usize,
}

impl<'a> Database<'a> {
    fn open(file: &'a File) -> Option<Self> {
        let mut header = [0; 100];
        file.read_exact_at(&mut header, 0).ok()?;
        if !header.starts_with(b"SQLite format 3\0") {
            return None;
        }
        let page_bytes = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65_536,
            bytes if bytes >= 512 => usize::from(bytes),
            _ => return None,
        };
        let usable = page_bytes - usize::from(header[20]);
        (usable >= 480).then_some(Self { file, page_bytes, usable, pages_left: MAX_PAGES })
    }

    fn page(&mut self, number: u32) -> Option<Vec<u8>> {
        self.pages_left = self.pages_left.checked_sub(1)?;
        let mut page = vec![0; self.page_bytes];
        let at = u64::from(number.checked_sub(1)?) * self.page_bytes as u64;
        self.file.read_exact_at(&mut page, at).ok()?;
        Some(page)
    }

    /// The rows of the tree below a page, in order. A broken page ends it.
    fn rows(
        &mut self,
        number: u32,
        depth: usize,
        limit: usize,
        found: &mut dyn FnMut(&[u8]),
    ) -> Option<()> {
        let page = self.page(number)?;
        // The first page begins with the header of the file.
        let start = if number == 1 { 100 } else { 0 };
        let cells = usize::from(u16_at(&page, start + 3)?);
        let (is_leaf, head) = match page.get(start)? {
            0x0d => (true, 8),
            0x05 if depth < MAX_DEPTH => (false, 12),
            _ => return None,
        };
        for cell in 0..cells {
            let at = usize::from(u16_at(&page, start + head + 2 * cell)?);
            if is_leaf {
                let row = self.payload(&page, at, limit)?;
                found(&row);
            } else {
                self.rows(u32_at(&page, at)?, depth + 1, limit, found)?;
            }
        }
        if is_leaf {
            return Some(());
        }
        self.rows(u32_at(&page, start + 8)?, depth + 1, limit, found)
    }

    /// The beginning of a row: what is in its own page, and then in a chain of others.
    fn payload(&mut self, page: &[u8], at: usize, limit: usize) -> Option<Vec<u8>> {
        let mut rest = page.get(at..)?;
        let total = usize::try_from(varint(&mut rest)?).ok()?;
        varint(&mut rest)?; // The number of the row.
        let local = self.local(total);
        let mut payload = rest.get(..local)?.to_vec();
        let mut next = if local < total { u32_at(rest, local)? } else { 0 };
        let wanted = total.min(limit);
        while payload.len() < wanted && next != 0 {
            let page = self.page(next)?;
            next = u32_at(&page, 0)?;
            let more = (total - payload.len()).min(self.usable - 4);
            payload.extend_from_slice(page.get(4..4 + more)?);
        }
        (payload.len() >= wanted).then_some(payload)
    }

    /// How much of a row is in its own page.
    fn local(&self, total: usize) -> usize {
        let most = self.usable - 35;
        if total <= most {
            return total;
        }
        let least = (self.usable - 12) * 32 / 255 - 23;
        let fitting = least + (total - least) % (self.usable - 4);
        if fitting <= most { fitting } else { least }
    }
}

/// The columns of a row, as bytes. The last may be cut.
fn columns(row: &[u8]) -> Vec<&[u8]> {
    let mut columns = Vec::new();
    let mut types = row;
    let Some(header) = varint(&mut types).and_then(|bytes| usize::try_from(bytes).ok()) else {
        return columns;
    };
    let read = row.len() - types.len();
    let (Some(mut body), Some(mut types)) = (row.get(header..), row.get(read..header)) else {
        return columns;
    };
    while let Some(kind) = varint(&mut types) {
        let bytes = match kind {
            1..=4 => kind,
            5 => 6,
            6 | 7 => 8,
            12.. => (kind - 12) / 2,
            _ => 0,
        };
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).min(body.len());
        let (column, rest) = body.split_at(bytes);
        columns.push(column);
        body = rest;
    }
    columns
}

/// A number of one to nine bytes, seven bits in each.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for count in 1..=9 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if count == 9 {
            return Some((number << 8) | u64::from(*byte));
        }
        number = (number << 7) | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(number)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk::<2>().map(|two| u16::from_be_bytes(*two))
}

/// Four bytes, the largest first.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk::<4>().map(|four| u32::from_be_bytes(*four))
}
