//! A `robots.txt`, read and asked.

use std::fmt::Write;

/// The number of rules that are kept; more are for a site that has lost count.
const MAX_RULES: usize = 10_000;

/// The rules for us.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RobotsFile {
    rules: Vec<RobotsRule>,
    /// The reason why it is not known, where it is not.
    unread: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct RobotsRule {
    allow: bool,
    /// With `*` for anything and `$` at the end for the end.
    pattern: String,
}

impl RobotsFile {
    pub(super) fn allow_all() -> Self {
        Self::default()
    }

    /// A file that cannot be read refuses everything, for this reason.
    pub(super) fn refuse_all(why: String) -> Self {
        let all = RobotsRule { allow: false, pattern: "/".to_owned() };
        Self { rules: vec![all], unread: Some(why) }
    }

    pub(super) fn unread(&self) -> Option<&str> {
        self.unread.as_deref()
    }

    /// The number of rules that there are.
    pub(super) fn rules(&self) -> usize {
        self.rules.len()
    }

    /// The memory that they take, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let of_rules = self.rules.iter().map(|rule| rule.pattern.capacity()).sum::<usize>();
        of_rules + self.rules.len() * size_of::<RobotsRule>()
    }

    /// The rules for a product: of all groups that name it or, if none does, of those for all.
    pub(super) fn parse(text: &str, product: &str) -> Self {
        let (mut ours, mut all) = (Vec::new(), Vec::new());
        let (mut is_ours, mut is_all, mut named) = (false, false, false);
        // A group begins with one or more names; what comes after a rule begins another one.
        let mut in_names = false;
        for line in text.trim_start_matches('\u{feff}').lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            match key.as_str() {
                "user-agent" => {
                    if !in_names {
                        (is_ours, is_all) = (false, false);
                    }
                    in_names = true;
                    is_all |= value == "*";
                    if is_named(value, product) {
                        (is_ours, named) = (true, true);
                    }
                }
                "allow" | "disallow" => {
                    in_names = false;
                    if value.is_empty() {
                        continue;
                    }
                    let rule = RobotsRule { allow: key == "allow", pattern: normal(value) };
                    if is_ours && ours.len() < MAX_RULES {
                        ours.push(rule.clone());
                    }
                    if is_all && all.len() < MAX_RULES {
                        all.push(rule);
                    }
                }
                _ => {}
            }
        }
        Self { rules: if named { ours } else { all }, unread: None }
    }

    /// True if a path with its query may be fetched: the longest rule that fits decides, and where
    /// two are as long the one that allows.
    pub(super) fn allows(&self, path: &str) -> bool {
        let path = normal(path);
        if path == "/robots.txt" {
            return true;
        }
        let fitting = self.rules.iter().filter(|rule| fits(&rule.pattern, &path));
        fitting.max_by_key(|rule| (rule.pattern.len(), rule.allow)).is_none_or(|rule| rule.allow)
    }
}

/// True if a name in the file is that of the product, whatever version stands behind it.
fn is_named(value: &str, product: &str) -> bool {
    let end = value
        .find(|one: char| !one.is_ascii_alphabetic() && one != '-' && one != '_')
        .unwrap_or(value.len());
    value[..end].eq_ignore_ascii_case(product)
}

/// A path in one spelling: what need not be escaped is not, everything beyond ASCII is.
fn normal(path: &str) -> String {
    let bytes = path.as_bytes();
    let mut normal = String::with_capacity(path.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = bytes
            .get(at..at + 3)
            .filter(|three| three[0] == b'%')
            .and_then(|three| u8::from_str_radix(std::str::from_utf8(&three[1..]).ok()?, 16).ok());
        let byte = escaped.unwrap_or(bytes[at]);
        let plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if plain || (escaped.is_none() && byte.is_ascii()) {
            normal.push(char::from(byte));
        } else {
            // Writing to a text cannot fail.
            let _ = write!(normal, "%{byte:02X}");
        }
        at += if escaped.is_some() { 3 } else { 1 };
    }
    normal
}

/// True if a path begins as the pattern says.
fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, to_the_end) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut pieces = pattern.split('*');
    let Some(mut rest) = path.strip_prefix(pieces.next().unwrap_or_default()) else { return false };
    let mut last = None;
    for piece in pieces {
        if let Some(piece) = last.replace(piece) {
            let Some(at) = rest.find(piece) else { return false };
            rest = &rest[at + piece.len()..];
        }
    }
    match last {
        None => !to_the_end || rest.is_empty(),
        Some(piece) if to_the_end => rest.ends_with(piece),
        Some(piece) => rest.contains(piece),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_rule_that_fits_decides() {
        let file = "User-agent: *\nDisallow: /private\nAllow: /private/open\nDisallow: /*.pdf$\n\
                    Disallow: /a*b*c\nDisallow: /same\nAllow: /same\nDisallow: /caf\u{e9}\n";
        let file = RobotsFile::parse(file, "toolgate");
        for (path, allowed) in [
            ("/", true),
            ("/private", false),
            ("/private/x", false),
            ("/private/open/x", true),
            ("/x.pdf", false),
            ("/x.pdf?y", true),
            ("/a1b2c3", false),
            ("/a1c2b3", true),
            ("/same", true),
            ("/caf%C3%A9", false),
            ("/%70rivate", false),
            ("/robots.txt", true),
        ] {
            assert_eq!(file.allows(path), allowed, "{path}");
        }
        assert!(
            !RobotsFile::refuse_all(String::new()).allows("/")
                && RobotsFile::allow_all().allows("/")
        );
    }

    #[test]
    fn a_group_of_our_own_counts_before_the_one_for_all() {
        let text = "\u{feff}User-Agent: *\nDisallow: /\n\nuser-agent: other\nUSER-AGENT: ToolGate/1.0 # us\n\
                    Disallow: /no\nSitemap: x\n\nUser-agent: toolgate\nDisallow: /never\nnonsense\n";
        let file = RobotsFile::parse(text, "toolgate");
        for (path, allowed) in [("/", true), ("/no", false), ("/never", false), ("/yes", true)] {
            assert_eq!(file.allows(path), allowed, "{path}");
        }
        let other = RobotsFile::parse(text, "somebody");
        assert!(!other.allows("/yes"));
        assert!(
            RobotsFile::parse(
                "User-agent: toolgate\nDisallow:\n\nUser-agent: *\nDisallow: /",
                "toolgate"
            )
            .allows("/x")
        );
    }
}
