//! Elements that a page holds and does not show.

use crate::dom::Element;

/// True if an element is not shown, as far as it says so itself.
pub(super) fn is_hidden(element: &Element) -> bool {
    element.attributes.iter().any(|attribute| {
        let value = &*attribute.value;
        match &*attribute.name.local {
            "hidden" => !value.eq_ignore_ascii_case("until-found"),
            // A panel that the reader can open is there to be read.
            "aria-hidden" => value.trim().eq_ignore_ascii_case("true") && !is_panel(element),
            "style" => hides(value),
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

/// True if a style takes its element from the reader's eyes.
fn hides(style: &str) -> bool {
    style.split(';').any(|rule| {
        let Some((name, value)) = rule.split_once(':') else { return false };
        let value = value.trim().trim_end_matches("!important").trim();
        let is = |word: &str| value.eq_ignore_ascii_case(word);
        match name.trim().to_ascii_lowercase().as_str() {
            "display" => is("none"),
            "visibility" => is("hidden") || is("collapse"),
            "font-size" => value.starts_with('0') && number(value) == Some(0.0),
            "left" | "top" | "text-indent" | "margin-left" => {
                number(value).is_some_and(|number| number <= -999.0)
            }
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
    use super::hides;

    #[test]
    fn styles_that_hide_are_known() {
        for style in [
            "display:none",
            "color: red; DISPLAY : None !important",
            "visibility: hidden",
            "position:absolute;left:-9999px",
            "font-size:0",
            "font-size: 0px",
            "text-indent:-9999em",
        ] {
            assert!(hides(style), "{style}");
        }
        for style in ["", "display:block", "font-size:0.9em", "left:-10px", "none", "display"] {
            assert!(!hides(style), "{style}");
        }
    }
}
