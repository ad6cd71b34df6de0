//! The names under which the tools of upstreams are served: `id__tool`.
//!
//! A name depends on the id of the upstream and the tool's own name and on nothing else, so that it never changes when
//! another upstream appears.

use sha2::{Digest, Sha256};

/// The longest served name, in characters.
pub const MAX_NAME: usize = 64;
/// The longest id of an upstream, in characters.
pub const MAX_ID: usize = 32;
/// The longest name of a tool on its server, in characters. The protocol advises 128.
pub const MAX_TOOL_NAME: usize = 256;
/// Divides the id from the tool.
pub const SEPARATOR: &str = "__";
/// The number of hash digits that tell two cut names apart.
const HASH_DIGITS: usize = 8;

/// The reason why a text cannot be the id of an upstream.
pub fn id_problem(id: &str) -> Option<&'static str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if id.is_empty() || id.len() > MAX_ID || !id.chars().all(fits) {
        return Some("an id must have 1 to 32 characters: letters, digits, `_` and `-`");
    }
    if id.contains(SEPARATOR) || id.starts_with('_') || id.ends_with('_') {
        return Some(
            "an id must not contain `__`, or begin or end with `_`: `__` separates it from the tool's name",
        );
    }
    None
}

/// The name under which a tool of an upstream is served.
pub fn served(upstream: &str, tool: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let whole = format!("{upstream}{SEPARATOR}{tool}");
    if whole.len() <= MAX_NAME && !tool.is_empty() && tool.chars().all(plain) {
        return whole;
    }
    let hash = Sha256::digest(tool.as_bytes());
    let digits: String =
        hash.iter().take(HASH_DIGITS / 2).map(|byte| format!("{byte:02x}")).collect();
    let room = MAX_NAME.saturating_sub(upstream.len() + SEPARATOR.len() + 1 + HASH_DIGITS);
    let kept: String = tool.chars().map(|c| if plain(c) { c } else { '_' }).take(room).collect();
    format!("{upstream}{SEPARATOR}{kept}-{digits}")
}

/// All names by which the settings may mean a tool: the one that it is served under, and the two that are made of
/// the id and its own name.
pub fn all(upstream: &str, own: &str, served_as: &str) -> Vec<String> {
    vec![served_as.to_owned(), served(upstream, own), format!("{upstream}.{own}")]
}

/// True if a name is made of this id.
pub fn is_below(upstream: &str, name: &str) -> bool {
    name.strip_prefix(upstream)
        .is_some_and(|rest| rest.starts_with(SEPARATOR) || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_id_and_the_tool() {
        assert_eq!(served("docs", "search"), "docs__search");
        assert_eq!(served("docs", "a.b-c_D9"), "docs__a.b-c_D9");
    }

    #[test]
    fn what_is_too_long_or_no_name_is_cut_and_stays_apart() {
        let long = "x".repeat(100);
        let one = served("docs", &format!("{long}1"));
        let two = served("docs", &format!("{long}2"));
        assert_ne!(one, two);
        for (tool, expected) in
            [("a b", "docs__a_b-c8687a08"), ("", "docs__-e3b0c442"), ("a/b", "docs__a_b-c14cddc0")]
        {
            assert_eq!(served("docs", tool), expected);
        }
        let id = "i".repeat(MAX_ID);
        for tool in [&*long, "ü", "🦀".repeat(300).as_str(), "", "a\u{0}b"] {
            let name = served(&id, tool);
            assert!(name.len() <= MAX_NAME, "{name}");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)), "{name}");
        }
    }

    #[test]
    fn an_id_divides() {
        assert_eq!(id_problem("mcp-policy-kb"), None);
        assert_eq!(id_problem("a_b"), None);
        for bad in ["", "a__b", "_a", "a_", "a.b", "ä", &"x".repeat(33)] {
            assert!(id_problem(bad).is_some(), "{bad}");
        }
    }
}
