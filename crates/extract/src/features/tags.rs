//! Features of tags and roles.

use crate::dom::{Element, Tag};

/// Menus, footers, boxes at the side, forms and dialogs: around the content by their nature.
pub(super) fn is_margin(element: &Element) -> bool {
    matches!(context(element), Some(2 | 4..=7))
}

/// The kind of element that a block stands in.
pub(super) fn kind(tag: Tag) -> u8 {
    match tag {
        Tag::P => 1,
        Tag::Div | Tag::Center => 2,
        Tag::Li => 3,
        Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => 4,
        Tag::Td | Tag::Th | Tag::Tr => 5,
        Tag::Dd | Tag::Dt => 6,
        Tag::Pre => 7,
        Tag::Blockquote => 8,
        Tag::Figcaption | Tag::Caption | Tag::Figure => 9,
        Tag::Section | Tag::Article | Tag::Main => 10,
        Tag::Header | Tag::Footer | Tag::Nav | Tag::Aside => 11,
        Tag::Form | Tag::Fieldset | Tag::Legend => 12,
        Tag::Summary | Tag::Details => 13,
        Tag::Address => 14,
        _ => 0,
    }
}

/// The role of an element for its content.
pub(super) fn context(element: &Element) -> Option<usize> {
    let role = element.attribute("role").unwrap_or("");
    Some(match (element.tag, role) {
        (Tag::Article, _) | (_, "article") => 0,
        (Tag::Main, _) | (_, "main") => 1,
        (Tag::Nav, _) | (_, "navigation" | "menu" | "menubar") => 2,
        (Tag::Header, _) | (_, "banner") => 3,
        (Tag::Footer, _) | (_, "contentinfo") => 4,
        (Tag::Aside, _) | (_, "complementary") => 5,
        (Tag::Form, _) | (_, "search" | "form") => 6,
        (Tag::Dialog, _) | (_, "dialog" | "alertdialog" | "alert") => 7,
        (Tag::Section, _) | (_, "region") => 8,
        (Tag::Ul | Tag::Menu, _) | (_, "list" | "listbox") => 9,
        (Tag::Ol, _) => 10,
        (Tag::Li, _) | (_, "listitem") => 11,
        (Tag::Table, _) => 12,
        (Tag::Td | Tag::Th, _) => 13,
        (Tag::Blockquote, _) => 14,
        (Tag::Figure, _) => 15,
        (Tag::Details, _) | (_, "tabpanel") => 16,
        (Tag::Dl, _) => 17,
        (Tag::A, _) => 18,
        (Tag::Button, _) | (_, "button" | "tab") => 19,
        (Tag::P, _) => 20,
        (Tag::Pre, _) => 21,
        (Tag::Address, _) => 22,
        (Tag::Fieldset | Tag::Label, _) => 23,
        _ => return None,
    })
}
