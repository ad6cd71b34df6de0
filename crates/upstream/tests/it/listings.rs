//! Listings of any length, and of none.

use upstream::connection::RequestError;

use crate::harness::{serving, serving_with, within};

#[tokio::test]
async fn all_pages_are_read() {
    let connection = serving(
        "    page = int(message['params'].get('cursor', '0'))
    more = {'nextCursor': str(page + 1)} if page < 4 else {}
    result(message, tools=[{'name': f'{page}-{n}'} for n in range(3)], ttlMs=1000 - page, **more)",
    )
    .await;
    let listing = within(connection.list("tools/list", "tools")).await.unwrap();
    let names: Vec<_> = listing.items.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!((names.len(), names[0], names[14]), (15, "0-0", "4-2"));
    assert_eq!((listing.ttl_ms, listing.cut), (Some(996), None));
}

#[tokio::test]
async fn a_listing_without_end_is_cut_and_says_so() {
    let page = "    page = int(message['params'].get('cursor', '0'))";
    let next = |cursor: &str| {
        format!(
            "{page}\n    result(message, tools=[{{'name': f't{{page}}'}}], nextCursor={cursor})"
        )
    };
    let all = |count: u32| {
        format!(
            "    result(message, tools=[{{'name': f'tool{{n}}', 'inputSchema': {{'type': 'object'}}}} for n in range({count})])"
        )
    };
    for (body, listed, cut) in [
        (next("str(page + 1)"), 100, Some("there are more than 100 pages (max_pages)")),
        (next("str((page + 1) % 3)"), 4, Some("a cursor repeats after 4 pages")),
        (all(10_000), 10_000, None),
        (all(12_000), 10_000, Some("more than 10000 are listed (max_listed)")),
    ] {
        let connection = serving_with(&body, |options| options.limits.max_pages = 100).await;
        let listing = within(connection.list("tools/list", "tools")).await.unwrap();
        assert_eq!((listing.items.len(), listing.cut.as_deref()), (listed, cut), "{body}");
    }
}

#[tokio::test]
async fn one_tool_that_cannot_be_read_takes_no_other_along() {
    let connection = serving(
        "    send(id=0, result={})
    line('{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"tools\":[{\"name\":\"a\"},{\"max\":1E400},{\"name\":\"b\"}]}}' % message['id'])",
    )
    .await;
    let listing = within(connection.list("tools/list", "tools")).await.unwrap();
    assert_eq!(listing.items.len(), 3);
    assert!(listing.items[1].is_null());
    assert_eq!(listing.items[2]["name"], "b");
}

#[tokio::test]
async fn what_is_no_listing_is_an_error() {
    let connection = serving("    result(message, tolls=[])").await;
    let error = within(connection.list("tools/list", "tools")).await.unwrap_err();
    assert!(matches!(error, RequestError::Protocol(_)), "{error:?}");
    assert_eq!(error.to_string(), "the result has no list `tools`");
    let connection = serving("    error(message, -32601, 'no tools here')").await;
    let error = within(connection.list("tools/list", "tools")).await.unwrap_err();
    assert!(matches!(error, RequestError::Rpc(_)), "{error:?}");
}
