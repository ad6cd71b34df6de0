//! Pages in many encodings, named rightly, wrongly and not at all.

use encoding_rs::Encoding;

use super::pages::{page_with, replace};

const FRENCH: &str = "naïve café";
const RUSSIAN: &str = "привет";

/// The `Content-Type` and the body of a case.
pub(super) fn page(name: &str) -> Option<(&'static str, Vec<u8>)> {
    let html = "text/html";
    let utf8 = "text/html; charset=utf-8";
    Some(match name {
        "h_utf8" => (utf8, text(FRENCH, "utf-8", "")),
        "h_1252" => ("text/html; charset=windows-1252", text(FRENCH, "windows-1252", "")),
        "h_latin1_euro" => ("text/html; charset=iso-8859-1", text("price €5", "windows-1252", "")),
        "h_sjis" => ("text/html; charset=Shift_JIS", text("日本語", "shift_jis", "")),
        "h_euckr" => ("text/html; charset=EUC-KR", text("한국어", "euc-kr", "")),
        "h_gb" => ("text/html; charset=GB18030", text("中文", "gb18030", "")),
        "h_1251" => ("text/html; charset=windows-1251", text(RUSSIAN, "windows-1251", "")),
        "h_big5" => ("text/html; charset=Big5", text("繁體", "big5", "")),
        "h_iso2022jp" => ("text/html; charset=ISO-2022-JP", text("日本語", "iso-2022-jp", "")),
        "h_quoted" => ("text/html; charset=\"windows-1252\"", text(FRENCH, "windows-1252", "")),
        "h_case" => ("Text/HTML ;  ChArSeT = WINDOWS-1252", text(FRENCH, "windows-1252", "")),
        "h_unknown" => ("text/html; charset=utf-99", text(FRENCH, "utf-8", "")),
        "h_utf8nodash" => ("text/html; charset=utf8", text(FRENCH, "utf-8", "")),
        "h_two" => ("text/html; charset=utf-8; charset=windows-1251", text(FRENCH, "utf-8", "")),
        "bom_vs_header" => {
            let marked = [b"\xef\xbb\xbf".as_slice(), &text(FRENCH, "utf-8", "")].concat();
            ("text/html; charset=windows-1251", marked)
        }
        "bom_u16le" => (html, wide(u16::to_le_bytes)),
        "bom_u16be" => (html, wide(u16::to_be_bytes)),
        "m_1251" => (html, text(RUSSIAN, "windows-1251", "<meta charset=\"windows-1251\">")),
        "m_equiv" => {
            let meta =
                "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=windows-1251\">";
            (html, text(RUSSIAN, "windows-1251", meta))
        }
        "header_vs_meta" => (utf8, text(FRENCH, "utf-8", "<meta charset=\"windows-1251\">")),
        "m_utf16_lie" => (html, text(FRENCH, "utf-8", "<meta charset=\"utf-16\">")),
        "m_comment" => (html, text(FRENCH, "utf-8", "<!-- <meta charset=\"windows-1251\"> -->")),
        "m_late" => {
            let meta = format!("<!--{}--><meta charset=\"windows-1251\">", "x".repeat(2_000));
            (html, text(RUSSIAN, "windows-1251", &meta))
        }
        "xmldecl" => {
            let declaration = b"<?xml version=\"1.0\" encoding=\"windows-1251\"?>".as_slice();
            let page = [declaration, &text(RUSSIAN, "windows-1251", "")].concat();
            ("application/xhtml+xml", page)
        }
        "none_utf8" => (html, text(FRENCH, "utf-8", "")),
        "none_1252" => (html, text(FRENCH, "windows-1252", "")),
        "none_1251" => (html, text(RUSSIAN, "windows-1251", "")),
        "bad_utf8" => (utf8, page_with("paragraph 3", b"par\xff\xfe\xe9graph 3")),
        "utf7" => {
            let hidden = b"+ADw-script+AD4-alert+ADw-/script+AD4-";
            let page = replace(&super::pages::page(), b"hello world, this is paragraph 2", hidden);
            ("text/html; charset=utf-7", page)
        }
        "entity" => {
            (utf8, page_with("hello world, this is paragraph 2", b"&amp;lt;script&amp;gt;"))
        }
        _ => return None,
    })
}

/// A page around a text, long enough for a guess.
fn text(text: &str, encoding: &str, meta: &str) -> Vec<u8> {
    let filling = match text {
        RUSSIAN => "Это обычная страница на русском языке. ".repeat(20),
        FRENCH => {
            "Ceci est une page française tout à fait ordinaire, écrite l’été dernier. ".repeat(15)
        }
        other => format!("{other} ").repeat(40),
    };
    let page = format!(
        "<!doctype html><html><head>{meta}<title>T</title></head><body><article><p>{text}</p>\
         <p>{filling}</p></article></body></html>"
    );
    let encoding = Encoding::for_label(encoding.as_bytes()).unwrap();
    encoding.encode(&page).0.into_owned()
}

/// A page in UTF-16 with its mark.
fn wide(unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let page = String::from_utf8(text(FRENCH, "utf-8", "")).unwrap();
    std::iter::once(0xfeff).chain(page.encode_utf16()).flat_map(unit).collect()
}
