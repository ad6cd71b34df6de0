use mcp::{MAX_ITEM_BYTES, TOO_LARGE};

use super::*;

const HOUR: Duration = Duration::from_hours(1);

fn response(text: &str) -> Response {
    text.as_bytes().to_vec().into()
}

fn read(pages: &[&str], max_listed: usize, max_pages: usize) -> (Listing, Option<String>) {
    let limits = ConnectionLimits { max_listed, max_pages, ..ConnectionLimits::default() };
    let mut reader = ListingReader::new(&limits, HOUR);
    let mut next = None;
    for page in pages {
        next = reader.page(&response(page), "tools").unwrap();
    }
    (reader.listing, next)
}

#[test]
fn pages_are_put_together() {
    let (listing, next) = read(
        &[
            r#"{"tools":[{"name":"a"}],"nextCursor":"1","ttlMs":500,"x":{}}"#,
            r#"{"ttlMs":300,"tools":[{"name":"b"}],"nextCursor":""}"#,
        ],
        10,
        10,
    );
    assert_eq!((listing.items.len(), listing.ttl_ms, listing.cut), (2, Some(300), None));
    assert_eq!(next, None);
}

#[test]
fn one_that_cannot_be_read_takes_no_other_along() {
    let deep = "[".repeat(500) + &"]".repeat(500);
    let page =
        format!(r#"{{"tools":[{{"name":"a"}},{{"max":1E400}},{{"x":{deep}}},5],"ttlMs":"x"}}"#);
    let (listing, _) = read(&[&page], 10, 10);
    assert_eq!(listing.items, [json!({ "name": "a" }), Value::Null, Value::Null, json!(5)]);
    assert_eq!(listing.ttl_ms, None);
}

#[test]
fn of_one_that_is_too_large_the_name_is_kept() {
    let large = "x".repeat(MAX_ITEM_BYTES);
    let page = format!(
        r#"{{"tools":[{{"name":"a","description":"{large}"}},{{"name":"{large}"}},{{"name":"b"}}]}}"#
    );
    let (listing, _) = read(&[&page], 10, 10);
    let stub = json!({ "name": "a", TOO_LARGE: true });
    assert_eq!(listing.items, [stub, Value::Null, json!({ "name": "b" })]);
}

#[test]
fn a_listing_has_an_end_in_bytes() {
    let limits = ConnectionLimits { max_listing_bytes: 40, ..ConnectionLimits::default() };
    let mut reader = ListingReader::new(&limits, HOUR);
    let first = response(r#"{"tools":[1],"nextCursor":"a"}"#);
    assert_eq!(reader.page(&first, "tools"), Ok(Some("a".into())));
    let second = response(r#"{"tools":[1],"nextCursor":"b"}"#);
    assert_eq!(reader.page(&second, "tools"), Ok(None));
    assert!(reader.listing.cut.unwrap().contains("more than 40 bytes (max_listing_bytes)"));
}

#[test]
fn what_is_no_listing_is_refused() {
    let mut reader = ListingReader::new(&ConnectionLimits::default(), HOUR);
    for text in ["{}", "[]", "5", r#"{"tools":{}}"#, r#"{"tools":[],"nextCursor":5}"#] {
        assert!(reader.page(&response(text), "tools").is_err(), "{text}");
    }
}

#[test]
fn the_limit_that_was_met_is_named() {
    let cut = |pages: &[&str], max_listed, max_pages| {
        let (listing, next) = read(pages, max_listed, max_pages);
        assert_eq!(next, None);
        (listing.items.len(), listing.cut.unwrap())
    };
    let page = r#"{"tools":[1,2],"nextCursor":"a"}"#;
    let (items, why) = cut(&[r#"{"tools":[1,2,3]}"#], 2, 9);
    assert_eq!((items, &*why), (2, "more than 2 are listed (max_listed)"));
    assert_eq!(cut(&[page], 2, 9), (2, why));
    assert!(cut(&[page, page], 9, 9).1.contains("cursor repeats"));
    let other = r#"{"tools":[1,2],"nextCursor":"b"}"#;
    assert!(cut(&[page, other], 9, 2).1.contains("max_pages"));
    let cursor = "x".repeat(MAX_CURSOR_BYTES + 1);
    assert!(
        cut(&[&format!(r#"{{"tools":[],"nextCursor":"{cursor}"}}"#)], 9, 9)
            .1
            .contains("a cursor is longer")
    );
    let whole = r#"{"tools":[1,2]}"#;
    assert_eq!(read(&[whole], 2, 1).0.cut, None);
}

#[test]
fn a_listing_has_an_end_in_time() {
    let mut reader = ListingReader::new(&ConnectionLimits::default(), Duration::ZERO);
    let page = response(r#"{"tools":[],"nextCursor":"a"}"#);
    assert_eq!(reader.page(&page, "tools"), Ok(None));
    assert!(reader.listing.cut.unwrap().contains("took longer than 0 ms"));
}
