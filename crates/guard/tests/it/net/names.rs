//! Names and what they resolve to.

use testkit::Hostile;

use super::{ScriptedResolver, cases, client, get, word};

#[tokio::test]
async fn every_case_of_a_resolver() {
    let server = Hostile::start();
    let mut count = 0;
    for case in cases(&["dns", "allowlist"]) {
        let Some(dns) = case["dns"].as_object() else { continue };
        let told = ScriptedResolver::default();
        for (name, answers) in dns {
            let answers = serde_json::from_value(answers.clone()).unwrap();
            told.answers.lock().unwrap().insert(name.clone(), answers);
        }
        let result = get(&client(&server, &[], told.into()), case["url"].as_str().unwrap()).await;
        assert_eq!(word(&result), case["expect"]["code"].as_str().unwrap(), "{case}");
        count += 1;
    }
    assert_eq!(count, 6);
    assert_eq!(server.connections(), 0);
}

/// A name that is public when it is checked and private when it is connected to: there is only one
/// time, and what was checked is what is connected to.
#[tokio::test]
async fn a_name_that_changes_its_mind_is_asked_once_for_a_connection() {
    let (server, other) = (Hostile::start(), Hostile::start());
    let name = "rebind.test.example";
    let url = format!("http://{name}:{}/ok", server.port);
    // Asked again it would lead elsewhere: nobody listens there, so the fetch would fail.
    let told = ScriptedResolver::new(&[(name, &[&["127.0.0.1"], &["127.0.0.2"]])]);
    let result = get(&client(&server, &[name], told.clone()), &url).await;
    assert_eq!((word(&result), told.asked()), ("ok", 1));
    // Where it is not listed, the first answer is the one that counts too.
    let told = ScriptedResolver::new(&[(name, &[&["127.0.0.1"], &["93.184.216.34"]])]);
    let url = format!("http://{name}:{}/ok", other.port);
    assert_eq!(word(&get(&client(&server, &[name], told.clone()), &url).await), "private_addr");
    assert_eq!((told.asked(), other.connections()), (1, 0));
}

#[tokio::test]
async fn one_private_address_among_public_ones_refuses_the_name() {
    let server = Hostile::start();
    for private in ["127.0.0.1", "::1", "::ffff:10.0.0.1", "fd00::1", "64:ff9b::a00:1"] {
        let told = ScriptedResolver::new(&[("mixed.test.example", &[&["93.184.216.34", private]])]);
        let url = format!("http://mixed.test.example:{}/", server.port);
        assert_eq!(
            word(&get(&client(&server, &[], told), &url).await),
            "private_addr",
            "{private}"
        );
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn nobody_is_asked_about_a_local_name() {
    let server = Hostile::start();
    let told = ScriptedResolver::new(&[]);
    let client = client(&server, &[], told.clone());
    for name in [
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "localhost.localdomain",
        "printer.local",
        "metadata.google.internal",
        "metadata",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
        "router.home.arpa",
        "nas.lan",
        "ip6-localhost",
    ] {
        assert_eq!(word(&get(&client, &format!("http://{name}/")).await), "private_addr", "{name}");
    }
    assert_eq!(told.asked(), 0);
}

/// The operator's list is for the name and port as they stand in the URL.
#[tokio::test]
async fn a_listed_name_may_be_private_and_another_one_may_not() {
    let server = Hostile::start();
    let told = ScriptedResolver::new(&[
        ("a.test.example", &[&["127.0.0.1"]]),
        ("b.test.example", &[&["127.0.0.1"]]),
    ]);
    let client = client(&server, &["a.test.example"], told);
    let url = |name: &str| format!("http://{name}.test.example:{}/ok", server.port);
    assert_eq!(word(&get(&client, &url("a")).await), "ok");
    assert_eq!(word(&get(&client, &url("b")).await), "private_addr");
    let there = format!("{}?to={}", url("a").replace("/ok", "/redir"), url("b"));
    let refused = get(&client, &there).await.unwrap_err();
    assert_eq!((refused.reason.word(), refused.on_redirect()), ("private_addr", true));
}

/// An address that does not answer costs a moment, not the request.
#[tokio::test]
async fn the_next_address_is_tried_when_one_refuses() {
    let server = Hostile::start();
    // Nobody listens on the second loopback address.
    let told =
        ScriptedResolver::new(&[("two.test.example", &[&["127.0.0.2", "::1", "127.0.0.1"]])]);
    let client = client(&server, &["two.test.example"], told);
    let url = format!("http://two.test.example:{}/ok", server.port);
    assert_eq!(word(&get(&client, &url).await), "ok");
}
