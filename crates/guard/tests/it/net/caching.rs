//! What is kept, and what is not.

use guard::net::{HeaderValue, HttpClient, HttpClientSettings, HttpRequest, header};
use testkit::Hostile;

use super::{get, local, reaching, send};

fn keeping(server: &Hostile, cache_bytes: usize) -> HttpClient {
    HttpClient::new(&HttpClientSettings { cache_bytes, ..reaching([local(server.port)]) })
}

fn address(server: &Hostile, headers: &[&str]) -> String {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let escaped: String = headers.bytes().map(|byte| format!("%{byte:02X}")).collect();
    server.url(&format!("/kept?with={escaped}"))
}

/// Whether a second fetch gives what the first gave, and whether the server was asked for it.
async fn twice(client: &HttpClient, server: &Hostile, url: &str) -> (bool, bool) {
    let first = get(client, url).await.unwrap();
    let before = server.connections();
    let second = get(client, url).await.unwrap();
    assert_eq!(second.status.as_u16(), 200);
    assert_eq!(second.from_cache, first.body == second.body);
    (first.body == second.body, server.connections() > before)
}

#[tokio::test]
async fn an_answer_is_kept_as_its_server_says() {
    let server = Hostile::start();
    for (headers, same, asked) in [
        (["Cache-Control: max-age=60"].as_slice(), true, false),
        (&["Cache-Control: public, MAX-AGE=60"], true, false),
        (&["Cache-Control: max-age=0", "ETag: \"1\""], true, true),
        (&["ETag: \"1\""], true, true),
        (&["Cache-Control: no-cache, max-age=60", "ETag: \"1\""], true, true),
        (&["Cache-Control: max-age=60", "Age: 60", "ETag: \"1\""], true, true),
        (&["Cache-Control: max-age=60", "Vary: Accept-Encoding, User-Agent"], true, false),
        (&["Cache-Control: max-age=60", "Vary: Cookie"], false, true),
        (&["Cache-Control: max-age=60", "Vary: *"], false, true),
        (&["Cache-Control: max-age=60, no-store"], false, true),
        (&["Cache-Control: private, max-age=60"], false, true),
        (&["Cache-Control: max-age=60", "Set-Cookie: a=b"], false, true),
        (&["Cache-Control: max-age=60", "Age: 60"], false, true),
        (&["Last-Modified: Sun, 15 Nov 2026 00:00:00 GMT"], false, true),
        (&["X-Nothing: said"], false, true),
    ] {
        let client = keeping(&server, 1_000_000);
        let got = twice(&client, &server, &address(&server, headers)).await;
        assert_eq!(got, (same, asked), "{headers:?}");
    }
}

#[tokio::test]
async fn nothing_is_kept_unless_the_operator_wants_it() {
    let server = Hostile::start();
    let url = address(&server, &["Cache-Control: max-age=60"]);
    assert_eq!(twice(&keeping(&server, 0), &server, &url).await, (false, true));
}

#[tokio::test]
async fn what_a_caller_asks_in_its_own_way_is_not_kept() {
    let server = Hostile::start();
    let client = keeping(&server, 1_000_000);
    let url = address(&server, &["Cache-Control: max-age=60"]);
    get(&client, &url).await.unwrap();
    let mut request = HttpRequest::get(url.clone());
    request.headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer x"));
    let own = send(&client, request).await.unwrap();
    assert!(!own.from_cache);
    let mut request = HttpRequest::get(url);
    request.headers.insert(header::ACCEPT, HeaderValue::from_static("text/html"));
    let other = send(&client, request).await.unwrap();
    assert!(!other.from_cache);
}

#[tokio::test]
async fn the_oldest_goes_when_there_is_no_room() {
    let server = Hostile::start();
    let client = keeping(&server, 3_600);
    let url =
        |number: usize| address(&server, &["Cache-Control: max-age=60", &format!("X-N: {number}")]);
    for number in 0..8 {
        get(&client, &url(number)).await.unwrap();
    }
    assert!(get(&client, &url(7)).await.unwrap().from_cache);
    assert!(!get(&client, &url(0)).await.unwrap().from_cache);
}
