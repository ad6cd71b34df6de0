//! `robots.txt`, where the operator wants it obeyed.

use guard::net::{Client, HostPort, Rules, Settings};
use testkit::Hostile;

use super::{get, word};

fn client(server: &Hostile, robots: bool) -> Client {
    Client::new(&Settings {
        rules: Rules {
            private_hosts: vec![HostPort::parse(&format!("127.0.0.1:{}", server.port)).unwrap()],
            ..Rules::default()
        },
        robots,
        ..Settings::default()
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
async fn a_site_that_cannot_be_asked_is_left_alone() {
    let server = Hostile::start();
    let obeying = client(&server, true);
    let gone = format!("http://127.0.0.1:{}/ok", server.port);
    drop(server);
    assert_eq!(word(&get(&obeying, &gone).await), "robots");
}
