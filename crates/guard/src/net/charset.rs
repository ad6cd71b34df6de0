//! From bytes to text.
//!
//! The encoding of a text is named by, in the order in which they are believed: its byte order mark,
//! the `Content-Type`, the text itself (an XML declaration, a `meta` element), and at last a guess
//! from the bytes, for which what is valid UTF-8 is UTF-8. Bytes that are wrong become U+FFFD, never
//! an error. The labels are those of the Encoding standard, so UTF-7 is not among them.

mod declared;

use bytes::Bytes;
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// The part of a text that is looked at to guess its encoding, in bytes.
const GUESSED_FROM_BYTES: usize = 262_144;
/// The part of a text that is looked at to see whether it can be UTF-16, in bytes.
const PROBE_BYTES: usize = 1_024;

/// The format of a text, which decides where it can name its encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    /// HTML: in a `meta` element, or an XML declaration.
    Html,
    /// XML: in its declaration; UTF-8 where it is silent.
    Xml,
    /// JSON: always UTF-8.
    Json,
    /// Anything else: nowhere.
    Text,
}

impl TextFormat {
    /// The kind that a `Content-Type` names.
    pub fn of(content_type: Option<&str>) -> Self {
        let essence = essence(content_type.unwrap_or_default());
        match essence.as_str() {
            "text/html" | "application/xhtml+xml" => TextFormat::Html,
            "text/xml" | "application/xml" => TextFormat::Xml,
            "application/json" | "text/json" => TextFormat::Json,
            other if other.ends_with("+xml") => TextFormat::Xml,
            other if other.ends_with("+json") => TextFormat::Json,
            _ => TextFormat::Text,
        }
    }
}

/// The type and subtype of a `Content-Type`, in lower case, without parameters.
pub fn essence(content_type: &str) -> String {
    content_type.split([';', ',']).next().unwrap_or_default().trim().to_ascii_lowercase()
}

pub fn decode(bytes: &[u8], content_type: Option<&str>, kind: TextFormat) -> String {
    let encoding = detect(bytes, content_type, kind);
    let (text, _) = encoding.decode_with_bom_removal(bytes);
    text.into_owned()
}

/// The same of bytes that are no longer needed: what is UTF-8 already is not copied.
pub fn decode_owned(bytes: Bytes, content_type: Option<&str>, kind: TextFormat) -> String {
    let is_marked = Encoding::for_bom(&bytes).is_some();
    if is_marked || detect(&bytes, content_type, kind) != UTF_8 {
        return decode(&bytes, content_type, kind);
    }
    String::from_utf8(bytes.into())
        .unwrap_or_else(|wrong| decode(wrong.as_bytes(), content_type, kind))
}

pub fn detect(bytes: &[u8], content_type: Option<&str>, kind: TextFormat) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return encoding;
    }
    let named = content_type.and_then(parameter).and_then(|label| known(&label));
    if let Some(encoding) = named.filter(|encoding| !is_lie(encoding, bytes)) {
        return encoding;
    }
    let inside = match kind {
        TextFormat::Html => declared::in_xml(bytes).or_else(|| declared::in_html(bytes)),
        TextFormat::Xml => declared::in_xml(bytes),
        TextFormat::Json | TextFormat::Text => None,
    };
    match inside.and_then(|label| known(&label)) {
        // It was read as ASCII, so it is not UTF-16, whatever it says.
        Some(encoding) if is_utf_16(encoding) => UTF_8,
        Some(encoding) if encoding == X_USER_DEFINED => WINDOWS_1252,
        Some(encoding) => encoding,
        None if kind == TextFormat::Json => UTF_8,
        None => guess(bytes),
    }
}

/// The encoding of a label. Some labels stand for encodings that are too dangerous to decode.
fn known(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label(label.as_bytes()).filter(|encoding| *encoding != REPLACEMENT)
}

fn is_utf_16(encoding: &'static Encoding) -> bool {
    encoding == UTF_16LE || encoding == UTF_16BE
}

/// True if a text is called UTF-16 and has no such bytes.
fn is_lie(encoding: &'static Encoding, bytes: &[u8]) -> bool {
    let probe = &bytes[..bytes.len().min(PROBE_BYTES)];
    is_utf_16(encoding) && probe.is_ascii() && !probe.contains(&0) && !probe.is_empty()
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    if std::str::from_utf8(bytes).is_ok() {
        return UTF_8;
    }
    let looked_at = &bytes[..bytes.len().min(GUESSED_FROM_BYTES)];
    // Escape sequences in a page that says nothing of them are more likely to hide something.
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(looked_at, looked_at.len() == bytes.len());
    detector.guess(None, Utf8Detection::Allow)
}

/// The first `charset` of a `Content-Type`, quoted or not.
fn parameter(content_type: &str) -> Option<String> {
    let (_, parameters) = content_type.split_once(';')?;
    parameters.split(';').find_map(|one| {
        let (name, value) = one.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']).trim();
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then(|| value.to_owned())
    })
}

/// True if a `Content-Type` says that the text is UTF-16 or UTF-32, where zero bytes are no wonder.
pub(super) fn names_wide(content_type: Option<&str>) -> bool {
    let label = content_type.and_then(parameter).unwrap_or_default().to_ascii_lowercase();
    label.starts_with("utf-16") || label.starts_with("utf16") || label.starts_with("utf-32")
}
