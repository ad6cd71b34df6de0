//! Tells text from binary data, whatever its sender calls it.

use super::charset;

/// The bytes that are looked at.
const LOOKED_AT_BYTES: usize = 8_192;
/// The number of bytes of text that there must be for each control character.
const TEXT_FOR_A_CONTROL: usize = 200;
/// The number of control characters that are forgiven in any text.
const FORGIVEN_CONTROLS: usize = 2;

/// The first bytes of binary formats, and the name of each.
const MAGIC: [(&[u8], &str); 34] = [
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG\r\n\x1a\n", "an image"),
    (b"GIF87a", "an image"),
    (b"GIF89a", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"II*\0", "an image"),
    (b"MM\0*", "an image"),
    (b"\0\0\x01\0", "an image"),
    (b"8BPS", "an image"),
    (b"PK\x03\x04", "an archive"),
    (b"PK\x05\x06", "an archive"),
    (b"\x1f\x8b\x08", "an archive"),
    (b"BZh91AY&SY", "an archive"),
    (b"\xfd7zXZ\0", "an archive"),
    (b"\x28\xb5\x2f\xfd", "an archive"),
    (b"7z\xbc\xaf\x27\x1c", "an archive"),
    (b"Rar!\x1a\x07", "an archive"),
    (b"\x7fELF", "a program"),
    (b"\xfe\xed\xfa\xce", "a program"),
    (b"\xfe\xed\xfa\xcf", "a program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"\0asm", "a program"),
    (b"OggS\0", "audio or video"),
    (b"ID3\x02", "audio or video"),
    (b"ID3\x03", "audio or video"),
    (b"ID3\x04", "audio or video"),
    (b"fLaC\0", "audio or video"),
    (b"\x1a\x45\xdf\xa3", "audio or video"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
    (b"\0\x01\0\0\0", "a font"),
    (b"SQLite format 3\0", "a database"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an office document"),
];

/// The format of these bytes, if they are no text. UTF-16 may have zero bytes if a byte order mark or the
/// `Content-Type` says that it is UTF-16.
pub fn looks_binary(bytes: &[u8], content_type: Option<&str>) -> Option<&'static str> {
    if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Some(what);
    }
    let looked_at = &bytes[..bytes.len().min(LOOKED_AT_BYTES)];
    let is_riff = looked_at.starts_with(b"RIFF")
        && matches!(looked_at.get(8..12), Some(b"WAVE" | b"AVI " | b"WEBP"));
    // Before the word is the size of a part of the file, which is small.
    let is_mp4 = looked_at.starts_with(b"\0\0") && looked_at.get(4..8) == Some(b"ftyp");
    if is_riff || is_mp4 {
        return Some("audio or video");
    }
    if bytes.starts_with(b"\xff\xfe")
        || bytes.starts_with(b"\xfe\xff")
        || charset::names_wide(content_type)
    {
        return None;
    }
    // Line ends, tabs, form feeds and the escapes of terminals and of Japanese are text.
    let controls = looked_at.iter().filter(|byte| matches!(byte, 0..=8 | 11 | 14..=26 | 28..=31));
    let forgiven = FORGIVEN_CONTROLS.max(looked_at.len() / TEXT_FOR_A_CONTROL);
    (controls.count() > forgiven).then_some("binary data")
}
