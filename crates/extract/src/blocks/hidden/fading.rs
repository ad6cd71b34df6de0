//! Parts that a page fades in when the reader comes to them: there to be read, though they start invisible.

use super::takes_away;
use crate::dom::Element;

/// The attributes by which libraries know what they fade in, alone or with more behind them (`data-aos-delay`).
const ATTRIBUTES: &[&str] = &[
    "data-anim",
    "data-animate",
    "data-animation",
    "data-aos",
    "data-framer-appear",
    "data-reveal",
    "data-sal",
    "data-scroll",
    "data-sr",
    "data-w-id",
    "data-wow",
];
/// The classes of the same purpose, and the starts of others.
const CLASSES: &[&str] = &["animated", "fadein", "reveal", "wow"];
const CLASS_STARTS: &[&str] =
    &["animate-", "animate__", "aos-", "fade-in", "fade-up", "fadein", "reveal-", "scroll-reveal"];

/// True if an element says that something fades it in.
pub(super) fn is_marked(element: &Element) -> bool {
    element.attributes.iter().any(|attribute| {
        let name = &*attribute.name.local;
        let is_known = |known: &&str| {
            name.strip_prefix(*known).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        ATTRIBUTES.iter().any(is_known)
            || (name == "class"
                && attribute.value.split_ascii_whitespace().any(|class| {
                    let class = class.to_ascii_lowercase();
                    CLASSES.contains(&&*class)
                        || CLASS_STARTS.iter().any(|start| class.starts_with(start))
                }))
    })
}

/// True if nothing but its opacity takes an element from the reader's eyes, and it keeps its place in the page.
pub(super) fn is_only_faded(style: &str) -> bool {
    takes_away(style, true)
        && !takes_away(style, false)
        && !rules(style).any(|(name, value)| match name.as_str() {
            "position" => matches!(value.as_str(), "absolute" | "fixed"),
            "pointer-events" => value == "none",
            _ => false,
        })
}

/// True if a style says that it changes: a transition, an animation, or a way to come from.
pub(super) fn moves(style: &str) -> bool {
    rules(style).any(|(name, value)| {
        let is_set = !value.starts_with("none") && !value.starts_with("initial");
        let is_motion = name.starts_with("transition") || name.starts_with("animation");
        is_set && (is_motion || matches!(name.as_str(), "transform" | "translate" | "will-change"))
    })
}

fn rules(style: &str) -> impl Iterator<Item = (String, String)> {
    style.split(';').filter_map(|rule| rule.split_once(':')).map(|(name, value)| {
        let value = value.trim().trim_end_matches("!important").trim();
        (name.trim().to_ascii_lowercase(), value.to_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::{is_only_faded, moves};

    #[test]
    fn what_moves_in_is_told_from_what_is_kept_out() {
        for style in [
            "opacity:0;transform:translateY(54px)",
            "opacity: 0; transition: opacity .4s",
            "animation:rise 1s;opacity:0",
        ] {
            assert!(is_only_faded(style) && moves(style), "{style}");
        }
        for style in [
            "opacity:0;transition:opacity 1s;position:absolute",
            "opacity:0;transition:opacity 1s;pointer-events:none",
            "opacity:0;transition:opacity 1s;visibility:hidden",
            "opacity:0;transform:translateX(-9999px)",
            "opacity:0;transition:none",
            "transition:opacity 1s",
            "opacity:0",
        ] {
            assert!(!(is_only_faded(style) && moves(style)), "{style}");
        }
    }
}
