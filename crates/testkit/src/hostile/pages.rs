//! Ordinary pages.

/// An ordinary page.
pub(super) fn page() -> Vec<u8> {
    let mut page = String::from(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Hello page</title></head>\
         <body><article><h1>Hello page</h1>",
    );
    for number in 0..8 {
        page += &format!(
            "<p>hello world, this is paragraph {number} of an ordinary page that is long enough to be \
             called an article.</p>"
        );
    }
    page += "</article></body></html>";
    page.into_bytes()
}

/// The page with every `from` as `to`.
pub(super) fn page_with(from: &str, to: &[u8]) -> Vec<u8> {
    replace(&page(), from.as_bytes(), to)
}

/// Bytes with every `from` as `to`.
pub(super) fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(from) {
            replaced.extend_from_slice(to);
            at += from.len();
        } else {
            replaced.push(bytes[at]);
            at += 1;
        }
    }
    replaced
}

/// A body that is not what its type says.
pub(super) fn odd(name: &str) -> Vec<u8> {
    // Every byte there is, again and again: as good as random for whoever looks for text.
    let noise: Vec<u8> =
        (0..4_000_u32).map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
    let with = |magic: &[u8]| [magic, &noise].concat();
    match name {
        "png" => with(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        "pdf" => with(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"),
        "gz" => with(b"\x1f\x8b\x08\0\0\0\0\0"),
        "elf" => with(b"\x7fELF\x02\x01\x01\0"),
        "noise" => noise,
        "nuls" => b"ab\0\0\0cd\0\0".repeat(500),
        "utf16" => {
            let text = "hello world ".repeat(100);
            let wide = text.encode_utf16().flat_map(u16::to_le_bytes);
            [0xff, 0xfe].into_iter().chain(wide).collect()
        }
        "onenul" => page_with("paragraph 3", b"para\0graph 3"),
        _ => page(),
    }
}
