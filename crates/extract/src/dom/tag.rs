//! The elements that matter here.

use html5ever::QualName;

macro_rules! tags {
    ($($variant:ident $name:literal)*) => {
        /// The kinds of elements.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub(crate) enum Tag { Other, $($variant),* }

        impl Tag {
            fn of(name: &str) -> Self {
                match name {
                    $($name => Tag::$variant,)*
                    _ => Tag::Other,
                }
            }
        }
    };
}

tags! {
    A "a" Abbr "abbr" Address "address" Article "article" Aside "aside" Audio "audio" B "b"
    Base "base" Blockquote "blockquote" Body "body" Br "br" Button "button" Canvas "canvas"
    Caption "caption" Center "center" Cite "cite" Code "code" Col "col" Colgroup "colgroup"
    Datalist "datalist" Dd "dd" Del "del" Details "details" Dialog "dialog" Div "div" Dl "dl" Dt "dt"
    Em "em" Embed "embed" Fieldset "fieldset" Figcaption "figcaption" Figure "figure" Font "font"
    Footer "footer" Form "form" H1 "h1" H2 "h2" H3 "h3" H4 "h4" H5 "h5" H6 "h6" Head "head"
    Header "header" Hgroup "hgroup" Hr "hr" Html "html" I "i" Iframe "iframe" Img "img"
    Input "input" Ins "ins" Kbd "kbd" Label "label" Legend "legend" Li "li" Link "link" Main "main"
    Mark "mark" Math "math" Menu "menu" Meta "meta" Nav "nav" Noscript "noscript" Object "object"
    Ol "ol" Optgroup "optgroup" Option "option" P "p" Picture "picture" Pre "pre" Q "q" S "s"
    Samp "samp" Script "script" Search "search" Section "section" Select "select" Small "small"
    Source "source" Span "span" Strike "strike" Strong "strong" Style "style" Sub "sub"
    Summary "summary" Sup "sup" Svg "svg" Table "table" Tbody "tbody" Td "td" Template "template"
    Textarea "textarea" Tfoot "tfoot" Th "th" Thead "thead" Time "time" Title "title" Tr "tr"
    Track "track" U "u" Ul "ul" Var "var" Video "video" Wbr "wbr"
}

impl Tag {
    pub(crate) fn named(name: &QualName) -> Self {
        Self::of(&name.local)
    }

    /// True if nothing of it is ever text for a reader.
    pub(crate) fn is_never_shown(self) -> bool {
        matches!(
            self,
            Tag::Audio
                | Tag::Canvas
                | Tag::Datalist
                | Tag::Embed
                | Tag::Head
                | Tag::Iframe
                | Tag::Input
                | Tag::Math
                | Tag::Object
                | Tag::Script
                | Tag::Select
                | Tag::Style
                | Tag::Svg
                | Tag::Template
                | Tag::Textarea
                | Tag::Title
                | Tag::Video
        )
    }

    /// True if its text stands by itself.
    pub(crate) fn is_block(self) -> bool {
        matches!(
            self,
            Tag::Address
                | Tag::Article
                | Tag::Aside
                | Tag::Blockquote
                | Tag::Body
                | Tag::Caption
                | Tag::Center
                | Tag::Dd
                | Tag::Details
                | Tag::Dialog
                | Tag::Div
                | Tag::Dl
                | Tag::Dt
                | Tag::Fieldset
                | Tag::Figcaption
                | Tag::Figure
                | Tag::Footer
                | Tag::Form
                | Tag::H1
                | Tag::H2
                | Tag::H3
                | Tag::H4
                | Tag::H5
                | Tag::H6
                | Tag::Header
                | Tag::Hgroup
                | Tag::Hr
                | Tag::Html
                | Tag::Legend
                | Tag::Li
                | Tag::Main
                | Tag::Menu
                | Tag::Nav
                | Tag::Ol
                | Tag::P
                | Tag::Pre
                | Tag::Search
                | Tag::Section
                | Tag::Summary
                | Tag::Table
                | Tag::Tbody
                | Tag::Td
                | Tag::Tfoot
                | Tag::Th
                | Tag::Thead
                | Tag::Tr
                | Tag::Ul
        )
    }

    /// The level of a heading, 0 where it is none.
    pub(crate) fn heading(self) -> u8 {
        match self {
            Tag::H1 => 1,
            Tag::H2 => 2,
            Tag::H3 => 3,
            Tag::H4 => 4,
            Tag::H5 => 5,
            Tag::H6 => 6,
            _ => 0,
        }
    }
}
