//! What can be said of a URL without the network.

use guard::net::{DomainPattern, HostPort, NetErrorReason, NetRules};

use super::cases;

/// All cases that need no network, those that are allowed too.
#[test]
fn every_case_of_a_url() {
    let mut count = 0;
    for case in cases(&["literal", "name", "parse", "scheme", "port", "allowlist"]) {
        if !case["dns"].is_null() {
            continue;
        }
        let listed = case["allowlist"].as_array().into_iter().flatten();
        let listed = listed.map(|one| DomainPattern::parse(one.as_str().unwrap()).unwrap());
        let rules = NetRules { allowed_domains: listed.collect(), ..NetRules::default() };
        let checked = rules.check(case["url"].as_str().unwrap());
        let word = checked.as_ref().err().map(|error| error.reason.word());
        let expected = &case["expect"];
        match expected["verdict"].as_str().unwrap() {
            "allow" => assert_eq!(word, None, "{case}"),
            "deny" => assert_eq!(word, expected["code"].as_str(), "{case}"),
            _ => {}
        }
        count += 1;
    }
    assert!(count >= 110, "{count}");
}

#[test]
fn patterns_of_domains() {
    for (pattern, host, expected) in [
        ("example.com", "example.com", true),
        ("example.com", "EXAMPLE.com.", true),
        ("example.com", "www.example.com", false),
        ("example.com", "notexample.com", false),
        ("example.com", "example.com.evil.test", false),
        (".example.com", "www.example.com", true),
        (".example.com", "a.b.example.com", true),
        (".example.com", "example.com", false),
        (".example.com", "notexample.com", false),
        ("*.example.com", "www.example.com", true),
        ("*.example.com", "example.com", false),
        ("EXAMPLE.com.", "example.com", true),
        ("münchen.example", "xn--mnchen-3ya.example", true),
        ("xn--mnchen-3ya.example", "MÜNCHEN.example", true),
        ("93.184.216.34", "93.184.216.34", true),
        ("93.184.216.34", "1572395042", true),
        ("[2606:4700:4700::1111]", "[2606:4700:4700:0::1111]", true),
        ("93.184.216.34", "93.184.216.35", false),
    ] {
        let listed = vec![DomainPattern::parse(pattern).unwrap()];
        let rules = NetRules { allowed_domains: listed, ..NetRules::default() };
        let checked = rules.check(&format!("https://{host}/"));
        assert_eq!(checked.is_ok(), expected, "{pattern} {host} {checked:?}");
    }
    for wrong in
        ["", "*", "*.", ".", "https://example.com", "a..b", "a/b", "*.1.2.3.4", "a b", "a@b"]
    {
        assert!(DomainPattern::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_private_host_is_a_host_with_a_port() {
    let listed = |text: &str| vec![HostPort::parse(text).unwrap()];
    for (entry, url, expected) in [
        ("127.0.0.1:9000", "http://127.0.0.1:9000/", true),
        ("127.0.0.1:9000", "http://2130706433:9000/", true),
        ("127.0.0.1:9000", "http://127.0.0.1:9001/", false),
        ("127.0.0.1:9000", "http://127.0.0.2:9000/", false),
        ("127.0.0.1:9000", "http://localhost:9000/", false),
        ("127.0.0.1:80", "http://127.0.0.1/", true),
        ("127.0.0.1:443", "https://127.0.0.1/", true),
        ("localhost:9000", "http://LOCALHOST.:9000/", true),
        ("searxng:8080", "http://searxng:8080/search", true),
        ("[::1]:9000", "http://[::1]:9000/", true),
        // The operator means it, even where a browser would not.
        ("127.0.0.1:6000", "http://127.0.0.1:6000/", true),
    ] {
        let rules = NetRules { private_hosts: listed(entry), ..NetRules::default() };
        assert_eq!(rules.check(url).is_ok(), expected, "{entry} {url}");
    }
    for wrong in ["127.0.0.1", "127.0.0.1:", "127.0.0.1:x", ":80", "::1:80", "a b:80", "a:70000"] {
        assert!(HostPort::parse(wrong).is_err(), "{wrong}");
    }
    // Both lists count.
    let rules = NetRules {
        private_hosts: listed("127.0.0.1:9000"),
        allowed_domains: vec![DomainPattern::parse("example.com").unwrap()],
        ..NetRules::default()
    };
    assert_eq!(rules.check("http://127.0.0.1:9000/").unwrap_err().reason, NetErrorReason::Domain);
}

#[test]
fn a_service_of_the_operators_is_all_that_its_client_reaches() {
    let rules = NetRules::only("http://127.0.0.1:4000/v1").unwrap();
    assert!(rules.check("http://127.0.0.1:4000/v1/search").is_ok());
    for other in ["http://127.0.0.1:4001/", "https://example.com/", "http://localhost:4000/"] {
        assert!(rules.check(other).is_err(), "{other}");
    }
    let public = NetRules::only("https://api.example.com/").unwrap();
    assert!(public.check("https://api.example.com/v1").is_ok());
    assert!(public.check("http://api.example.com/v1").is_err());
    assert!(NetRules::only("ftp://example.com/").is_err());
}

#[test]
fn ports_can_be_listed() {
    let rules = NetRules { allowed_ports: vec![80, 443], ..NetRules::default() };
    assert!(rules.check("https://example.com/").is_ok());
    assert_eq!(
        rules.check("http://example.com:8080/").unwrap_err().reason,
        NetErrorReason::BadPort
    );
}

#[test]
fn odd_names_are_no_names() {
    let long = format!("http://{}.com/", ["a".repeat(60).as_str(); 6].join("."));
    let label = format!("http://{}.com/", "a".repeat(64));
    for url in [
        long.as_str(),
        &label,
        "http://.example.com/",
        "http://example..com/",
        "http://1.+81189970/",
        "http://a!b.com/",
        "http://a,b.com/",
    ] {
        assert_eq!(
            NetRules::default().check(url).unwrap_err().reason,
            NetErrorReason::BadUrl,
            "{url}"
        );
    }
    let huge = format!("http://example.com/{}", "a".repeat(20_000));
    assert_eq!(NetRules::default().check(&huge).unwrap_err().reason, NetErrorReason::BadUrl);
}
