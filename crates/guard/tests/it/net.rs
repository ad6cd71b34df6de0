//! The guarded client against names, addresses and servers that mean harm.

mod address_property;
mod addresses;
mod caching;
mod charsets;
mod connections;
mod encodings;
mod names;
mod redirects;
mod robots;
mod rules;
mod service;
mod sniffing;
mod url_property;

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use guard::net::{
    Addresses, HostPort, HttpClient, HttpClientSettings, HttpRequest, HttpResponse, NetError,
    NetRules, Resolve,
};
use serde_json::Value;
use testkit::Hostile;
use tokio_util::sync::CancellationToken;

const CASES: &str = include_str!("../../../toolgate/tests/cases/fetch_security.json");

/// The cases of some classes.
fn cases(classes: &[&str]) -> Vec<Value> {
    let table: Value = serde_json::from_str(CASES).unwrap();
    let all = table["cases"].as_array().unwrap().iter();
    all.filter(|case| classes.contains(&case["class"].as_str().unwrap())).cloned().collect()
}

/// A resolver that says what it was told: for each name a list of answers, one after the other, the
/// last of them for ever.
#[derive(Default)]
struct ScriptedResolver {
    answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    asked: AtomicUsize,
}

impl ScriptedResolver {
    fn new(answers: &[(&str, &[&[&str]])]) -> Arc<Self> {
        let addresses = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        let told = Self::default();
        for (name, list) in answers {
            let list = list.iter().map(|texts| addresses(texts)).collect();
            told.answers.lock().unwrap().insert((*name).to_owned(), list);
        }
        Arc::new(told)
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Resolve for ScriptedResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> Addresses<'a> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answers.lock().unwrap();
        let name = name.trim_end_matches('.');
        let answer = answers.get_mut(name).map_or_else(Vec::new, |list| {
            if list.len() > 1 { list.remove(0) } else { list[0].clone() }
        });
        Box::pin(async { Ok(answer) })
    }
}

/// The settings of a client that reaches these hosts, each as `host:port`.
fn reaching(hosts: impl IntoIterator<Item = String>) -> HttpClientSettings {
    let private_hosts = hosts.into_iter().map(|host| HostPort::parse(&host).unwrap()).collect();
    let rules = NetRules { private_hosts, ..NetRules::default() };
    HttpClientSettings { rules, ..HttpClientSettings::default() }
}

/// A port of this machine.
fn local(port: u16) -> String {
    format!("127.0.0.1:{port}")
}

/// A client that reaches these hosts of a hostile server, and asks this resolver.
fn client(server: &Hostile, names: &[&str], resolver: Arc<ScriptedResolver>) -> HttpClient {
    HttpClient::new(&HttpClientSettings {
        resolver,
        idle_timeout: Duration::from_secs(2),
        connect_timeout: Duration::from_secs(2),
        ..reaching(names.iter().map(|name| format!("{name}:{}", server.port)))
    })
}

/// A client of a hostile server by its address.
fn direct(server: &Hostile) -> HttpClient {
    client(server, &["127.0.0.1"], ScriptedResolver::new(&[]))
}

async fn get(client: &HttpClient, url: &str) -> Result<HttpResponse, NetError> {
    send(client, HttpRequest::get(url)).await
}

async fn send(client: &HttpClient, request: HttpRequest) -> Result<HttpResponse, NetError> {
    client.send(request, &CancellationToken::new()).await
}

/// The reason of a failure, in a word.
fn word(result: &Result<HttpResponse, NetError>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(error) => error.reason.word(),
    }
}
