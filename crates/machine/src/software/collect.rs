//! Where the packages of all sources come together.

use std::collections::HashMap;

use super::Selection;

/// The number of packages of one source that are listed.
const MAX_PACKAGES: usize = 20_000;

/// The longest name, and the longest version, in bytes.
const MAX_BYTES: usize = 200;

/// Takes packages, and keeps those that are wanted.
pub(super) struct Collector<'a> {
    selection: &'a Selection<'a>,
    packages: Vec<String>,
    taken: usize,
    skipped: usize,
    /// Packages whose version somebody wants to know, whether they are listed or not.
    watched: HashMap<String, Option<String>>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(selection: &'a Selection<'a>, watched: Vec<String>) -> Self {
        let watched = watched.into_iter().map(|name| (name, None)).collect();
        Self { selection, packages: Vec::new(), taken: 0, skipped: 0, watched }
    }

    /// From here on, another source.
    pub(super) fn begin(&mut self) {
        (self.taken, self.skipped) = (0, 0);
    }

    /// A package of the present source.
    pub(super) fn take(&mut self, name: &[u8], version: &[u8]) {
        let (Some(name), Some(version)) = (word(name), word(version)) else {
            self.skipped += 1;
            return;
        };
        if self.taken == MAX_PACKAGES || name.contains('=') {
            self.skipped += 1;
            return;
        }
        self.taken += 1;
        if !self.watched.is_empty()
            && let Some(watched) = self.watched.get_mut(name)
        {
            *watched = Some(version.to_owned());
        }
        if self.selection.takes(name) {
            let mut package = String::with_capacity(name.len() + 2 + version.len());
            package.push_str(name);
            package.push_str("==");
            package.push_str(version);
            self.packages.push(package);
        }
    }

    /// An entry of the present source that is no package.
    pub(super) fn skip(&mut self) {
        self.skipped += 1;
    }

    /// The number of packages of the present source, and of entries that were left out.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.taken, self.skipped)
    }

    /// The version of a watched package.
    pub(super) fn version_of(&self, name: &str) -> Option<&str> {
        self.watched.get(name)?.as_deref()
    }

    /// The packages, sorted, each once.
    pub(super) fn finish(mut self) -> Vec<String> {
        self.packages.sort_unstable();
        self.packages.dedup();
        self.packages
    }
}

/// A name or a version: one printable word of reasonable length.
fn word(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    let fits = !text.is_empty() && text.len() <= MAX_BYTES;
    let odd = |one: char| one.is_whitespace() || one.is_control() || is_format(one);
    (fits && !text.contains(odd)).then_some(text)
}

/// Characters that are not seen and change what is (the category `Cf` of Unicode). One of them, the
/// byte order mark, is white space to the contracts' patterns.
fn is_format(one: char) -> bool {
    matches!(one,
        '\u{ad}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{8e2}' | '\u{180e}' | '\u{feff}'
        | '\u{600}'..='\u{605}'
        | '\u{890}'..='\u{891}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{110bd}' | '\u{110cd}'
        | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e007f}')
}

/// The packages that a reader takes, and its counts.
#[cfg(test)]
pub(super) fn collect_all(read: impl FnOnce(&mut Collector<'_>)) -> (Vec<String>, (usize, usize)) {
    let selection = Selection::all();
    let mut collector = Collector::new(&selection, Vec::new());
    read(&mut collector);
    let counts = collector.counts();
    (collector.finish(), counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_package_is_counted() {
        let selection = Selection::all();
        let mut collector = Collector::new(&selection, vec!["b".into()]);
        collector.begin();
        let long = [b'x'; MAX_BYTES + 1];
        for (name, version) in [
            (&b"b"[..], &b"2"[..]),
            (b"a", b"1"),
            (b"a", b"1"),
            (b"", b"1"),
            (b"a", b""),
            (b"a b", b"1"),
            (b"a=b", b"1"),
            (b"\xff", b"1"),
            (&long, b"1"),
            (b"a\x1b[31m", b"1"),
            ("we\u{feff}ird".as_bytes(), b"1.0"),
            ("a".as_bytes(), "1\u{202e}".as_bytes()),
        ] {
            collector.take(name, version);
        }
        collector.skip();
        assert_eq!(collector.counts(), (3, 10));
        assert_eq!(collector.version_of("b"), Some("2"));
        assert_eq!(collector.version_of("a"), None);
        assert_eq!(collector.finish(), ["a==1", "b==2"]);
    }

    #[test]
    fn a_source_has_an_end() {
        let selection = Selection::all();
        let mut collector = Collector::new(&selection, Vec::new());
        for number in 0..=MAX_PACKAGES {
            collector.take(number.to_string().as_bytes(), b"1");
        }
        assert_eq!(collector.counts(), (MAX_PACKAGES, 1));
    }
}
