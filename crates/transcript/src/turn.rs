//! A turn: what one person says until another does.

/// A turn: what one person says until another does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Turn {
    /// The speaker, where the text names one.
    pub speaker: Option<String>,
    /// The words. A line break in them is one to keep.
    pub text: String,
    /// True if it is code, which is printed as it came.
    pub verbatim: bool,
}

impl Turn {
    /// A turn of somebody, still silent.
    pub(super) fn of(speaker: Option<String>) -> Self {
        Self { speaker, ..Self::default() }
    }

    /// Adds more of what is said, behind a space.
    pub(super) fn say(&mut self, text: &str) {
        if !self.text.is_empty() && !text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(text);
    }
}

/// Adds a text with single spaces; its line breaks stay.
pub(super) fn push_spaced(out: &mut String, text: &str) {
    let start = out.len();
    for line in text.lines() {
        let mut separator = if out.len() > start { "\n" } else { "" };
        for word in line.split_whitespace() {
            out.push_str(separator);
            out.push_str(word);
            separator = " ";
        }
    }
}
