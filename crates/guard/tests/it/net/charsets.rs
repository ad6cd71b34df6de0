//! From bytes to text.

use guard::net::{
    Bytes,
    charset::{TextFormat, decode, decode_owned},
};

#[test]
fn the_one_who_is_believed_first_decides() {
    let windows = b"caf\xe9".as_slice();
    for (bytes, content_type, kind, expected) in [
        (
            b"\xef\xbb\xbfcaf\xc3\xa9".as_slice(),
            Some("text/html; charset=windows-1251"),
            TextFormat::Html,
            "café",
        ),
        (windows, Some("text/plain; charset=iso-8859-1"), TextFormat::Text, "café"),
        (windows, Some("text/plain;charset='windows-1252'"), TextFormat::Text, "café"),
        (b"\x80", Some("text/plain; charset=latin1"), TextFormat::Text, "€"),
        (
            b"<meta charset=koi8-r>\xd0",
            Some("text/html"),
            TextFormat::Html,
            "<meta charset=koi8-r>п",
        ),
        (
            b"<meta charset=koi8-r>\xd0\xbf",
            Some("text/html; charset=utf-8"),
            TextFormat::Html,
            "<meta charset=koi8-r>п",
        ),
        // Not where it is only text.
        (
            b"<script>'<meta charset=koi8-r>'</script>\xd0\xbf",
            None,
            TextFormat::Html,
            "<script>'<meta charset=koi8-r>'</script>п",
        ),
        (
            b"<!-- <meta charset=koi8-r> -->\xd0\xbf",
            None,
            TextFormat::Html,
            "<!-- <meta charset=koi8-r> -->п",
        ),
        (b"<meta charset=koi8-r>\xd0\xbf", None, TextFormat::Text, "<meta charset=koi8-r>п"),
        // UTF-16 that was read as ASCII is none.
        (b"<meta charset=utf-16>\xc3\xa9", None, TextFormat::Html, "<meta charset=utf-16>é"),
        (b"abc", Some("text/plain; charset=utf-16"), TextFormat::Text, "abc"),
        (
            b"<?xml version='1.0' encoding='windows-1251'?>\xef",
            None,
            TextFormat::Xml,
            "<?xml version='1.0' encoding='windows-1251'?>п",
        ),
        (b"{\"a\":\"\xff\"}", Some("application/json"), TextFormat::Json, "{\"a\":\"\u{fffd}\"}"),
        (
            b"+ADw-script+AD4-",
            Some("text/html; charset=utf-7"),
            TextFormat::Html,
            "+ADw-script+AD4-",
        ),
        (b"a\xffb", Some("text/plain; charset=utf-8"), TextFormat::Text, "a\u{fffd}b"),
        (b"", None, TextFormat::Html, ""),
        (b"\xff\xfea\0", None, TextFormat::Text, "a"),
    ] {
        let shown = String::from_utf8_lossy(bytes);
        assert_eq!(decode(bytes, content_type, kind), expected, "{shown} {content_type:?}");
        let owned = Bytes::copy_from_slice(bytes);
        assert_eq!(decode_owned(owned, content_type, kind), expected, "{shown} {content_type:?}");
    }
}

#[test]
fn markup_of_any_shape_is_no_trouble() {
    for html in [
        "<",
        "<meta",
        "<meta charset",
        "<meta charset=",
        "<meta charset='",
        "<meta =x>",
        "<!--",
        "<script>",
        "<meta http-equiv=content-type content='charset'>",
        "<meta content='text/html; charset=\"'>",
        "</",
        "<?xml",
        "<?xml encoding=?>",
        "<meta / charset = / >",
    ] {
        assert_eq!(decode(html.as_bytes(), Some("text/html"), TextFormat::Html), html);
    }
    let many = "<meta ".repeat(100_000);
    assert_eq!(decode(many.as_bytes(), Some("text/html"), TextFormat::Html), many);
}

#[test]
fn a_kind_is_named_by_the_type() {
    for (content_type, kind) in [
        ("Text/HTML; charset=x", TextFormat::Html),
        ("application/xhtml+xml", TextFormat::Html),
        ("application/rss+xml", TextFormat::Xml),
        ("application/ld+json", TextFormat::Json),
        ("text/markdown", TextFormat::Text),
        ("", TextFormat::Text),
    ] {
        assert_eq!(TextFormat::of(Some(content_type)), kind, "{content_type}");
    }
}
