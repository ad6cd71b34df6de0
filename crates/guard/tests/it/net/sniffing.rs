//! Whether bytes are text.

use guard::net::sniff::looks_binary;

#[test]
fn text_is_text_and_the_rest_is_not() {
    let noise: Vec<u8> = (0..=255).cycle().take(4_000).collect();
    let nuls = b"ab\0\0\0cd\0\0".repeat(50);
    let one_nul = [b"x".repeat(500), vec![0], b"y".repeat(500)].concat();
    let wide: Vec<u8> = "hello".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [b"\xff\xfe".as_slice(), &wide].concat();
    for (bytes, content_type, binary) in [
        (b"".as_slice(), None, false),
        (b"hello\r\n\tworld", None, false),
        ("Grüße, 世界".as_bytes(), None, false),
        (b"caf\xe9", None, false),
        (b"\x1b[31mred\x1b[0m", None, false),
        (one_nul.as_slice(), Some("text/html"), false),
        (marked.as_slice(), Some("text/plain"), false),
        (wide.as_slice(), Some("text/plain; charset=UTF-16LE"), false),
        (wide.as_slice(), Some("text/plain"), true),
        (nuls.as_slice(), Some("text/plain"), true),
        (noise.as_slice(), Some("text/html"), true),
        (b"%PDF-1.7\n", Some("text/html"), true),
        (b"\x89PNG\r\n\x1a\n", Some("text/html"), true),
        (b"PK\x03\x04", Some("text/html"), true),
        (b"\x1f\x8b\x08\0", Some("text/html"), true),
        (b"\0\0\0\x18ftypmp42", None, true),
        (b"RIFF\0\0\0\0WEBPVP8 ", None, true),
        (b"GIF is a format", None, false),
        (b"IDs are numbers", None, false),
        (b"ID3 is what tags of music are called", None, false),
        (b"ID3\x04\0\0\0\0\0\0", None, true),
        (b"The ftyp box comes first", None, false),
        (b"BZh9 is how such files begin", None, false),
        (b"BZh91AY&SY\x01", None, true),
    ] {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(20)]).into_owned();
        assert_eq!(
            looks_binary(bytes, content_type).is_some(),
            binary,
            "{shown:?} {content_type:?}"
        );
    }
}
