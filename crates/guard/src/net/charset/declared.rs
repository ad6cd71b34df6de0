//! The encoding that a text itself names.

/// The bytes of a page in which a `meta` element is looked for. Browsers stop at 1,024 and begin
/// anew when they meet one later; looking further comes to the same.
const META_WITHIN_BYTES: usize = 65_536;
/// The longest XML declaration, in bytes.
const DECLARATION_BYTES: usize = 512;

/// Elements whose content is text, however much it looks like elements.
const RAW_TEXT: [&[u8]; 5] = [b"script", b"style", b"title", b"textarea", b"noscript"];

/// The encoding that an XML declaration names.
pub(super) fn in_xml(bytes: &[u8]) -> Option<String> {
    let start = &bytes[..bytes.len().min(DECLARATION_BYTES)];
    let start = start.trim_ascii_start().strip_prefix(b"<?xml")?;
    let end = memchr::memmem::find(start, b"?>")?;
    let mut attributes = MetaAttributes { rest: &start[..end] };
    attributes.find_map(|(name, value)| (name == "encoding").then_some(value))
}

/// The encoding that a `meta` element names.
pub(super) fn in_html(bytes: &[u8]) -> Option<String> {
    let mut rest = &bytes[..bytes.len().min(META_WITHIN_BYTES)];
    while let Some(at) = memchr::memchr(b'<', rest) {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix(b"!--") {
            let end = memchr::memmem::find(comment, b"-->")?;
            rest = &comment[end + 3..];
            continue;
        }
        let name_end = rest
            .iter()
            .position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-')
            .unwrap_or(rest.len());
        let name = rest[..name_end].to_ascii_lowercase();
        if name.is_empty() {
            continue;
        }
        rest = &rest[name_end..];
        let mut attributes = MetaAttributes { rest };
        if name == b"meta" {
            if let Some(label) = of_meta(&mut attributes) {
                return Some(label);
            }
        } else {
            attributes.by_ref().for_each(drop);
        }
        rest = attributes.rest;
        if RAW_TEXT.contains(&name.as_slice()) {
            rest = after_raw_text(rest, &name)?;
        }
    }
    None
}

/// The encoding in the attributes of a `meta` element.
fn of_meta(attributes: &mut MetaAttributes<'_>) -> Option<String> {
    let (mut charset, mut content, mut is_type) = (None, None, false);
    for (name, value) in attributes {
        match name.as_str() {
            "charset" if charset.is_none() => charset = Some(value),
            "content" if content.is_none() => content = Some(value),
            "http-equiv" => is_type = value.eq_ignore_ascii_case("content-type"),
            _ => {}
        }
    }
    charset.or_else(|| content.filter(|_| is_type).and_then(|content| of_content(&content)))
}

/// The encoding in `text/html; charset=x`.
fn of_content(content: &str) -> Option<String> {
    let lower = content.to_ascii_lowercase();
    lower.match_indices("charset").find_map(|(at, word)| {
        let value = lower[at + word.len()..].trim_start().strip_prefix('=')?.trim_start();
        let label = match value.chars().next()? {
            quote @ ('"' | '\'') => value[1..].split(quote).next()?,
            _ => value.split([';', ' ', '\t', '\n', '"', '\'']).next()?,
        };
        Some(label.trim().to_owned()).filter(|label| !label.is_empty())
    })
}

fn after_raw_text<'a>(bytes: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut rest = bytes;
    loop {
        let at = memchr::memmem::find(rest, b"</")?;
        rest = &rest[at + 2..];
        if rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)) {
            return Some(rest);
        }
    }
}

/// The attributes of an element, from behind its name to behind its `>`.
struct MetaAttributes<'a> {
    rest: &'a [u8],
}

impl Iterator for MetaAttributes<'_> {
    type Item = (String, String);

    fn next(&mut self) -> Option<(String, String)> {
        self.skip(|byte| byte.is_ascii_whitespace() || byte == b'/');
        match self.rest.first()? {
            b'>' => {
                self.rest = &self.rest[1..];
                // The end is said once; what follows is not ours.
                return None;
            }
            b'=' => self.rest = &self.rest[1..],
            _ => {}
        }
        let name =
            self.take(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'=' | b'>' | b'/'));
        self.skip(|byte| byte.is_ascii_whitespace());
        if self.rest.first() != Some(&b'=') {
            return Some((name, String::new()));
        }
        self.rest = &self.rest[1..];
        self.skip(|byte| byte.is_ascii_whitespace());
        let value = match self.rest.first() {
            Some(&quote @ (b'"' | b'\'')) => {
                self.rest = &self.rest[1..];
                let value = self.take(|byte| byte != quote);
                self.rest = self.rest.get(1..).unwrap_or_default();
                value
            }
            _ => self.take(|byte| !byte.is_ascii_whitespace() && byte != b'>'),
        };
        Some((name, value))
    }
}

impl MetaAttributes<'_> {
    fn skip(&mut self, what: impl Fn(u8) -> bool) {
        let length = self.rest.iter().position(|byte| !what(*byte)).unwrap_or(self.rest.len());
        self.rest = &self.rest[length..];
    }

    fn take(&mut self, what: impl Fn(u8) -> bool) -> String {
        let length = self.rest.iter().position(|byte| !what(*byte)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        String::from_utf8_lossy(taken).trim().to_ascii_lowercase()
    }
}
