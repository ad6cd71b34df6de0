//! Bodies that were made smaller.

use guard::net::{HttpRequest, RequestLimits};
use testkit::Hostile;

use super::{direct, get, send, word};

#[tokio::test]
async fn every_encoding_is_taken_off() {
    let server = Hostile::start();
    let client = direct(&server);
    let plain = get(&client, &server.url("/ok")).await.unwrap().body;
    for encodings in
        ["gzip", "br", "zstd", "deflate", "raw", "gzip,gzip", "gzip,br", "zstd,deflate"]
    {
        let url = server.url(&format!("/encoded?enc={encodings}"));
        let response =
            get(&client, &url).await.unwrap_or_else(|error| panic!("{encodings}: {error}"));
        assert_eq!(response.body, plain, "{encodings}");
        assert!(response.wire_bytes < plain.len() as u64, "{encodings}");
    }
    let three = get(&client, &server.url("/encoded?enc=gzip,gzip,gzip")).await;
    assert_eq!(word(&three), "network");
    assert_eq!(word(&get(&client, &server.url("/enc_unknown")).await), "network");
}

#[tokio::test]
async fn what_is_cut_off_is_an_error() {
    let server = Hostile::start();
    let client = direct(&server);
    for encoding in ["gzip", "br", "zstd", "deflate", "raw"] {
        for cut in [1, 20] {
            let url = server.url(&format!("/encoded?enc={encoding}&cut={cut}"));
            assert_eq!(word(&get(&client, &url).await), "network", "{encoding} {cut}");
        }
    }
}

#[tokio::test]
async fn a_bomb_is_stopped_while_it_goes_off() {
    let server = Hostile::start();
    let client = direct(&server);
    for encodings in ["gzip", "br", "zstd", "deflate", "gzip,gzip"] {
        let limits = RequestLimits { max_body_bytes: 100_000, ..RequestLimits::default() };
        let request =
            HttpRequest::get(server.url(&format!("/bomb?enc={encodings}"))).within(limits);
        let result = send(&client, request).await;
        assert_eq!(word(&result), "too_large", "{encodings}");
    }
}

#[tokio::test]
async fn the_limit_is_exact() {
    let server = Hostile::start();
    let client = direct(&server);
    let limits = RequestLimits { max_body_bytes: 100_000, ..RequestLimits::default() };
    for (path, expected) in [
        ("/size?n=100000", "ok"),
        ("/size?n=100001", "too_large"),
        ("/chunked?n=100000", "ok"),
        ("/chunked?n=100001", "too_large"),
        ("/cl_huge", "too_large"),
        ("/endless", "too_large"),
    ] {
        let request = HttpRequest::get(server.url(path)).within(limits);
        let result = send(&client, request).await;
        assert_eq!(word(&result), expected, "{path}");
        assert!(result.is_err() || result.unwrap().body.len() == 100_000, "{path}");
    }
}
