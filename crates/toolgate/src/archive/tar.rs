//! The headers of tar files (GNU format), as far as backups need them.

use std::io::{self, Read};

/// Headers and contents fill blocks of so many bytes.
pub const BLOCK: usize = 512;
/// Ordinary tools fill the end of an archive up to so many bytes.
pub const RECORD: usize = 20 * BLOCK;
/// The longest name in a header itself, in bytes.
const SHORT_NAME: usize = 100;
/// The longest name at all, in bytes.
const MAX_NAME: u64 = 1_024;
/// The name of the entry that holds a long name.
const LONG_NAME: &str = "././@LongLink";
const MAGIC: &[u8; 8] = b"ustar  \0";

const SIZE: std::ops::Range<usize> = 124..136;
const CHECKSUM: std::ops::Range<usize> = 148..156;
const KIND: usize = 156;
const MAGIC_PLACE: std::ops::Range<usize> = 257..265;

/// The header of a regular file that only its owner may read.
pub fn header(name: &str, bytes: u64, seconds: u64) -> Vec<u8> {
    let mut header = Vec::with_capacity(BLOCK);
    if name.len() > SHORT_NAME {
        header.extend(block(LONG_NAME, name.len() as u64 + 1, seconds, b'L'));
        header.extend(name.as_bytes());
        header.push(0);
        header.resize(header.len().next_multiple_of(BLOCK), 0);
    }
    header.extend(block(name, bytes, seconds, b'0'));
    header
}

/// The number of zeros behind a file of this size.
pub fn padding(bytes: u64) -> usize {
    let block = BLOCK as u64;
    usize::try_from((block - bytes % block) % block).unwrap_or(0)
}

fn block(name: &str, bytes: u64, seconds: u64, kind: u8) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let name = &name.as_bytes()[..name.len().min(SHORT_NAME)];
    block[..name.len()].copy_from_slice(name);
    for (place, value) in [(100..108, 0o600), (108..116, 0), (116..124, 0), (136..148, seconds)] {
        block[place.clone()].copy_from_slice(&octal(value, place.len()));
    }
    let size = if bytes < 1 << 33 { octal(bytes, SIZE.len()) } else { binary(bytes) };
    block[SIZE].copy_from_slice(&size);
    block[KIND] = kind;
    block[MAGIC_PLACE].copy_from_slice(MAGIC);
    let sum = checksum(&block);
    block[CHECKSUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

/// A number in octal digits, with an end.
fn octal(value: u64, length: usize) -> Vec<u8> {
    format!("{value:0digits$o}\0", digits = length - 1).into_bytes()
}

/// A number that has too many octal digits.
fn binary(value: u64) -> Vec<u8> {
    let mut bytes = vec![0x80, 0, 0, 0];
    bytes.extend(value.to_be_bytes());
    bytes
}

/// The sum of all bytes, with blanks in the place of the sum.
fn checksum(block: &[u8; BLOCK]) -> u32 {
    let own: u32 = block[CHECKSUM].iter().copied().map(u32::from).sum();
    block.iter().copied().map(u32::from).sum::<u32>() - own + 8 * u32::from(b' ')
}

/// Reads the name and the size of the next file; none at the end of the archive.
pub fn next(archive: &mut impl Read) -> io::Result<Option<(String, u64)>> {
    let mut long_name = None;
    loop {
        let mut block = [0; BLOCK];
        archive.read_exact(&mut block)?;
        if block == [0; BLOCK] {
            return if long_name.is_none() { Ok(None) } else { Err(invalid("a name has no file")) };
        }
        let sum = std::str::from_utf8(&block[CHECKSUM]).ok();
        let sum = sum.and_then(|text| u32::from_str_radix(text.trim_matches(['\0', ' ']), 8).ok());
        if sum != Some(checksum(&block)) || &block[MAGIC_PLACE] != MAGIC {
            return Err(invalid("it is not an archive of `toolgate backup`"));
        }
        let bytes = size(&block[SIZE]).ok_or_else(|| invalid("a size cannot be read"))?;
        match block[KIND] {
            b'0' => {
                let name = long_name.unwrap_or_else(|| text(&block[..SHORT_NAME]));
                let name = name.ok_or_else(|| invalid("a name is not UTF-8"))?;
                return Ok(Some((name, bytes)));
            }
            b'L' if long_name.is_none() && bytes <= MAX_NAME => {
                let mut name = Vec::new();
                let length = bytes + padding(bytes) as u64;
                archive.by_ref().take(length).read_to_end(&mut name)?;
                long_name = Some(text(&name));
            }
            kind => {
                let name = long_name.flatten().or_else(|| text(&block[..SHORT_NAME]));
                let (name, kind) = (name.unwrap_or_default(), words(kind));
                return Err(invalid(&format!("`{name}` is {kind}, which no backup has")));
            }
        }
    }
}

/// The text before the first NUL.
fn text(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8(bytes[..end].to_vec()).ok()
}

fn size(field: &[u8]) -> Option<u64> {
    if field.starts_with(&[0x80, 0, 0, 0]) {
        return field[4..].try_into().ok().map(u64::from_be_bytes);
    }
    u64::from_str_radix(std::str::from_utf8(field).ok()?.trim_matches(['\0', ' ']), 8).ok()
}

/// What an entry is that is not a regular file.
fn words(kind: u8) -> &'static str {
    match kind {
        b'1' | b'2' => "a link",
        b'3' | b'4' => "a device",
        b'5' => "a folder",
        b'6' => "a pipe",
        _ => "something else than a regular file",
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let long = format!("artifacts/job_01ARZ3NDEKTSV4RRFFQ69G5FAV/{}", "ü".repeat(127));
        for (name, bytes) in [
            ("a", 0),
            ("toolgate.db", 511),
            (&"x".repeat(100), 512),
            (&"x".repeat(101), 513),
            (&long, (1 << 33) - 1),
            (&long, 1 << 33),
            ("huge", u64::MAX >> 1),
        ] {
            let written = header(name, bytes, 1_700_000_000);
            assert_eq!(written.len() % BLOCK, 0);
            assert_eq!(next(&mut &written[..]).unwrap(), Some((name.to_owned(), bytes)));
        }
        assert_eq!(next(&mut &[0; BLOCK][..]).unwrap(), None);
        assert_eq!([0, 1, 511, 512, 513].map(padding), [0, 511, 1, 0, 511]);
    }

    #[test]
    fn everything_else_is_refused() {
        for kind in *b"123456LKxgSV\0" {
            let other = block("name", 4_096, 0, kind);
            let error = next(&mut &other[..]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{kind}: {error}");
        }
        let mut damaged = block("name", 1, 0, b'0');
        damaged[3] ^= 1;
        assert!(next(&mut &damaged[..]).is_err());
        assert_eq!(next(&mut &damaged[..9]).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
