//! `robots.txt`, where the operator wants it obeyed.

use guard::net::{HostPort, HttpClient, HttpClientSettings, NetRules};
use testkit::Hostile;

use super::{get, word};

fn client(server: &Hostile, robots: bool) -> HttpClient {
    HttpClient::new(&HttpClientSettings {
        rules: NetRules {
            private_hosts: vec![HostPort::parse(&format!("127.0.0.1:{}", server.port)).unwrap()],
            ..NetRules::default()
        },
        robots,
        ..HttpClientSettings::default()
    })
}

#[tokio::test]
async fn a_site_is_asked_once_and_obeyed() {
    let server = Hostile::start();
    let obeying = client(&server, true);
    assert_eq!(word(&get(&obeying, &server.url("/ok")).await), "ok");
    assert_eq!(server.connections(), 2);
    assert_eq!(word(&get(&obeying, &server.url("/status/404")).await), "robots");
    assert_eq!(server.connections(), 2);
    // Where a redirect leads counts too.
    let refused = get(&obeying, &server.url("/redir?to=/status/404")).await.unwrap_err();
    assert_eq!((refused.reason.word(), refused.redirects), ("robots", 1));
    assert_eq!(word(&get(&client(&server, false), &server.url("/status/404")).await), "ok");
}

#[tokio::test]
async fn a_site_that_cannot_be_reached_is_said_to_be() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let obeying = HttpClient::new(&HttpClientSettings {
        rules: NetRules {
            private_hosts: vec![HostPort::parse(&gone.to_string()).unwrap()],
            ..NetRules::default()
        },
        robots: true,
        ..HttpClientSettings::default()
    });
    assert_eq!(word(&get(&obeying, &format!("http://{gone}/ok")).await), "connect");
    assert_eq!(word(&get(&obeying, "http://no-such-name.invalid/").await), "not_resolved");
}

#[tokio::test]
async fn a_site_that_does_not_tell_its_rules_is_left_alone() {
    let upstream = testkit::Upstream::new(|asked| match asked.path.as_str() {
        "/robots.txt" => testkit::Reply::new(503, "text/plain", "later"),
        _ => testkit::Reply::new(200, "text/plain", "a page"),
    });
    let host = upstream.url().replace("http://", "");
    let obeying = HttpClient::new(&HttpClientSettings {
        rules: NetRules {
            private_hosts: vec![HostPort::parse(&host).unwrap()],
            ..NetRules::default()
        },
        robots: true,
        ..HttpClientSettings::default()
    });
    let refused = get(&obeying, &format!("{}/page", upstream.url())).await.unwrap_err();
    assert_eq!(refused.reason.word(), "robots");
    assert!(refused.message.contains("cannot be read (status 503)"), "{refused}");
    assert_eq!(upstream.asked().len(), 1);
}
