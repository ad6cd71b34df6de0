//! Which texts are paths, and which are refused with which words.

use guard::files::{PathError, SafePath};

#[test]
fn paths_are_taken_as_they_are_written() {
    for (text, names) in [
        ("a", "a"),
        ("a/b/c.txt", "a/b/c.txt"),
        ("./a", "a"),
        ("a/./b", "a/b"),
        ("a//b", "a/b"),
        (".//./a", "a"),
        (".hidden", ".hidden"),
        ("..a", "..a"),
        ("...a", "...a"),
        ("a..b", "a..b"),
        (" a", " a"),
        ("a b", "a b"),
        ("-rf", "-rf"),
        ("~/x", "~/x"),
        ("$HOME", "$HOME"),
        ("*", "*"),
        ("12:30.txt", "12:30.txt"),
        ("dir/C:", "dir/C:"),
        ("%2e%2e/%2e%2e/etc", "%2e%2e/%2e%2e/etc"),
        ("..%2fsecret", "..%2fsecret"),
        ("%c0%ae%c0%ae/x", "%c0%ae%c0%ae/x"),
        ("%00", "%00"),
        ("\u{ff0e}\u{ff0e}/x", "\u{ff0e}\u{ff0e}/x"),
        ("\u{2024}\u{2024}/x", "\u{2024}\u{2024}/x"),
        ("..\u{2215}x", "..\u{2215}x"),
        ("..\u{2044}x", "..\u{2044}x"),
        ("a\u{ff3c}b", "a\u{ff3c}b"),
        ("Grüße/日本語/🦀", "Grüße/日本語/🦀"),
        ("cafe\u{301}", "cafe\u{301}"),
        ("CON", "CON"),
        ("file.txt:stream", "file.txt:stream"),
    ] {
        let path = SafePath::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(path.as_str(), names, "{text:?}");
        assert!(!path.names_a_folder(), "{text:?}");
    }
}

#[test]
fn a_final_slash_or_dot_means_a_folder() {
    for (text, names) in
        [(".", "."), ("./", "."), ("././/", "."), ("a/", "a"), ("a/b//", "a/b"), ("a/.", "a")]
    {
        let path = SafePath::parse(text).unwrap();
        assert!(path.names_a_folder() && path.as_str() == names, "{text:?}");
        assert_eq!(path.is_root(), names == ".", "{text:?}");
    }
}

#[test]
fn everything_else_is_refused_with_its_reason() {
    use PathError::{
        Absolute, Backslash, Control, Drive, Empty, Invisible, NameTooLong, Parent, Reserved,
        TooDeep, TooLong, TrailingDotOrSpace,
    };
    let deep = |depth: usize| vec!["d"; depth].join("/");
    let long_path = |names: usize| vec!["n".repeat(255); names].join("/");
    for (text, reason) in [
        ("", Empty),
        ("..", Parent),
        ("../secret.txt", Parent),
        ("../../../../../../etc/passwd", Parent),
        ("a/../b", Parent),
        ("a/../../x", Parent),
        ("a/..", Parent),
        ("./..", Parent),
        ("a/b/c/../../../..", Parent),
        ("..//a", Parent),
        ("/", Absolute),
        ("//", Absolute),
        ("/etc/passwd", Absolute),
        ("//etc/passwd", Absolute),
        ("/../etc/passwd", Absolute),
        ("/proc/self/environ", Absolute),
        ("\\", Backslash),
        ("a\\b", Backslash),
        ("..\\secret.txt", Backslash),
        ("..\\..\\windows\\system32", Backslash),
        ("\\\\server\\share", Backslash),
        ("\\\\?\\C:\\x", Backslash),
        ("C:\\x", Backslash),
        ("C:", Drive),
        ("C:/x", Drive),
        ("c:x", Drive),
        ("a:b.txt", Drive),
        ("./z:/x", Drive),
        ("a\0", Control),
        ("\0", Control),
        ("notes.txt\0.png", Control),
        ("a\nb", Control),
        ("a\rb", Control),
        ("a\tb", Control),
        ("a\u{1b}[2Jb", Control),
        ("a\u{7f}", Control),
        ("a\u{85}b", Control),
        ("a\u{9b}b", Control),
        ("a\u{200b}b", Invisible),
        ("a\u{fe0f}", Invisible),
        ("a\u{e0100}", Invisible),
        ("a\u{180b}", Invisible),
        ("a\u{17b4}", Invisible),
        ("\u{2800}", Invisible),
        ("a\u{200c}b", Invisible),
        ("a\u{200d}b", Invisible),
        ("a\u{200e}b", Invisible),
        ("a\u{200f}b", Invisible),
        ("a\u{202a}b", Invisible),
        ("gpj.\u{202e}exe", Invisible),
        ("a\u{2060}b", Invisible),
        ("a\u{2064}b", Invisible),
        ("a\u{2066}b", Invisible),
        ("a\u{2069}b", Invisible),
        ("\u{feff}a", Invisible),
        ("a\u{ad}b", Invisible),
        ("a\u{61c}b", Invisible),
        ("a\u{2028}b", Invisible),
        ("a\u{2029}b", Invisible),
        ("a\u{e0041}b", Invisible),
        ("a.", TrailingDotOrSpace),
        ("a ", TrailingDotOrSpace),
        ("a\u{a0}", TrailingDotOrSpace),
        ("a\u{3000}/b", TrailingDotOrSpace),
        ("a/b. /c", TrailingDotOrSpace),
        ("a./b", TrailingDotOrSpace),
        (" ", TrailingDotOrSpace),
        ("...", TrailingDotOrSpace),
        ("..../x", TrailingDotOrSpace),
        (". .", TrailingDotOrSpace),
        (".. ", TrailingDotOrSpace),
        (".. /x", TrailingDotOrSpace),
        ("notes.txt .", TrailingDotOrSpace),
        (".toolgate-tmp-0", Reserved),
        ("a/.toolgate-tmp-0/b", Reserved),
        (".TOOLGATE-tmp-0", Reserved),
        (&"n".repeat(256), NameTooLong),
        (&"ü".repeat(128), NameTooLong),
        (&format!("a/{}/b", "n".repeat(256)), NameTooLong),
        (&long_path(16).replacen('n', "nn", 1), TooLong),
        (&"a/".repeat(2_049), TooLong),
        (&"./".repeat(2_048), TooLong),
        (&deep(65), TooDeep),
        (&deep(2_000), TooDeep),
    ] {
        assert_eq!(SafePath::parse(text), Err(reason), "{text:?}");
        let words = reason.to_string();
        assert!(words.contains("path") && !words.contains('{'), "{words}");
    }
    assert!(SafePath::parse(&deep(64)).is_ok());
    assert_eq!(SafePath::parse(&long_path(16)).unwrap().as_str().len(), 4_095);
}

#[test]
fn a_name_that_is_joined_is_one_name() {
    let folder = SafePath::parse("a/b").unwrap();
    assert_eq!(folder.join("c").unwrap().as_str(), "a/b/c");
    assert_eq!(SafePath::root().join("c").unwrap().as_str(), "c");
    for name in ["", ".", "..", "c/d", "/c", "c\\d", "c.", "c\0"] {
        assert!(folder.join(name).is_err(), "{name:?}");
    }
    assert_eq!(
        folder.split().map(|(parent, name)| (parent.to_string(), name.to_owned())),
        Some(("a".to_owned(), "b".to_owned()))
    );
    assert_eq!(SafePath::root().split(), None);
}
