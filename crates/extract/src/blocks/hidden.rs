//! Elements that a page holds and does not show.

mod fading;
mod style_sheet;

pub(super) use style_sheet::StyleSheet;

use crate::dom::{Element, Tag};

/// Classes that hide what they are given to, by the habits of the style sheets that most sites use.
const HIDING_CLASSES: &[&str] = &[
    "a11y-hidden",
    "d-none",
    "display-none",
    "element-invisible",
    "hidden",
    "hide",
    "invisible",
    "is-hidden",
    "is-visually-hidden",
    "offscreen",
    "screen-reader-only",
    "screen-reader-text",
    "screenreader-text",
    "show-for-sr",
    "sr-only",
    "u-hidden",
    "visually-hidden",
    "visuallyhidden",
];
/// Parts of classes that show an element again where there is room for it: `md:block`, `d-lg-flex`.
const DISPLAYS: &[&str] = &["block", "flex", "grid", "inline", "show", "table", "visible"];
/// A text smaller than this cannot be read, in the unit that it is given in.
const READABLE_SIZE: f64 = 0.1;
/// What stands this far out is not on the screen, in the unit that it is given in.
const OFF_SCREEN: f64 = -999.0;

/// True if an element is not shown, as far as it says so itself.
pub(super) fn is_hidden(element: &Element) -> bool {
    if element.tag == Tag::Dialog && element.attribute("open").is_none() {
        return true;
    }
    element.attributes.iter().any(|attribute| {
        let value = &*attribute.value;
        match &*attribute.name.local {
            "popover" => true,
            "hidden" => !value.eq_ignore_ascii_case("until-found"),
            // A panel that the reader can open is there to be read.
            // So is the old price that is read out in other words.
            "aria-hidden" => {
                value.trim().eq_ignore_ascii_case("true")
                    && !is_panel(element)
                    && !matches!(element.tag, Tag::Del | Tag::Ins | Tag::S)
            }
            "style" => {
                hides(value)
                    && !(fading::is_only_faded(value)
                        && (fading::moves(value) || fading::is_marked(element)))
            }
            "class" => has_hiding_class(value),
            _ => false,
        }
    })
}

/// True if an element is one that opens when the reader asks for it.
fn is_panel(element: &Element) -> bool {
    const NAMES: [&str; 6] = ["tabpanel", "collaps", "accordion", "panel", "expand", "toggle"];
    if matches!(element.attribute("role"), Some("tabpanel" | "region")) {
        return true;
    }
    ["id", "class"].into_iter().filter_map(|name| element.attribute(name)).any(|value| {
        let value = value.to_ascii_lowercase();
        NAMES.iter().any(|name| value.contains(name))
    })
}

/// True if a class hides its element at every width.
fn has_hiding_class(classes: &str) -> bool {
    let is_hiding = |class: &str| {
        class.len() >= 4 && HIDING_CLASSES.iter().any(|one| one.eq_ignore_ascii_case(class))
    };
    let shows_again = |class: &str| {
        class.contains([':', '-']) && DISPLAYS.iter().any(|display| class.ends_with(display))
    };
    classes.split_ascii_whitespace().any(is_hiding)
        && !classes.split_ascii_whitespace().any(shows_again)
}

/// True if a style takes its element from the reader's eyes.
fn hides(style: &str) -> bool {
    takes_away(style, true)
}

/// The same, with or without what its opacity says.
fn takes_away(style: &str, by_opacity: bool) -> bool {
    let (mut is_clipped, mut is_flat) = (false, false);
    for rule in style.split(';') {
        let Some((name, value)) = rule.split_once(':') else { continue };
        let value = value.trim().trim_end_matches("!important").trim().to_ascii_lowercase();
        let value = value.as_str();
        let is_zero = || number(value) == Some(0.0);
        let is_off = match name.trim().to_ascii_lowercase().as_str() {
            "display" => value == "none",
            "visibility" => matches!(value, "hidden" | "collapse"),
            "content-visibility" => value == "hidden",
            "opacity" => by_opacity && is_zero(),
            "color" | "-webkit-text-fill-color" => value == "transparent",
            "font-size" => number(value).is_some_and(|size| (0.0..READABLE_SIZE).contains(&size)),
            "left" | "top" | "right" | "bottom" | "text-indent" | "margin-left" | "margin-top"
            | "margin" => number(value).is_some_and(|number| number <= OFF_SCREEN),
            "transform" | "translate" => {
                let inside = value.split_once('(').map_or(value, |(_, inside)| inside);
                inside
                    .split(',')
                    .any(|part| number(part.trim()).is_some_and(|one| one <= OFF_SCREEN))
                    || value.replace(' ', "") == "scale(0)"
            }
            "clip" => value.replace([' ', ','], "").replace("px", "") == "rect(0000)",
            "clip-path" => {
                value.replace(' ', "").starts_with("inset(100%")
                    || value.replace(' ', "").starts_with("inset(50%")
            }
            "overflow" | "overflow-x" | "overflow-y" => {
                is_clipped |= matches!(value, "hidden" | "clip");
                false
            }
            "width" | "height" | "max-width" | "max-height" => {
                is_flat |= is_zero();
                false
            }
            _ => false,
        };
        if is_off {
            return true;
        }
    }
    is_clipped && is_flat
}

/// True if a style brings an element to the reader's eyes.
fn shows(style: &str) -> bool {
    style.split(';').filter_map(|rule| rule.split_once(':')).any(|(name, value)| {
        let value = value.trim();
        match name.trim() {
            "display" => !value.starts_with("none"),
            "visibility" => value.starts_with("visible"),
            "opacity" => number(value).is_some_and(|share| share > 0.0),
            _ => false,
        }
    })
}

fn number(value: &str) -> Option<f64> {
    let end = value
        .find(|one: char| !(one.is_ascii_digit() || matches!(one, '-' | '+' | '.')))
        .unwrap_or(value.len());
    value[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{has_hiding_class, hides};

    #[test]
    fn classes_that_hide_are_whole_words_and_hide_at_every_width() {
        for classes in ["hide", "card d-none", "sr-only sr-only-focusable", "Visually-Hidden"] {
            assert!(has_hiding_class(classes), "{classes}");
        }
        for classes in [
            "",
            "hideaway",
            "overflow-hidden",
            "hidden md:block",
            "d-none d-lg-flex",
            "hidden-gems",
        ] {
            assert!(!has_hiding_class(classes), "{classes}");
        }
    }

    #[test]
    fn styles_that_hide_are_known() {
        for style in [
            "display:none",
            "opacity: 0",
            "opacity:0.0 !important",
            "position:fixed;top:-5000px",
            "position:absolute;right: -9999em",
            "transform:translateX(-9999px)",
            "transform: translate(0, -2000px)",
            "clip:rect(0,0,0,0)",
            "clip-path: inset(100%)",
            "color:transparent",
            "height:0;overflow:hidden",
            "overflow: hidden; max-height: 0px",
            "color: red; DISPLAY : None !important",
            "visibility: hidden",
            "position:absolute;left:-9999px",
            "font-size:0",
            "font-size: 0px",
            "text-indent:-9999em",
        ] {
            assert!(hides(style), "{style}");
        }
        for style in [
            "",
            "display:block",
            "font-size:0.9em",
            "left:-10px",
            "none",
            "display",
            "opacity:0.9",
            "opacity:1",
            "overflow:hidden",
            "height:0",
            "transform:scale(0.9)",
            "color:#fff",
        ] {
            assert!(!hides(style), "{style}");
        }
    }
}
