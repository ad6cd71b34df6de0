//! `robots.txt`, where the operator wants it obeyed.

use guard::net::{HttpClient, HttpClientSettings};
use testkit::Hostile;

use super::{get, local, reaching, word};

fn client(host: String, robots: bool) -> HttpClient {
    HttpClient::new(&HttpClientSettings { robots, ..reaching([host]) })
}

#[tokio::test]
async fn a_site_is_asked_once_and_obeyed() {
    let server = Hostile::start();
    let obeying = client(local(server.port), true);
    assert_eq!(word(&get(&obeying, &server.url("/ok")).await), "ok");
    assert_eq!(server.connections(), 2);
    assert_eq!(word(&get(&obeying, &server.url("/status/404")).await), "robots");
    assert_eq!(server.connections(), 2);
    // Where a redirect leads counts too.
    let refused = get(&obeying, &server.url("/redir?to=/status/404")).await.unwrap_err();
    assert_eq!((refused.reason.word(), refused.redirects), ("robots", 1));
    assert_eq!(
        word(&get(&client(local(server.port), false), &server.url("/status/404")).await),
        "ok"
    );
}

#[tokio::test]
async fn a_site_that_cannot_be_reached_is_said_to_be() {
    let gone = local(testkit::free_port());
    let obeying = client(gone.clone(), true);
    assert_eq!(word(&get(&obeying, &format!("http://{gone}/ok")).await), "connect");
    assert_eq!(word(&get(&obeying, "http://no-such-name.invalid/").await), "not_resolved");
}

#[tokio::test]
async fn a_site_that_does_not_tell_its_rules_is_left_alone() {
    let upstream = testkit::Upstream::new(|asked| match asked.path.as_str() {
        "/robots.txt" => testkit::Reply::new(503, "text/plain", "later"),
        _ => testkit::Reply::new(200, "text/plain", "a page"),
    });
    let obeying = client(upstream.url().replace("http://", ""), true);
    let refused = get(&obeying, &format!("{}/page", upstream.url())).await.unwrap_err();
    assert_eq!(refused.reason.word(), "robots");
    assert!(refused.message.contains("cannot be read (status 503)"), "{refused}");
    assert_eq!(upstream.requests().len(), 1);
}
